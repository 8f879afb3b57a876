"""Improving answers of a partial lattice at run time: walking down from them, and probing for bounds.

From an answer's node each step lowers one attribute by a level and counts the node; a step that breaks the
answer's promise is undone, and its attribute stays where it is, as it would fail from any lower node too. The
walk ends at a node none of whose direct specializations does as well: minimal (Samarati 2001), if not always
lowest. Which attribute is lowered first is told by the level statistics: the one whose level gathers least.

Probing lowers one attribute alone from the highest node of the levels, as far as it goes. Where that fails at
a level, every answer has that attribute above it.

Cost: at most the node's height and one more per attribute counts for a walk; for a probe, a bisection of each
attribute's levels.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.model.lattice import LatticeNode, height
from discreet.model.negotiation import Answer, Negotiation
from discreet.model.request import Request, bounds_of
from discreet.negotiation.bound import limit_of, region_of
from discreet.negotiation.partial import PartialLattice


def descend(partial: PartialLattice, request: Request, negotiation: Negotiation) -> Negotiation:
    """The same answers, each walked down to a minimal node; what they relax and promise is kept."""
    low, high = bounds_of(partial.lattice, request)
    limit = request.max_suppressed.of(partial.rows)
    answers = []
    for answer in negotiation.answers:
        first, _, start = region_of(answer, request, low, high, partial.lattice.top)
        answers.append(_descend(partial, answer, first, start, limit_of(answer, limit)))
    return replace(negotiation, answers=tuple(answers))


def probe(partial: PartialLattice, request: Request) -> None:
    """Count, for each attribute, the level at which lowering it alone from the highest node begins to fail.

    The counts stay with the partial lattice, where ``bound.prove`` finds them.
    """
    low, high = bounds_of(partial.lattice, request)
    requirement, limit = request.requirement, request.max_suppressed.of(partial.rows)
    if partial.suppressed(high, requirement) > limit:
        high = partial.lattice.top
        if partial.suppressed(high, requirement) > limit:
            return
    for i, least in enumerate(low):
        fails, meets = least - 1, high[i]
        while meets - fails > 1:
            middle = (fails + meets) // 2
            if partial.suppressed((*high[:i], middle, *high[i + 1 :]), requirement) > limit:
                fails = middle
            else:
                meets = middle


def _descend(partial: PartialLattice, answer: Answer, low: LatticeNode, start: int, limit: int) -> Answer:
    gains = {(power.attribute, power.level): power.relative_importance for power in partial.powers}
    names = partial.lattice.attributes
    node, suppressed = answer.node, answer.suppressed
    movable = [i for i in range(len(node)) if node[i] > low[i]]
    while movable and height(node) > start:
        i = min(movable, key=lambda i: gains[names[i], node[i]])
        lower = (*node[:i], node[i] - 1, *node[i + 1 :])
        rows = partial.suppressed(lower, answer.requirement)
        if rows <= limit:
            node, suppressed = lower, rows
        if rows > limit or node[i] == low[i]:
            movable.remove(i)
    return replace(answer, node=node, suppressed=suppressed)
