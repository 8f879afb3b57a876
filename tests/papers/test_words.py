"""Ratios below one are not called a lead, and a value that is not smaller is not called smaller."""

from __future__ import annotations

import pytest

from papers.comparison import describe_ratios
from papers.mondrian_quality import describe_proven_lead


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([1.2, 3.0], "leave Mondrian a lead of 1.20 times or more"),
        ([0.77, 0.9], "show no lead: the least is 0.77 times"),
        ([0.77, 1.4, 2.0], "a lead of Mondrian at 2 of 3 points"),
        ([1.0, 1.4], "a lead of Mondrian at 1 of 2 points"),
    ],
)
def test_a_lead_is_above_one(bounds: list[float], words: str) -> None:
    assert words in describe_proven_lead(bounds)


def test_smaller_is_above_one() -> None:
    assert describe_ratios([1.0, 2.55]) == "1.0 to 2.5 times smaller"
    assert describe_ratios([0.8, 2.0], 2) == "divided by 0.80 to 2.00, where more than 1 is smaller"
