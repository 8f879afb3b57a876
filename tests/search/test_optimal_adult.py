"""Optima of Adult with nine quasi-identifiers, compared with the figures that ARX reports.

Nodes and bits are those of ARX's own tests of k-anonymity, with the same column order; the 2,553 suppressed
rows and the granularity 0.751 belong to its global optimum under Loss.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.cell_sums import domain_sums
from discreet.measures.cost_registry import cost_named, cost_over
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import Solution
from discreet.search import search_problem
from discreet.search.anytime import anytime
from discreet.search.node_counts import StatisticsCounter
from discreet.search.optimal import optimal
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings

SETTINGS = Settings(memory_limit=2 * 10**9, threads=1, private_log=Path("unused"))


@pytest.fixture(scope="module")
def lattice(adult: FrequencySet) -> EvaluatedLattice:
    return evaluate_lattice(adult, SETTINGS, diversity=False)


@pytest.fixture(autouse=True)
def evaluated_once(monkeypatch: pytest.MonkeyPatch, lattice: EvaluatedLattice) -> None:
    monkeypatch.setattr(search_problem, "evaluate_lattice", lambda *_, **__: lattice)


def cheapest(adult: FrequencySet, cost: str, k: int, limit: str) -> Solution:
    request = Request.of(k=k, max_suppressed=limit)
    (solution,) = optimal(SearchProblem.of(adult, request, SETTINGS, cost=cost_named(cost))).solutions
    return solution


def test_least_loss_with_any_suppression_is_found(adult: FrequencySet) -> None:
    found = cheapest(adult, "loss", 5, "100%")
    assert found.suppressed == 2_553
    assert granularity(adult, found.node) == pytest.approx(0.75142, abs=5e-6)


def granularity(adult: FrequencySet, node: LatticeNode) -> float:
    """Return ARX's granularity: 1 − Σ (m − 1)/D over all cells, divided by its largest value."""
    statistics = StatisticsCounter(adult, Requirement(k=5), 0).count(node)
    codes, sizes = statistics.suppressed_codes, statistics.suppressed_sizes
    lost = most = 0.0
    for i, sums in enumerate(domain_sums(adult)):
        leaves = len(adult.hierarchies[i].leaves)
        lost += (sums[node[i]].of(codes[:, i], sizes) - adult.rows) / leaves
        most += adult.rows * (1 - 1 / leaves)
    return 1 - lost / most


@pytest.mark.parametrize(
    ("k", "node", "bits"),
    [
        (5, (1, 2, 1, 1, 3, 2, 2, 1, 1), 407289.5388925293),
        (100, (0, 4, 1, 1, 3, 2, 2, 1, 1), 453196.8932458743),
    ],
)
def test_least_entropy_without_suppression_is_found(
    adult: FrequencySet, k: int, node: LatticeNode, bits: float
) -> None:
    found = cheapest(adult, "entropy", k, "0%")
    assert found.node == node
    assert found.cost is not None
    assert found.cost * adult.rows == pytest.approx(bits, rel=1e-12)


def test_least_bits_of_generalization_equal_the_rivals(
    adult: FrequencySet, lattice: EvaluatedLattice
) -> None:
    """Bits of generalization only: ARX's monotone entropy omits suppressed rows (4 %; k = 5 and k = 100)."""
    cost = cost_over("entropy", adult, Requirement(k=5))
    for k, node, bits in [
        (5, (1, 0, 1, 1, 3, 2, 2, 0, 1), 255559.85455731067),
        (100, (1, 1, 1, 1, 3, 2, 2, 1, 1), 379417.3460570988),
    ]:
        within = np.flatnonzero(lattice.suppression(Requirement(k=k)) <= adult.rows * 4 // 100)
        bounds = {n: cost.least(n) for n in map(lattice.lattice.node, within.tolist())}
        assert min(bounds, key=bounds.__getitem__) == node
        assert bounds[node] * adult.rows == pytest.approx(bits, rel=1e-12)


def test_anytime_reaches_the_optimum(adult: FrequencySet) -> None:
    request = Request.of(k=5, max_suppressed="5%")
    best = cheapest(adult, "loss", 5, "5%")
    assert (best.node, best.suppressed) == ((0, 3, 0, 0, 2, 1, 1, 2, 0), 1_346)
    result = anytime(SearchProblem.of(adult, request, SETTINGS, cost=cost_named("loss"), node_budget=200))
    assert result.solutions == (best,)
