"""Architecture tests: the package passes the checks, and the checks find violations in a dummy tree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import (
    CHECKS,
    LONGEST_FILE,
    LONGEST_FUNCTION,
    PACKAGE,
    ROOMS,
    WALLS,
    WRITTEN,
    Check,
    Module,
    breached_walls,
    cycles,
    engine_branches,
    forbidden_names,
    long_files,
    long_functions,
    modules_below,
    relative_imports,
    renamed_imports,
    stale_reasons,
    unknown_rooms,
    unreasoned_keywords,
    written_files,
    wrong_rooms,
)

ROOT = Path(__file__).resolve().parent.parent


# --- the package -------------------------------------------------------------------------------------------


def test_map_of_rooms_points_down() -> None:
    for room, (row, allowed) in ROOMS.items():
        for other in allowed:
            assert ROOMS[other][0] < row, f"{room} → {other} does not point to a lower row"


def test_every_room_of_the_map_exists() -> None:
    home = ROOT / "src" / PACKAGE
    missing = [room for room in ROOMS if not ((home / room).is_dir() or (home / f"{room}.py").is_file())]
    assert missing == []


@pytest.fixture(scope="module")
def house() -> list[Module]:
    """The modules of the package, each read and parsed once for all checks."""
    return modules_below(ROOT / "src")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_check_of_the_house_finds_nothing(check: Check, house: list[Module]) -> None:
    assert list(check(house)) == []


def test_every_reason_to_name_k_or_l_is_needed(house: list[Module]) -> None:
    assert list(stale_reasons(house)) == []


def test_no_file_grows_too_long() -> None:
    paths = [path for top in ("src", "tests", "benchmarks", "papers") for path in written_files(ROOT / top)]
    assert long_files(paths, LONGEST_FILE) == []


def test_import_is_light() -> None:
    heavy = sorted({*WALLS} - {"tomllib"})
    command = f"import sys, {PACKAGE}; print(sorted({{*sys.modules}} & set({heavy!r})))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == "[]"


# --- the checker itself, on a tree with planted violations -------------------------------------------------


def _tree(folder: Path, files: dict[str, str]) -> list[Module]:
    for name, text in files.items():
        path = folder / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return modules_below(folder)


CLEAN = {
    "__init__.py": '"""A package."""\n',
    "kernels/group.py": '"""Kernels."""\nimport numba\nimport numpy as np\n',
    "lattice/evaluation.py": (
        '"""Lattice."""\n'
        "from __future__ import annotations\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import pandas\n    from discreet.cli import main\n"
        'def evaluate(rows: int) -> int:\n    """Evaluate."""\n'
        "    from discreet.kernels import group\n    return rows\n"
    ),
    "engines/postgres/declaration.py": '"""PostgreSQL."""\nENGINE = "postgres"\n',
    "engines/registry.py": '"""Engines."""\nfrom discreet.engines.postgres.declaration import ENGINE\n',
    "engines/duckdb/engine.py": (
        '"""DuckDB."""\ndef connect() -> None:\n    """Connect."""\n    import duckdb\n'
    ),
}

FUNCTION = 'def f() -> None:\n    """F."""\n'
PLANTED: dict[str, tuple[Check, dict[str, str]]] = {
    "audit → negotiation": (
        wrong_rooms,
        {"audit/class_audit.py": "from discreet.negotiation.negotiator import negotiate\n"},
    ),
    "kernels → lattice, inside a function": (
        wrong_rooms,
        {"kernels/a.py": f"{FUNCTION}    import discreet.lattice.evaluation\n"},
    ),
    "queries → engines, a stranger on the same row": (
        wrong_rooms,
        {"queries/workload_text.py": "from discreet.engines import base\n"},
    ),
    "model → the package itself": (wrong_rooms, {"model/a.py": "import discreet\n"}),
    "cli → negotiation by the package": (wrong_rooms, {"cli/a.py": "from discreet import negotiation\n"}),
    "a room of no row": (unknown_rooms, {"attic/app.py": ""}),
    "a relative import": (relative_imports, {"sql/a.py": "from . import names\n"}),
    "duckdb at the top": (breached_walls, {"engines/a.py": "import duckdb\n"}),
    "numba outside kernels": (breached_walls, {"lattice/a.py": "from numba import njit\n"}),
    "rich in the library": (breached_walls, {"release/a.py": "import rich.table\n"}),
    "pandas in the library": (breached_walls, {"frequency/a.py": f"{FUNCTION}    import pandas\n"}),
    "a library of no wall": (breached_walls, {"sql/a.py": "import sqlglot\n"}),
    "a cycle": (
        cycles,
        {
            "sql/a.py": "from discreet.sql import b\n",
            "sql/b.py": f"{FUNCTION}    from discreet.sql.a import f\n",
        },
    ),
    "a cycle by types": (
        cycles,
        {
            "sql/a.py": "from discreet.sql import b\n",
            "sql/b.py": "import typing\nif typing.TYPE_CHECKING:\n    from discreet.sql.a import f\n",
        },
    ),
    "a name that gives way to another": (
        renamed_imports,
        {
            "sql/a.py": 'STAR = "*"\n',
            "sql/b.py": "from discreet.sql import a as s\nfrom discreet.sql.a import STAR as ALL\n",
        },
    ),
    "an engine by its name": (
        engine_branches,
        {"release/a.py": 'def _f(engine: str) -> bool:\n    return engine == "postgres"\n'},
    ),
    "an engine by its flag": (engine_branches, {"model/a.py": "def _f(*, in_postgres: bool) -> None: ...\n"}),
    "an engine by its type": (
        engine_branches,
        {"audit/a.py": "def _f(a: object) -> bool:\n    return isinstance(a, PostgresEngine)\n"},
    ),
    "the folder of an engine": (
        engine_branches,
        {"release/a.py": "from discreet.engines.postgres.engine import PostgresEngine\n"},
    ),
    "l asked of a requirement": (
        unreasoned_keywords,
        {"search/a.py": "def _f(wish: object) -> bool:\n    return wish.l is None\n"},
    ),
    "k handed on": (unreasoned_keywords, {"lattice/a.py": "def _f(k: int) -> int:\n    return 1\n"}),
    "k as a criterion": (unreasoned_keywords, {"local/a.py": "asked = KAnonymity(2)\n"}),
    "a utils module": (forbidden_names, {"sql/name_utils.py": ""}),
    "an aux folder": (forbidden_names, {"sql/aux_/a.py": ""}),
    "a long function": (long_functions, {"sql/a.py": FUNCTION + "    f()\n" * LONGEST_FUNCTION}),
}
"""Violations: the check that finds each, and the files that contain it, without their docstrings."""


def test_clean_tree_passes_every_check(tmp_path: Path) -> None:
    modules = _tree(tmp_path, CLEAN)
    assert [line for check in CHECKS for line in check(modules)] == []


@pytest.mark.parametrize("name", PLANTED)
def test_only_the_planted_violation_is_found(name: str, tmp_path: Path) -> None:
    finder, planted = PLANTED[name]
    modules = _tree(tmp_path, CLEAN | {path: f'"""A."""\n{text}' for path, text in planted.items()})
    found = {check.__name__: list(check(modules)) for check in CHECKS}
    assert {check for check, lines in found.items() if lines} == {finder.__name__}
    assert len(found[finder.__name__]) == 1


def test_docstring_does_not_lengthen_a_function(tmp_path: Path) -> None:
    text = '"""A."""\ndef f() -> None:\n    """F.\n' + "\n    line" * 80 + '\n    """\n' + "    f()\n" * 59
    assert list(long_functions(_tree(tmp_path, {"sql/a.py": text}))) == []


@pytest.mark.parametrize("ending", WRITTEN)
def test_long_file_is_found(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "screens" / f"a{ending}"
    path.parent.mkdir()
    path.write_text("x = 1\n" * (LONGEST_FILE + 1), encoding="utf-8")
    (tmp_path / "table.csv").write_text("x\n" * (LONGEST_FILE + 1), encoding="utf-8")
    assert written_files(tmp_path) == [path]
    assert len(long_files([path], LONGEST_FILE)) == 1
