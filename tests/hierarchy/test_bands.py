"""Texts for ranges of numbers, and texts ordered by their meaning."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from discreet.errors import InputError
from discreet.hierarchy.bands import order_bands, parse_band
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.hierarchy.ordered_values import order_education_levels

OPEN = float("inf")

BANDS: list[tuple[str, tuple[float, float] | None]] = [
    ("120 +", (120, OPEN)),
    ("90+", (90, OPEN)),
    ("<1", (-OPEN, 1)),
    ("Less than 1 year", (-OPEN, 1)),
    ("more than 80", (80, OPEN)),
    ("70 or Older", (70, OPEN)),
    ("65 years and over", (65, OPEN)),
    ("85 und älter", (85, OPEN)),
    ("unter 18 Jahren", (-OPEN, 18)),
    ("plus de 65 ans", (65, OPEN)),
    ("moins de 18 ans", (-OPEN, 18)),
    ("100 y más", (100, OPEN)),
    ("≥65", (65, OPEN)),
    ("bis 17", (-OPEN, 17)),
    ("20 to 24", (20, 24)),
    ("von 20 bis unter 30", (20, 30)),
    ("[70-80)", (70, 80)),
    ("[70, 80[", (70, 80)),
    ("18–21", (18, 21)),
    ("20 - 24 Jahre", (20, 24)),
    ("<10k", (-OPEN, 10_000)),
    ("100k+", (100_000, OPEN)),
    ("10-20k", (10_000, 20_000)),
    ("$10,000 - $19,999", (10_000, 19_999)),
    ("> $500,000", (500_000, OPEN)),
    ("1.000-1.999 €", (1_000, 1_999)),
    ("-5 to 5", (-5, 5)),
    ("7", (7, 7)),
    ("2020-01-05", None),
    ("12-10", None),
    ("1/2", None),
    ("A10", None),
    ("GT3", None),
    ("10 to 20 to 30", None),
    ("[10-20", None),
    ("Ulm", None),
    ("more", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "ends"), BANDS)
def test_band_text_is_parsed_to_its_ends(text: str, ends: tuple[float, float] | None) -> None:
    band = parse_band(text)
    if ends is None:
        assert band is None
        return
    assert band is not None
    found = (-OPEN if band.low is None else float(band.low), OPEN if band.high is None else float(band.high))
    assert found == ends
    assert band.is_open == (OPEN in ends or -OPEN in ends)


@pytest.mark.parametrize(
    "texts",
    [
        ["<10k", "10k-20k", "20k-100k", "100k+"],
        ["0-9", "10-19", "90-99", "100+"],
        ["[9-10)", "[10-20)", "[70-80)"],
        ["Under 5", "5 to 9", "10 to 14", "15 and over"],
        ["1 year", "2 to 4 years", "5+ years"],
    ],
)
def test_bands_are_ordered_by_their_numbers(texts: list[str]) -> None:
    for seed in range(5):
        shuffled = random.Random(seed).sample(texts, len(texts))
        assert order_bands(shuffled) == tuple(texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["0-10", "5-15"],
        ["90+", "80+"],
        ["3 months", "1 year"],
        ["1", "2", "3 months"],
        ["0-9", "Ulm"],
        ["1-1"],
        [],
    ],
)
def test_other_texts_and_overlapping_bands_have_no_order(texts: list[str]) -> None:
    assert order_bands(texts) is None


def test_levels_of_education_of_adult_are_in_the_order_of_its_numbers() -> None:
    grades = ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"]
    degrees = ["Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"]
    assert order_education_levels(sorted(grades + degrees)) == (*grades, *degrees)


@pytest.mark.parametrize(
    "texts",
    [
        ["Primary education", "Lower secondary", "Upper secondary", "Tertiary"],
        ["Grundschule", "Hauptschule", "Realschule", "Abitur", "Diplom", "Promotion"],
        ["No schooling", "High school", "Bachelor’s degree", "Master’s degree", "Doctoral degree"],
    ],
)
def test_levels_of_education_are_ordered(texts: list[str]) -> None:
    assert order_education_levels(sorted(texts)) == tuple(texts)


@pytest.mark.parametrize("texts", [["Sales", "Master", "Tech"], ["Ulm", "Kiel"], ["Masters", "Bachelors"]])
def test_other_texts_are_not_levels_of_education(texts: list[str]) -> None:
    assert order_education_levels(texts) is None


def test_open_ends_are_in_the_end_that_contains_them() -> None:
    hierarchy = IntervalHierarchy.of([5, 10], lower=1, upper=90).build(
        "age", ["3", "90+", "<1", "0", "88", "90 and over", "95"]
    )
    labels = {leaf: hierarchy.path(hierarchy.code_of_leaf[leaf]) for leaf in hierarchy.leaves}
    assert labels["90+"] == ("90+", "≥90", "≥90", "*")
    assert labels["95"][1:] == labels["90 and over"][1:] == labels["90+"][1:]
    assert labels["<1"][1:] == labels["0"][1:] == ("<1", "<1", "*")
    assert labels["88"] == ("88", "85-89", "80-89", "*")
    assert hierarchy.leaves[0] == "<1"


@pytest.mark.parametrize(
    ("options", "text", "advice"),
    [
        ({}, "90+", "Write upper = 90"),
        ({"upper": 95}, "90+", "Write upper = 90"),
        ({"lower": 17}, "up to 17", "Write lower = 18"),
        ({"lower": 0}, "<1", "Write lower = 1"),
        ({"upper": "data"}, "90+", "Write upper = 90"),
    ],
)
def test_open_end_that_no_end_contains_is_refused(options: dict[str, int], text: str, advice: str) -> None:
    with pytest.raises(InputError, match="has an open end") as caught:
        IntervalHierarchy.of([5], **options).build("age", ["30", "40", text])
    assert advice in str(caught.value)


@pytest.mark.parametrize("seed", range(20))
def test_open_ends_nest(seed: int) -> None:
    """At each level an open end and every number beyond it have one label, and levels nest."""
    draw = random.Random(seed)
    bound, width = draw.randrange(20, 120), draw.choice([2, 5, 7])
    numbers = [str(draw.randrange(0, 200)) for _ in range(40)]
    hierarchy = IntervalHierarchy.of([width, 3 * width], upper=bound).build("x", {*numbers, f"{bound}+"})
    paths = {leaf: hierarchy.path(hierarchy.code_of_leaf[leaf]) for leaf in hierarchy.leaves}
    for level in (1, 2):
        for leaf in {*numbers}:
            assert (paths[leaf][level] == paths[f"{bound}+"][level]) == (Decimal(leaf) >= bound)
