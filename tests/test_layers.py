"""Architecture tests: the package passes the checks, and the checks find violations in a dummy tree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import (
    CHECKS,
    LONGEST_FILE,
    LONGEST_FUNCTION,
    PACKAGE,
    WRITTEN,
    Check,
    Module,
    breached_walls,
    cycles,
    forbidden_names,
    long_files,
    long_functions,
    missing_annotations,
    missing_docstrings,
    modules_below,
    prints,
    relative_imports,
    renamed_imports,
    unknown_rooms,
    written_files,
    wrong_rooms,
)
from tests.house_engines import engine_branches
from tests.house_keywords import stale_reasons, unreasoned_keywords
from tests.house_map import ROOMS, WALLS

ROOT = Path(__file__).resolve().parent.parent


# --- the package -------------------------------------------------------------------------------------------


def test_the_map_points_down() -> None:
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
def test_house(check: Check, house: list[Module]) -> None:
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

PLANTED: dict[str, tuple[dict[str, str], Check]] = {
    "audit → negotiation": (
        {"audit/class_audit.py": '"""A."""\nfrom discreet.negotiation.negotiator import negotiate\n'},
        wrong_rooms,
    ),
    "kernels → lattice, inside a function": (
        {
            "kernels/a.py": '"""A."""\ndef f() -> None:\n    """F."""\n'
            "    import discreet.lattice.evaluation\n"
        },
        wrong_rooms,
    ),
    "queries → engines, a stranger on the same row": (
        {"queries/workload_text.py": '"""A."""\nfrom discreet.engines import base\n'},
        wrong_rooms,
    ),
    "model → the package itself": ({"model/a.py": '"""A."""\nimport discreet\n'}, wrong_rooms),
    "cli → negotiation by the package": (
        {"cli/a.py": '"""A."""\nfrom discreet import negotiation\n'},
        wrong_rooms,
    ),
    "a room of no row": ({"attic/app.py": '"""A."""\n'}, unknown_rooms),
    "a relative import": ({"sql/a.py": '"""A."""\nfrom . import names\n'}, relative_imports),
    "duckdb at the top": ({"engines/a.py": '"""A."""\nimport duckdb\n'}, breached_walls),
    "numba outside kernels": ({"lattice/a.py": '"""A."""\nfrom numba import njit\n'}, breached_walls),
    "rich in the library": ({"release/a.py": '"""A."""\nimport rich.table\n'}, breached_walls),
    "pandas in the library": (
        {"frequency/a.py": '"""A."""\ndef f() -> None:\n    """F."""\n    import pandas\n'},
        breached_walls,
    ),
    "a library of no wall": ({"sql/a.py": '"""A."""\nimport sqlglot\n'}, breached_walls),
    "a cycle": (
        {
            "sql/a.py": '"""A."""\nfrom discreet.sql import b\n',
            "sql/b.py": '"""B."""\ndef f() -> None:\n    """F."""\n    from discreet.sql.a import f\n',
        },
        cycles,
    ),
    "a cycle by types": (
        {
            "sql/a.py": '"""A."""\nfrom discreet.sql import b\n',
            "sql/b.py": (
                '"""B."""\nfrom typing import TYPE_CHECKING\n'
                "if TYPE_CHECKING:\n    from discreet.sql.a import f\n"
            ),
        },
        cycles,
    ),
    "a name that gives way to another": (
        {
            "sql/a.py": '"""A."""\nSTAR = "*"\n',
            "sql/b.py": '"""B."""\nfrom discreet.sql import a as s\nfrom discreet.sql.a import STAR as ALL\n',
        },
        renamed_imports,
    ),
    "an engine by its name": (
        {"release/a.py": '"""A."""\ndef _f(engine: str) -> bool:\n    return engine == "postgres"\n'},
        engine_branches,
    ),
    "an engine by its flag": (
        {"model/a.py": '"""A."""\ndef _f(*, in_postgres: bool) -> None: ...\n'},
        engine_branches,
    ),
    "an engine by its type": (
        {"audit/a.py": '"""A."""\ndef _f(a: object) -> bool:\n    return isinstance(a, PostgresEngine)\n'},
        engine_branches,
    ),
    "the folder of an engine": (
        {"release/a.py": '"""A."""\nfrom discreet.engines.postgres.engine import PostgresEngine\n'},
        engine_branches,
    ),
    "l asked of a requirement": (
        {"search/a.py": '"""A."""\ndef _f(wish: object) -> bool:\n    return wish.l is None\n'},
        unreasoned_keywords,
    ),
    "k handed on": (
        {"lattice/a.py": '"""A."""\ndef _f(k: int) -> int:\n    return 1\n'},
        unreasoned_keywords,
    ),
    "k as a criterion": ({"local/a.py": '"""A."""\nasked = KAnonymity(2)\n'}, unreasoned_keywords),
    "a print": ({"release/a.py": '"""A."""\nprint("done")\n'}, prints),
    "a utils module": ({"sql/name_utils.py": '"""A."""\n'}, forbidden_names),
    "an aux folder": ({"sql/aux_/a.py": '"""A."""\n'}, forbidden_names),
    "a long function": (
        {"sql/a.py": '"""A."""\ndef f() -> None:\n    """F."""\n' + "    f()\n" * LONGEST_FUNCTION},
        long_functions,
    ),
    "a bare function": ({"sql/a.py": '"""A."""\ndef f() -> None:\n    f()\n'}, missing_docstrings),
    "a bare method": (
        {"sql/a.py": '"""A."""\nclass C:\n    """C."""\n    def f(self) -> int: ...\n'},
        missing_docstrings,
    ),
    "a bare module": ({"sql/a.py": "x = 1\n"}, missing_docstrings),
    "a bare parameter": ({"sql/a.py": '"""A."""\ndef _f(a: int, *b) -> int: ...\n'}, missing_annotations),
    "a bare result": ({"sql/a.py": '"""A."""\ndef _f(a: int): ...\n'}, missing_annotations),
}


def test_a_clean_tree_passes_every_check(tmp_path: Path) -> None:
    modules = _tree(tmp_path, CLEAN)
    assert [line for check in CHECKS for line in check(modules)] == []


@pytest.mark.parametrize("name", PLANTED)
def test_planted_violation_is_found_and_nothing_else(name: str, tmp_path: Path) -> None:
    planted, finder = PLANTED[name]
    modules = _tree(tmp_path, CLEAN | planted)
    found = {check.__name__: list(check(modules)) for check in CHECKS}
    assert {check for check, lines in found.items() if lines} == {finder.__name__}
    assert len(found[finder.__name__]) == 1


def test_docstring_does_not_lengthen_a_function(tmp_path: Path) -> None:
    text = '"""A."""\ndef f() -> None:\n    """F.\n' + "\n    line" * 80 + '\n    """\n' + "    f()\n" * 59
    assert list(long_functions(_tree(tmp_path, {"sql/a.py": text}))) == []


@pytest.mark.parametrize("ending", WRITTEN)
def test_a_long_file_is_found(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "screens" / f"a{ending}"
    path.parent.mkdir()
    path.write_text("x = 1\n" * (LONGEST_FILE + 1), encoding="utf-8")
    (tmp_path / "table.csv").write_text("x\n" * (LONGEST_FILE + 1), encoding="utf-8")
    assert written_files(tmp_path) == [path]
    assert len(long_files([path], LONGEST_FILE)) == 1
