"""Oracle: a partial lattice's answers by the literal text of the paper, over plain sets of nodes."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from math import log2

from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.naive_negotiation import NaiveAnswer, allowed_rows
from tests.oracle.weaker import largest_l, with_k, with_l_at_most


def level_sizes(brute: BruteLattice, attribute: int) -> list[float]:
    """Return the mean group size at each level of one attribute, with the others at level 0."""
    counts = dict(zip(brute.lattice.nodes(), brute.classes().tolist(), strict=True))
    bottom = [0] * len(brute.lattice.heights)
    found = []
    for level in range(brute.lattice.heights[attribute] + 1):
        node = (*bottom[:attribute], level, *bottom[attribute + 1 :])
        found.append(brute.rows / counts[node] if brute.rows else 0.0)
    return found


def score_of(brute: BruteLattice, node: LatticeNode, metric: str) -> float:
    """Compute a node's score as defined in the paper."""
    name, product = metric.removesuffix("-product"), metric.endswith("-product")
    score = 1.0 if product else 0.0
    for attribute, level in enumerate(node):
        sizes = level_sizes(brute, attribute)
        gains = [b / a if a else 1.0 for a, b in pairwise(sizes)]
        gain = gains[level - 1] if level else (1 / gains[0] if gains else 1.0)
        size = sizes[level]
        terms = {"gamma": size, "mu": gain, "gamma-mu": size * gain, "lambda": log2(max(size, 1.0)) * gain}
        score = score * terms[name] if product else score + terms[name]
    return score


def naive_partial_negotiation(
    brute: BruteLattice, nodes: Collection[LatticeNode], request: Request, *, runtime: bool
) -> list[NaiveAnswer]:
    """Return the relaxation, the node, its suppressed rows, and the requirement that it meets."""
    names, heights = brute.lattice.attributes, brute.lattice.heights
    high = tuple(dict(request.max_level).get(a, h) for a, h in zip(names, heights, strict=True))
    low = tuple(dict(request.min_level).get(a, 0) for a in names)
    above_low = [n for n in nodes if all(a <= b for a, b in zip(low, n, strict=True))]
    inside = {n for n in above_low if all(a <= b for a, b in zip(n, high, strict=True))}
    inside |= {high} if runtime else set()
    requirement, limit = request.requirement, allowed_rows(request, brute.rows)

    def best(
        relaxed: str | None, among: Collection[LatticeNode], requirement: Requirement, limit: int
    ) -> list[NaiveAnswer]:
        counted = [(n, brute.suppressed(n, requirement)) for n in among]
        found = [(sum(n), s, n[-1], n[:-1], n) for n, s in counted if s <= limit and s < max(brute.rows, 1)]
        return [(relaxed, min(found)[-1], min(found)[1], requirement)] if found else []

    exact = best(None, inside, requirement, limit)
    if exact:
        return exact
    taller = [n for n in above_low if request.scope == "global" or sum(n) >= sum(high)]
    fewest = min((brute.suppressed(n, requirement) for n in inside), default=-1)
    answers = best("max_suppressed", inside, requirement, fewest) + best("height", taller, requirement, limit)
    for relaxed, required, weaker in (
        ("k", requirement.k, with_k),
        ("l", largest_l(requirement), with_l_at_most),
    ):
        tried = (
            best(relaxed, inside, weaker(requirement, p), limit) for p in range((required or 1) - 1, 1, -1)
        )
        answers += next((found for found in tried if found), [])
    return answers
