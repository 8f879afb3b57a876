"""Columns that are sums of others, checked against all sets of columns, added row by row."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.engines.connection import connect
from discreet.model.table_spec import SourceSpec
from discreet.profile.column_profile import MOST_SUMMED_COLUMNS, ColumnSum, find_column_sums, profile_columns
from discreet.settings import Settings
from discreet.verbs.proposal import init
from tests.drawing import some_of

Cells = dict[str, list[str | None]]


def found(cells: Cells, settings: Settings, null_values: tuple[str, ...] = ()) -> set[ColumnSum]:
    source = SourceSpec(data=pa.table(cells), null_values=null_values)
    with connect(settings, source) as engine:
        table = engine.open_source(source)
        sums = find_column_sums(engine, table, profile_columns(engine, table))
    assert len(sums) == len(set(sums))
    return set(sums)


def plain(cells: Cells) -> set[ColumnSum]:
    """Return the sums found by comparing each column with each set of others in exact numbers."""
    number = {n: [None if v is None else Fraction(v) for v in column] for n, column in cells.items()}
    sums = set()
    for total, column in number.items():
        if len({v for v in column if v is not None}) < 5:
            continue
        others = [n for n in number if n != total and len({v for v in number[n] if v is not None}) > 1]
        for size in (2, 3, 4):
            for parts in combinations(others, size):
                rows = [r for r in zip(column, *(number[p] for p in parts), strict=True) if None not in r]
                if len(rows) >= 20 and all(first == sum(rest) for first, *rest in rows):
                    sums.add(ColumnSum(total, parts, len(rows)))
            if any(each.total == total for each in sums):
                break
    return sums


def drawn(draw: random.Random) -> Cells:
    """Return columns of amounts, some of them sums of others, with NULLs and sometimes an error."""
    rows = draw.randrange(25, 60)
    cents: dict[str, list[int]] = {
        f"c{i}": [draw.randrange(-200, 20_000) for _ in range(rows)] for i in range(draw.randrange(2, 5))
    }
    for place in range(draw.randrange(4)):
        parts = draw.sample(sorted(cents), min(len(cents), draw.choice([2, 2, 3])))
        made = [sum(cents[part][row] for part in parts) for row in range(rows)]
        if draw.random() < 0.3:
            made[draw.randrange(rows)] += 1
        cents[f"t{place}"] = made
    share = draw.choice([0, 0.05, 0.3])
    return {
        name: [None if draw.random() < share else f"{v / 100:.2f}" for v in column]
        for name, column in cents.items()
    }


def test_sums_equal_those_of_plain_code(settings: Settings) -> None:
    draw = random.Random(4)
    several = none = 0
    for _ in range(some_of(40)):
        cells = drawn(draw)
        expected = plain(cells)
        assert found(cells, settings) == expected
        several, none = several + (len(expected) > 1), none + (not expected)
    assert several > 1
    assert none


def test_texts_for_null_are_not_numbers(settings: Settings) -> None:
    cells: Cells = {"a": [f"{i * i}" for i in range(40)], "b": [f"{7 * i + i % 3}" for i in range(40)]}
    cells["total"] = [f"{i * i + 7 * i + i % 3}" for i in range(40)]
    expected = {ColumnSum("total", ("a", "b"), 38)}
    for text in ("NaN", "NA", "-9"):
        columns = {name: [text, None, *column[2:]] for name, column in cells.items()}
        assert found(columns, settings, null_values=("-9",)) == expected


@pytest.mark.parametrize("number", [MOST_SUMMED_COLUMNS, 3 * MOST_SUMMED_COLUMNS])
def test_many_columns_are_cut_to_those_of_most_values(settings: Settings, number: int) -> None:
    draw = random.Random(2)
    cells: Cells = {f"q{i}": [str(draw.randrange(5)) for _ in range(300)] for i in range(number)}
    cells["a"] = [str(draw.randrange(9_000)) for _ in range(300)]
    cells["b"] = [str(draw.randrange(9_000)) for _ in range(300)]
    cells["total"] = [str(int(a or 0) + int(b or 0)) for a, b in zip(cells["a"], cells["b"], strict=True)]
    assert found(cells, settings) == {ColumnSum("total", ("a", "b"), 300)}


def test_init_reports_sums(tmp_path: Path, settings: Settings) -> None:
    rows = [
        f"{20 + i % 50};{(gross := 900 + 7919 * i % 5000)},50;{(tax := gross // 3)},25;{gross - tax},25\n"
        for i in range(60)
    ]
    (tmp_path / "pay.csv").write_text("age;gross;tax;net\n" + "".join(rows), encoding="utf-8")
    found = init(tmp_path / "pay.csv", settings=settings)
    assert "In every row that has the values, 'gross' = 'tax' + 'net'." in " ".join(str(found).split())
    assert found.as_json()["sums"] == [{"total": "gross", "parts": ["tax", "net"], "rows": 60}]
