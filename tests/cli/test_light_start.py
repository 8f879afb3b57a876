"""Modules that a command does not import: importing takes most of a command's time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

NEEDLESS = {
    "numba.np.arraymath": "for compiling alone",
    "numba.np.arrayobj": "for compiling alone",
    "scipy": "for products of matrices in compiled code",
    "yaml": "for a file of settings that is not there",
    "rich": "for help that is coloured",
    "matplotlib": "for charts",
    "sqlglot": "for queries",
    "duckdb": "for rows in memory: statements need the engine alone",
    "discreet.engines.files.open_table_formats": "for tables with a log",
    "discreet.engines.files.spreadsheet": "for spreadsheets",
    "discreet.engines.files.sqlite_file": "for SQLite files",
    "discreet.engines.files.statistics_files": "for files of statistics programs",
    "discreet.engines.files.statistics_export": "for files of statistics programs",
    "discreet.engines.column_replacement": "for linked rows, shifted dates and identifiers",
    "discreet.model.identifiers.methods": "for identifiers that are published",
    "discreet.sql.warehouses": "for queries",
    "discreet.negotiation.alternatives": "for another question",
    "discreet.negotiation.frontier": "for another question",
    "discreet.results.answer_alternatives": "for another question",
    "discreet.hierarchy.ages": "for hierarchies by kind",
    "discreet.spec.hierarchy_tables": "for hierarchies by kind",
    "discreet.measures.standard_costs": "for --cost",
    "discreet.measures.cost_kinds": "for --cost",
    "discreet.measures.node_statistics": "for --cost",
    "discreet.search.search_problem": "for --cost",
    "discreet.verbs.table_search": "for --cost",
    "discreet.model.criteria.t_closeness": "for --t",
    "discreet.negotiation.partial_lattice": "for a partial lattice",
    "discreet.results.table_partial_lattice": "for a partial lattice",
    "discreet.mondrian": "for another model",
}
"""Modules that a command does not need, with the purpose of each."""

RUN = """
import atexit, sys
from discreet.cli.main import run
atexit.register(lambda: print(*sorted(set({0!r}) & set(sys.modules)), file=sys.stderr))
run()
"""
SPEC = """
[source]
path = "people.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = "age.csv"
[attributes.illness]
role = "sensitive"
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Write a table of people with a hierarchy file; return the path of its spec."""
    rows = "".join(f"{i % 4},{['flu', 'cold'][i % 2]}\n" for i in range(24))
    (tmp_path / "people.csv").write_text(f"age,illness\n{rows}", encoding="utf-8")
    (tmp_path / "age.csv").write_text("".join(f"{i};*\n" for i in range(4)), encoding="utf-8")
    path = tmp_path / "discreet.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def loaded(*words: str) -> list[str]:
    """Run a command without compilation and return the modules of ``NEEDLESS`` that it imported."""
    environment = {**os.environ, "DISCREET_COMPILE": "never"}
    command = [sys.executable, "-c", RUN.format([*NEEDLESS]), *words, "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode in {0, 3}, done.stderr
    return done.stderr.split()


def test_negotiation_loads_no_needless_module(spec: Path) -> None:
    assert loaded("negotiate", str(spec), "--k", "2", "--max-suppressed=1%") == []


def test_declared_option_loads_its_module(spec: Path) -> None:
    assert "discreet.model.criteria.t_closeness" in loaded("negotiate", str(spec), "--k", "2", "--t", "0.9")
    assert "discreet.measures.standard_costs" in loaded("negotiate", str(spec), "--k", "2", "--cost", "loss")
