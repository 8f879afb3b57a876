"""Metrics and partial lattices compared with the evaluated lattice, against counting by hand."""

from __future__ import annotations

import pytest

from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.requirement import Requirement
from discreet.negotiation.partial_lattice import prepare_partial_lattice
from discreet.settings import Settings
from papers.partial_comparison import compare_importance_metrics
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice

TABLES = [table_and_request(seed) for seed in range(some_of(30))]


def test_misses_and_deviations_equal_those_by_height(settings: Settings) -> None:
    absent = missed = 0
    for table, _ in TABLES[:14]:
        if not table.rows:
            continue
        brute, evaluated = BruteLattice(table), evaluate_lattice(table, settings)
        for found in compare_importance_metrics(
            evaluated, (2, 4), percent="20%", metrics=("lambda", "mu"), small=6
        ):
            partial = prepare_partial_lattice(table, "20%", found.metric)
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
    assert absent == 0
