"""The embedded engine's module: loaded without its Python layer, except to read rows in memory."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import pytest

from discreet.engines.duckdb.database import load_driver

FRESH = """
import sys
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.settings import Settings
from pathlib import Path
with DuckdbEngine(Settings(memory_limit=2**30, threads=1, private_log=Path("log"))) as engine:
    print(engine.fetch_rows("SELECT 1::DECIMAL(3, 1), DATE '2024-02-29', [1]"), "duckdb" in sys.modules)
    engine.load_table("texts", {"a": ["x", None]})
    print(engine.fetch_rows("SELECT a FROM texts"), "duckdb" in sys.modules)
"""


def test_layer_of_relations_is_loaded_only_for_rows_in_memory() -> None:
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    first, second = done.stdout.splitlines()
    assert first == "[(Decimal('1.0'), datetime.date(2024, 2, 29), [1])] False"
    assert second == "[('x',), (None,)] True"


def test_version_without_the_separate_module_is_loaded_as_a_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert load_driver().Error is duckdb.Error
    monkeypatch.setitem(sys.modules, "_duckdb", None)
    assert load_driver.__wrapped__() is duckdb
