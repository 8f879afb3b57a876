"""Oracle: negotiation by the literal text of the contract, for any criteria, over every node in turn."""

from __future__ import annotations

from collections.abc import Collection

from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from tests.oracle.naive_negotiation import NaiveAnswer, allowed_rows
from tests.oracle.scored_lattice import ScoredLattice


def naive_relaxations(brute: ScoredLattice, request: Request) -> list[NaiveAnswer]:
    """Return the relaxation, the node, its suppressed rows, and the requirement that it meets."""
    names, heights = brute.lattice.attributes, brute.lattice.heights
    high = tuple(dict(request.max_level).get(a, h) for a, h in zip(names, heights, strict=True))
    low = tuple(dict(request.min_level).get(a, 0) for a in names)
    above_low = [n for n in brute.nodes if all(a <= b for a, b in zip(low, n, strict=True))]
    allowed = [n for n in above_low if all(a <= b for a, b in zip(n, high, strict=True))]
    requirement = request.requirement
    limit = min(allowed_rows(request, brute.rows), brute.rows - 1)

    def preferred(
        relaxed: str | None, nodes: Collection[LatticeNode], requirement: Requirement, limit: int
    ) -> list[NaiveAnswer]:
        counted = [(n, brute.suppressed(n, requirement)) for n in nodes]
        found = [(sum(n), s, n[-1], n[:-1], n) for n, s in counted if s <= limit]
        return [(relaxed, min(found)[-1], min(found)[1], requirement)] if found else []

    exact = preferred(None, allowed, requirement, limit)
    if exact:
        return exact
    fewest = min(min(brute.suppressed(n, requirement) for n in allowed), brute.rows - 1)
    taller = [n for n in above_low if request.scope == "global" or sum(n) >= sum(high)]
    answers = preferred("max_suppressed", allowed, requirement, fewest) + preferred(
        "height", taller, requirement, limit
    )
    for name in dict.fromkeys(c.name for c in requirement.criteria):
        criteria = [c for c in requirement.criteria if c.name == name]
        floor = max(c.floor_score for c in criteria)
        tried = (
            preferred(name, allowed, requirement.weakened(name, score), limit)
            for score in sorted(brute.scores_of(name), reverse=True)
            if floor <= score < max(c.threshold for c in criteria)
        )
        answers += next((found for found in tried if found), [])
    return answers
