"""The generated table on which engines are compared: six quasi-identifiers of four types, one sensitive text.

Integers, texts, dates and decimals, NULLs in two columns; about 130,000 combinations in 20 million rows, a
few of them very frequent and most rare. Every cell is a function of the row's number, so a table is
reproducible (with one version of DuckDB), as one Parquet file in a folder of the caller's.
"""

from __future__ import annotations

from pathlib import Path

NAME = "people"
QUASI_IDENTIFIERS = ("age", "sex", "region", "admitted", "score", "marital")
SENSITIVE = "disease"
COLUMNS = (*QUASI_IDENTIFIERS, SENSITIVE)
HIERARCHIES = {
    "age": '{kind = "intervals", widths = [5, 10, 20]}',
    "region": '{kind = "mask"}',
}
POSTGRES_TYPES = {
    "age": "integer",
    "sex": "text",
    "region": "text",
    "admitted": "date",
    "score": "numeric(6,1)",
    "marital": "text",
    "disease": "text",
}
K, MAX_SUPPRESSED = 10, "100%"
"""Classes of ten rows; smaller ones are left out, so both sides write the same rows at any size."""


def rows_query(rows: int) -> str:
    """Return the rows, as one SELECT for DuckDB."""
    number = "CAST(floor({}) AS INTEGER)"
    u = [_uniform(salt) for salt in range(14)]
    cells = {
        "age": number.format(f"20 + 60 * {u[0]} * {u[1]}"),
        "sex": f"CASE WHEN {u[2]} < 0.01 THEN NULL WHEN {u[3]} < 0.5 THEN 'f' ELSE 'm' END",
        "region": "printf('Z%03d', " + number.format(f"30 * {u[4]} * {u[5]}") + ")",
        "admitted": "DATE '2020-01-01' + 90 * " + number.format(f"4 * {u[6]}"),
        "score": "CAST(" + number.format(f"4 * {u[7]} * {u[8]}") + " * 0.5 AS DECIMAL(6,1))",
        "marital": f"CASE WHEN {u[10]} < 0.02 THEN NULL WHEN {u[11]} < 0.6 THEN 'single' "
        f"WHEN {u[11]} < 0.9 THEN 'married' ELSE 'widowed' END",
        SENSITIVE: "printf('D%02d', " + number.format(f"40 * {u[12]}") + ")",
    }
    named = ", ".join(f"{cell} AS {name}" for name, cell in cells.items())
    return f"SELECT {named} FROM range({rows}) AS numbered(i)"


def _uniform(salt: int) -> str:
    return f"((hash(i * 100 + {salt}) >> 11)::DOUBLE / 9007199254740992.0)"


def write_rows(folder: Path, rows: int) -> Path:
    """Write the table as a Parquet file in a folder, unless it exists."""
    import duckdb

    path = folder / f"{NAME}-{rows}.parquet"
    if not path.exists():
        partial = path.with_suffix(".partial")
        with duckdb.connect(config={"memory_limit": "2GB", "preserve_insertion_order": "false"}) as engine:
            engine.execute("SET enable_progress_bar = false")
            engine.execute(f"COPY ({rows_query(rows)}) TO '{partial}' (FORMAT parquet)")
        partial.rename(path)
    return path


def write_spec(folder: Path, name: str, source: dict[str, str]) -> Path:
    """Write a spec of the table with the location ``source``; return its path."""
    lines = ["[source]", *(f'{key} = "{value}"' for key, value in source.items())]
    for column in QUASI_IDENTIFIERS:
        lines += [f"[attributes.{column}]", 'role = "quasi-identifier"']
        lines += [f"hierarchy = {HIERARCHIES[column]}"] if column in HIERARCHIES else []
    lines += [f"[attributes.{SENSITIVE}]", 'role = "sensitive"']
    path = folder / f"{name}.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def same_cells(join: str = "({0} IS NOT DISTINCT FROM {1})") -> str:
    """Return the condition that a row ``s`` and a class ``m`` agree in every quasi-identifier, NULLs too."""
    return " AND ".join(join.format(f"s.{name}", f"m.{name}") for name in QUASI_IDENTIFIERS)


def groups(relation: str) -> str:
    """Return the GROUP BY of the bare engine."""
    names = ", ".join(QUASI_IDENTIFIERS)
    return f"SELECT {names}, count(*) AS n FROM {relation} GROUP BY {names}"


def classes(groups_table: str) -> str:
    """Select the combinations of at least ``K`` rows."""
    return f"SELECT {', '.join(QUASI_IDENTIFIERS)} FROM {groups_table} WHERE n >= {K}"


def joined(relation: str, classes_table: str, condition: str) -> str:
    """Select the rows of those combinations, with the classes' cells as in a release."""
    cells = ", ".join(f"m.{name}" for name in QUASI_IDENTIFIERS)
    return f"SELECT {cells}, s.{SENSITIVE} FROM {relation} AS s JOIN {classes_table} AS m ON {condition}"
