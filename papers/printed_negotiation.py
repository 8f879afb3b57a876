"""SimpleAnonymityNegotiation as printed by Pilalidou and Vassiliadis, with a count of its visits.

It gives the answers of ``Negotiator``, which is faster; it serves for the counts and as an independent check.
A visit is an arrival at a node, marked or not, which reproduces the paper's largest number of visits (1,792).

Differences from the print: "height(v) <= h" compares every level with its own; mixed-up variables are
corrected; ties follow the tie rule (decision 0004). Beyond the print: least levels, scope ``global``, l
in addition to k.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discreet.model.lattice import Lattice, LatticeNode, node_height, tie_break_key
from discreet.model.request import RelaxationScope, Request, max_suppressible_rows, node_bounds
from discreet.model.requirement import Requirement, require_growing
from discreet.model.search_result import Answer, Negotiation, Relaxation, relaxable_names
from discreet.negotiation.negotiator import NodeQueries
from discreet.negotiation.partial_lattice import PartialLattice

EXACT_PART = "exact"


@dataclass(frozen=True)
class PrintedNegotiation:
    """Answers of the walk, and its visits: of ``exact``, then of each relaxed part."""

    negotiation: Negotiation
    visits: tuple[tuple[str, int], ...]

    @property
    def visited(self) -> int:
        """Total number of visits."""
        return sum(number for _, number in self.visits)


def negotiate_as_printed(
    lookup: NodeQueries, request: Request, *, runtime: bool = False
) -> PrintedNegotiation:
    """Answer a request by the paper's algorithm over an evaluated or a partial lattice.

    Parameters
    ----------
    lookup
        The evaluated or partial lattice.
    request
        The request; its criteria must be growing, since a node that fails ends the walk.
    runtime
        For a partial lattice: also count the request's own node.

    Raises
    ------
    InputError
        As ``Negotiator.negotiate`` does, and for a criterion that is not growing.

    References
    ----------
    Pilalidou and Vassiliadis, *Online negotiation for privacy preserving data publishing* (slides).
    """
    request.requirement.check(lookup.sensitive_attributes)
    require_growing(request.requirement, "the paper's walk", advice="Negotiate over the evaluated lattice.")
    bounds = node_bounds(lookup.lattice, request)
    if isinstance(lookup, PartialLattice):
        walk: _Walk = _PartialWalk(lookup, request, *bounds, runtime)
    else:
        walk = _Walk(lookup, request, *bounds)
    answers = walk.answers()
    return PrintedNegotiation(
        Negotiation(lookup.lattice, lookup.rows, tuple(a for a in answers if a is not None)),
        tuple(walk.visits.items()),
    )


class _Walk:
    """Walk of one request over an evaluated lattice."""

    def __init__(
        self,
        lookup: NodeQueries,
        request: Request,
        low: LatticeNode,
        high: LatticeNode,
    ) -> None:
        self.lookup, self.low, self.high = lookup, low, high
        self.scope, self.requirement = request.scope, request.requirement
        self.limit = request.max_suppressed.of(lookup.rows)
        self.visits: dict[str, int] = {EXACT_PART: 0}

    def answers(self) -> list[Answer | None]:
        """Return the exact answer, or the relaxations."""
        exact = self.exact()
        if exact is not None:
            return [exact]
        asked = relaxable_names(self.requirement)
        self.visits |= dict.fromkeys(asked, 0)
        return [self.relax(part) for part in asked]

    def exact(self) -> Answer | None:
        """Return the lowest node at or below ``high`` that meets the request; None if ``high`` fails."""
        if self.visit(EXACT_PART, self.high, self.requirement) > self.limit:
            return None
        found = self.descend(EXACT_PART, self.children(self.high), self.requirement, self.limit)
        return self.lowest(None, [self.high, *found], self.requirement)

    def relax(self, part: str) -> Answer | None:
        """Return the answer that relaxes one part."""
        lookup, requirement = self.lookup, self.requirement
        if part == Relaxation.MAX_SUPPRESSED:
            fewest = min(lookup.suppressed(self.high, requirement), max_suppressible_rows(lookup.rows))
            return self.below_high(part, requirement, fewest)
        if part == Relaxation.HEIGHT:
            return self.relax_height()
        weaker = requirement.relaxed(part, lookup.largest(self.high, requirement, part, self.limit))
        return None if weaker is None else self.below_high(part, weaker, self.limit)

    def below_high(self, part: str, requirement: Requirement, limit: int) -> Answer | None:
        """Return the lowest node at or below ``high`` that keeps to ``limit``."""
        return self.lowest(part, self.descend(part, [self.high], requirement, limit), requirement)

    def relax_height(self) -> Answer | None:
        """Search heights by bisection, then take the preferred answering node of the height found."""
        first = node_height(self.high) if self.scope is RelaxationScope.ABOVE else node_height(self.low)
        last, best = node_height(self.lookup.lattice.top), None
        nodes = self.nodes_by_height()
        while first <= last:
            current = (first + last) // 2
            if self.some_answers(nodes[current]):
                best, last = current, current - 1
            else:
                first = current + 1
        if best is None:
            return None
        counted = [(n, self.visit(Relaxation.HEIGHT, n, self.requirement)) for n in nodes[best]]
        answering = [n for n, suppressed in counted if suppressed <= self.limit]
        return self.lowest(Relaxation.HEIGHT, answering, self.requirement)

    def some_answers(self, nodes: Sequence[LatticeNode]) -> bool:
        """Visit the nodes of a height until one answers."""
        return any(self.visit(Relaxation.HEIGHT, n, self.requirement) <= self.limit for n in nodes)

    def descend(
        self, part: str, start: Sequence[LatticeNode], requirement: Requirement, limit: int
    ) -> list[LatticeNode]:
        """Return every node that keeps to ``limit`` and is reached from ``start`` through such nodes."""
        marked: dict[LatticeNode, bool] = {}
        stack = list(reversed(start))
        while stack:
            node = stack.pop()
            # A repeated arrival counts as a visit, as in the paper, but does not descend again.
            if node in marked:
                self.visits[part] += 1
                continue
            marked[node] = self.visit(part, node, requirement) <= limit
            if marked[node]:
                stack += reversed(self.children(node))
        return [node for node, answers in marked.items() if answers]

    def children(self, node: LatticeNode) -> list[LatticeNode]:
        """Return the direct specializations at or above the least levels."""
        below = self.lookup.lattice.children(node)
        return [child for child in below if all(a <= b for a, b in zip(self.low, child, strict=True))]

    def visit(self, part: str, node: LatticeNode, requirement: Requirement) -> int:
        """Look up a node's histogram and count the visit."""
        self.visits[part] += 1
        return self.lookup.suppressed(node, requirement)

    def nodes_by_height(self) -> list[list[LatticeNode]]:
        """Return the nodes at or above the least levels, by height, in mixed-radix order."""
        return _by_height(self.lookup.lattice, self.lookup.lattice.nodes(), self.low)

    def lowest(
        self, part: str | None, nodes: Sequence[LatticeNode], requirement: Requirement
    ) -> Answer | None:
        """Return the preferred of some nodes (decision 0004)."""
        found = [Answer(part, node, requirement, self.lookup.suppressed(node, requirement)) for node in nodes]
        return min(
            found, key=lambda a: (node_height(a.node), a.suppressed, tie_break_key(a.node)), default=None
        )


class _PartialWalk(_Walk):
    """Walk of one request over a partial lattice: all prepared nodes within the levels are visited."""

    def __init__(
        self,
        partial: PartialLattice,
        request: Request,
        low: LatticeNode,
        high: LatticeNode,
        runtime: bool,
    ) -> None:
        super().__init__(partial, request, low, high)
        available_nodes = [tuple(node) for node in partial.nodes.tolist()]
        self.available_nodes = sorted(available_nodes)
        self.inside = [n for n in self.available_nodes if _lies_between(low, n, high)]
        self.knows_high = runtime or partial.is_prepared(high)
        if runtime and not partial.is_prepared(high):
            self.inside.append(high)

    def exact(self) -> Answer | None:
        """Return the lowest available node within the levels that meets the request."""
        if self.knows_high and self.visit(EXACT_PART, self.high, self.requirement) > self.limit:
            return None
        return self.best_inside(None, EXACT_PART, self.requirement, self.limit)

    def relax(self, part: str) -> Answer | None:
        """Relax as over an evaluated lattice if ``high`` is known, else by the best available nodes."""
        if self.knows_high or part == Relaxation.HEIGHT:
            return super().relax(part)
        requirement, partial = self.requirement, self.lookup
        if part == Relaxation.MAX_SUPPRESSED:
            fewest = min((partial.suppressed(n, requirement) for n in self.inside), default=0)
            return self.best_inside(part, part, requirement, min(fewest, max_suppressible_rows(partial.rows)))
        reached = [partial.largest(n, requirement, part, self.limit) for n in self.inside]
        weaker = requirement.relaxed(
            part, max((score for score in reached if score is not None), default=None)
        )
        return None if weaker is None else self.best_inside(part, part, weaker, self.limit)

    def below_high(self, part: str, requirement: Requirement, limit: int) -> Answer | None:
        """Return the lowest available node within the levels that keeps to ``limit``."""
        return self.best_inside(part, part, requirement, limit)

    def best_inside(
        self, relaxed: str | None, part: str, requirement: Requirement, limit: int
    ) -> Answer | None:
        """Visit every available node within the levels and return the preferred one that answers."""
        answering = [node for node in self.inside if self.visit(part, node, requirement) <= limit]
        return self.lowest(relaxed, answering, requirement)

    def nodes_by_height(self) -> list[list[LatticeNode]]:
        """Return the prepared nodes at or above the least levels, by height, in mixed-radix order."""
        return _by_height(self.lookup.lattice, self.available_nodes, self.low)


def _by_height(lattice: Lattice, nodes: Iterable[LatticeNode], low: LatticeNode) -> list[list[LatticeNode]]:
    found: list[list[LatticeNode]] = [[] for _ in range(node_height(lattice.top) + 1)]
    for node in nodes:
        if _lies_between(low, node, lattice.top):
            found[node_height(node)].append(node)
    return found


def _lies_between(low: LatticeNode, node: LatticeNode, high: LatticeNode) -> bool:
    return all(a <= level <= b for a, level, b in zip(low, node, high, strict=True))
