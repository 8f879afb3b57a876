"""Generalizing a frequency set without touching the source (LeFevre et al. 2005, rollup property).

The frequency set of a node follows from that of the raw data: replace each code by its generalization and add
up the counts of what becomes equal. The lattice's kernels do this for all nodes at once; here it is done for
one node, in a way plain enough to be an oracle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.frequency.merge import sort_rows
from discreet.frequency.population import people_of_classes
from discreet.model.class_facts import ClassPopulation
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.lattice import LatticeNode


@dataclass(frozen=True, eq=False)
class GeneralizedCounts:
    """The equivalence classes of a node.

    ``codes`` has shape ``(classes, quasi-identifiers)``: positions in ``labels`` of each attribute's level
    (one more for NULL below the top). ``counts`` holds the rows of each class, ``class_of`` the class of each
    row type of ``table``.
    """

    node: LatticeNode
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    class_of: NDArray[np.int64]
    table: FrequencySet = field(repr=False)

    @cached_property
    def population(self) -> ClassPopulation | None:
        """The population's people who match each class; None where the table has none."""
        return people_of_classes(self.table, self.node, self.codes)

    @property
    def classes(self) -> int:
        """The number of equivalence classes."""
        return len(self.counts)

    def distinct(self, sets: ValueSets) -> NDArray[np.int64]:
        """The distinct codes of ``sets`` in each class, shape ``(classes,)``: values, or subjects."""
        type_of = np.repeat(np.arange(len(self.class_of)), np.diff(sets.offsets))
        pairs = np.unique(self.class_of[type_of] * max(sets.size, 1) + sets.codes)
        return np.bincount(pairs // max(sets.size, 1), minlength=self.classes)


def generalized_codes(frequency_set: FrequencySet, node: LatticeNode) -> NDArray[np.int64]:
    """The codes of each row type at a node, shape ``(row types, quasi-identifiers)``."""
    if len(node) != len(frequency_set.hierarchies):
        raise InternalError(f"node {node} for {len(frequency_set.hierarchies)} quasi-identifiers")
    codes = np.empty_like(frequency_set.codes)
    for i, (hierarchy, level) in enumerate(zip(frequency_set.hierarchies, node, strict=True)):
        codes[:, i] = hierarchy.level_map(level)[frequency_set.codes[:, i]]
    return codes


def roll_up(frequency_set: FrequencySet, node: LatticeNode) -> GeneralizedCounts:
    """The equivalence classes of a node, in the order of their codes. Cost: one sort of the row types."""
    codes = generalized_codes(frequency_set, node)
    sizes = [
        len(h.labels[level]) + (level < h.height)
        for h, level in zip(frequency_set.hierarchies, node, strict=True)
    ]
    order, starts = sort_rows([codes[:, i] for i in range(codes.shape[1])], sizes)
    first_of_class = np.zeros(len(order), dtype=np.int64)
    first_of_class[starts[1:]] = 1
    class_of = np.empty(len(order), dtype=np.int64)
    class_of[order] = np.cumsum(first_of_class)
    return GeneralizedCounts(
        node=node,
        codes=codes[order[starts]],
        counts=np.add.reduceat(frequency_set.counts[order], starts),
        class_of=class_of,
        table=frequency_set,
    )
