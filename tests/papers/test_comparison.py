"""Our figures compared with the printed ones: rounding rules, known deviations, texts."""

from __future__ import annotations

from decimal import Decimal

import pytest

from papers.comparison import (
    Comparison,
    Deviation,
    Figure,
    Judge,
    Reading,
    Verdict,
    agrees_by,
    count_decimals,
    figure_text,
)

MISPRINT = Deviation("averages", "H1", 207, Decimal("208.67"), "A misprint.")


@pytest.mark.parametrize(
    ("ours", "printed", "reading", "same"),
    [
        (554, 554, Reading.ROUNDED, True),
        (554, 555, Reading.ROUNDED, False),
        (208.667, Decimal("208.7"), Reading.ROUNDED, True),
        (208.667, Decimal("208.6"), Reading.ROUNDED, False),
        (208.667, Decimal("208.6"), Reading.CUT, True),
        (208.667, Decimal("208.5"), Reading.CUT, False),
        (56.5, 56, Reading.ROUNDED, True),  # a half rounds either way
        (56.5, 57, Reading.ROUNDED, True),
        (7.04, Decimal("7.0"), Reading.ROUNDED, True),
        (7.4, 7, Reading.ROUNDED, True),  # printed without decimals
        ("211", "211", Reading.ROUNDED, True),
        ("211", "210", Reading.ROUNDED, False),
        (None, 3, Reading.ROUNDED, False),
        (3, "no solution", Reading.ROUNDED, False),
    ],
)
def test_what_agrees(ours: Figure | None, printed: Figure, reading: Reading, same: bool) -> None:
    assert agrees_by(ours, printed, reading) is same


@pytest.mark.parametrize(
    ("table", "ours", "printed", "verdict"),
    [
        ("averages", 208.667, 209, Verdict.SAME),
        ("averages", 208.667, 207, Verdict.KNOWN),
        ("averages", 208.60, 207, Verdict.DIFFERENT),  # only the one stated figure is excused
        ("averages", 208.667, 206, Verdict.DIFFERENT),
        ("minima", 208.667, 207, Verdict.DIFFERENT),
        ("averages", 208.667, None, Verdict.NONE),
        ("averages", None, None, Verdict.NONE),
        ("averages", None, 207, Verdict.DIFFERENT),
    ],
)
def test_verdicts(table: str, ours: float | None, printed: int | None, verdict: Verdict) -> None:
    found = Judge.of([MISPRINT]).compare(table, "H1", ours, printed)
    assert found.verdict is verdict
    assert found.reason == ("A misprint." if verdict is Verdict.KNOWN else None)


@pytest.mark.parametrize(
    ("figure", "places"), [(7, 0), (Decimal("7.00"), 2), (Decimal("8.5"), 1), ("7.00", 0), (8.5, 0)]
)
def test_decimals_are_those_printed(figure: Figure, places: int) -> None:
    assert count_decimals(figure) == places


@pytest.mark.parametrize(
    ("figure", "places", "text"),
    [
        (12_345, None, "12,345"),
        (208.6667, 1, "208.67"),
        (554.0, 1, "554.0"),
        (0.000123456, None, "0.000123"),
        (12_345.6, None, "12,346"),
        ("no solution", 1, "no solution"),
    ],
)
def test_our_figure_as_text(figure: Figure, places: int | None, text: str) -> None:
    assert figure_text(figure, places) == text


def test_a_figure_read_off_a_chart_is_marked_and_not_judged() -> None:
    found = Comparison("QI 3", 21, 25, about=True)
    assert (found.ours_text, found.printed_text, found.verdict) == ("21", "~25", Verdict.NONE)


def test_json_has_plain_numbers() -> None:
    found = Judge.of([]).compare("averages", "H0", 553.96, Decimal("554.0"))
    assert found.as_json() == {
        "cell": "H0",
        "ours": 553.96,
        "printed": 554,
        "about": False,
        "of_several": False,
        "verdict": "same",
        "reason": None,
    }
