"""Which row types a node publishes under a requirement, and which it leaves out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_facts import FactCounter
from discreet.frequency.rollup import GeneralizedCounts, roll_up
from discreet.model.frequency_set import FrequencySet
from discreet.model.judge import suppressed
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement


@dataclass(frozen=True, eq=False)
class KeptTypes:
    """Which row types of a table nodes publish, asked one after the other; threads may share it.

    The classes of the last node are remembered: a move of k often stays at its node.
    """

    table: FrequencySet
    _last: list[GeneralizedCounts] = field(default_factory=list, repr=False)

    def of(self, node: LatticeNode, requirement: Requirement) -> NDArray[np.bool_]:
        """Whether each row type's class is published, shape ``(row types,)``.

        ``InputError`` for a criterion of an attribute that is not sensitive. Cost: one roll-up of the row
        types where the node is another.
        """
        classes = self._classes(node)
        counter = FactCounter.of(self.table, requirement)
        found: NDArray[np.bool_] = ~suppressed(counter.bound, counter.at_node(classes))[classes.class_of]
        return found

    def _classes(self, node: LatticeNode) -> GeneralizedCounts:
        last = self._last[0] if self._last else None
        if last is None or last.node != node:
            last = roll_up(self.table, node)
            self._last[:] = [last]
        return last


def kept_types(table: FrequencySet, node: LatticeNode, requirement: Requirement) -> NDArray[np.bool_]:
    """The same of one node alone."""
    return KeptTypes(table).of(node, requirement)
