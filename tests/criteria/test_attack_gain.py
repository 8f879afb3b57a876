"""The criterion that no class is worth attacking, checked against counting classes, nodes and releases."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.special_purpose_costs import PayoutGame
from discreet.model.criteria.attack_gain import AttackGain
from discreet.model.criterion_inputs import ClassPopulation
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.criteria.test_t_closeness import classes_of, people, spec
from tests.drawing import some_of

__all__ = ["spec"]

MONEY = st.decimals("0.01", 5000, places=2).map(float)
SIZES = st.lists(st.integers(1, 500), min_size=1, max_size=8)


@examples(max_examples=some_of(150), deadline=None)
@given(MONEY, MONEY, SIZES)
def test_class_passes_exactly_if_attacking_it_does_not_pay(
    gain: float, cost: float, sizes: list[int]
) -> None:
    criterion, counted = AttackGain(gain, cost=cost), np.array(sizes)
    for size, score in zip(sizes, criterion.scores(counted, None).tolist(), strict=True):
        pays = Fraction(str(gain)) / size > Fraction(str(cost))
        assert (score >= criterion.threshold) == (not pays)
        assert AttackGain(criterion.value_of(score), cost=cost).threshold <= score
    # The search cost computes the same game in doubles.
    passing = counted[counted >= criterion.threshold + 1]
    assert not PayoutGame(1200, 300, gain, cost).expected_loss(passing).any()


def test_journalist_attacker_counts_people_of_the_population() -> None:
    criterion = AttackGain(120, cost=20, attacker="journalist")
    found = criterion.population_scores(np.array([1, 2, 9]), ClassPopulation(np.array([6, 5, 8]), 0))
    assert found.tolist() == [6, 5, -1]
    assert criterion.threshold == 6
    assert criterion.of_population


@pytest.mark.parametrize(("gain", "cost"), [(12, 4), (100, 20), (7.5, 2.5)])
def test_gain_suppresses_worthwhile_classes_of_nodes_and_releases(
    gain: float, cost: float, spec: Path, settings: Settings, tmp_path: Path
) -> None:
    table, criterion = discreet.open(spec), AttackGain(gain, cost=cost)
    requirement = Requirement(criteria=[criterion])
    evaluated = evaluate_lattice(table.frequency_set, settings, criteria=[criterion])
    for levels in [(a, c) for a in range(4) for c in range(2)]:
        sizes = Counter(map(len, classes_of(people(), levels)))
        worth = sum(size * number for size, number in sizes.items() if gain / size > cost)
        assert evaluated.suppressed(levels, requirement) == worth
    answer = table.negotiate(criteria=[criterion], max_suppressed="60%")
    assert answer.exact is not None
    release = table.publish(answer.exact, tmp_path / "out.csv")
    [found] = [f for f in release.audit.report.criteria if f.criterion.name == "attack_gain"]
    assert release.audit.passed
    assert found.found >= gain


def test_cost_that_is_not_positive_and_finite_is_refused() -> None:
    for cost in (0, -1, float("inf")):
        with pytest.raises(InputError, match="cost"):
            AttackGain(5, cost=cost)
