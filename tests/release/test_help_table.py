"""Help tables, checked against all subsets of a group's rows: negatives, NULLs, ties, decimals, 63 bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables
from discreet.permutation.help_table_lines import LINES_PER_BATCH, generate_help_lines
from discreet.sql import help_table
from discreet.sql.value_permutation import number_of
from tests.drawing import some_of
from tests.oracle.plain_help import Hits, help_rows, ordered

LARGE = 2**62
Groups = Sequence[Sequence[str | None]]

groups_of_whole_numbers = st.lists(
    st.lists(
        st.none() | st.integers(-4, 4).map(str) | st.sampled_from([str(LARGE), str(-LARGE), str(LARGE - 1)]),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=3,
)
groups_of_decimals = st.lists(
    st.lists(st.none() | st.decimals(-3, 3, places=2).map(lambda d: f"{d:f}"), min_size=1, max_size=6),
    min_size=1,
    max_size=3,
)


def built(engine: Engine, groups: Groups, scale: int | None, types: help_table.HelpTypes) -> list[Any]:
    """Return the rows of the help table that SQL builds from groups of texts."""
    number = number_of(engine.dialect, "v", scale)
    with TemporaryTables(engine) as tables:
        of = np.repeat(np.arange(1, len(groups) + 1), [len(group) for group in groups])
        values = tables.load({"g": of, "v": [text for group in groups for text in group]})
        totals = tables.create(help_table.group_totals(engine.dialect, values, "g", number, types))
        in_order = tables.create(help_table.ranked_values(engine.dialect, values, totals, "g", number, types))
        query = help_table.help_query(engine.dialect, totals, in_order, types)
        rows = engine.fetch_rows(f"{query} ORDER BY g, h")
        if all(text is not None for group in groups for text in group):
            kept = tables.create(help_table.compact_query(engine.dialect, totals, in_order, types, "INTEGER"))
            assert sorted(engine.fetch_rows(help_table.expanded_query(engine.dialect, kept))) == rows
            if scale is not None:
                widest = max(
                    abs(int(Decimal(text).scaleb(scale))) for group in groups for text in group if text
                )
                if help_table.SortKeyLayout(widest, scale).fit(len(groups)):
                    for at_once in (1, 2, 100):
                        form = help_table.SortKeyLayout(widest, scale)
                        query_of_lines = by_arrays(engine, tables, values, number, form, types, at_once)
                        assert engine.fetch_rows(query_of_lines) == rows
        return rows


def by_arrays(
    engine: Engine,
    tables: TemporaryTables,
    values: str,
    number: str,
    form: help_table.SortKeyLayout,
    types: help_table.HelpTypes,
    at_once: int,
) -> str:
    """Return the query of the help table built from arrays of values."""
    keys = engine.fetch_arrays(help_table.group_value_keys(engine.dialect, values, "g", number, form))
    lines = tables.load_parts(generate_help_lines(keys[help_table.SORT_KEY], form, at_once))
    return help_table.expanded_from_units(engine.dialect, lines, types, form.scale)


def expected(groups: Groups, read: Callable[[str], Any] = Decimal) -> list[tuple[Any, ...]]:
    """Return the expected help table by enumeration."""
    rows: list[tuple[Any, ...]] = []
    for number, texts in enumerate(groups, 1):
        group = [None if text is None else Fraction(read(text)) for text in texts]
        known = [v for v in group if v is not None]
        ends = zip(ordered(group), ordered(group, largest_first=True), strict=True)
        for hits, (found, (low, high)) in enumerate(zip(help_rows(group), ends, strict=True), 1):
            counts = (number, hits, *found.values, len(group), len(known), sum(known, Fraction(0)))
            rows.append((*counts, *bounds(found), low, high))
    return rows


def bounds(found: Hits) -> tuple[Fraction | None, ...]:
    return (*found.sums, *found.least, *found.most)


def exact(rows: Sequence[Sequence[Any]]) -> list[tuple[Fraction | None, ...]]:
    return [tuple(None if cell is None else Fraction(cell) for cell in row) for row in rows]


@given(groups_of_whole_numbers)
@settings(max_examples=some_of(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_help_table_of_whole_numbers(engine: Engine, groups: Groups) -> None:
    types = help_table.HelpTypes("DECIMAL(38,0)", "BIGINT", 0)
    assert exact(built(engine, groups, 0, types)) == exact(expected(groups))


@given(groups_of_decimals)
@settings(max_examples=some_of(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_help_table_of_decimals(engine: Engine, groups: Groups) -> None:
    types = help_table.HelpTypes("DECIMAL(38,2)", "DECIMAL(18,2)", 2)
    assert exact(built(engine, groups, 2, types)) == exact(expected(groups))


@given(
    st.lists(
        st.lists(st.none() | st.floats(-1e12, 1e12).map(repr), min_size=1, max_size=6), min_size=1, max_size=2
    )
)
@settings(max_examples=some_of(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sums_of_doubles_are_rounded_outwards(engine: Engine, groups: Groups) -> None:
    rows = built(engine, groups, None, help_table.HelpTypes("DOUBLE", "DOUBLE", None))
    for row, plain in zip(exact(rows), expected(groups, float), strict=True):
        assert row[:6] == plain[:6]
        assert row[9:] == plain[9:]
        texts = [text for text in groups[plain[0] - 1] if text is not None]
        slack = 20 * Fraction(2) ** -52 * sum(abs(Fraction(float(text))) for text in texts)
        low, high = row[7], row[8]
        assert low is not None
        assert high is not None
        assert plain[7] - slack <= low <= plain[7]
        assert plain[8] <= high <= plain[8] + slack


@pytest.mark.parametrize("rows", [2, 300_000])
def test_stored_lines_give_the_help_table_in_order(engine: Engine, tmp_path: Path, rows: int) -> None:
    """Stored lines give the help table in order of group and hits, also in a file of several row groups."""
    types = help_table.HelpTypes("BIGINT", "BIGINT", 0)
    groups = np.random.default_rng(rows).permutation(np.repeat(np.arange(rows // 2), 2))
    with TemporaryTables(engine) as tables:
        values = tables.load({"g": groups, "v": np.arange(rows)})
        totals = tables.create(help_table.group_totals(engine.dialect, values, "g", "v", types))
        ordered = tables.create(help_table.ranked_values(engine.dialect, values, totals, "g", "v", types))
        query = help_table.help_query(engine.dialect, totals, ordered, types)
        kept = tables.create(help_table.compact_query(engine.dialect, totals, ordered, types, "INTEGER"))
        query_of_lines = help_table.expanded_query(engine.dialect, kept)
        assert engine.column_types(query_of_lines) == engine.column_types(query)
        path = tmp_path / "help.parquet"
        engine.write_file(query_of_lines, path, "parquet", help_table.help_columns("g", numeric=True))
        due = engine.fetch_rows(f"{query} ORDER BY g, h")
        assert duckdb.sql(f"SELECT * FROM '{path}'").fetchall() == due
        query_of_lines = by_arrays(
            engine, tables, values, "v", help_table.SortKeyLayout(rows, 0), types, LINES_PER_BATCH
        )
        assert engine.column_types(query_of_lines) == engine.column_types(query)
        path = tmp_path / "lines.parquet"
        engine.write_file(query_of_lines, path, "parquet", help_table.help_columns("g", numeric=True))
        assert duckdb.sql(f"SELECT * FROM '{path}'").fetchall() == due


def test_sort_keys_that_exceed_one_number_do_not_fit() -> None:
    assert help_table.SortKeyLayout(2**31 - 1, 2).fit(2**31 - 2)
    assert not help_table.SortKeyLayout(2**31 - 1, 2).fit(2**31 - 1)
    assert not help_table.SortKeyLayout(1, 19).fit(1)
    assert help_table.SortKeyLayout(0, 0).fit(2**62)


def test_help_table_of_categories_has_only_counts(engine: Engine) -> None:
    with TemporaryTables(engine) as tables:
        values = tables.load({"g": np.array([1, 1, 1, 2]), "v": ["flu", None, "gout", "flu"]})
        query = help_table.count_query(engine.dialect, values, "g", "v")
        rows = engine.fetch_rows(f"{query} ORDER BY g, h")
    assert rows == [(1, 1, 0, 1, 3, 2), (1, 2, 1, 2, 3, 2), (1, 3, 2, 2, 3, 2), (2, 1, 1, 1, 1, 1)]


def test_group_without_values_has_null_bounds(engine: Engine) -> None:
    types = help_table.HelpTypes("BIGINT", "BIGINT", 0)
    rows = built(engine, [[None, None]], 0, types)
    assert rows == [(1, h, 0, 0, 2, 0, 0, 0, 0, *[None] * 6) for h in (1, 2)]
