"""Class sizes of some nodes of a lattice, by the compiled kernels: for a search that leaves most nodes out.

Rows in classes of fewer than k rows fail k, whatever else is asked. Where an attribute is left out, it stands
at its top: the classes of the others alone are those of a much smaller table, of which few states are made.

Cost: a sort of the row types for each set of attributes; then that of the states (``kernels.chosen_nodes``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiler import has_compiler
from discreet.kernels.plan import RotationPlan, plan_rotation
from discreet.lattice.evaluate import kernels_ready
from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.kernels.part_plan import PartPlan
    from discreet.kernels.small_classes import NodesByTurns

Notice = Callable[[str], None]
Levels = NDArray[np.int64]
"""Nodes, shape ``(nodes, attributes)``."""


@dataclass(frozen=True, eq=False)
class SizedNodes:
    """Of each node: the rows in classes below a size, the other classes, their squared sizes."""

    below: NDArray[np.int64]
    classes: NDArray[np.int64]
    squares: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SizeCounter:
    """Counts the class sizes of some nodes of a table, whose rows are what sizes count.

    ``order`` are the attributes in the order in which sets of them grow: those of most levels first.
    """

    table: FrequencySet
    plan: RotationPlan
    threads: int

    @classmethod
    def of(cls, table: FrequencySet, settings: Settings, notice: Notice | None = None) -> SizeCounter | None:
        """For a table; None where the kernels do not serve, or are not compiled yet."""
        if not has_compiler() or not table.row_types:
            return None
        levels = [[h.level_map(level) for level in range(h.height + 1)] for h in table.hierarchies]
        plan = plan_rotation(table.codes, table.counts, levels, in_order=False)
        if plan.words > 1 or not kernels_ready(plan, (), notice, sums=True):
            return None
        return cls(replace(table, sensitive=()), plan, settings.threads)

    @property
    def order(self) -> tuple[int, ...]:
        """See the class."""
        return self.plan.order

    def by_turns(self) -> NodesByTurns:
        """Whom to ask for one node after the other; it holds the states of a node."""
        from discreet.kernels.small_classes import NodesByTurns

        return NodesByTurns(self._whole)

    @cached_property
    def _whole(self) -> PartPlan:
        return self._part_of(range(len(self.plan.order)), [0] * len(self.plan.order))

    def _part_of(self, attributes: Sequence[int], lowest: Sequence[int]) -> PartPlan:
        from discreet.kernels.part_plan import part_plan

        return part_plan(self.plan, attributes, lowest)

    def count(
        self, attributes: Sequence[int], levels: Levels, least: int, most: NDArray[np.int64] | None = None
    ) -> SizedNodes:
        """Some nodes over some attributes (ascending), the others being at their tops.

        ``levels`` has shape ``(nodes, attributes)``, one node at least, none twice; classes of fewer than
        ``least`` rows are small. Of a node with more than its ``most`` rows in small classes nothing is told
        but a number above ``most`` that they are at least.
        """
        from discreet.kernels.readiness import Variant, mark_compiled
        from discreet.kernels.small_classes import small_classes

        lowest = levels.min(axis=0)
        whole = len(attributes) == len(self.plan.order) and not lowest.any()
        plan = self._whole if whole else self._part_of(attributes, lowest.tolist())
        found = small_classes(plan, levels - lowest, least, most, threads=self.threads)
        mark_compiled(Variant.of(self.plan, (), sums=True).name)
        return SizedNodes(*found.T)
