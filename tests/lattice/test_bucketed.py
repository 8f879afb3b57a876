"""Bucketed scores of the kernels answer like the numpy twin with exact scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.kernels.histograms import Histograms
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.lattice.score_buckets import BucketedHistograms
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import plain_values
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.criteria import test_value_shares
from tests.criteria_of_tests import Share
from tests.oracle.random_tables import random_frequency_set, random_hierarchy

SETTINGS = Settings(memory_limit=2**31, threads=2, private_log=Path("unused"))
ALL: list[Criterion] = [
    *test_value_shares.ALL,
    *(TCloseness(0.3, distance=distance) for distance in ("equal", "ordered", "hierarchical")),
]
every_criterion = pytest.mark.parametrize("criterion", ALL, ids=[str(plain_values([c])) for c in ALL])


def random_table(seed: int, rows: int = 200) -> FrequencySet | None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=4, height=3, leaves=4, rows=rows, sensitive=2)
    if not table.row_types or not table.sensitive:
        return None
    return replace(table, sensitive=tuple(with_hierarchy(sets, random) for sets in table.sensitive))


def with_hierarchy(sets: ValueSets, random: np.random.Generator) -> ValueSets:
    """Return the sets with values as leaves of a random hierarchy, in another order than their codes."""
    assert sets.of is not None
    hierarchy = random_hierarchy(random, sets.attribute, sets.size, int(random.integers(1, 4)))
    leaves = random.permutation(hierarchy.leaves).tolist()
    return replace(sets, of=SensitiveAttribute.of(leaves, sets.of.rows, hierarchy))


def both(table: FrequencySet, *criteria: Criterion) -> tuple[EvaluatedLattice, EvaluatedLattice]:
    """Evaluate by the kernels and by the twin."""
    ours = evaluate_lattice(table, SETTINGS, criteria=criteria, evaluator="kernels")
    assert isinstance(ours.histograms, BucketedHistograms)
    twin = evaluate_lattice(table, SETTINGS, criteria=criteria, evaluator="twin")
    assert isinstance(twin.histograms, Histograms)
    return ours, twin


def stops_and_others(criterion: Criterion, random: np.random.Generator) -> list[float]:
    """Return slider stops, which are bucket edges, and values between them."""
    stops = criterion.parameter.slider
    between = random.uniform(stops[0], stops[-1], 3).tolist()
    return [*random.choice(stops, 3).tolist(), *between]


@every_criterion
def test_suppression_equals_that_of_exact_scores(criterion: Criterion) -> None:
    tried = 0
    for seed in range(3):
        table, random = random_table(seed), np.random.default_rng(seed)
        if table is None:
            continue
        ours, twin = both(table, criterion)
        assert ours.scores == twin.scores
        assert ours.classes().tolist() == twin.classes().tolist()
        for value in stops_and_others(criterion, random):
            for k, l in ((None, None), (3, None), (70, 2)):
                requirement = Requirement(k, l, [replace(criterion, value=value)])
                found = ours.suppression(requirement)
                assert found.tolist() == twin.suppression(requirement).tolist()
                node = ours.lattice.node(int(random.integers(0, ours.lattice.size)))
                assert ours.suppressed(node, requirement) == twin.suppressed(node, requirement)
                assert ours.histogram(node) == twin.histogram(node)
                tried += 1
    assert tried > 20


@every_criterion
def test_relaxations_equal_those_of_exact_scores(criterion: Criterion) -> None:
    tried = 0
    for seed in range(3):
        table, random = random_table(100 + seed), np.random.default_rng(seed)
        if table is None:
            continue
        ours, twin = both(table, criterion)
        for value in stops_and_others(criterion, random)[1:5]:
            requirement = Requirement(int(random.integers(1, 5)), criteria=[replace(criterion, value=value)])
            limit = int(random.integers(0, table.rows))
            # Relaxation is requested for nodes that suppress too much.
            suppressed = ours.suppression(requirement)
            nodes = np.flatnonzero((random.random(ours.lattice.size) < 0.5) & (suppressed > limit))
            tried += len(nodes) > 1
            for name in ("k", criterion.name):
                expected = twin.largest_among(nodes, requirement, name, limit)
                assert ours.largest_among(nodes, requirement, name, limit) == expected
                for place in nodes[:3].tolist():
                    node = ours.lattice.node(place)
                    reached = twin.largest(node, requirement, name, limit)
                    assert ours.largest(node, requirement, name, limit) == reached
    assert tried


def test_several_scores_equal_exact_ones() -> None:
    for seed in range(3):
        table, random = random_table(200 + seed), np.random.default_rng(seed)
        if table is None:
            continue
        chosen = [ALL[i] for i in random.choice(len(ALL), 3, replace=False).tolist()]
        chosen = list({c.name: c for c in chosen}.values())
        ours, twin = both(table, *chosen)
        for _ in range(6):
            criteria = [replace(c, value=float(random.choice(c.parameter.slider))) for c in chosen]
            requirement = Requirement(2, criteria=criteria)
            assert ours.suppression(requirement).tolist() == twin.suppression(requirement).tolist()


def test_criterion_without_a_formula_uses_the_twin() -> None:
    table = next(table for seed in range(9) if (table := random_table(seed)) is not None)
    evaluated = evaluate_lattice(table, SETTINGS, criteria=[Share(0.5), ALL[0]], evaluator="kernels")
    assert isinstance(evaluated.histograms, Histograms)


def test_slider_stops_are_looked_up_and_other_values_become_edges() -> None:
    table = next(table for seed in range(9) if (table := random_table(seed)) is not None)
    ours, _ = both(table, ALL[0])
    histograms = ours.histograms
    assert isinstance(histograms, BucketedHistograms)
    first = histograms.current
    for stop in ALL[0].parameter.slider:
        ours.suppression(Requirement(3, criteria=[replace(ALL[0], value=stop)]))
    assert histograms.current is first
    ours.suppression(Requirement(3, criteria=[replace(ALL[0], value=2.2345)]))
    again = histograms.current
    assert again is not first
    ours.suppression(Requirement(4, criteria=[replace(ALL[0], value=2.2345)]))
    assert histograms.current is again
