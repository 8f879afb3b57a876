"""Negotiation by local recoding, checked by enumerating the lattice."""

from __future__ import annotations

from dataclasses import replace
from operator import ge
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.lattice.evaluation import evaluate_lattice
from discreet.local.local_answers import negotiate_local
from discreet.model.lattice import LatticeNode, tie_break_key
from discreet.model.request import Request, node_bounds
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.random_tables import random_frequency_set
from tests.oracle.scored_lattice import ScoredLattice, Spread, random_requirement

LIMITS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))


def test_answers_have_local_recodings_of_their_levels() -> None:
    relaxed: set[str | None] = set()
    for seed in range(some_of(25)):
        table, request = table_and_request(seed)
        if not table.rows:
            continue
        found = negotiate_local(table, request, LIMITS)
        lattice = evaluate_lattice(table, LIMITS, evaluator="twin")
        assert found.outcome == ("relaxed" if found.exact is None else "exact")
        for answer in found.answers:
            relaxed.add(answer.relaxed)
            assert answer.local_recoding.suppressed == lattice.suppressed(answer.node, answer.requirement)
            assert answer.as_json(found.lattice)["granularity"] == answer.local_recoding.granularity
    assert len(relaxed) > 3


def test_crossing_levels_and_empty_requirements_are_refused() -> None:
    frequency_set = random_frequency_set(
        np.random.default_rng(12), attributes=3, height=3, leaves=6, rows=30, sensitive=0
    )
    name, top = frequency_set.attributes[0], frequency_set.hierarchies[0].height
    with pytest.raises(InputError, match="above its greatest"):
        negotiate_local(
            frequency_set, Request.of(k=2, min_level={name: top}, max_level={name: top - 1}), LIMITS
        )
    with pytest.raises(InputError, match="no privacy criterion"):
        negotiate_local(frequency_set, Request(Requirement()), LIMITS)


def test_criterion_that_is_not_growing_is_refused() -> None:
    frequency_set = random_frequency_set(
        np.random.default_rng(13), attributes=3, height=3, leaves=6, rows=30, sensitive=2
    )
    assert frequency_set.sensitive
    with pytest.raises(InputError, match=r"share=0.5 of negotiation by local recoding"):
        negotiate_local(frequency_set, Request(Requirement(2, criteria=[Share(0.5)])), LIMITS)


def test_relaxations_equal_enumeration_for_any_criterion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "discreet.local.local_answers.generalize_cells", lambda *_, **__: SimpleNamespace(suppressed=0)
    )
    seen: set[str | None] = set()
    for seed in range(some_of(150)):
        table, request = table_and_request(seed)
        requirement = random_requirement(np.random.default_rng(seed), table, (Spread,))
        request = replace(request, requirement=requirement)
        if not table.rows:
            continue
        brute = ScoredLattice(table, requirement.criteria)
        found = negotiate_local(table, request, LIMITS)
        answers = [(a.relaxed, a.node, a.requirement) for a in found.answers]
        assert answers == _expected(brute, request), seed
        seen |= {relaxed for relaxed, _, _ in answers}
    assert seen == {None, "max_suppressed", "height", "k", "l", "spread"}


def _expected(brute: ScoredLattice, request: Request) -> list[tuple[str | None, LatticeNode, Requirement]]:
    requirement, limit = request.requirement, request.max_suppressed.of(brute.rows)
    high = node_bounds(brute.lattice, request)[1]
    fewest = brute.suppressed(high, requirement)
    if fewest <= limit:
        return [(None, high, requirement)]
    answers: list[tuple[str | None, LatticeNode, Requirement]] = []
    if fewest < brute.rows:
        answers.append(("max_suppressed", high, requirement))
    above = {n: brute.suppressed(n, requirement) for n in brute.nodes if all(map(ge, n, high))}
    fits = [(sum(n), s, tie_break_key(n), n) for n, s in above.items() if s <= limit]
    answers += [("height", min(fits)[-1], requirement)] if fits else []
    for name in requirement.names:
        own = max(c.threshold for c in requirement.criteria if c.name == name)
        floor = max(c.floor_score for c in requirement.criteria if c.name == name)
        lower = [s for s in range(floor, own) if brute.suppressed(high, requirement, name, s) <= limit]
        answers += [(name, high, requirement.weakened(name, max(lower)))] if lower else []
    return answers
