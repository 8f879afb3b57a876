"""Interval hierarchies, checked against arithmetic with fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor

from hypothesis import given
from hypothesis import strategies as st

from discreet.hierarchy.intervals import IntervalHierarchy
from tests.hierarchy.soundness import assert_sound


def texts(*numbers: object) -> list[str]:
    return [str(number) for number in numbers]


def plain_interval(number: int, bounds: list[int], lower: int | None, upper: int | None) -> str:
    """Return the label of a non-negative whole number, by comparing it with one bound after the other."""
    if lower is not None and number < lower:
        return f"<{lower}"
    if upper is not None and number >= upper:
        return f"≥{upper}"
    start, end = lower, upper
    for bound in bounds:
        if bound <= number and (start is None or bound > start):
            start = bound
        if bound > number and (end is None or bound < end):
            end = bound
    if start is None or end is None:
        return f"<{end}" if start is None else f"≥{start}"
    return f"{start}-{end - 1}" if end - start > 1 else f"{start}"


@given(
    st.lists(st.integers(0, 60), unique=True, max_size=25),
    st.lists(st.integers(0, 60), unique=True, min_size=1, max_size=6),
    st.data(),
)
def test_bounds_equal_those_of_a_plain_walk(
    numbers: list[int], bounds: list[int], data: st.DataObject
) -> None:
    coarse = sorted(data.draw(st.sets(st.sampled_from(bounds), min_size=1)))
    lower = data.draw(st.none() | st.integers(0, 30))
    upper = data.draw(st.none() | st.integers(lower or 0, 60))
    levels = [sorted(bounds), coarse]
    hierarchy = IntervalHierarchy.of(breaks=levels, lower=lower, upper=upper).build("x", texts(*numbers))
    assert_sound(hierarchy, texts(*numbers))
    for number in numbers:
        labels = [plain_interval(number, level, lower, upper) for level in levels]
        assert hierarchy.path(hierarchy.code_of_leaf[str(number)]) == (str(number), *labels, "*")


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**7), max_value=10**7, places=3)


@given(
    st.lists(st.one_of(NUMBERS, st.integers(-(10**20), 10**20).map(Decimal)), min_size=1, max_size=30),
    st.decimals("0.01", 500, places=2),
    st.lists(st.integers(2, 7), max_size=3),
    NUMBERS,
    st.tuples(NUMBERS, NUMBERS).map(sorted),
)
def test_every_number_is_in_the_interval_that_fractions_compute(
    numbers: list[Decimal], width: Decimal, factors: list[int], anchor: Decimal, ends: list[Decimal]
) -> None:
    values = list(dict.fromkeys(str(number) for number in numbers))
    widths = [width]
    for factor in factors:
        widths.append(widths[-1] * factor)
    hierarchy = IntervalHierarchy.of(widths, anchor=anchor, lower=ends[0], upper=ends[1]).build("x", values)
    assert_sound(hierarchy, values)
    for level, step in enumerate(widths, start=1):
        places: dict[str, object] = {}
        for value in values:
            number, label = Fraction(value), hierarchy.path(hierarchy.code_of_leaf[value])[level]
            place: object = floor((number - Fraction(anchor)) / Fraction(step))
            if number < Fraction(ends[0]):
                place = "below"
            elif number >= Fraction(ends[1]):
                place = "above"
            assert places.setdefault(label, place) == place
            if isinstance(place, int) and label.startswith("["):
                low, high = label[1:-1].split(", ")
                assert Fraction(low) <= number < Fraction(high)
            elif isinstance(place, int):
                low, _, high = label.partition("-")
                assert int(low) <= number <= int(high or low)
        assert len(set(places.values())) == len(places)
