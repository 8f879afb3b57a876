"""Negotiation on the evaluated lattice, with subjects and NULL, checked against the oracle."""

from __future__ import annotations

import numpy as np

from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.request import Request
from discreet.negotiation.negotiator import Negotiator
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.naive_negotiation import naive_negotiation
from tests.oracle.random_tables import random_frequency_set


def test_answers_from_the_evaluated_lattice_are_the_oracles(settings: Settings) -> None:
    outcomes = set()
    for seed in range(some_of(250)):
        random = np.random.default_rng(seed)
        people = None if seed % 2 else int(random.integers(1, 16))
        table = random_frequency_set(
            random, attributes=3, height=3, leaves=5, rows=24, sensitive=2, subjects=people
        )
        if not table.rows:
            continue
        brute, negotiator = BruteLattice(table), Negotiator(evaluate_lattice(table, settings))
        for _ in range(3):
            request = Request.of(
                k=int(random.integers(1, 12)),
                l=int(random.integers(1, 5)) if table.sensitive and random.random() < 0.6 else None,
                max_suppressed=int(random.integers(0, 6)),
                max_level={h.attribute: int(random.integers(0, h.height + 1)) for h in table.hierarchies},
            )
            found = [
                (None if a.relaxed is None else str(a.relaxed), a.node, a.suppressed, a.requirement)
                for a in negotiator.negotiate(request).answers
            ]
            expected = naive_negotiation(brute, request)
            assert found == expected, (seed, request)
            outcomes |= {answer[0] for answer in expected}
    assert outcomes == {None, "max_suppressed", "height", "k", "l"}
