"""The figures of Pilalidou and Vassiliadis on Adult, cell by cell, and the printed negotiations.

``papers`` compares each table with the printed one; the cells that differ are named in its data with the
printed and the computed value, and must remain the only ones. Reading rules:

* The QI 5 block of the min-avg-max table and the QI 5 column of the ratios are over the 2^5 nodes whose
  levels are all 0 or 1; the other tables are over the whole lattice.
* Percentages are cut or rounded; averages are rounded, a half either way.
* Relaxing the height starts at the height of the request's own node.
"""

from __future__ import annotations

import pytest

from discreet.model.request import RelaxationScope
from discreet.model.requirement import Requirement
from discreet.negotiation.negotiator import Negotiator
from papers.comparison import Verdict, known_deviations
from papers.negotiation import request_sections, walk_through_section
from papers.negotiation_study import AdultStudy, PrintedRequest, node_number, parse_node, printed_requests
from papers.negotiation_suppression import suppression_sections
from papers.section import all_comparisons, count_verdicts
from tests.golden.conftest import AdultLattice, rounds_to

WALK_THROUGH = ("age", "work_class", "race")


def test_printed_figures_are_equal_or_known_deviations(adult_study: AdultStudy) -> None:
    sections = [*suppression_sections(adult_study), *request_sections(adult_study)]
    sections.append(walk_through_section(adult_study))
    counts = count_verdicts(sections)
    assert (counts[Verdict.SAME], counts[Verdict.KNOWN], counts[Verdict.DIFFERENT]) == (566, 23, 0)
    met = {c.cell for c in all_comparisons(sections) if c.verdict is Verdict.KNOWN}
    assert met == {deviation.cell for deviation in known_deviations("negotiation")}


def test_known_deviations_have_their_reasons() -> None:
    """The reasons: the printed 8.45 instead of 8.73 at height 4, 1.66, a cut average, the misread 733."""
    assert rounds_to((24 - 8.45) / 24 * 100, 64.79, 2)
    assert rounds_to((8.45 - 4) / 8.45 * 100, 52.66, 2)
    assert rounds_to((4 - 1.66) / 4 * 100, 58.50, 2)
    assert rounds_to(733 / 30162 * 100, 2.43, 2)


@pytest.mark.parametrize(
    "printed", printed_requests(), ids=lambda each: f"{each.privacy}={each.value}-{each.levels}"
)
def test_printed_negotiation_is_reproduced(adult_study: AdultStudy, printed: PrintedRequest) -> None:
    """Every printed answer is reproduced, and "No solution" where that is printed."""
    request = printed.request()
    privacy = printed.privacy
    evaluated = adult_study.of(len(printed.levels), privacy).evaluated
    found = [
        (a.relaxed and str(a.relaxed), a.node, a.suppressed, getattr(a.requirement, privacy))
        for a in Negotiator(evaluated).negotiate(request).answers
    ]
    answers = [pair for pair in printed.answers if pair[1] is not None]
    assert found == [(part, parse_node(a.levels), a.suppressed, a.value) for part, a in answers]


def test_relaxing_the_height_everywhere_finds_lower_nodes(adult_study: AdultStudy) -> None:
    """Where the paper's search starts too high, scope global finds the "minimum height" of its text."""
    lower = {}
    for printed in printed_requests():
        if printed.privacy == "k" and printed.height is not None:
            request = printed.request(RelaxationScope.GLOBAL)
            evaluated = adult_study.of(len(printed.levels)).evaluated
            answer = Negotiator(evaluated).negotiate(request).relaxation("height")
            if answer is not None and answer.node != parse_node(printed.height.levels):
                lower[printed.levels, printed.value] = (answer.node, answer.suppressed)
    assert lower == {("22112", 10): ((1, 0, 2, 2, 2), 230), ("222112", 10): ((4, 0, 1, 2, 1, 1), 285)}


def test_tie_is_decided_for_the_smaller_last_level(adult_study: AdultStudy) -> None:
    """On a tie, the smaller last level wins: 1102 suppresses as many rows as the printed 1111."""
    evaluated = adult_study.of(4).evaluated
    assert [evaluated.suppressed(node, Requirement(k=10)) for node in ((1, 1, 1, 1), (1, 1, 0, 2))] == [
        285
    ] * 2


def test_node_numbers_give_the_papers_node_order(adult_study: AdultStudy) -> None:
    every = {answer for request in printed_requests() for _, answer in request.answers if answer is not None}
    fits = {}
    for answer in every:
        heights = adult_study.of(len(answer.levels)).evaluated.lattice.heights
        number = node_number(heights, parse_node(answer.levels))
        fits[answer.levels, answer.number] = number == answer.number
    # The numbers of QI 6 follow another rule, which these few samples do not determine.
    assert all(fit == (len(levels) < 6) for (levels, _), fit in fits.items())
    assert sum(fits.values()) == 22


def test_relaxed_k_of_the_slides_has_another_order_of_attributes(adult_study: AdultStudy) -> None:
    """The slide offers k = 2 at 121 within 8 rows; there 121 suppresses 9.

    In the order of the paper's tables (age, race, work class) the node called 121 suppresses 5 rows.
    """
    two = Requirement(k=2)
    assert adult_study.of_attributes(WALK_THROUGH).evaluated.suppressed((1, 2, 1), two) == 9
    assert adult_study.of(3).evaluated.suppressed((1, 2, 1), two) == 5


def test_histogram_equals_that_of_the_slides(adult_lattice: AdultLattice) -> None:
    """17 rows are 11 classes of one and 3 classes of two."""
    histogram = adult_lattice(WALK_THROUGH, None).histogram((1, 1, 1))
    assert (histogram[1,], histogram[2,]) == (11, 2 * 3)
