"""Which nodes may still be the cheapest: found without evaluating the lattice, by sets of attributes.

Where some attributes stand at their tops, a node suppresses no more rows for k than any node of the same
levels otherwise. So the nodes over a few attributes are counted first, in a table of few row types; what
exceeds the suppression limit there does so whatever the levels of the others (Incognito's subsets, LeFevre
et al. 2005, with suppression), and so many suppressed rows bound the cost of all of them from below. What may
still win is joined with the levels of the next attributes and counted there, until all attributes are in.

Rows in classes of fewer than ``Requirement.least_rows`` rows are suppressed under whatever else is asked, and
their number never rises on the way up; nothing else is concluded. Costs bound all nodes above by
``Cost.least_from``. A good node, found before, is what bounds are compared with; the better it is, the fewer
nodes are counted, but the answer does not hang on it. Under a cost whose bounds leave little out (class
sizes, say: ``Cost.narrows``) none is looked for, and the suppression limit alone leaves nodes out; where it
does not, the search gives up, for many nodes are evaluated together at less.

Cost: the states of the nodes that are counted (``lattice.some_nodes``), a small part of the lattice's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.some_nodes import SizeCounter
from discreet.measures.cost_kinds import Cost, OwnCost
from discreet.model.lattice import LatticeNode
from discreet.search.preference import Candidate, beyond_all
from discreet.search.task import SearchTask

Levels = NDArray[np.int64]
Rows = NDArray[np.int64]

_FEWEST = 4
"""A stage costs a sort and some passes over its nodes: of fewer attributes it leaves too few out."""
_LOOK = 3
_OF_USE = 0.98
"""Where a stage leaves more than that, bounds say little, and only the last stage follows."""
_WORTH = 0.93
"""Where it leaves more than that, and bounds will leave little out, the lattice is as soon evaluated."""
_WORTH_BY_ONE = 0.5
"""The same under a function of one node, for which the lattice is evaluated where many nodes are left."""
_FAR, _HALVINGS = 2, 8


@dataclass(frozen=True, eq=False)
class _Counted:
    """The nodes over some attributes, and the rows that each of them suppresses for k."""

    attributes: tuple[int, ...]
    levels: Levels
    suppressed: Rows


@dataclass(eq=False)
class StagedSearch:
    """The nodes of one task that no bound leaves out; ``best`` is a node that is known.

    ``gave_up``: the lattice is better evaluated.
    ``checked`` are the nodes counted, over all sets of attributes; ``scans`` the tables that were made.
    """

    task: SearchTask
    cost: Cost
    sizes: SizeCounter
    best: Candidate | None
    gave_up: bool = False
    checked: int = 0
    scans: int = 0
    _stages: list[_Counted] = field(default_factory=list)

    def run(self) -> tuple[Levels, Rows]:
        """The nodes that are left, and the rows that each suppresses for k; nothing of use if it gave up."""
        levels, suppressed = np.array([self.task.low]), np.zeros(1, np.int64)
        kept: tuple[int, ...] = ()
        parts, of_use = self._parts(), True
        by_one = isinstance(self.cost, OwnCost) and self.cost.over_nodes is None
        worth = _WORTH_BY_ONE if by_one else _WORTH
        for number, attributes in enumerate(parts, 1):
            self.task.advance(number, len(parts))
            if not of_use and number < len(parts):
                continue
            added = [a for a in attributes if a not in kept]
            levels, suppressed = self._joined(levels, suppressed, added)
            levels, suppressed = _only(self._may_win(levels, suppressed), levels, suppressed)
            kept = attributes
            if not len(levels):
                break
            least = self.task.requirement.least_rows
            most = self._most(levels)
            suppressed = self.sizes.count(attributes, levels[:, list(attributes)], least, most).below
            self.checked += len(levels)
            self.scans += 1
            self._stages.append(_Counted(attributes, levels, suppressed))
            left = self._may_win(levels, suppressed) & (suppressed <= most)
            number_left = int(left.sum())
            if number < len(parts) and not self.cost.narrows and number_left > worth * len(levels):
                self.gave_up = True
                break
            of_use = number_left <= _OF_USE * len(levels)
            levels, suppressed = _only(left, levels, suppressed)
        return levels, suppressed

    def exceeds(self, node: LatticeNode) -> bool:
        """Whether a node is known to exceed the suppression limit."""
        for stage in self._stages:
            at = [node[a] for a in stage.attributes]
            same = (stage.levels[:, list(stage.attributes)] == at).all(axis=1)
            if (stage.suppressed[same] > self.task.limit).any():
                return True
        return False

    def _parts(self) -> list[tuple[int, ...]]:
        """Ever larger sets of attributes, ascending."""
        order, heights = self.sizes.order, self.task.lattice.heights
        always = [a for a in order if not heights[a]]
        growing = [a for a in order if heights[a]]
        numbers = [len(growing)]
        while _fewer(numbers[-1]) >= _FEWEST:
            numbers.append(_fewer(numbers[-1]))
        if len(numbers) == 1 and len(growing) > _LOOK and not self.cost.narrows:
            numbers.append(_LOOK)  # a look at whether the limit leaves anything out, before all is counted
        return [tuple(sorted([*always, *growing[:number]])) for number in reversed(numbers)]

    def _joined(self, levels: Levels, suppressed: Rows, added: list[int]) -> tuple[Levels, Rows]:
        """Every node with every combination of the levels of some attributes."""
        for attribute in added:
            choices = np.arange(self.task.low[attribute], self.task.high[attribute] + 1)
            levels = np.repeat(levels, len(choices), axis=0)
            levels[:, attribute] = np.tile(choices, len(suppressed))
            suppressed = np.repeat(suppressed, len(choices))
        return levels, suppressed

    def _most(self, levels: Levels) -> Rows:
        """The most rows that a node may suppress and still win, it or one above it; or some more.

        What the costs say is asked where the limit alone would leave few nodes out.
        """
        most = np.full(len(levels), self.task.limit)
        if self.best is None or self.task.limit <= _FAR * self.best.suppressed:
            return most
        enough = np.zeros(len(levels), np.int64)
        for _ in range(_HALVINGS):
            middle = (enough + most + 1) // 2
            beyond = beyond_all(self.cost.least_from(levels, middle), self.best)
            most = np.where(beyond, middle - 1, most)
            enough = np.where(beyond, enough, middle)
        return most

    def _may_win(self, levels: Levels, suppressed: Rows) -> NDArray[np.bool_]:
        """Whether a node, or one above it that suppresses as many rows or more, may be preferred."""
        found = suppressed <= self.task.limit
        if self.best is not None and found.any():
            bounds = self.cost.least_from(levels[found], suppressed[found])
            found[found] = ~beyond_all(bounds, self.best)
        return found


def _fewer(attributes: int) -> int:
    """How many the set of attributes before one of so many has: three fifths of them."""
    return (3 * attributes + 1) // 5


def _only(found: NDArray[np.bool_], levels: Levels, suppressed: Rows) -> tuple[Levels, Rows]:
    return levels[found], suppressed[found]
