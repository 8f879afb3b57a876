"""A subset of a table, and the population beside it, counted in every place as plain Python counts them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.frequency.count import count_frequency_set
from discreet.frequency.population import joined
from discreet.model.frequency_set import FrequencySet
from discreet.model.table_spec import NullPolicy, SourceSpec, Subset, TableSpec
from tests.every_engine.places import SLOW_ON_SPARK, Columns, Place
from tests.every_engine.test_counting import drawn_enough
from tests.frequency.conftest import FirstLetter, table_spec

CELLS = st.sampled_from(["ab", "ac", "b", "", None])
PEOPLE = st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["s", "t", None]), st.booleans()), max_size=14)
Rows = list[tuple[Any, ...]]
Types = Counter[tuple[str | None, ...]]


def columns_of(rows: Rows, names: str = "xys") -> Columns:
    return {name: ("VARCHAR", [row[i] for row in rows]) for i, name in enumerate(names)}


def counted(place: Place, spec: TableSpec) -> FrequencySet:
    with place.connect(spec.source) as engine:
        return count_frequency_set(engine, spec, place.settings)


def texts_of(table: FrequencySet, codes: Any, counts: Any) -> Types:
    """Row types by their texts."""
    leaves = [(*hierarchy.leaves, None) for hierarchy in table.hierarchies]
    return Counter(
        {
            tuple(leaves[i][code] for i, code in enumerate(row)): count
            for row, count in zip(codes.tolist(), counts.tolist(), strict=True)
        }
    )


def check(table: FrequencySet, rows: Rows, people: Rows) -> None:
    """Rows and people of each combination, apart and together."""
    own, everybody = Counter(row[:2] for row in rows), Counter(row[:2] for row in people)
    assert table.population is not None
    assert texts_of(table, table.codes, table.counts) == own
    assert texts_of(table, table.population.codes, table.population.counts) == everybody
    assert table.population.people == len(people)
    both, found = joined(table)
    assert texts_of(both, both.codes, found) == everybody
    assert both.counts.tolist() == [*table.counts.tolist(), *[0] * (len(everybody) - len(own))]
    assert both.codes[: table.row_types].tolist() == table.codes.tolist()
    for sets, whole in zip(table.sensitive, both.sensitive, strict=True):
        assert whole.offsets.tolist()[: table.row_types + 1] == sets.offsets.tolist()
        assert set(whole.offsets.tolist()[table.row_types :]) == {len(sets.codes)}


def subset_of(source: SourceSpec, column: str = "study", values: tuple[str, ...] = ("true",)) -> TableSpec:
    spec = table_spec(replace(source, subset=Subset(column, values)), ["x", "y"], ["s"], FirstLetter())
    return replace(spec, population=source)


@examples(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PEOPLE, st.sampled_from(list(NullPolicy)))
def test_tiny_populations(place: Place, people: Rows, nulls: NullPolicy) -> None:
    """A subset of a table, and the same rows as a table of their own beside it."""
    if drawn_enough(place, 2):
        return
    kept = [row for row in people if nulls is NullPolicy.VALUE or None not in row[:2]]
    rows = [row for row in kept if row[3] and (nulls is NullPolicy.VALUE or row[2] is not None)]
    if not rows:
        return
    source = place.put({**columns_of(people), "study": ("BOOLEAN", [row[3] for row in people])}, nulls=nulls)
    spec = subset_of(source)
    check(counted(place, spec), rows, kept)
    apart = place.put(columns_of([row for row in people if row[3]]), nulls=nulls)
    register = place.put(columns_of(people, "xy"), nulls=nulls)
    check(counted(place, replace(spec, source=apart, population=register)), rows, kept)


@SLOW_ON_SPARK
def test_what_is_no_population_is_refused(place: Place) -> None:
    table = place.put(columns_of([("ab", "b", "s")] * 3 + [("ac", None, "t")]))
    register = place.put(columns_of([("ab", "b")] * 2 + [("ac", None)], "xy"))
    spec = replace(table_spec(table, ["x", "y"], ["s"]), population=register)
    with pytest.raises(InputError, match="of 1 combinations of quasi-identifiers it has fewer people"):
        counted(place, spec)
    lacking = place.put(columns_of([("ab",)] * 9, "x"))
    with pytest.raises(InputError, match="has no column 'y'"):
        counted(place, replace(spec, population=lacking))


@SLOW_ON_SPARK
def test_a_value_of_the_population_alone_needs_a_leaf(place: Place) -> None:
    table = place.put(columns_of([("ab", "b", "s")]))
    register = place.put(columns_of([("ab", "b"), ("?", "b")], "xy"))
    spec = replace(table_spec(table, ["x", "y"], ["s"], FirstLetter()), population=register)
    with pytest.raises(InputError, match="column 'x': '\\?' has no leaf"):
        counted(place, spec)


@SLOW_ON_SPARK
def test_a_subset_by_a_column_that_is_not_there(place: Place) -> None:
    source = place.put(columns_of([("ab", "b", "s")]))
    with pytest.raises(InputError, match="has no column 'study', which the subset is told by"):
        counted(place, subset_of(source))
    with pytest.raises(InputError, match="no rows"):
        counted(place, subset_of(source, "s", ("t",)))
    nothing = replace(source, null_values=("s",))
    with pytest.raises(InputError, match="no rows"):
        counted(place, subset_of(nothing, "s", ("s",)))
