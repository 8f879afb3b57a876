"""The data files: read as printed, and each deviation excuses something that is printed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from discreet.reproduce.negotiation import paper
from discreet.reproduce.printed import deviations, printed

PAPERS = ("negotiation", "partial_lattice", "incognito")


def test_decimals_stay_as_printed() -> None:
    assert str(printed("negotiation")["averages_k3"]["3"][0]) == "554.0"
    assert isinstance(printed("negotiation")["grouping_power"]["levels"][0][3], Decimal)


@pytest.mark.parametrize("name", PAPERS)
def test_every_deviation_has_a_place_two_figures_and_a_reason(name: str) -> None:
    found = deviations(name)
    assert found
    assert len({(d.table, d.cell) for d in found}) == len(found)
    for deviation in found:
        assert deviation.printed != deviation.ours
        assert deviation.reason.endswith(".")


def test_forty_requests_with_their_answers() -> None:
    requests = paper.printed_requests()
    assert len(requests) == 40
    for request in requests:
        parts = [part for part, _ in request.answers]
        assert parts in ([None], ["max_suppressed", "height", request.privacy])
        assert len(request.levels) in paper.SIZES


def test_levels_and_node_numbers() -> None:
    assert paper.node_of("2011") == (2, 0, 1, 1)
    assert paper.node_text((2, 0, 1, 1)) == "2011"
    assert paper.node_number((4, 2, 3), (2, 1, 1)) == 23
