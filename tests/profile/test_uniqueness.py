"""Uniqueness of column sets, checked by counting tuples in plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.engines.connection import connect
from discreet.errors import InputError, LimitReached
from discreet.hierarchy.cell_values import sort_values
from discreet.model.table_spec import SourceSpec
from discreet.profile.column_study import (
    SIZE_THRESHOLDS,
    CodedColumns,
    compute_uniqueness,
    find_most_identifying_sets,
    read_coded_columns,
    study_columns,
)
from discreet.settings import Settings
from tests.drawing import some_of

Rows = list[tuple[str | None, ...]]

CELLS = st.sampled_from(["1", "10", "9", "b", "a", None])
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=40)
)


def coded(rows: Rows) -> CodedColumns:
    """Return the codes of a table by the definition."""
    values, codes = [], []
    for column in zip(*rows, strict=True):
        occurring = sort_values({cell for cell in column if cell is not None})
        place = {value: number for number, value in enumerate(occurring)}
        values.append(tuple(occurring))
        codes.append(np.array([place.get(c, len(occurring)) for c in column], dtype=np.int32))  # type: ignore[arg-type]
    names = tuple(f"c{i}" for i in range(len(values)))
    return CodedColumns(names, tuple(values), tuple(codes), len(rows))


def sizes(rows: Rows, places: tuple[int, ...]) -> Counter[tuple[str | None, ...]]:
    return Counter(tuple(row[place] for place in places) for row in rows)


@given(rows=TABLES, data=st.data())
@hypothesis_settings(max_examples=some_of(80), deadline=None)
def test_set_is_counted_like_its_tuples(rows: Rows, data: st.DataObject) -> None:
    table = coded(rows)
    places = data.draw(st.lists(st.integers(0, len(table.names) - 1), unique=True).map(tuple))
    found = compute_uniqueness(table, [table.names[place] for place in places])
    classes = sizes(rows, places).values()
    assert (found.rows, found.distinct) == (len(rows), len(classes))
    assert found.unique_rows == sum(size for size in classes if size == 1)
    assert (found.smallest, found.mean) == (min(classes), len(rows) / len(classes))
    assert found.below == tuple(sum(n for n in classes if n < size) for size in SIZE_THRESHOLDS)


@given(rows=TABLES, size=st.integers(1, 3))
@hypothesis_settings(max_examples=some_of(60), deadline=None)
def test_worst_sets_have_most_unique_rows(rows: Rows, size: int) -> None:
    table = coded(rows)
    if size > len(table.names):
        with pytest.raises(InputError, match="sets of"):
            find_most_identifying_sets(table, table.names, size)
        return
    found = find_most_identifying_sets(table, table.names, size, best=3)
    every = sorted(
        (sum(n for n in sizes(rows, places).values() if n == 1))
        for places in combinations(range(len(table.names)), size)
    )
    assert [each.unique_rows for each in found.best] == every[::-1][:3]
    assert found.sets_examined == found.possible == len(every)


def test_many_values_are_numbered_without_overflow() -> None:
    rows = 3_000
    codes = tuple(np.arange(rows, dtype=np.int32)[::step] for step in (1, -1))
    values = tuple(str(i) for i in range(rows))
    table = CodedColumns(tuple("abcdef"), (values,) * 6, (*codes, codes[0] % 7, *codes, codes[1]), rows)
    assert compute_uniqueness(table, table.names).unique_rows == rows
    assert compute_uniqueness(table, ["c"]).distinct == 7


@pytest.mark.parametrize("few", [0, 10_000])
@given(rows=TABLES)
@hypothesis_settings(max_examples=some_of(15), deadline=None)
def test_columns_are_read_back_as_written(
    few: int, rows: Rows, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("coded") / "table.csv"
    width = len(rows[0])
    lines = [",".join(f"c{i}" for i in range(width))]
    lines += [",".join("?" if cell is None else f'"{cell}"' for cell in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = Settings.from_environment()
    with connect(settings) as engine, pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.profile.column_study._FEW_ENTRIES", few)
        table = engine.open_source(SourceSpec(path=path, null_values=("?",)))
        found = read_coded_columns(engine, table, memory_limit=settings.memory_limit)
    assert found.names == tuple(f"c{i}" for i in range(width))
    assert Counter(texts(found)) == Counter(rows)
    expected = coded(rows)
    assert found.values == expected.values
    for name in found.names:
        assert found.counts(name).tolist() == expected.counts(name).tolist()


def texts(table: CodedColumns) -> Rows:
    decoded = [
        [(*values, None)[code] for code in codes.tolist()]
        for values, codes in zip(table.values, table.codes, strict=True)
    ]
    return list(zip(*decoded, strict=True))


def test_texts_read_as_null_later_give_the_same_as_at_once(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,age,city\n1,?,x\n2,7,?\n3,7,-9\n4,8,x\n", encoding="utf-8")
    with connect(settings) as engine:
        limit = settings.memory_limit
        plain = study_columns(engine, SourceSpec(path=path), memory_limit=limit)
        at_once = study_columns(engine, SourceSpec(path=path, null_values=("?", "-9")), memory_limit=limit)
    later = plain.with_null_values(("?", "-9"))
    assert later.coded.values == at_once.coded.values
    assert Counter(texts(later.coded)) == Counter(texts(at_once.coded))
    assert later.examples("age") == ("7", "8")
    assert plain.coded.values[1] == ("7", "8", "?")


def test_codes_that_would_not_fit_are_refused(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,2\n" * 100, encoding="utf-8")
    with connect(settings) as engine:
        table = engine.open_source(SourceSpec(path=path))
        with pytest.raises(LimitReached, match="100 rows of 2 columns"):
            read_coded_columns(engine, table, memory_limit=1_000)


def test_missing_column_is_refused(settings: Settings) -> None:
    with pytest.raises(InputError, match="the column 'z' does not exist"):
        compute_uniqueness(coded([("1",)]), ["z"])
