"""Class sizes of selected nodes by compiled kernels, for searches that skip most nodes.

Omitted attributes are at their tops. Compiled modules are imported inside functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.lattice_rotation_plan import RotationPlan, plan_rotation
from discreet.kernels.numba_import import has_numba
from discreet.lattice.evaluation import are_kernels_ready
from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.kernels.node_sizes import Subplan

Notice = Callable[[str], None]
NodeLevels = NDArray[np.int64]
"""Levels of nodes, shape ``(nodes, attributes)``."""


@dataclass(frozen=True, eq=False)
class NodeSizes:
    """Size statistics per node: rows in classes below a size, and number and squared sizes of the others."""

    below: NDArray[np.int64]
    classes: NDArray[np.int64]
    squares: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SizeCounter:
    """Counter of the class sizes of selected nodes of a table; sizes count rows.

    ``order`` lists the attributes in the order in which attribute subsets grow: most levels first.
    """

    table: FrequencySet
    plan: RotationPlan
    threads: int

    @classmethod
    def of(cls, table: FrequencySet, settings: Settings, notice: Notice | None = None) -> SizeCounter | None:
        """Build the counter of a table; None if the kernels do not apply or are not compiled yet."""
        if not has_numba() or not table.row_types:
            return None
        levels = [[h.level_map(level) for level in range(h.height + 1)] for h in table.hierarchies]
        plan = plan_rotation(table.codes, table.counts, levels, in_order=False)
        if plan.words > 1 or not are_kernels_ready(plan, (), notice, sums=True):
            return None
        return cls(replace(table, sensitive=()), plan, settings.threads)

    @property
    def order(self) -> tuple[int, ...]:
        """Attributes in the order in which attribute subsets grow."""
        return self.plan.order

    @cached_property
    def _whole(self) -> Subplan:
        return self._part_of(range(len(self.plan.order)), [0] * len(self.plan.order))

    def _part_of(self, attributes: Sequence[int], lowest: Sequence[int]) -> Subplan:
        from discreet.kernels.node_sizes import make_subplan

        return make_subplan(self.plan, attributes, lowest)

    def count(
        self, attributes: Sequence[int], levels: NodeLevels, least: int, most: NDArray[np.int64] | None = None
    ) -> NodeSizes:
        """Count the class sizes of nodes over some attributes (ascending); the others are at their tops.

        ``levels`` has shape ``(nodes, attributes)``, with at least one node and no node twice. Classes of
        fewer than ``least`` rows are small. For a node with more than its ``most`` rows in small classes the
        result is only a lower bound above ``most``.
        """
        from discreet.kernels.node_sizes import count_small_classes
        from discreet.kernels.precompilation import KernelVariant, mark_compiled

        lowest = levels.min(axis=0)
        is_full = len(attributes) == len(self.plan.order) and not lowest.any()
        plan = self._whole if is_full else self._part_of(attributes, lowest.tolist())
        found = count_small_classes(plan, levels - lowest, least, most, threads=self.threads)
        mark_compiled(KernelVariant.of(self.plan, (), sums=True).name)
        return NodeSizes(*found.T)
