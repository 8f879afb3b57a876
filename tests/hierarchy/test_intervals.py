"""Interval hierarchies, checked against arithmetic with fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.intervals import IntervalHierarchy
from tests.hierarchy.soundness import assert_sound, paths, paths_of


def texts(*numbers: object) -> list[str]:
    return [str(number) for number in numbers]


def test_whole_numbers() -> None:
    source = IntervalHierarchy.of([5, 10, 20])
    hierarchy = source.build("age", texts(*range(17, 91)))
    assert hierarchy.height == 4
    assert paths_of(hierarchy, "17", "20", "39", "90") == [
        "17;15-19;10-19;0-19;*",
        "20;20-24;20-29;20-39;*",
        "39;35-39;30-39;20-39;*",
        "90;90-94;90-99;80-99;*",
    ]
    assert (hierarchy.origin, hierarchy.from_data) == ("intervals of 5, 10 and 20", False)
    assert_sound(hierarchy, texts(*range(17, 91)))


def test_an_anchor() -> None:
    hierarchy = IntervalHierarchy.of(5, anchor=17).build("age", texts(16, 17, 21, 22))
    assert paths(hierarchy) == ["16;12-16;*", "17;17-21;*", "21;17-21;*", "22;22-26;*"]


def test_bottom_and_top_coding_cut_the_intervals() -> None:
    hierarchy = IntervalHierarchy.of([5, 10], lower=17, upper=88).build(
        "age", texts(3, 16, 17, 19, 20, 84, 85, 87, 88, 99)
    )
    assert paths(hierarchy) == [
        "3;<17;<17;*",
        "16;<17;<17;*",
        "17;17-19;17-19;*",
        "19;17-19;17-19;*",
        "20;20-24;20-29;*",
        "84;80-84;80-87;*",
        "85;85-87;80-87;*",
        "87;85-87;80-87;*",
        "88;≥88;≥88;*",
        "99;≥88;≥88;*",
    ]
    assert not hierarchy.from_data


def test_coding_alone() -> None:
    hierarchy = IntervalHierarchy.of(lower=1, upper=4).build("children", texts(0, 1, 3, 4, 12))
    assert paths(hierarchy) == ["0;<1;*", "1;1;*", "3;3;*", "4;≥4;*", "12;≥4;*"]
    assert hierarchy.origin == "open ends"


def test_ends_that_meet() -> None:
    hierarchy = IntervalHierarchy.of(10, lower=18, upper=18).build("age", texts(17, 18))
    assert paths(hierarchy) == ["17;<18;*", "18;≥18;*"]


def test_ends_from_the_data() -> None:
    source = IntervalHierarchy.of([5, 20], lower="data", upper="data")
    hierarchy = source.build("age", texts(17, 19, 20, 79, 80, 85, 87))
    assert paths(hierarchy) == [
        "17;<20;<20;*",
        "19;<20;<20;*",
        "20;20-24;20-39;*",
        "79;75-79;60-79;*",
        "80;80-84;80-84;*",
        "85;≥85;≥85;*",
        "87;≥85;≥85;*",
    ]
    assert source.from_data
    assert hierarchy.from_data
    assert paths(source.build("age", ["17"])) == ["17;15-19;0-19;*"]
    assert paths(source.build("age", ["17", "20"])) == ["17;<20;<20;*", "20;≥20;≥20;*"]
    one_end = IntervalHierarchy.of(5, lower=30, upper="data").build("age", ["17", "18"])
    assert paths(one_end) == ["17;<30;*", "18;<30;*"]
    assert source.build("age", []).height == 3


def test_negative_numbers_and_decimals_are_exact() -> None:
    hierarchy = IntervalHierarchy.of(["0.1", "0.2"]).build("x", ["-0.3", "-0.25", "0.3", "0.29999", "1e-1"])
    assert paths(hierarchy) == [
        "-0.3;[-0.3, -0.2[;[-0.4, -0.2[;*",
        "-0.25;[-0.3, -0.2[;[-0.4, -0.2[;*",
        "1e-1;[0.1, 0.2[;[0, 0.2[;*",
        "0.29999;[0.2, 0.3[;[0.2, 0.4[;*",
        "0.3;[0.3, 0.4[;[0.2, 0.4[;*",
    ]
    assert paths(IntervalHierarchy.of(5).build("x", ["-3", "4"])) == ["-3;[-5, 0[;*", "4;[0, 5[;*"]
    assert paths(IntervalHierarchy.of(5, lower=0).build("x", ["-3", "4"])) == ["-3;<0;*", "4;0-4;*"]
    assert paths(IntervalHierarchy.of(1).build("x", ["3", "03", "3.0"])) == ["03;3;*", "3;3;*", "3.0;3;*"]


def test_numbers_wider_than_a_machine_word() -> None:
    big = 10**40
    hierarchy = IntervalHierarchy.of([10, 10**45]).build("x", texts(big + 9, big + 10, -big, 7))
    assert paths_of(hierarchy, str(big + 9), str(big + 10)) == [
        f"{big + 9};[{big}, {big + 10}[;[0, {10**45}[;*",
        f"{big + 10};[{big + 10}, {big + 20}[;[0, {10**45}[;*",
    ]
    small = IntervalHierarchy.of([10, 10**45]).build("x", ["7"])
    assert paths(small) == [f"7;0-9;0-{10**45 - 1};*"]


def test_irregular_bounds() -> None:
    source = IntervalHierarchy.of(breaks=[18, 25, 35, 50, 65])
    hierarchy = source.build("age", texts(3, 17, 18, 24, 25, 49, 50, 64, 65, 104))
    assert paths(hierarchy) == [
        *("3;<18;*", "17;<18;*", "18;18-24;*", "24;18-24;*", "25;25-34;*", "49;35-49;*"),
        *("50;50-64;*", "64;50-64;*", "65;≥65;*", "104;≥65;*"),
    ]
    assert (hierarchy.origin, hierarchy.from_data) == ("intervals cut at 18, 25, 35, 50 and 65", False)
    assert source.build("age", []).height == 2


def test_bounds_in_several_levels_after_widths_and_between_ends() -> None:
    source = IntervalHierarchy.of([5], lower=5, upper=90, breaks=[[20, 35, 65], [35]])
    assert paths(source.build("age", texts(3, 7, 20, 34, 35, 89, 90))) == [
        "3;<5;<5;<5;*",
        "7;5-9;5-19;5-34;*",
        "20;20-24;20-34;5-34;*",
        "34;30-34;20-34;5-34;*",
        "35;35-39;35-64;35-89;*",
        "89;85-89;65-89;35-89;*",
        "90;≥90;≥90;≥90;*",
    ]
    assert source.origin == "intervals of 5, cut at 20, 35 and 65"
    mixed = IntervalHierarchy.of(breaks=["-0.5", 0, 10]).build("x", ["-0.51", "-0.5", "0", "9.99", "10"])
    assert paths(mixed) == [
        *("-0.51;<-0.5;*", "-0.5;[-0.5, 0[;*", "0;[0, 10[;*", "9.99;[0, 10[;*", "10;≥10;*")
    ]


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
def test_bounds_are_those_of_a_plain_walk(numbers: list[int], bounds: list[int], data: st.DataObject) -> None:
    coarse = sorted(data.draw(st.sets(st.sampled_from(bounds), min_size=1)))
    lower = data.draw(st.none() | st.integers(0, 30))
    upper = data.draw(st.none() | st.integers(lower or 0, 60))
    levels = [sorted(bounds), coarse]
    hierarchy = IntervalHierarchy.of(breaks=levels, lower=lower, upper=upper).build("x", texts(*numbers))
    assert_sound(hierarchy, texts(*numbers))
    for number in numbers:
        labels = [plain_interval(number, level, lower, upper) for level in levels]
        assert hierarchy.path(hierarchy.code_of_leaf[str(number)]) == (str(number), *labels, "*")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"breaks": [[]]}, "breaks = []"),
        ({"breaks": [5, 5]}, "breaks = [5, 5]"),
        ({"breaks": [[5, 9], [7]]}, "the bound 7 is not a bound of the level before"),
        ({"breaks": [5, 12], "widths": [5]}, "the bound 12 is inside an interval of width 5"),
        ({"breaks": [5, "x"]}, "break = 'x' is not a number"),
        ({"breaks": [5], "lower": "data"}, "intervals without a width"),
        ({"breaks": []}, "breaks = [18, 35, 65]"),
    ],
)
def test_wrong_bounds_are_refused(options: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError) as caught:
        IntervalHierarchy.of(**options)
    assert part in str(caught.value)


def test_others_stay_as_they_are() -> None:
    hierarchy = IntervalHierarchy.of([5], others=["unknown", "99"]).build("age", ["99", "98", "unknown"])
    assert paths(hierarchy) == ["98;95-99;*", "99;99;*", "unknown;unknown;*"]
    assert_sound(hierarchy, ["99", "98", "unknown"])


BAD_OPTIONS = {
    "no width": ({}, "without a width"),
    "width zero": ({"widths": [0]}, "width 0"),
    "width below zero": ({"widths": [-5]}, "width -5"),
    "width no number": ({"widths": ["five"]}, "width = 'five' is not a number"),
    "width infinite": ({"widths": [float("inf")]}, "width = 'inf' is not a number"),
    "width a truth value": ({"widths": [True]}, "is not a number"),
    "no multiple": ({"widths": [5, 12]}, "width 12 after width 5: such intervals do not nest"),
    "no multiple in decimals": ({"widths": [0.2, 0.5]}, "width 0.5 after width 0.2"),
    "the same width": ({"widths": [5, 5]}, "a multiple of 5, larger than it"),
    "falling widths": ({"widths": [10, 5]}, "width 5 after width 10"),
    "anchor no number": ({"widths": [5], "anchor": "x"}, "anchor = 'x' is not a number"),
    "ends crossed": ({"widths": [5], "lower": 9, "upper": 8}, "lower = 9 above upper = 8"),
    "an end from the data without a width": ({"lower": "data"}, "without a width"),
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_wrong_options_are_refused(name: str) -> None:
    options, part = BAD_OPTIONS[name]
    with pytest.raises(InputError) as caught:
        IntervalHierarchy.of(**options)  # type: ignore[arg-type]
    assert part in str(caught.value)


@pytest.mark.parametrize("text", ["?", "NaN", "inf", "1,000", "1_000", "٣", "12-", "", "1e9999", "0x10"])
def test_a_value_that_is_no_number_is_named(text: str) -> None:
    with pytest.raises(InputError) as caught:
        IntervalHierarchy.of(5).build("age", ["17", text])
    assert "attribute 'age'" in str(caught.value)
    assert "null_values" in str(caught.value)
    if text:
        assert f"'{text}' of the data is not a number" in str(caught.value)
        assert f'others = ["{text}"]' in str(caught.value)


def test_another_value_must_not_read_like_an_interval() -> None:
    with pytest.raises(InputError, match="'20-24' under others equals an interval"):
        IntervalHierarchy.of(5, others=["20-24"]).build("age", ["21"])


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**7), max_value=10**7, places=3)


@given(
    st.lists(st.one_of(NUMBERS, st.integers(-(10**20), 10**20).map(Decimal)), min_size=1, max_size=30),
    st.decimals("0.01", 500, places=2),
    st.lists(st.integers(2, 7), max_size=3),
    NUMBERS,
    st.tuples(NUMBERS, NUMBERS).map(sorted),
)
def test_every_number_falls_where_fractions_say(
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
