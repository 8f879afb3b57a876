"""SimpleAnonymityNegotiation, node by node as Pilalidou and Vassiliadis print it, with a count of its visits.

The answers are those of ``negotiate.Negotiator``, which is faster; this one is here for its counts and as a
second opinion. The search walks down from the request's own node, ``high``, through every node that meets the
request, and marks nodes so that none is looked into twice. Where ``high`` fails, each part is relaxed:
max_suppressed and the criteria by the same walk with what ``high`` reaches, the height by a binary search
over heights that looks through a height until a node answers, and then once through the lowest height that
has one.

A visit is an arrival at a node, marked or not; so counted, the paper's largest number of visits over its
requests comes out (1,792), and its charts do as far as they can be read.

What the print has wrong: "height(v) <= h" compares a number with a vector, here every level with its own; the
variables low, h_low, current and h_current are mixed up; ties are arbitrary, here by the tie rule (decision
0004). Beyond the print: least levels, scope ``global``, and l beside k.

Over a partial lattice every node at hand within the levels is looked at, as heights in between may lack a
solution; the binary search over heights stays, and may therefore end above the lowest node at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discreet.model.lattice import Lattice, LatticeNode, height, tie_key
from discreet.model.monotone import require_growing
from discreet.model.negotiation import Answer, Negotiation, Relaxation, relaxations_of
from discreet.model.request import Request, Scope, bounds_of, most_suppressed
from discreet.model.requirement import Requirement
from discreet.negotiation.lookup import NodeLookup
from discreet.negotiation.partial import PartialLattice

EXACT = "exact"


@dataclass(frozen=True)
class SimpleNegotiation:
    """What the walk answers, and its visits: of ``exact``, then of each part that was relaxed."""

    negotiation: Negotiation
    visits: tuple[tuple[str, int], ...]

    @property
    def visited(self) -> int:
        """Visits in all."""
        return sum(number for _, number in self.visits)


def simple_negotiation(lookup: NodeLookup, request: Request, *, runtime: bool = False) -> SimpleNegotiation:
    """The paper's algorithm over an evaluated or a partial lattice.

    With ``runtime`` a partial lattice counts the request's own node too. Raises ``InputError`` as
    ``negotiate.Negotiator`` does, and for a criterion that is not growing: a node that fails ends the walk.
    """
    request.requirement.check(lookup.sensitive_attributes)
    require_growing(request.requirement, "the paper's walk", advice="Negotiate over the evaluated lattice.")
    bounds = bounds_of(lookup.lattice, request)
    if isinstance(lookup, PartialLattice):
        walk: _Walk = _PartialWalk(lookup, request, *bounds, runtime)
    else:
        walk = _Walk(lookup, request, *bounds)
    answers = walk.answers()
    return SimpleNegotiation(
        Negotiation(lookup.lattice, lookup.rows, tuple(a for a in answers if a is not None)),
        tuple(walk.visits.items()),
    )


class _Walk:
    """One request over an evaluated lattice."""

    def __init__(
        self,
        lookup: NodeLookup,
        request: Request,
        low: LatticeNode,
        high: LatticeNode,
    ) -> None:
        self.lookup, self.low, self.high = lookup, low, high
        self.scope, self.requirement = request.scope, request.requirement
        self.limit = request.max_suppressed.of(lookup.rows)
        self.visits: dict[str, int] = {EXACT: 0}

    def answers(self) -> list[Answer | None]:
        """The exact answer, or the relaxations."""
        exact = self.exact()
        if exact is not None:
            return [exact]
        asked = relaxations_of(self.requirement)
        self.visits |= dict.fromkeys(asked, 0)
        return [self.relax(part) for part in asked]

    def exact(self) -> Answer | None:
        """The lowest node below ``high`` that meets the request; None where ``high`` fails."""
        if self.look(EXACT, self.high, self.requirement) > self.limit:
            return None
        found = self.descend(EXACT, self.children(self.high), self.requirement, self.limit)
        return self.lowest(None, [self.high, *found], self.requirement)

    def relax(self, part: str) -> Answer | None:
        """The answer that gives way on one part."""
        lookup, wish = self.lookup, self.requirement
        if part == Relaxation.MAX_SUPPRESSED:
            fewest = min(lookup.suppressed(self.high, wish), most_suppressed(lookup.rows))
            return self.below_high(part, wish, fewest)
        if part == Relaxation.HEIGHT:
            return self.relax_height()
        weaker = wish.relaxed(part, lookup.largest(self.high, wish, part, self.limit))
        return None if weaker is None else self.below_high(part, weaker, self.limit)

    def below_high(self, part: str, wish: Requirement, limit: int) -> Answer | None:
        """The lowest node of those below ``high``, itself included, that keep to ``limit``."""
        return self.lowest(part, self.descend(part, [self.high], wish, limit), wish)

    def relax_height(self) -> Answer | None:
        """Binary search over heights; then the fewest suppressed rows of the height that it ends at."""
        first = height(self.high) if self.scope is Scope.ABOVE else height(self.low)
        last, best = height(self.lookup.lattice.top), None
        nodes = self.nodes_by_height()
        while first <= last:
            current = (first + last) // 2
            if self.some_answers(nodes[current]):
                best, last = current, current - 1
            else:
                first = current + 1
        if best is None:
            return None
        counted = [(n, self.look(Relaxation.HEIGHT, n, self.requirement)) for n in nodes[best]]
        answering = [n for n, suppressed in counted if suppressed <= self.limit]
        return self.lowest(Relaxation.HEIGHT, answering, self.requirement)

    def some_answers(self, nodes: Sequence[LatticeNode]) -> bool:
        """Look through the nodes of a height until one answers."""
        return any(self.look(Relaxation.HEIGHT, n, self.requirement) <= self.limit for n in nodes)

    def descend(
        self, part: str, start: Sequence[LatticeNode], wish: Requirement, limit: int
    ) -> list[LatticeNode]:
        """Every node that keeps to ``limit``, from ``start`` down through such nodes only."""
        marked: dict[LatticeNode, bool] = {}
        stack = list(reversed(start))
        while stack:
            node = stack.pop()
            if node in marked:
                self.visits[part] += 1
                continue
            marked[node] = self.look(part, node, wish) <= limit
            if marked[node]:
                stack += reversed(self.children(node))
        return [node for node, answers in marked.items() if answers]

    def children(self, node: LatticeNode) -> list[LatticeNode]:
        """The direct specializations within the least levels."""
        below = self.lookup.lattice.children(node)
        return [child for child in below if all(a <= b for a, b in zip(self.low, child, strict=True))]

    def look(self, part: str, node: LatticeNode, wish: Requirement) -> int:
        """One look-up of a node's histogram, counted."""
        self.visits[part] += 1
        return self.lookup.suppressed(node, wish)

    def nodes_by_height(self) -> list[list[LatticeNode]]:
        """The nodes at or above the least levels, by height, in mixed-radix order."""
        return _by_height(self.lookup.lattice, self.lookup.lattice.nodes(), self.low)

    def lowest(self, part: str | None, nodes: Sequence[LatticeNode], wish: Requirement) -> Answer | None:
        """The preferred of some nodes (decision 0004)."""
        found = [Answer(part, node, wish, self.lookup.suppressed(node, wish)) for node in nodes]
        return min(found, key=lambda a: (height(a.node), a.suppressed, tie_key(a.node)), default=None)


class _PartialWalk(_Walk):
    """One request over a partial lattice: its nodes within the levels are looked at one and all."""

    def __init__(
        self,
        partial: PartialLattice,
        request: Request,
        low: LatticeNode,
        high: LatticeNode,
        runtime: bool,
    ) -> None:
        super().__init__(partial, request, low, high)
        at_hand = [tuple(node) for node in partial.nodes.tolist()]
        self.at_hand = sorted(at_hand)
        self.inside = [n for n in self.at_hand if _between(low, n, high)]
        self.knows_high = runtime or partial.holds(high)
        if runtime and not partial.holds(high):
            self.inside.append(high)

    def exact(self) -> Answer | None:
        """The lowest node at hand within the levels that meets the request."""
        if self.knows_high and self.look(EXACT, self.high, self.requirement) > self.limit:
            return None
        return self.best_inside(None, EXACT, self.requirement, self.limit)

    def relax(self, part: str) -> Answer | None:
        """As over an evaluated lattice where ``high`` is known; else what the nodes at hand reach."""
        if self.knows_high or part == Relaxation.HEIGHT:
            return super().relax(part)
        wish, partial = self.requirement, self.lookup
        if part == Relaxation.MAX_SUPPRESSED:
            fewest = min((partial.suppressed(n, wish) for n in self.inside), default=0)
            return self.best_inside(part, part, wish, min(fewest, most_suppressed(partial.rows)))
        reached = [partial.largest(n, wish, part, self.limit) for n in self.inside]
        weaker = wish.relaxed(part, max((score for score in reached if score is not None), default=None))
        return None if weaker is None else self.best_inside(part, part, weaker, self.limit)

    def below_high(self, part: str, wish: Requirement, limit: int) -> Answer | None:
        """The lowest node at hand within the levels that keeps to ``limit``."""
        return self.best_inside(part, part, wish, limit)

    def best_inside(self, relaxed: str | None, part: str, wish: Requirement, limit: int) -> Answer | None:
        """The preferred node at hand within the levels, every one of them visited."""
        answering = [node for node in self.inside if self.look(part, node, wish) <= limit]
        return self.lowest(relaxed, answering, wish)

    def nodes_by_height(self) -> list[list[LatticeNode]]:
        """The prepared nodes at or above the least levels, by height, in mixed-radix order."""
        return _by_height(self.lookup.lattice, self.at_hand, self.low)


def _by_height(lattice: Lattice, nodes: Iterable[LatticeNode], low: LatticeNode) -> list[list[LatticeNode]]:
    found: list[list[LatticeNode]] = [[] for _ in range(height(lattice.top) + 1)]
    for node in nodes:
        if _between(low, node, lattice.top):
            found[height(node)].append(node)
    return found


def _between(low: LatticeNode, node: LatticeNode, high: LatticeNode) -> bool:
    return all(a <= level <= b for a, level, b in zip(low, node, high, strict=True))
