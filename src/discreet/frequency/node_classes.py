"""Classes of one node at a time, rolled up from the nearest cached node below it.

Cached states stay within a memory budget; the least recently used are evicted first. Every count is exact
(LeFevre et al. 2005).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.fact_counter import (
    CountedItems,
    ItemMembers,
    list_items,
    merge_counted_pairs,
    merge_pairs,
)
from discreet.frequency.packed_keys import KeyFields, KeyGrouping, PackedKeys
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.lattice import LatticeNode

_WORTH_KEEPING = 0.8
_NOWHERE = np.iinfo(np.int16).max


@dataclass(frozen=True, eq=False)
class NodeClasses:
    """Classes of one node: keys of shape ``(words, classes)``, rows, and the items of each class.

    ``items`` are the counted kinds of items, ``members`` the items of each class, and ``rows`` the rows of
    each member if they are counted too.
    """

    node: LatticeNode
    keys: PackedKeys
    sizes: NDArray[np.int64]
    items: tuple[CountedItems, ...]
    members: tuple[ItemMembers, ...]
    rows: tuple[NDArray[np.int64] | None, ...]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @cached_property
    def distinct(self) -> tuple[NDArray[np.int64], ...]:
        """Number of distinct items of each class, by kind."""
        return tuple(
            items.distinct(members, self.classes)
            for items, members in zip(self.items, self.members, strict=True)
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        pairs = sum(group.nbytes + item.nbytes for group, item in self.members)
        pairs += sum(rows.nbytes for rows in self.rows if rows is not None)
        return self.keys.nbytes + self.sizes.nbytes * (1 + len(self.items)) + pairs


class _StateCache:
    """Cache of counted nodes with a budget in bytes and least-recently-used eviction."""

    def __init__(self, attributes: int, memory: int) -> None:
        self._memory = memory
        self._used = 0
        self._states: OrderedDict[LatticeNode, tuple[int, NodeClasses]] = OrderedDict()
        self._free: list[int] = []
        self._nodes = np.zeros((0, attributes), np.int16)
        self._classes = np.zeros(0, np.int64)
        self._names: list[LatticeNode] = []

    def at(self, node: LatticeNode) -> NodeClasses | None:
        """Return the cached state of exactly this node, or None."""
        if node not in self._states:
            return None
        self._states.move_to_end(node)
        return self._states[node][1]

    def nearest(self, node: LatticeNode) -> NodeClasses | None:
        """Return the smallest cached state at or below the node, or None."""
        below = np.flatnonzero((self._nodes <= np.array(node, np.int16)).all(axis=1))
        if not len(below):
            return None
        return self.at(self._names[int(below[self._classes[below].argmin()])])

    def add(self, state: NodeClasses) -> None:
        """Cache a state and evict others if needed; a state larger than the budget is not cached."""
        if state.nbytes > self._memory or state.node in self._states:
            return
        if not self._free:
            self._grow()
        slot = self._free.pop()
        self._nodes[slot], self._classes[slot], self._names[slot] = state.node, state.classes, state.node
        self._states[state.node] = (slot, state)
        self._used += state.nbytes
        # Free slots keep a row of ``_nodes`` that is below no node, so that ``nearest`` never finds them.
        while self._used > self._memory:
            _, (slot, old) = self._states.popitem(last=False)
            self._nodes[slot] = _NOWHERE
            self._free.append(slot)
            self._used -= old.nbytes

    def _grow(self) -> None:
        slots = len(self._names)
        more = max(slots, 64)
        self._nodes = np.concatenate([self._nodes, np.full((more, self._nodes.shape[1]), _NOWHERE, np.int16)])
        self._classes = np.concatenate([self._classes, np.zeros(more, np.int64)])
        self._names += [()] * more
        self._free += range(slots + more - 1, slots - 1, -1)


class NodeClassCounter:
    """Counter of the classes of nodes of one table, and of some value sets of its row types.

    ``memory`` is the budget of cached states in bytes; the row types come in addition. ``by_value`` selects
    the value sets whose rows per value are counted too (default: none). ``counted`` is the number of counted
    nodes, ``scans`` the number of those counted from the row types.
    """

    def __init__(
        self, table: FrequencySet, value_sets: Sequence[ValueSets], memory: int, by_value: Sequence[bool] = ()
    ) -> None:
        self.counted = 0
        self.scans = 0
        self._fields = KeyFields(table.hierarchies)
        found = [list_items(sets) for sets in value_sets]
        by_value = by_value or [False] * len(value_sets)
        self.row_types = NodeClasses(
            node=(0,) * len(table.hierarchies),
            keys=self._fields.pack(table.codes),
            sizes=table.counts.astype(np.int64),
            items=tuple(items for items, _ in found),
            members=tuple(members for _, members in found),
            rows=tuple(
                sets.counts if rows else None for sets, rows in zip(value_sets, by_value, strict=True)
            ),
        )
        self._kept = _StateCache(len(table.hierarchies), memory)

    def count(self, node: LatticeNode) -> NodeClasses:
        """Return the classes of a node, counted from the smallest cached state at or below it."""
        cached = self._kept.at(node)
        if cached is not None:
            return cached
        source, keys, grouping = self._grouped(node)
        result = self._merged(source, node, keys, grouping)
        # A state nearly as large as its source saves too little work for its memory.
        if result.classes <= _WORTH_KEEPING * source.classes:
            self._kept.add(result)
        return result

    def derive(self, source: NodeClasses, node: LatticeNode) -> NodeClasses:
        """Return the classes of a node at or above a state, computed from it without the cache."""
        keys = self._fields.generalized(source.keys, source.node, node)
        return self._merged(source, node, keys, self._fields.group(keys, source.sizes))

    def _merged(
        self, source: NodeClasses, node: LatticeNode, keys: PackedKeys, grouping: KeyGrouping
    ) -> NodeClasses:
        class_of, first, sizes = grouping
        members, by_value = [], []
        for (group, item), rows in zip(source.members, source.rows, strict=True):
            if rows is None:
                members.append(merge_pairs(class_of[group], item))
            else:
                pairs, rows = merge_counted_pairs(class_of[group], item, rows)
                members.append(pairs)
            by_value.append(rows)
        return NodeClasses(node, keys[:, first], sizes, source.items, tuple(members), tuple(by_value))

    def classes(self, node: LatticeNode) -> int:
        """Return the number of classes of a node without counting items."""
        cached = self._kept.at(node)
        return self._grouped(node)[2][1].size if cached is None else cached.classes

    def codes(self, classes: NodeClasses, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a leaf code per quasi-identifier of some classes; it determines their published values."""
        return self._fields.codes(classes.keys[:, positions])

    def forget(self) -> None:
        """Empty the cache and disable it."""
        self._kept = _StateCache(len(self.row_types.node), 0)

    def _grouped(self, node: LatticeNode) -> tuple[NodeClasses, PackedKeys, KeyGrouping]:
        """Return the nearest state, its keys generalized to the node, and their grouping by equality."""
        source = self._kept.nearest(node) or self.row_types
        self.counted += 1
        self.scans += source is self.row_types
        keys = self._fields.generalized(source.keys, source.node, node)
        return source, keys, self._fields.group(keys, source.sizes)
