"""Negotiation by local recoding against enumeration of the lattice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.lattice.evaluate import evaluate_lattice
from discreet.local.negotiate import negotiate_local
from discreet.model.lattice import tie_key
from discreet.model.negotiation import Relaxation
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.oracle.random_tables import random_frequency_set

LIMITS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))


@given(st.integers(0, 10**6))
@hypothesis_settings(max_examples=40, deadline=None)
def test_answers_are_what_enumeration_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    frequency_set = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=30, sensitive=1)
    if not frequency_set.rows:
        return
    lattice = evaluate_lattice(frequency_set, LIMITS, evaluator="twin")
    nodes = list(lattice.lattice.nodes())
    high = nodes[int(random.integers(len(nodes)))]
    l = int(random.integers(2, 4)) if frequency_set.sensitive and random.random() < 0.5 else None
    k = int(random.integers(2, 12)) if l is None or random.random() < 0.5 else None
    limit = int(random.integers(0, 5))
    request = Request.of(
        k=k,
        l=l,
        max_suppressed=limit,
        max_level=dict(zip(lattice.lattice.attributes, high, strict=True)),
    )
    found = negotiate_local(frequency_set, request, LIMITS)
    asked, rows = request.requirement, frequency_set.rows

    def lost(node: tuple[int, ...], requirement: Requirement) -> int:
        return lattice.suppressed(node, requirement)

    fewest = lost(high, asked)
    if fewest <= limit and fewest < rows:
        assert [a.relaxed for a in found.answers] == [None]
        assert found.exact is not None
        assert found.exact.found.suppressed == fewest
        return
    expected: dict[Relaxation, object] = {}
    if fewest < rows:
        expected[Relaxation.MAX_SUPPRESSED] = (high, asked)
    above = [n for n in nodes if all(a >= b for a, b in zip(n, high, strict=True))]
    least = min(limit, rows - 1)
    fits = [n for n in above if lost(n, asked) <= least]
    if fits:
        lowest = min(fits, key=lambda n: (sum(n), lost(n, asked), tie_key(n)))
        expected[Relaxation.HEIGHT] = (lowest, asked)
    if k is not None:
        smaller = [i for i in range(2, k) if lost(high, asked.with_k(i)) <= least]
        if smaller:
            expected[Relaxation.K] = (high, asked.with_k(max(smaller)))
    if l is not None:
        fewer = [i for i in range(2, l) if lost(high, asked.with_l_at_most(i)) <= least]
        if fewer:
            expected[Relaxation.L] = (high, asked.with_l_at_most(max(fewer)))
    assert {a.relaxed: (a.node, a.requirement) for a in found.answers} == expected
    assert found.outcome == "relaxed"
    for answer in found.answers:
        assert answer.found.suppressed == lost(answer.node, answer.requirement)
        assert answer.as_json(found.lattice)["granularity"] == answer.found.granularity


def test_levels_that_cross_or_ask_nothing_are_refused() -> None:
    frequency_set = random_frequency_set(
        np.random.default_rng(12), attributes=3, height=3, leaves=6, rows=30, sensitive=0
    )
    name, top = frequency_set.attributes[0], frequency_set.hierarchies[0].height
    with pytest.raises(InputError, match="above its greatest"):
        negotiate_local(
            frequency_set, Request.of(k=2, min_level={name: top}, max_level={name: top - 1}), LIMITS
        )
    with pytest.raises(InputError, match="neither k nor l"):
        negotiate_local(frequency_set, Request(Requirement()), LIMITS)
