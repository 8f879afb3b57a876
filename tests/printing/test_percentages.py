"""Percentages: shares, and ratios that may be negative or exceed 100 %."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.printing.document import format_quantity, format_ratio, format_rows, format_share
from discreet.printing.rendering import render_text
from discreet.report import translation
from discreet.verbs.benchmark import ComparedRelease, SideBySide


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 7, "0%"),
        (7, 7, "100%"),
        (1, 3, "33.3%"),
        (1, 100_000, "<0.01%"),
        (99_999, 100_000, ">99.99%"),
        (9996, 10_000, "99.96%"),
        (285, 30_162, "0.94%"),
        (1 + 1e-12, 1, "100%"),
    ],
)
def test_share_rounds_to_0_and_100_only_if_exact(part: float, whole: float, text: str) -> None:
    assert format_share(part, whole) == text


def test_rows_and_quantities_have_their_share_and_noun() -> None:
    assert format_rows(1234, 30162) == "1,234 (4.09%)"
    assert (format_quantity(1, "row"), format_quantity(2, "row")) == ("1 row", "2 rows")
    assert format_quantity(2, "class", "classes") == "2 classes"


@pytest.mark.parametrize("value", [-3.25, -0.125, 1.04, 1.6, 8.4312, 14.62, 250_000.0])
def test_quotient_that_is_no_share_is_never_cut(value: float) -> None:
    """A share below 0 or above 1 is an error of the caller; the figure is still correct."""
    for text in (
        format_ratio(value),
        format_share(value, 1),
        translation.percent(value).replace("\u00a0", ""),
    ):
        printed = Fraction(text.rstrip("%").replace(",", "")) / 100
        assert abs(printed - Fraction(value)) <= abs(Fraction(value)) / 100
        assert text not in ("0%", "100%")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0%"),
        (0.0042, "0.42%"),
        (0.00001, "<0.01%"),
        (-0.00001, "-<0.01%"),
        (0.5, "50.0%"),
        (8.43, "843%"),
        (12.345, "1,234%"),
        (float("inf"), "infinite"),
        (float("nan"), "–"),
        (None, "–"),
    ],
)
def test_ratio_is_written_with_its_sign_and_size(value: float | None, text: str) -> None:
    assert format_ratio(value) == text


def test_side_by_side_prints_query_errors_above_100_percent() -> None:
    rows = [
        ComparedRelease(
            "fine", "answer", 10, kept=10, classes=2, detail=0.5, found=0.2, highest=0.5, query_error=8.43
        ),
        ComparedRelease(
            "coarse", "answer", 10, kept=10, classes=1, detail=0.1, found=0.1, highest=0.1, query_error=1.6
        ),
    ]
    printed = render_text(SideBySide("people.csv", tuple(rows), 40).document(), 200)
    assert "843%" in printed
    assert "160% *" in printed
