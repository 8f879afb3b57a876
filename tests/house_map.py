"""Map of the package: allowed imports between rooms, and allowed uses of libraries."""

from __future__ import annotations

# room: (row, rooms that it may import). A room imports only lower rows, and of these only the listed rooms.
ROOMS: dict[str, tuple[int, set[str]]] = {
    "errors": (0, set()),
    "kernels": (0, set()),
    "settings": (1, {"errors"}),
    "model": (1, {"errors"}),
    "places": (1, {"errors"}),
    "hierarchy": (2, {"errors", "settings", "model", "places"}),
    "sql": (2, {"errors", "model"}),
    "measures": (2, {"errors", "model"}),
    "sample": (2, {"errors"}),
    "queries": (3, {"errors", "model", "sql"}),
    "engines": (3, {"errors", "settings", "model", "places", "sql"}),
    "foreign": (3, {"errors", "model", "places", "hierarchy"}),
    "spec": (4, {"errors", "settings", "model", "places", "hierarchy", "measures", "engines"}),
    "lattice": (3, {"errors", "settings", "model", "kernels"}),
    "frequency": (4, {"errors", "settings", "model", "kernels", "sql", "engines"}),
    "negotiation": (5, {"errors", "settings", "model", "kernels", "measures", "lattice", "frequency"}),
    "search": (
        5,
        {"errors", "settings", "model", "kernels", "measures", "sql", "engines", "lattice", "frequency"},
    ),
    "mondrian": (
        5,
        {"errors", "settings", "model", "kernels", "measures", "sql", "engines", "frequency"},
    ),
    "local": (5, {"errors", "settings", "model", "kernels", "measures", "lattice", "frequency"}),
    "patterns": (5, {"errors", "settings", "model", "kernels", "measures", "lattice", "frequency"}),
    "taxonomy": (5, {"errors", "settings", "model", "kernels", "measures", "lattice", "frequency"}),
    "permutation": (5, {"errors", "settings", "model", "kernels", "measures", "sql", "engines", "frequency"}),
    "recoding": (5, {"errors", "settings", "model", "sql", "engines", "frequency"}),
    "audit": (5, {"errors", "settings", "model", "places", "sql", "engines"}),
    "profile": (5, {"errors", "settings", "model", "places", "hierarchy", "sql", "engines"}),
    "workload": (
        6,
        {"errors", "settings", "model", "queries", "measures", "sql", "engines", "frequency", "mondrian"},
    ),
    "release": (
        6,
        {"errors", "settings", "model", "places", "sql", "engines", "permutation", "recoding", "audit"},
    ),
    "bounds": (
        7,
        {"errors", "settings", "model", "kernels", "queries", "sql", "engines", "frequency", "permutation"}
        | {"workload", "release"},
    ),
    "attacks": (
        7,
        {"errors", "settings", "places", "model", "kernels", "hierarchy", "measures", "sql", "engines"}
        | {"frequency", "workload", "release"},
    ),
    "attackers": (8, {"attacks"}),  # public names
    "differential": (7, {"errors", "settings", "model", "places", "hierarchy", "sql", "engines", "release"}),
    "printing": (3, {"errors", "model", "measures"}),
    "results": (
        8,
        {"errors", "settings", "model", "measures", "spec", "lattice", "frequency", "negotiation", "search"}
        | {"attacks", "printing"},
    ),
    "verbs": (
        9,
        {"errors", "settings", "model", "places", "hierarchy", "measures", "sample", "queries", "foreign"}
        | {
            "spec",
            "engines",
            "lattice",
            "frequency",
            "negotiation",
            "search",
            "mondrian",
            "local",
            "patterns",
        }
        | {"taxonomy", "permutation", "recoding", "audit", "profile", "workload", "release", "bounds"}
        | {"attacks", "differential", "printing", "results"},
    ),
    "models": (10, {"verbs"}),
    "sklearn": (10, {"errors", "model", "verbs"}),
    "coming_from": (10, {"foreign", "verbs"}),  # public names
    "extending": (10, {"model", "measures", "frequency", "engines", "attacks", "verbs"}),
    "report": (
        10,
        {"errors", "settings", "model", "measures", "printing", "attacks", "results", "spec"}
        | {"release", "verbs"},
    ),
    "screens": (
        10,
        {"errors", "settings", "model", "hierarchy", "measures", "sample", "spec", "engines", "queries"}
        | {"negotiation", "profile", "workload", "attacks", "results", "verbs"},
    ),
    "web": (
        11,
        {"errors", "settings", "model", "places", "hierarchy", "measures", "spec", "printing", "results"}
        | {"verbs", "screens", "report"},
    ),
    "cli": (
        12,
        {"errors", "settings", "model", "places", "spec", "printing", "results", "verbs"}
        | {"attacks", "report", "web"},
    ),
    "__main__": (13, {"cli"}),  # python -m discreet
    "criteria": (2, {"errors", "model"}),  # public names
    "costs": (3, {"measures"}),  # public names
    "": (
        13,
        {"errors", "settings", "model", "results", "verbs", "report", "cli"},
    ),  # the package's own public names
}

# library: rooms that may import it at the top of a module, rooms that may import it inside a function.
WALLS: dict[str, tuple[set[str], set[str]]] = {
    **dict.fromkeys(("duckdb", "_duckdb"), (set(), {"engines"})),
    "psycopg": (set(), {"engines"}),
    "pyspark": (set(), {"engines"}),
    "py4j": (set(), {"engines"}),
    "numba": ({"kernels"}, {"kernels"}),
    "llvmlite": ({"kernels"}, {"kernels"}),
    "pydantic": ({"spec", "web"}, {"spec", "web"}),
    "tomllib": ({"profile", "spec", "report"}, {"profile", "spec", "report"}),
    "typer": ({"cli"}, {"cli"}),
    "click": ({"cli"}, {"cli"}),
    "rich": ({"cli"}, {"cli"}),
    "pyarrow": (set(), {"engines"}),
    "pandas": (set(), {"engines"}),
    **dict.fromkeys(("openpyxl", "pyreadstat", "deltalake", "pyiceberg", "pymysql"), (set(), {"engines"})),
    "polars": (set(), {"engines"}),
    "sqlglot": ({"queries"}, {"queries"}),
    "matplotlib": (set(), set()),
    "sklearn": ({"sklearn"}, {"measures", "sklearn"}),
    "highspy": (set(), {"patterns"}),
    "networkx": (set(), {"patterns"}),
    "opendp": (set(), {"differential"}),
    "fastapi": ({"web"}, {"web"}),
    "starlette": ({"web"}, {"web"}),
    "uvicorn": ({"web"}, {"web"}),
}
FREE_LIBRARIES = {"numpy"}
