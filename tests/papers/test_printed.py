"""The data files: parsed as printed, and each deviation refers to a printed figure."""

from __future__ import annotations

from decimal import Decimal

import pytest

from papers import negotiation_study
from papers.comparison import known_deviations, read_figures

PAPERS = ("negotiation", "partial_lattice", "incognito")


def test_decimals_stay_as_printed() -> None:
    assert str(read_figures("negotiation")["averages_k3"]["3"][0]) == "554.0"
    assert isinstance(read_figures("negotiation")["grouping_power"]["levels"][0][3], Decimal)


@pytest.mark.parametrize("name", PAPERS)
def test_every_deviation_has_a_place_two_figures_and_a_reason(name: str) -> None:
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
