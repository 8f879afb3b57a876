"""Tests of permuted releases on every engine: values stay in their groups, help tables are correct."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from discreet.audit import permuted_audit
from discreet.engines.base import Engine
from discreet.model.release_kind import HELP_NAME, ONE_TABLE_NAME, SENSITIVE_NAME, ReleaseForm
from discreet.model.table_spec import TableSpec
from tests.every_engine.permuting import GROUP, Released, Row, audited, counted, release, roles
from tests.every_engine.places import SLOW_ON_SPARK, Place
from tests.oracle.plain_help import Hits, help_rows, ordered

ODD = 'pay "gross", €; x'
AGE, TOWN = "the age's", "Ort"
REJECTED_AT_ONE_IN_A_MILLION = 35.89
"""The χ² value with 5 degrees of freedom that a fair generator exceeds once in a million runs."""

SLOW = "spark"
"""Places with slow statements: tests whose statements another test runs are not repeated there."""

ages = [31, 32, 33, None, 41, 42, 43, 44, 51, 52, 53, 54]
towns = ["Kiel", "Kiel", "O'Hara", "Kiel", None, "Ål", "", "Bonn", "Bonn", "Bonn", "a\\b", "Kiel"]
NAMES = [f"n{i}" for i in range(len(ages))]
NUMBERS = ["10", "7", "-3", None, "0", "10", "12", "400", "5", "6", "8", "9"]


def put(place: Place, house: str, values: Sequence[Any]) -> TableSpec:
    source = place.put(
        {
            AGE: ("INTEGER", ages),
            TOWN: ("VARCHAR", towns),
            ODD: (house, list(values)),
            "name": ("VARCHAR", NAMES),
        }
    )
    return roles(source, ODD, AGE, TOWN, name="name")


def exact(value: Any) -> Fraction | None:
    return None if value is None else Fraction(value)


def _by_name(found: Released, values: Sequence[Any]) -> dict[int, list[Any]]:
    """Return the values of each group's own rows, which a column names."""
    groups = found.groups_of("name")
    before: dict[int, list[Any]] = defaultdict(list)
    for name, value in zip(NAMES, values, strict=True):
        if name in groups:
            before[groups[name]].append(value)
    return before


def check_values(found: Released, values: Sequence[Any], k: int, e: int) -> None:
    """Check that rows are complete except for the value, and that each group has the values of its rows."""
    cells = zip(found.column(AGE), found.column(TOWN), strict=True)
    shown = dict(zip(found.column("name"), cells, strict=True))
    for name, age, town in zip(NAMES, ages, towns, strict=True):
        assert name not in shown or shown[name] == (age, town)
    before = _by_name(found, values)
    assert counted(found.values) == counted(before)
    assert sorted(before) == list(range(1, len(before) + 1))
    for group in before.values():
        known = {value for value in group if value is not None}
        assert len(known) >= k
        assert e == 0 or max(known) - min(known) >= e


def check_help(found: Released, slack: Fraction = Fraction(0)) -> None:
    """Check the help table against every set of a group's rows; sums may be wider by ``slack``."""
    expected = []
    for number, values in sorted(found.values.items()):
        group = [exact(value) for value in values]
        known = [value for value in group if value is not None]
        ends = zip(ordered(group), ordered(group, largest_first=True), strict=True)
        for hits, (bounds, (low, high)) in enumerate(zip(help_rows(group), ends, strict=True), 1):
            counts = (number, hits, *bounds.values, len(group), len(known))
            expected.append((*counts, sum(known, Fraction(0)), *_bounds(bounds), low, high))
    rows = [tuple(map(exact, row)) for row in found.rows[HELP_NAME]]
    if not slack:
        assert rows == expected
        return
    for row, plain in zip(rows, expected, strict=True):
        assert (*row[:6], *row[9:]) == (*plain[:6], *plain[9:])
        assert None not in (row[7], row[8])
        assert plain[7] - slack <= row[7] <= plain[7]
        assert plain[8] <= row[8] <= plain[8] + slack


def _bounds(found: Hits) -> tuple[Fraction | None, ...]:
    return (*found.sums, *found.least, *found.most)


def edit_cell(column: int, change: Callable[[Any], Any], row: int = 0) -> Callable[[list[Row]], list[Row]]:
    def edited(rows: list[Row]) -> list[Row]:
        kept = list(rows[row])
        kept[column] = change(kept[column])
        return [*rows[:row], tuple(kept), *rows[row + 1 :]]

    return edited


@SLOW_ON_SPARK
def test_decimals_with_null_are_permuted_and_audited(place: Place) -> None:
    cents = [-325, 1800, 1800, None, 2550, 4075, 4100, None, 5210, 5210, 0, 6150]
    values = [None if number is None else Decimal(number).scaleb(-2) for number in cents]
    found = release(place, put(place, "DECIMAL(9,2)", values), 2, 10)
    check_values(found, values, 2, 10)
    check_help(found)
    assert audited(place, found, {}).passed
    groups = found.column(GROUP)
    other = next(i for i, group in enumerate(groups) if group != groups[0])
    faults: list[dict[str, Callable[[list[Row]], list[Row]]]] = [
        {HELP_NAME: edit_cell(7, lambda sum_lower: sum_lower + Decimal("0.01"))},
    ]
    if place.name == "duckdb":  # the audit compares each cell by the same expressions everywhere
        at = found.names[ONE_TABLE_NAME].index(GROUP)
        faults += [{ONE_TABLE_NAME: edit_cell(at, lambda _: groups[other])}]
        faults += [{HELP_NAME: edit_cell(column, lambda _: Decimal(999))} for column in range(6, 15)]
        faults += [{HELP_NAME: edit_cell(column, lambda n: n + 1, row=1)} for column in range(6)]
        faults += [{HELP_NAME: lambda rows: rows[1:]}, {HELP_NAME: lambda rows: [*rows, rows[-1]]}]
        faults += [{ONE_TABLE_NAME: lambda rows: rows[1:]}]
    for edits in faults:
        assert not audited(place, found, edits).passed


@SLOW_ON_SPARK
def test_whole_numbers_of_63_bits_are_permuted(place: Place) -> None:
    large = 2**62
    values = [large, -large, large - 1, None, 5, 5, -7, large, 0, 0, -large, 12]
    found = release(place, put(place, "BIGINT", values), 3, 100, strategy="min-max")
    check_values(found, values, 3, 100)
    check_help(found)
    assert audited(place, found, {}).passed


@SLOW_ON_SPARK
def test_help_table_is_accepted_as_a_whole(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row has a value, and the engine keeps an order."""
    values = [2**40, -(2**40), 2**40 - 1, 3, 5, 5, -7, 2**40, 0, 0, 4, 12]
    found = release(place, put(place, "BIGINT", values), 3, 1)
    agreed: list[bool] = []
    whole = permuted_audit.help_table_agrees

    def noted(*given: Any) -> bool:
        agreed.append(whole(*given))
        return agreed[-1]

    monkeypatch.setattr(permuted_audit, "help_table_agrees", noted)
    assert audited(place, found, {}).passed
    assert agreed == [place.name in ("duckdb", "postgres")]
    for column in range(15) if place.name == "duckdb" else ():
        edits = {HELP_NAME: edit_cell(column, lambda n: n - 1, row=2)}
        assert not audited(place, found, edits).passed, column
    assert not any(agreed[1:])


@SLOW_ON_SPARK
def test_doubles_are_rounded_outwards(place: Place) -> None:
    values = [0.1, 0.2, 0.7, None, 1e15, -1e15, 3.3, -0.5, 12.25, 1e-9, 7.7, 0.3]
    found = release(place, put(place, "DOUBLE", values), 3)
    check_values(found, values, 3, 0)
    check_help(found, slack=Fraction(100))
    assert audited(place, found, {}).passed


@SLOW_ON_SPARK
def test_texts_of_numbers_stay_texts(place: Place) -> None:
    """Codes with leading zeros, and a column whose texts are exactly those of integers."""
    codes = ["010", "10", "0020", "007", "7", None, ".5", "1", "2", "3", "4", "5"]
    for texts, shown in ((codes, codes), (NUMBERS, [None if n is None else int(n) for n in NUMBERS])):
        found = release(place, put(place, "VARCHAR", texts), 2)
        assert counted(found.values) == counted(_by_name(found, shown))
        assert found.claims.numeric


@SLOW_ON_SPARK
@pytest.mark.parametrize("house", ["DOUBLE", "FLOAT"])
def test_two_zeros_are_one_value_among_infinities(place: Place, house: str) -> None:
    """Infinite numbers and NaN have no range; a zero has one text."""
    values = [0.0, -0.0, math.inf, -math.inf, 0.5, -0.0, 0.0, None, 0.0, 1.5, -0.0, 0.5]
    found = release(place, put(place, house, values), 2)
    assert not found.claims.numeric
    published = [value for group in found.values.values() for value in group]
    assert all(math.copysign(1, value) == 1 for value in published if value == 0)
    check_values(found, values, 2, 0)


@SLOW_ON_SPARK
def test_groups_of_a_recoding_may_have_texts(place: Place) -> None:
    """Classes by the first quasi-identifier, one of them suppressed; the anatomy form."""
    values = ["flu", "gout", "flu", "'x", "É", None, "gout", "flu", "a;b", "flu", "gout", "gout"]
    suppressed: list[int] = []

    def classes(codes: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
        made = codes[:, 0] // 4
        suppressed.append(int((made == 0).sum()))
        return np.where(made == 0, -1, made)

    spec = put(place, "VARCHAR", values)
    found = release(place, spec, 2, strategy="recoding", classes=classes, form=ReleaseForm.TWO_TABLES)
    assert len(found.rows[ONE_TABLE_NAME]) == len(found.rows[SENSITIVE_NAME]) == len(ages) - suppressed[0]
    check_values(found, values, 2, 0)
    assert ODD not in found.names[ONE_TABLE_NAME]
    for group, hits, least, most, rows, valued in found.rows[HELP_NAME]:
        of = found.values[group]
        assert (rows, valued) == (len(of), sum(value is not None for value in of))
        assert (least, most) == (max(0, hits - (rows - valued)), min(hits, valued))
    assert len(found.rows[HELP_NAME]) == len(found.rows[ONE_TABLE_NAME])
    if place.name == SLOW:
        return
    assert audited(place, found, {}).passed
    assert not audited(
        place, found, {SENSITIVE_NAME: lambda rows: [*rows[1:], (rows[0][0] + 1, "flu")]}
    ).passed


@pytest.mark.parametrize("strategy", ["random", "qi-aware"])
def test_other_partitions_meet_the_requirement(place: Place, strategy: str) -> None:
    if place.name == SLOW:
        pytest.skip("the statements of the tests above")
    values = [7, 1, 1, 4, 4, 9, 9, 12, None, 3, 3, 5]
    found = release(place, put(place, "INTEGER", values), 2, 2, strategy=strategy)
    check_values(found, values, 2, 2)
    check_help(found)


@SLOW_ON_SPARK
def test_every_permutation_is_equally_likely(place: Place) -> None:
    """A thousand groups that can only be three neighbouring values each; tied rows go to any group."""
    groups, size = (300 if place.name == SLOW else 1000), 3
    values = [10 * group + at for group in range(groups) for at in range(size)]
    names = list(range(groups * size))
    source = place.put(
        {"a": ("INTEGER", [1] * len(names)), "v": ("INTEGER", values), "name": ("INTEGER", names)}
    )
    found = release(place, roles(source, "v", "a", name="name"), size)
    at = found.names[ONE_TABLE_NAME]
    name, value = at.index("name"), at.index("v")
    rows = sorted((int(row[name]), int(row[value])) for row in found.rows[ONE_TABLE_NAME])
    drawn = np.array([moved % 10 for _, moved in rows]).reshape(groups, size)
    assert [moved // 10 for _, moved in rows] == np.repeat(np.arange(groups), size).tolist()
    order = {sequence: number for number, sequence in enumerate(permutations(range(size)))}
    counts = np.bincount([order[tuple(row)] for row in drawn.tolist()], minlength=6)
    assert ((counts - groups / 6) ** 2 / (groups / 6)).sum() < REJECTED_AT_ONE_IN_A_MILLION
    places = np.array([int(row[name]) for row in found.rows[ONE_TABLE_NAME]])
    # Rows of a group are adjacent, so that groups, not rows, are the independent draws: n is their number.
    assert abs(np.corrcoef(places, np.arange(len(places)))[0, 1]) * np.sqrt(groups) < 5


def test_rows_of_a_value_are_assigned_at_random(place: Place) -> None:
    """Values 0 to 5, 200 rows each: groups contain a few random rows of each."""
    if place.name == SLOW:
        pytest.skip("the statements of the tests above")
    rows = 1200
    values = [row % 6 for row in range(rows)]
    source = place.put(
        {
            "a": ("INTEGER", [1] * rows),
            "v": ("INTEGER", values),
            "name": ("INTEGER", list(range(rows))),
        }
    )
    counting: list[int] = []
    found = release(
        place, roles(source, "v", "a", name="name"), 2, watch=lambda engine: watched(engine, counting)
    )
    if place.name != "duckdb":
        assert max(counting) < rows / 2
    groups = found.groups_of("name")
    for value in range(6):
        of = np.array([groups[row] for row in range(value, rows, 6)])
        several = Counter(of.tolist())
        if len(several) > 1:
            largest = of == several.most_common(1)[0][0]
            correlation = np.corrcoef(largest, np.arange(len(of)))[0, 1]
            assert abs(correlation) * np.sqrt(len(of)) < 5


def watched(engine: Engine, counting: list[int]) -> None:
    """Count the rows that are loaded into the engine or fetched from it as arrays."""
    fetch, load = engine.fetch_arrays, engine.load_table

    def fetch_arrays(query: str) -> Any:
        found = fetch(query)
        counting.append(max((len(array) for array in found.values()), default=0))
        return found

    def load_table(name: str, columns: Any) -> None:
        counting.append(max((len(column) for column in columns.values()), default=0))
        load(name, columns)

    setattr(engine, "fetch_arrays", fetch_arrays)  # noqa: B010
    setattr(engine, "load_table", load_table)  # noqa: B010
