"""Oracles of the searches: all solutions by enumeration, and the paper's Incognito with sets and queries.

Nodes are evaluated by ``brute_lattice``; subsets of attributes by a lattice of only those attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations, product

from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from tests.oracle.brute_lattice import BruteLattice

Box = tuple[LatticeNode, LatticeNode]
Node = tuple[tuple[int, int], ...]
"""Rows in the paper's notation: attribute and level, attribute and level, …"""


def every_solution(
    table: FrequencySet, requirement: Requirement, limit: int, box: Box
) -> dict[LatticeNode, int]:
    """Return the nodes of a box that suppress at most ``limit`` rows, with their suppressed rows."""
    brute = BruteLattice(table)
    nodes = product(*(range(a, b + 1) for a, b in zip(*box, strict=True)))
    rows = {node: brute.suppressed(node, requirement) for node in nodes}
    return {node: suppressed for node, suppressed in rows.items() if suppressed <= limit}


def minimal(solutions: Iterable[LatticeNode]) -> set[LatticeNode]:
    """Return the solutions that are not above another one."""
    found = set(solutions)
    return {
        n for n in found if not any(m != n and all(a <= b for a, b in zip(m, n, strict=True)) for m in found)
    }


def preferred(solutions: dict[LatticeNode, int]) -> LatticeNode | None:
    """Apply the contract's tie rule."""
    order = sorted(solutions, key=lambda n: (sum(n), solutions[n], n[-1:], n[:-1]))
    return order[0] if order else None


def projection(table: FrequencySet, attributes: tuple[int, ...]) -> FrequencySet:
    """Return the table with a subset of its quasi-identifiers; repeated row types do no harm here."""
    return replace(
        table,
        hierarchies=tuple(table.hierarchies[a] for a in attributes),
        codes=table.codes[:, list(attributes)],
    )


@dataclass
class Counts:
    checked: int = 0
    marked: int = 0
    scans: int = 0


def bottom_up(meets: dict[LatticeNode, bool], *, transitive: bool) -> Counts:
    """Search breadth first in the box of ``meets``, from its lowest node."""
    counts, marked, seen, queue = Counts(), set(), set(), {min(meets, key=sum)}
    while queue:
        node = min(queue, key=sum)
        queue.remove(node)
        seen.add(node)
        above = {n for n in meets if n != node and all(a >= b for a, b in zip(n, node, strict=True))}
        direct = {n for n in above if sum(n) == sum(node) + 1}
        if node in marked:
            counts.marked += 1
        elif meets[node]:
            counts.checked += 1
            marked |= above if transitive else direct
        else:
            counts.checked += 1
            queue |= direct - seen
    return counts


def incognito(
    table: FrequencySet, requirement: Requirement, limit: int, box: Box, *, transitive: bool
) -> Counts:
    """Run the paper's loops over rows of attribute and level; scans are those of basic Incognito."""
    low, high = box
    counts = Counts()
    survivors: set[Node] = set()
    for size in range(1, len(low) + 1):
        nodes = (
            joined_and_pruned(survivors)
            if size > 1
            else {((a, level),) for a in range(len(low)) for level in range(low[a], high[a] + 1)}
        )
        survivors = set()
        for family in combinations(range(len(low)), size):
            lattice = BruteLattice(projection(table, family))
            here = {node for node in nodes if tuple(a for a, _ in node) == family}
            edges = {(p, c) for p in here for c in here if is_step(p, c)}
            queue = {node for node in here if not any(c == node for _, c in edges)}
            counts.scans += len(queue)
            seen, marked, failed = set(), set(), set()
            while queue:
                node = min(queue, key=lambda n: (sum(level for _, level in n), n))
                queue.remove(node)
                seen.add(node)
                above = {c for p, c in edges if p == node}
                if node in marked:
                    counts.marked += 1
                    continue
                counts.checked += 1
                if lattice.suppressed(tuple(level for _, level in node), requirement) <= limit:
                    marked |= {n for n in here if is_above(n, node)} if transitive else above
                else:
                    failed.add(node)
                    queue |= above - seen
            survivors |= here - failed
    return counts


def joined_and_pruned(survivors: set[Node]) -> set[Node]:
    """Apply the paper's self-join and then its prune by every subset."""
    joined = {(*p, q[-1]) for p in survivors for q in survivors if p[:-1] == q[:-1] and p[-1][0] < q[-1][0]}
    return {n for n in joined if all((*n[:i], *n[i + 1 :]) in survivors for i in range(len(n)))}


def queried_edges(nodes: set[Node], smaller: set[tuple[Node, Node]]) -> set[tuple[Node, Node]]:
    """Run the paper's query: candidate edges by the parents' edges, EXCEPT those implied by two of them.

    The parents of a node are the two survivors that it was joined from: without its last pair, and without
    the last but one.
    """
    parents = {n: (n[:-1], (*n[:-2], n[-1])) for n in nodes}
    candidate = {
        (p, q)
        for p in nodes
        for q in nodes
        for (p1, p2), (q1, q2) in [(parents[p], parents[q])]
        if ((p1, q1) in smaller and (p2, q2) in smaller)
        or ((p1, q1) in smaller and p2 == q2)
        or ((p2, q2) in smaller and p1 == q1)
    }
    implied = {(p, r) for p, q in candidate for other, r in candidate if q == other}
    return candidate - implied


def is_step(node: Node, other: Node) -> bool:
    """Test whether the other node raises one attribute by one level."""
    rises = [b - a for (_, a), (_, b) in zip(node, other, strict=True)]
    return sum(rises) == 1 and min(rises) >= 0


def is_above(node: Node, other: Node) -> bool:
    return node != other and all(a >= b for (_, a), (_, b) in zip(node, other, strict=True))
