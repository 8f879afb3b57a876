"""The figures of Pilalidou and Vassiliadis on Adult, cell by cell, and the printed negotiations.

Each table is compared as a whole. The cells that differ are named in the package's data with the printed and
the computed value, and must remain the only ones. Reading rules:

* The QI 5 block of the min-avg-max table and the QI 5 column of the ratios are over the 2^5 nodes whose
  levels are all 0 or 1; the other tables are over the whole lattice.
* Percentages are cut or rounded; averages are rounded, a half either way.
* Relaxing the height starts at the height of the request's own node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose

import pytest

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.measures.grouping_power import grouping_power
from discreet.model.lattice import LatticeNode
from discreet.model.request import RelaxationScope, Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import Answer
from discreet.negotiation.negotiator import Negotiator
from tests.golden import negotiation_figures as paper
from tests.golden.conftest import AdultLattice

Mismatches = dict[str, tuple[float, float]]

WALK_THROUGH = ("age", "work_class", "race")


@pytest.fixture(scope="module")
def for_k(adult_lattice: AdultLattice) -> dict[int, EvaluatedLattice]:
    """Return the lattices evaluated for k, by QI size."""
    return {size: adult_lattice(names, None) for size, names in paper.ATTRIBUTES.items()}


def by_height(evaluated: EvaluatedLattice, k: int, highest_level: int = 9) -> list[list[int]]:
    """Return the suppressed rows of each height's nodes without a level above ``highest_level``."""
    suppression = evaluated.suppression(Requirement(k=k)).tolist()
    found: list[list[int]] = [[] for _ in range(sum(evaluated.lattice.heights) + 1)]
    for node, suppressed in zip(evaluated.lattice.nodes(), suppression, strict=True):
        if max(node) <= highest_level:
            found[sum(node)].append(suppressed)
    return [rows for rows in found if rows]


def mean(values: list[int]) -> float:
    return sum(values) / len(values)


def rounds_to(computed: float, printed: float, decimals: int) -> bool:
    return abs(computed - printed) <= 0.5 * 10**-decimals + 1e-9


def rounds_or_is_cut_to(computed: float, printed: float, decimals: int) -> bool:
    return rounds_to(computed, printed, decimals) or 0 <= computed - printed < 10**-decimals


def approximately(found: Mismatches, expected: Mapping[str, tuple[float, float]]) -> bool:
    return found.keys() == expected.keys() and all(
        printed == expected[cell][0] and isclose(computed, expected[cell][1], abs_tol=0.005)
        for cell, (printed, computed) in found.items()
    )


# --- suppression by height ---------------------------------------------


def test_averages_at_k_3(for_k: dict[int, EvaluatedLattice]) -> None:
    found: Mismatches = {}
    for size, printed_averages in paper.AVERAGES_K3.items():
        averages = [mean(rows) for rows in by_height(for_k[size], 3)]
        for height, printed in enumerate(printed_averages):
            if not rounds_to(averages[height], printed, 1):
                found[f"QI {size}, H{height}"] = (printed, averages[height])
            percentage = averages[height] / for_k[size].rows * 100
            assert rounds_or_is_cut_to(percentage, paper.AVERAGE_PERCENTAGES_K3[size][height], 1)
    assert len(found) == 1
    assert approximately(found, paper.known("averages_k3"))


def test_minima_at_k_3(for_k: dict[int, EvaluatedLattice]) -> None:
    for size, printed in paper.MINIMA_K3.items():
        assert tuple(min(rows) for rows in by_height(for_k[size], 3)[: len(printed)]) == printed


def test_effect_of_k(for_k: dict[int, EvaluatedLattice]) -> None:
    found: Mismatches = {}
    for k, printed_heights in paper.EFFECT_OF_K.items():
        heights = by_height(for_k[3], k)
        for height, (least, average, most) in enumerate(printed_heights):
            assert (min(heights[height]), max(heights[height])) == (least, most)
            if not rounds_to(mean(heights[height]), average, 0):
                found[f"k {k}, H{height}, average"] = (average, mean(heights[height]))
    assert len(found) == 3
    assert approximately(found, paper.known("effect_of_k"))


def test_least_average_and_most_at_k_3(for_k: dict[int, EvaluatedLattice]) -> None:
    found: Mismatches = {}
    for size, highest_level in ((3, 9), (5, 1)):
        heights = by_height(for_k[size], 3, highest_level)
        for height, printed in enumerate(paper.MIN_AVERAGE_MAX[size]):
            rows = heights[height]
            for name, figure, computed in zip(
                ("least", "average", "most"), printed, (min(rows), mean(rows), max(rows)), strict=False
            ):
                if not rounds_to(computed, figure, 0):
                    found[f"QI {size}, H{height}, {name}"] = (figure, computed)
    assert len(found) == 4
    assert approximately(
        found,
        {
            cell: figures
            for cell, figures in paper.known("min_average_max").items()
            if not cell.endswith(("share", "drop"))
        },
    )


def test_percentages_of_the_averages_at_k_3(for_k: dict[int, EvaluatedLattice]) -> None:
    found: Mismatches = {}
    for size, highest_level in ((3, 9), (5, 1)):
        averages = [mean(rows) for rows in by_height(for_k[size], 3, highest_level)]
        for height, (*_, share, drop) in enumerate(paper.MIN_AVERAGE_MAX[size]):
            here = averages[height]
            cells = [("share", share, here / for_k[size].rows * 100)]
            if drop is not None:
                below = averages[height - 1]
                cells.append(("drop", drop, (below - here) / (below if size == 3 else here) * 100))
            for name, printed, computed in cells:
                if not rounds_or_is_cut_to(computed, printed, 2):
                    found[f"QI {size}, H{height}, {name}"] = (printed, computed)
    assert len(found) == 5
    assert approximately(
        found,
        {
            cell: figures
            for cell, figures in paper.known("min_average_max").items()
            if cell.endswith(("share", "drop"))
        },
    )
    # The reasons: the printed 8.45 instead of 8.73 at height 4, an average truncated to 1.66, the misread
    # 733.
    assert rounds_to((24 - 8.45) / 24 * 100, 64.79, 2)
    assert rounds_to((8.45 - 4) / 8.45 * 100, 52.66, 2)
    assert rounds_to((4 - 1.66) / 4 * 100, 58.50, 2)
    assert rounds_to(733 / 30162 * 100, 2.43, 2)


def test_ratios_of_the_minima(for_k: dict[int, EvaluatedLattice]) -> None:
    for size, printed_ratios in paper.RATIOS_OF_MINIMA.items():
        minima = {
            k: [min(rows) for rows in by_height(for_k[size], k, 1 if size == 5 else 9)] for k in (3, 10, 25)
        }
        for height, (first, second) in enumerate(printed_ratios):
            assert rounds_to(minima[10][height] / minima[3][height], first, 2)
            assert rounds_to(minima[25][height] / minima[10][height], second, 2)


def test_grouping_power(for_k: dict[int, EvaluatedLattice]) -> None:
    evaluated = for_k[6]
    powers = {
        (p.attribute, p.level): p
        for p in grouping_power(evaluated.lattice, evaluated.rows, evaluated.classes())
    }
    assert len(paper.GROUPING_POWER) == len(powers) == 24
    for attribute, level, groups, average, importance in paper.GROUPING_POWER:
        power = powers[attribute, level]
        assert power.groups == groups
        assert rounds_to(power.average_size, average, 2)
        assert rounds_to(power.relative_importance, importance, 2)


# --- negotiations ------------------------------------------------------


def levels_of(text: str) -> LatticeNode:
    return tuple(int(digit) for digit in text)


def asked(printed: paper.PrintedRequest, scope: str = "above") -> Request:
    names = paper.ATTRIBUTES[len(printed.levels)]
    return Request.of(
        k=printed.value if printed.privacy == "k" else None,
        l=printed.value if printed.privacy == "l" else None,
        max_suppressed=paper.MAX_SUPPRESSED,
        max_level=dict(zip(names, levels_of(printed.levels), strict=True)),
        scope=scope,
    )


def printed_answers(printed: paper.PrintedRequest) -> Iterator[tuple[str | None, LatticeNode, int, int]]:
    """Yield the relaxed part, the node, its suppressed rows, and k or l."""
    for relaxed, answer in printed.answers:
        if answer is not None:
            yield relaxed, levels_of(answer.levels), answer.suppressed, answer.value


def our_answer(answer: Answer, name: str) -> tuple[str | None, LatticeNode, int, object]:
    relaxed = None if answer.relaxed is None else str(answer.relaxed)
    return relaxed, answer.node, answer.suppressed, getattr(answer.requirement, name)


@pytest.mark.parametrize(
    "printed", paper.REQUESTS, ids=[f"{r.privacy}={r.value}-{r.levels}" for r in paper.REQUESTS]
)
def test_printed_negotiation(adult_lattice: AdultLattice, printed: paper.PrintedRequest) -> None:
    """Every printed answer is reproduced, and "No solution" where that is printed."""
    names = paper.ATTRIBUTES[len(printed.levels)]
    evaluated = adult_lattice(names, None if printed.privacy == "k" else paper.SENSITIVE)
    answers = Negotiator(evaluated).negotiate(asked(printed)).answers
    assert [our_answer(a, printed.privacy) for a in answers] == list(printed_answers(printed))


def test_forty_requests_are_printed() -> None:
    assert (len(paper.K_REQUESTS), len(paper.L_REQUESTS)) == (20, 20)


def test_relaxing_the_height_everywhere_finds_lower_nodes(for_k: dict[int, EvaluatedLattice]) -> None:
    """Where the paper's search starts too high, scope global finds the "minimum height" of its text."""
    lower = {}
    for printed in paper.K_REQUESTS:
        answer = (
            Negotiator(for_k[len(printed.levels)])
            .negotiate(asked(printed, RelaxationScope.GLOBAL))
            .relaxation("height")
        )
        if (
            answer is not None
            and printed.height is not None
            and answer.node != levels_of(printed.height.levels)
        ):
            lower[printed.levels, printed.value] = (answer.node, answer.suppressed)
    assert lower == {("22112", 10): ((1, 0, 2, 2, 2), 230), ("222112", 10): ((4, 0, 1, 2, 1, 1), 285)}


def test_a_tie_goes_to_the_smaller_last_level(for_k: dict[int, EvaluatedLattice]) -> None:
    """On a tie, the smaller last level wins: 1102 suppresses as many rows as the printed 1111."""
    requirement = Requirement(k=10)
    assert (
        for_k[4].suppressed((1, 1, 1, 1), requirement)
        == for_k[4].suppressed((1, 1, 0, 2), requirement)
        == 285
    )


def node_number(heights: tuple[int, ...], node: LatticeNode) -> int:
    """Return the node's number from 1; the last attribute varies slowest, the one before it fastest."""
    number = node[-1]
    for level, height in zip(node[:-1], heights[:-1], strict=True):
        number = number * (height + 1) + level
    return number + 1


def test_node_numbers_give_the_papers_node_order(for_k: dict[int, EvaluatedLattice]) -> None:
    every = {answer for request in paper.REQUESTS for _, answer in request.answers if answer is not None}
    fits = {
        (answer.levels, answer.number): node_number(
            for_k[len(answer.levels)].lattice.heights, levels_of(answer.levels)
        )
        == answer.number
        for answer in every
    }
    assert sum(fits.values()) == 22
    # The numbers of QI 6 follow another rule, which these few samples do not determine.
    assert {len(levels) for (levels, _), fit in fits.items() if not fit} == {6}
    assert not any(fit for (levels, _), fit in fits.items() if len(levels) == 6)


# --- the walk-through of the slides ------------------------------------


@pytest.fixture(scope="module")
def walk_through(adult_lattice: AdultLattice) -> Negotiator:
    return Negotiator(adult_lattice(WALK_THROUGH, None))


def within_121(max_suppressed: int) -> Request:
    levels = dict(zip(WALK_THROUGH, (1, 2, 1), strict=True))
    return Request.of(k=3, max_suppressed=max_suppressed, max_level=levels)


def test_walk_through_exact(walk_through: Negotiator) -> None:
    """The slide's attributes are age, work class, race: 121 within 20 rows gives 111 with 17."""
    answer = walk_through.negotiate(within_121(20)).exact
    assert answer is not None
    assert (answer.node, answer.suppressed) == ((1, 1, 1), 17)


def test_walk_through_relaxed(walk_through: Negotiator, adult_lattice: AdultLattice) -> None:
    """Within 8 rows, the answers are 121 itself with 11 rows, or node 400 at height 4."""
    negotiation = walk_through.negotiate(within_121(8))
    assert [our_answer(a, "k") for a in negotiation.answers] == [
        ("max_suppressed", (1, 2, 1), 11, 3),
        ("height", (4, 0, 0), 4, 3),
    ]
    # The slide also offers k = 2 at 121. There 121 suppresses 9 rows, more than the 8 allowed. In the order
    # of the paper's tables (age, race, work class) the node called 121 suppresses 5 rows at k = 2.
    two = Requirement(k=2)
    assert adult_lattice(WALK_THROUGH, None).suppressed((1, 2, 1), two) == 9
    assert adult_lattice(paper.ATTRIBUTES[3], None).suppressed((1, 2, 1), two) == 5


def test_the_histogram_of_the_slides(adult_lattice: AdultLattice) -> None:
    """17 rows are 11 classes of one and 3 classes of two."""
    histogram = adult_lattice(WALK_THROUGH, None).histogram((1, 1, 1))
    assert (histogram[1,], histogram[2,]) == (11, 2 * 3)
