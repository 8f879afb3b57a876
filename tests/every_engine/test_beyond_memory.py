"""Tests of row types beyond the memory limit: every engine gives the same release as memory, to the row."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.duckdb.database import config
from discreet.errors import LimitReached
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.every_engine.places import SLOW_ON_SPARK, Place
from tests.every_engine.test_search import ODD, drawn, spec_at, spec_of

LIMIT = 12_500
NAMES = [ODD, "number", "born", "diagnosis"]


def rows_of(path: Path) -> Counter[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(tuple(row) for row in csv.reader(file))


@pytest.fixture
def small(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A memory limit too small for any frequency set; the engines keep their own."""

    def with_memory(_settings: Settings, source: SourceSpec | None = None) -> Engine:
        return connect(settings, source)

    def of_engine(_limit: int, threads: int, spill: str) -> dict[str, Any]:
        return dict(config(settings.memory_limit, threads, spill))

    monkeypatch.setattr("discreet.verbs.table_context.connect", with_memory)
    monkeypatch.setattr("discreet.engines.duckdb.database.config", of_engine)
    return replace(settings, memory_limit=LIMIT)


@pytest.fixture
def specs(place: Place) -> tuple[TableSpec, TableSpec]:
    """One table twice: as texts in memory, and in its place."""
    columns = drawn(7, NAMES, 260, subjects=False)
    spec = spec_of(columns, ["diagnosis"])
    return spec, spec_at(spec, place, columns)


@SLOW_ON_SPARK
def test_mondrian_in_the_database_publishes_the_same_as_in_memory(
    specs: tuple[TableSpec, TableSpec], settings: Settings, small: Settings, out: Path
) -> None:
    whole = Table(specs[0], settings).publish("mondrian", out / "whole.csv", k=3, l=2)
    stored = Table(specs[1], small).publish("mondrian", out / "stored.csv", k=3, l=2)
    assert stored.recoding is not None
    assert int(dict(stored.recoding.work)["fragments cut in the engine"]) > 1
    assert rows_of(stored.path) == rows_of(whole.path)
    assert stored.audit.report == whole.audit.report


@SLOW_ON_SPARK
def test_search_in_the_database_publishes_the_same_as_in_memory(
    specs: tuple[TableSpec, TableSpec], settings: Settings, small: Settings, out: Path
) -> None:
    memory, table = Table(specs[0], settings), Table(specs[1], small)
    request = {"k": 3, "l": 2, "max_suppressed": "10%"}
    expected = memory.search("samarati", **request)
    found = table.search("samarati", **request)
    assert found.solutions == expected.solutions != ()
    assert found.levels == expected.levels
    whole = memory.publish(expected.levels, out / "whole.csv", **request)
    stored = table.publish(found.levels, out / "stored.csv", **request)
    assert stored.suppressed == whole.suppressed
    assert rows_of(stored.path) == rows_of(whole.path)
    assert stored.audit.report == whole.audit.report


def test_negotiation_beyond_memory_names_the_verbs_of_the_database(
    specs: tuple[TableSpec, TableSpec], small: Settings
) -> None:
    with pytest.raises(LimitReached) as caught:
        Table(specs[1], small).negotiate(k=3)
    assert "discreet search" in str(caught.value)
    assert "model='mondrian'" in str(caught.value)
