"""Oracle: negotiation by the literal text of the contract, over every node in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.weaker import largest_l, with_k, with_l_at_most

NaiveAnswer = tuple[str | None, LatticeNode, int, Requirement]


def allowed_rows(request: Request, rows: int) -> int:
    """Return the rows that the limit of a request allows to be suppressed, possibly all.

    The rule that some rows must remain is a separate one.
    """
    limit = request.max_suppressed
    return limit.rows or 0 if limit.percent is None else int(limit.percent * rows / 100)


def naive_negotiation(brute: BruteLattice, request: Request) -> list[NaiveAnswer]:
    """Return the relaxation, the node, its suppressed rows, and the requirement that it meets."""
    names, heights = brute.lattice.attributes, brute.lattice.heights
    high = tuple(dict(request.max_level).get(a, h) for a, h in zip(names, heights, strict=True))
    low = tuple(dict(request.min_level).get(a, 0) for a in names)
    above_low = [n for n in brute.lattice.nodes() if all(a <= b for a, b in zip(low, n, strict=True))]
    allowed = [n for n in above_low if all(a <= b for a, b in zip(n, high, strict=True))]
    requirement, limit = request.requirement, allowed_rows(request, brute.rows)

    def preferred(
        relaxed: str | None, nodes: Iterable[LatticeNode], requirement: Requirement, limit: int
    ) -> list[NaiveAnswer]:
        counted = [(n, brute.suppressed(n, requirement)) for n in nodes]
        found = [(sum(n), s, n[-1], n[:-1], n) for n, s in counted if s <= limit and s < max(brute.rows, 1)]
        return [(relaxed, min(found)[-1], min(found)[1], requirement)] if found else []

    def largest(start: int, weaker: Callable[[int], Requirement]) -> list[Requirement]:
        reached = (weaker(p) for p in range(start, 1, -1) if preferred(None, [high], weaker(p), limit))
        return [next(reached, None)] if start > 1 else []

    exact = preferred(None, allowed, requirement, limit)
    if exact:
        return exact
    fewest = min(brute.suppressed(n, requirement) for n in allowed)
    taller = [n for n in above_low if request.scope == "global" or sum(n) >= sum(high)]
    answers = preferred("max_suppressed", allowed, requirement, fewest) + preferred(
        "height", taller, requirement, limit
    )
    for weaker_k in largest((requirement.k or 1) - 1, partial(with_k, requirement)):
        answers += preferred("k", allowed, weaker_k, limit) if weaker_k else []
    for weaker_l in largest((largest_l(requirement) or 1) - 1, partial(with_l_at_most, requirement)):
        answers += preferred("l", allowed, weaker_l, limit) if weaker_l else []
    return answers
