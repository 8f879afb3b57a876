"""Equal rows grouped and counted: when this happens, and that no file reveals it."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.recoding import direct_recoding
from discreet.recoding.direct_recoding import expected_combinations
from discreet.settings import Settings
from tests.drawing import in_turn

SPEC: dict[str, Any] = {
    "attributes": {
        "town": {"role": "quasi-identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
        "illness": {"role": "sensitive"},
        "ward": {"role": "insensitive"},
    }
}


def people(rows: int = 400, *, wards: pa.DataType | None = None) -> pa.Table:
    random = Random(5)
    columns = {
        "town": [random.choice(["Ulm", "Kiel", None]) for _ in range(rows)] + ["Bonn"],
        "age": [random.choice([21, 22, 35]) for _ in range(rows)] + [99],
        "illness": [random.choice(["flu", "gout", None, ""]) for _ in range(rows)] + ["rare"],
        "ward": [random.choice([0, 1]) for _ in range(rows)] + [7.5 if wards == pa.float64() else 7],
    }
    table = pa.table(columns)
    return table if wards is None else table.set_column(3, "ward", table["ward"].cast(wards))


@pytest.fixture
def grouped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the statements that group rows."""
    seen: list[str] = []
    create = DuckdbEngine.create_table

    def spied(self: DuckdbEngine, name: str, query: str, **options: bool) -> None:
        if "r.number AS q0" in query and "count(*) AS n" in query:
            seen.append(query)
        create(self, name, query, **options)

    monkeypatch.setattr(DuckdbEngine, "create_table", spied)
    return seen


@pytest.mark.parametrize(
    ("columns", "ending", "suppressed"),
    in_turn(
        [["town", "age", "illness", "ward"], ["town", "age"]], ["csv", "parquet"], ["drop", "star"], rounds=2
    ),
)
def test_file_of_grouped_rows_is_the_same(
    columns: list[str],
    ending: str,
    suppressed: str,
    grouped: list[str],
    settings: Settings,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = {"attributes": {name: SPEC["attributes"][name] for name in columns}}
    table = discreet.open(people().select(columns), spec, settings=settings)
    written = []
    for pays in (0, 10**9):
        monkeypatch.setattr(direct_recoding, "_ROWS_PER_COMBINATION", pays)
        path = out / f"{pays}.{ending}"
        release = table.publish({"age": 1}, path, k=2, max_suppressed="5%", suppressed_rows=suppressed)
        assert release.suppressed == 1
        assert len(grouped) == 1
        written.append(path.read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("kind", "counts"), [(None, True), (pa.float64(), False), (pa.decimal128(22, 1), True)]
)
def test_cells_with_equal_texts_only_are_counted(
    kind: pa.DataType | None, counts: bool, grouped: list[str], settings: Settings, out: Path
) -> None:
    """Only types whose equal cells have equal texts are grouped; 0.0 and -0.0 are equal, but two cells."""
    table = discreet.open(people(wards=kind), SPEC, settings=settings)
    table.publish({"age": 1}, out / "r.parquet", k=2, max_suppressed="5%")
    assert bool(grouped) == counts


def test_many_different_cells_are_not_counted(grouped: list[str], settings: Settings, out: Path) -> None:
    table = people()
    numbered = table.set_column(3, "ward", pa.array(range(len(table))))
    discreet.open(numbered, SPEC, settings=settings).publish(
        {"age": 1}, out / "a.csv", k=2, max_suppressed="5%"
    )
    assert not grouped


@pytest.mark.parametrize(("most", "counts"), [(2, True), (1, False)])
def test_wide_rows_are_not_counted(
    most: int,
    counts: bool,
    grouped: list[str],
    settings: Settings,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wide rows are not grouped, and not sampled either, because that takes memory per column."""
    monkeypatch.setattr(direct_recoding, "_MOST_COLUMNS", most)
    table = discreet.open(people(), SPEC, settings=settings)
    table.publish({"age": 1}, out / "a.csv", k=2, max_suppressed="5%")
    assert bool(grouped) == counts


def test_an_order_that_is_drawn_counts_nothing(grouped: list[str], settings: Settings, out: Path) -> None:
    table = discreet.open(people(), SPEC, settings=settings)
    table.publish({"age": 1}, out / "a.csv", k=2, max_suppressed="5%", row_order="random")
    assert not grouped


@pytest.mark.parametrize(
    ("sizes", "cells"), [([1, 3, 3], [2, 1, 1]), ([4, 2], [5, 1]), ([2], [3]), ([], [1])]
)
def test_combinations_expected(sizes: list[int], cells: list[int]) -> None:
    """The expected combinations equal those of enumerating each row's values with their probability."""
    whole = sum(cells)
    expected = sum(
        len(set(drawn)) * prod(cells[cell] / whole for cell in drawn)
        for size in sizes
        for drawn in product(range(len(cells)), repeat=size)
    )
    assert expected_combinations(np.array(sizes, dtype=np.int64), np.array(cells)) == pytest.approx(expected)
