"""Figures compared with the printed ones: rounding rules, known deviations, texts and data files."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from papers import negotiation_study
from papers.comparison import (
    Comparison,
    Deviation,
    Figure,
    Judge,
    Reading,
    Verdict,
    agrees_by,
    describe_ratios,
    figure_text,
    known_deviations,
    read_figures,
)
from papers.mondrian_quality import describe_proven_lead
from papers.negotiation_diversity import estimate_factor, mean_average_over_least, rank_correlation

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
def test_figures_agree_by_rounding_rule(
    ours: Figure | None, printed: Figure, reading: Reading, same: bool
) -> None:
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
def test_figures_have_the_expected_verdict(
    table: str, ours: float | None, printed: int | None, verdict: Verdict
) -> None:
    found = Judge.of([MISPRINT]).compare(table, "H1", ours, printed)
    assert found.verdict is verdict
    assert found.reason == ("A misprint." if verdict is Verdict.KNOWN else None)


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
def test_computed_figure_is_rounded_as_text(figure: Figure, places: int | None, text: str) -> None:
    assert figure_text(figure, places) == text


def test_figure_read_off_a_chart_is_marked_and_not_judged() -> None:
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


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([1.2, 3.0], "leave Mondrian a lead of 1.20 times or more"),
        ([0.77, 0.9], "show no lead: the least is 0.77 times"),
        ([0.77, 1.4, 2.0], "a lead of Mondrian at 2 of 3 points"),
        ([1.0, 1.4], "a lead of Mondrian at 1 of 2 points"),
    ],
)
def test_lead_requires_a_ratio_above_one(bounds: list[float], words: str) -> None:
    assert words in describe_proven_lead(bounds)


def test_smaller_is_above_one() -> None:
    assert describe_ratios([1.0, 2.55]) == "1.0 to 2.5 times smaller"
    assert describe_ratios([0.8, 2.0], 2) == "divided by 0.80 to 2.00, where more than 1 is smaller"


PAPERS = ("negotiation", "partial_lattice", "incognito")


def test_decimals_stay_as_printed() -> None:
    assert str(read_figures("negotiation")["averages_k3"]["3"][0]) == "554.0"
    assert isinstance(read_figures("negotiation")["grouping_power"]["levels"][0][3], Decimal)


@pytest.mark.parametrize("name", PAPERS)
def test_deviation_has_a_place_two_figures_and_a_reason(name: str) -> None:
    found = known_deviations(name)
    assert found
    assert len({(d.table, d.cell) for d in found}) == len(found)
    for deviation in found:
        assert deviation.printed != deviation.ours
        assert deviation.reason.endswith(".")


def test_forty_requests_with_their_answers() -> None:
    requests = negotiation_study.printed_requests()
    assert len(requests) == 40
    for request in requests:
        parts = [part for part, _ in request.answers]
        assert parts in ([None], ["max_suppressed", "height", request.privacy])
        assert len(request.levels) in negotiation_study.SIZES


def test_levels_and_node_numbers() -> None:
    assert negotiation_study.parse_node("2011") == (2, 0, 1, 1)
    assert negotiation_study.node_text((2, 0, 1, 1)) == "2011"
    assert negotiation_study.node_number((4, 2, 3), (2, 1, 1)) == 23


def test_rank_correlation_of_a_small_example_equals_numpy() -> None:
    """The ranks are 1, 2.5, 2.5, 4 and 1, 3, 2, 4."""
    left, right = np.array([5, 7, 7, 9]), np.array([0, 8, 4, 100])
    ranks = (np.array([1, 2.5, 2.5, 4]), np.array([1.0, 3, 2, 4]))
    assert rank_correlation(left, right) == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert rank_correlation(left, -right) == pytest.approx(-np.corrcoef(*ranks)[0, 1])
    assert rank_correlation(left, left * 3) == pytest.approx(1)
    assert rank_correlation(left, np.zeros(4, dtype=np.int64)) == 1.0


def test_factor_of_an_estimate_counts_both_directions() -> None:
    assert estimate_factor(np.array([3, 7]), np.array([3, 7])) == 1.0
    # a factor of two in either direction, after adding one row to each
    assert estimate_factor(np.array([7, 3]), np.array([3, 7])) == pytest.approx(2.0)


def test_average_over_least_leaves_out_height_0_and_small_leasts() -> None:
    study = [np.array([1000]), np.array([20, 60]), np.array([10, 90]), np.array([9, 900])]
    assert mean_average_over_least([study]) == pytest.approx((2 * 5) ** 0.5)
    assert mean_average_over_least([[np.array([3])]]) == 1.0
