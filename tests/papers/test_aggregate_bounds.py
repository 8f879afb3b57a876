"""Bounds on arrays against enumeration, and Theorem 2: generalized bounds contain the permuted ones."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as drawn
from hypothesis import strategies as st

from discreet.model.release_kind import NULL_CODE, SensitiveColumn
from papers.aggregate_bounds import GroupedNumbers, SelectionBounds, bound_generalized, bound_permuted
from tests.drawing import some_of
from tests.oracle import plain_bounds

AGGREGATES = ("rows", "values", "sum", "min", "max", "avg")
NULLABLE = ("min", "max", "avg")


def column_of(values: Sequence[int | float | None], scale: int = 0) -> SensitiveColumn:
    numbers = sorted({value for value in values if value is not None})
    codes = [NULL_CODE if value is None else numbers.index(value) for value in values]
    kind = np.float64 if any(isinstance(value, float) for value in numbers) else np.int64
    found = np.array(numbers, kind)
    return SensitiveColumn("salary", np.array(codes, dtype=np.int64), len(found), found, scale)


def grouped(groups: Sequence[Sequence[int | float | None]], scale: int = 0) -> GroupedNumbers:
    values = [value for group in groups for value in group]
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return GroupedNumbers.of(column_of(values, scale), labels, len(groups))


def bounds_of_query(bounds: SelectionBounds, query: int = 0) -> dict[str, tuple[Any, Any]]:
    """Return the bounds of one query; None denotes NULL."""
    some = bool(bounds.any_value[query])
    return {
        name: (getattr(bounds, f"{name}_lower")[query], getattr(bounds, f"{name}_upper")[query])
        if some or name not in NULLABLE
        else (None, None)
        for name in AGGREGATES
    }


def same(found: dict[str, tuple[Any, Any]], expected: dict[str, tuple[Any, Any]]) -> None:
    for name in AGGREGATES:
        for ours, theirs in zip(found[name], expected[name], strict=True):
            if name == "avg" and theirs is not None:
                assert ours == float(theirs), name
            else:
                assert ours == theirs, name


CELLS = st.one_of(st.integers(-4, 4), st.integers(-9, 9), st.none())
GROUPS = st.lists(st.lists(CELLS, min_size=1, max_size=5), min_size=1, max_size=3)


@st.composite
def draw_selection(draw: st.DrawFn) -> tuple[list[list[int | None]], list[int], list[bool], list[bool]]:
    groups = draw(GROUPS)
    hits = [draw(st.integers(0, len(group))) for group in groups]
    certain = [draw(st.booleans()) for _ in groups]
    possible = [whole or draw(st.booleans()) for whole in certain]
    return groups, hits, certain, possible


@drawn(max_examples=some_of(250))
@given(draw_selection())
def test_bounds_equal_those_of_enumeration(
    case: tuple[list[list[int | None]], list[int], list[bool], list[bool]],
) -> None:
    groups, hits, certain, possible = case
    values = grouped(groups)
    same(bounds_of_query(bound_permuted(values, np.array([hits]))), plain_bounds.permuted(groups, hits))
    found = bounds_of_query(bound_generalized(values, np.array([certain]), np.array([possible])))
    same(found, plain_bounds.generalized(groups, certain, possible))


@drawn(max_examples=some_of(60))
@given(GROUPS, st.data())
def test_generalized_bounds_contain_permuted_bounds(
    groups: list[list[int | None]], data: st.DataObject
) -> None:
    """Theorem 2: a class is certain if the query covers all its rows, possible if it meets at least one."""
    values = grouped(groups)
    rows = len(values.groups)
    selected = np.array(
        data.draw(st.lists(st.lists(st.booleans(), min_size=rows, max_size=rows), min_size=1))
    )
    hits = values.hits(selected)
    # The rows do not show whether the query's condition covers a class as a whole; both cases occur.
    whole = (hits == values.sizes) & np.array(data.draw(st.booleans()))
    wide, narrow = bound_generalized(values, whole, hits > 0), bound_permuted(values, hits)
    assert (wide.rows_lower <= narrow.rows_lower).all()
    assert (wide.rows_upper >= narrow.rows_upper).all()
    assert (wide.values_lower <= narrow.values_lower).all()
    assert (wide.values_upper >= narrow.values_upper).all()
    assert (wide.sum_lower <= narrow.sum_lower).all()
    assert (wide.sum_upper >= narrow.sum_upper).all()
    some = narrow.any_value
    assert (wide.any_value | ~some).all()
    for name in NULLABLE:
        assert (getattr(wide, f"{name}_lower")[some] <= getattr(narrow, f"{name}_lower")[some]).all()
        assert (getattr(wide, f"{name}_upper")[some] >= getattr(narrow, f"{name}_upper")[some]).all()


def test_sums_beyond_64_bits_are_exact() -> None:
    large = 2**62
    values = grouped([[large, large + 1, large + 2, None]])
    bounds = bound_permuted(values, np.array([[4]]))
    assert bounds.sum_lower[0] == bounds.sum_upper[0] == 3 * large + 3
    assert bounds.avg_lower[0] == float(large)


def test_sums_of_floats_are_rounded_outwards() -> None:
    cells = [0.1, 0.2, 0.3, 1e16, -1e16]
    values = grouped([cells])
    exact = sum(Fraction(cell) for cell in cells)
    bounds = bound_permuted(values, np.array([[5], [2]]))
    assert Fraction(float(bounds.sum_lower[0])) <= exact <= Fraction(float(bounds.sum_upper[0]))
    assert Fraction(float(bounds.avg_lower[0])) <= exact / 5 <= Fraction(float(bounds.avg_upper[0]))
    assert bounds.min_upper[1] == 0.3


@pytest.mark.parametrize("groups", [[], [[None, None]]])
def test_bounds_without_values_are_empty(groups: list[list[None]]) -> None:
    values = grouped(groups)
    hits = np.array([[1] * len(groups), [0] * len(groups)], dtype=np.int64)
    bounds = bound_permuted(values, hits)
    assert bounds.rows_upper.tolist() == [len(groups), 0]
    assert not bounds.any_value.any()
    assert bounds.sum_lower.tolist() == bounds.sum_upper.tolist() == [0, 0]
    assert np.isnan(bounds.avg_lower).all()
