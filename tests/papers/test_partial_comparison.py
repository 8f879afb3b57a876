"""Metrics and partial lattices compared with the evaluated lattice, against counting by hand."""

from __future__ import annotations

import pytest

from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.negotiation.partial_lattice import prepare_partial_lattice
from discreet.settings import Settings
from papers.partial_comparison import (
    Effect,
    RequestComparison,
    compare_importance_metrics,
    compare_partial,
    count_effects,
)
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice

TABLES = [table_and_request(seed) for seed in range(some_of(30))]


@pytest.mark.parametrize("by_height", [True, False])
def test_misses_and_deviations_are_those_of_the_heights(by_height: bool, settings: Settings) -> None:
    absent = missed = 0
    for table, _ in TABLES[:14]:
        if not table.rows:
            continue
        brute, evaluated = BruteLattice(table), evaluate_lattice(table, settings)
        for found in compare_importance_metrics(
            evaluated, (2, 4), percent="20%", metrics=("lambda", "mu"), by_height=by_height, small=6
        ):
            partial = prepare_partial_lattice(table, "20%", found.metric, by_height=by_height)
            chosen = set(map(tuple, partial.nodes.tolist()))
            rows = {n: brute.suppressed(n, Requirement(k=found.k)) for n in brute.lattice.nodes()}
            pairs = []
            for height in range(sum(brute.lattice.heights) + 1):
                here = [n for n in rows if sum(n) == height]
                ours = [rows[n] for n in here if n in chosen]
                pairs += [(min(rows[n] for n in here), min(ours))] if ours else []
            large = [(true, got) for true, got in pairs if true >= 6]
            assert found.heights == len(pairs)
            assert found.absent == sum(brute.lattice.heights) + 1 - len(pairs)
            assert found.misses == sum(got > true for true, got in pairs)
            assert found.deviations == pytest.approx(
                sum((got - true) / (true or table.rows) for true, got in pairs)
            )
            assert (found.large, found.large_misses) == (len(large), sum(g > t for t, g in large))
            assert found.large_deviations == pytest.approx(sum((g - t) / t for t, g in large))
            absent += found.absent
            missed += found.misses
    assert missed > 0
    assert (absent == 0) == by_height


def compared(table: FrequencySet, settings: Settings, index: int) -> RequestComparison:
    partial = prepare_partial_lattice(table, "10%")
    (found,) = compare_partial(evaluate_lattice(table, settings), partial, [TABLES[index][1]])
    return found


def test_effects_and_their_tally(settings: Settings) -> None:
    comparisons = [compared(t, settings, i) for i, (t, _) in enumerate(TABLES) if t.rows]
    for comparison in comparisons:
        exact = comparison.full.exact
        for runtime, other in ((False, comparison.partial), (True, comparison.runtime)):
            effect = comparison.effect(None, runtime=runtime)
            assert (effect is None) == (exact is None)
            if exact is not None:
                assert (effect is Effect.SAME) == (other.exact == exact)
                assert (effect is Effect.RELAXED) == (other.exact is None)
            for part in ("max_suppressed", "height", "k", "l"):
                effect = comparison.effect(part, runtime=runtime)
                true, got = comparison.full.relaxation(part), other.relaxation(part)
                if effect is not None:
                    assert (effect is Effect.NEITHER) == (true is None and got is None)
                    assert (effect is Effect.FAILED) == (true is not None and got is None)
                    assert (effect is Effect.SAME) == (true is not None and got == true)
        full, _, _ = comparison.visited
        assert full > 0
    wishes = [c.request.requirement for c in comparisons]
    relaxed = [c.full.exact is None for c in comparisons]
    assert count_effects(comparisons, None, runtime=False).total() == relaxed.count(False)
    assert count_effects(comparisons, "height", runtime=True).total() == relaxed.count(True)
    asked = [wish.k is not None and relaxes for wish, relaxes in zip(wishes, relaxed, strict=True)]
    assert count_effects(comparisons, "k", runtime=True).total() == asked.count(True)
    assert count_effects(comparisons, "max_suppressed", runtime=True).keys() <= {
        Effect.SAME,
        Effect.OTHER,
        Effect.NEITHER,
    }
