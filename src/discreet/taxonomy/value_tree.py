"""Tree of the values that an attribute's occurring leaves can be generalized to, and recodings by columns.

A hierarchy has leaves that do not occur, and values that cover the same occurring leaves as a lower one. In
this module a value is the lowest one that covers its set of occurring leaves. NULL is a child of the top. A
single-dimension recoding is one function per attribute, from its occurring values to published ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.published_cells import Cells
from discreet.taxonomy.class_counts import ClassCounts, number_classes_of_columns


@dataclass(frozen=True, eq=False)
class ValueTree:
    """Values of one attribute: the occurring leaves first, in order, and the root last.

    ``children`` contains the children of each value. ``paths[depth]`` contains the value at each depth
    above each leaf, the root at depth 0, and the leaf itself below its own ``depth``. ``leaf_of`` maps each
    leaf code and NULL's to its value, -1 if it does not occur. ``cost`` is the loss of a row with the
    value, (m - 1)/D times the attribute's weight, and ``most_loss`` the loss of a suppressed row.
    ``intervals`` contains each value's first and last leaf code; the top's include NULL's. ``at_level``
    contains the value of each level above each code, shape ``(height + 1, leaves + 1)``, -1 if the code
    does not occur.
    """

    attribute: str
    leaves: int
    labels: tuple[str | None, ...]
    children: tuple[tuple[int, ...], ...]
    leaf_of: NDArray[np.int64]
    cost: NDArray[np.float64]
    most_loss: float
    intervals: NDArray[np.int64]
    at_level: NDArray[np.int64]
    depth: NDArray[np.int64]
    paths: NDArray[np.int64]

    @property
    def root(self) -> int:
        """Value that covers every occurring leaf."""
        return len(self.labels) - 1

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.labels)

    def above(self, leaf: int) -> list[int]:
        """Return the leaf and its ancestors, up to the root."""
        path: list[int] = self.paths[: int(self.depth[leaf]) + 1, leaf].tolist()
        return path[::-1]

    def child_above(self, values: int | NDArray[np.int64], leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the child of each value above the corresponding leaf, or the leaf if the value is one."""
        below = np.minimum(self.depth[values] + 1, len(self.paths) - 1)
        result: NDArray[np.int64] = self.paths[below, leaves]
        return result

    def common(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lowest value above each pair of leaves, and so above all leaves between them."""
        result = low.copy()
        for path in self.paths:
            same = path[low] == path[high]
            result[same] = path[low[same]]
        return result

    def cells(self) -> Cells:
        """Return every value as a published cell."""
        return Cells(
            attribute=self.attribute,
            leaves=self.leaves,
            labels=self.labels,
            offsets=np.arange(len(self.labels) + 1),
            first=self.intervals[:, 0],
            last=self.intervals[:, 1],
        )


def build_value_trees(
    frequency_set: FrequencySet, weights: Mapping[str, float] | None = None
) -> tuple[ValueTree, ...]:
    """Build the tree of each quasi-identifier; the default weight of an attribute is 1."""
    return tuple(
        build_value_tree(
            hierarchy, np.unique(frequency_set.codes[:, i]), (weights or {}).get(hierarchy.attribute, 1.0)
        )
        for i, hierarchy in enumerate(frequency_set.hierarchies)
    )


def build_value_tree(
    hierarchy: GeneralizationHierarchy, occurring: NDArray[np.int64], weight: float = 1.0
) -> ValueTree:
    """Build the tree over the leaf codes ``occurring`` (ascending, NULL's last) in O(leaves · levels)."""
    builder = _TreeBuilder(hierarchy)
    codes = occurring[occurring < hierarchy.null_code]
    current = [builder.leaf(code) for code in codes.tolist()]
    null = [builder.null()] if len(codes) < len(occurring) else []
    at_level = np.full((hierarchy.height + 1, hierarchy.null_code + 1), -1, dtype=np.int64)
    at_level[:, hierarchy.null_code] = null[0] if null else -1
    at_level[0, codes] = current
    for level in range(1, hierarchy.height + (not null)):
        current = builder.joined(current, hierarchy.ancestors[level][codes], level)
        at_level[level, codes] = current
    if null and len(codes):
        at_level[-1, occurring] = builder.top([*dict.fromkeys(current), *null])
    return builder.tree(at_level, weight)


class _TreeBuilder:
    """Builder that collects values: first the leaves, then the values that join them."""

    def __init__(self, hierarchy: GeneralizationHierarchy) -> None:
        self._hierarchy = hierarchy
        self._labels: list[str | None] = []
        self._children: list[tuple[int, ...]] = []
        self._intervals: list[tuple[int, int]] = []

    def _add(self, label: str | None, children: Sequence[int], first: int, last: int) -> int:
        self._labels.append(label)
        self._children.append(tuple(children))
        self._intervals.append((first, last))
        return len(self._labels) - 1

    def leaf(self, code: int) -> int:
        return self._add(self._hierarchy.leaves[code], (), code, code)

    def null(self) -> int:
        return self._add(None, (), self._hierarchy.null_code, self._hierarchy.null_code)

    def top(self, children: Sequence[int]) -> int:
        return self._add(self._hierarchy.labels[-1][0], children, 0, self._hierarchy.null_code)

    def joined(self, current: list[int], positions: NDArray[np.int64], level: int) -> list[int]:
        """Return the value of each leaf one level up, with a new one where several values meet."""
        result = list(current)
        starts = np.flatnonzero(np.append(True, np.diff(positions) != 0))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(positions)], strict=True):
            members = list(dict.fromkeys(current[start:end]))
            if len(members) > 1:
                position = int(positions[start])
                ends = np.searchsorted(self._hierarchy.ancestors[level], [position, position + 1])
                label = self._hierarchy.labels[level][position]
                last = int(ends[1]) - 1 + (level == self._hierarchy.height)
                result[start:end] = [self._add(label, members, int(ends[0]), last)] * (end - start)
        return result

    def tree(self, at_level: NDArray[np.int64], weight: float) -> ValueTree:
        """Build the tree; the occurring leaves, including NULL, must be the first values."""
        leaves = self._hierarchy.null_code
        leaf_of = np.full(leaves + 1, -1, dtype=np.int64)
        leaf_of[at_level[0] >= 0] = np.arange(int((at_level[0] >= 0).sum()))
        depth, paths = self._paths(int((at_level[0] >= 0).sum()))
        intervals = np.array(self._intervals, dtype=np.int64).reshape(-1, 2)
        sizes = np.maximum(np.minimum(intervals[:, 1], leaves - 1) - intervals[:, 0] + 1, 1)
        return ValueTree(
            attribute=self._hierarchy.attribute,
            leaves=leaves,
            labels=tuple(self._labels),
            children=tuple(self._children),
            leaf_of=leaf_of,
            cost=weight * (sizes - 1) / leaves,
            most_loss=weight * (leaves - 1) / leaves,
            intervals=intervals,
            at_level=at_level,
            depth=depth,
            paths=paths,
        )

    def _paths(self, leaves: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the depth of each value, and the value at each depth above each leaf."""
        depth = np.zeros(len(self._children), dtype=np.int64)
        parent = np.full(len(self._children), -1, dtype=np.int64)
        for value in range(len(self._children) - 1, -1, -1):
            below = list(self._children[value])
            parent[below] = value
            depth[below] = depth[value] + 1
        paths = np.tile(np.arange(leaves), (int(depth.max(initial=0)) + 1, 1))
        at = np.arange(leaves)
        while (depth[at] > 0).any():
            paths[depth[at], np.arange(leaves)] = at
            at = np.where(depth[at] > 0, parent[at], at)
        paths[depth[at], np.arange(leaves)] = at
        return depth, paths


def build_recoding_of_columns(
    counts: ClassCounts, columns: Sequence[NDArray[np.int64]], cells: Sequence[Cells], model: RecodingModel
) -> ClassRecoding:
    """Build the recoding in which row type t has the cells ``cells[i].labels[columns[i][t]]``.

    Failing classes are suppressed. Rows with equal cells form one class.
    """
    sizes = [len(c.labels) for c in cells]
    class_of = number_classes_of_columns(columns, sizes)
    number = int(class_of.max(initial=-1)) + 1
    failing = counts.suppressed(class_of, number)
    renumbered = np.where(failing, SUPPRESSED, np.cumsum(~failing) - 1)
    first = np.zeros(number, dtype=np.int64)
    first[class_of[::-1]] = np.arange(len(class_of))[::-1]
    retained = first[~failing]
    return ClassRecoding(
        model=model,
        attributes=counts.table.attributes,
        requirement=counts.requirement,
        cells=tuple(cells),
        shown=np.stack([column[retained] for column in columns], axis=1),
        row_types=np.arange(len(class_of)),
        classes=renumbered[class_of],
        rows=counts.rows,
    )


def loss_of_columns(
    counts: ClassCounts, trees: Sequence[ValueTree], columns: Sequence[NDArray[np.int64]]
) -> float:
    """Return the loss of a recoding of hierarchy values; rows of failing classes have the greatest loss."""
    class_of = number_classes_of_columns(columns, [len(tree.labels) for tree in trees])
    failing = counts.failing(class_of, int(class_of.max(initial=-1)) + 1)[class_of]
    each = sum(tree.cost[column] for tree, column in zip(trees, columns, strict=True))
    most_loss = sum(tree.most_loss for tree in trees)
    return float((np.where(failing, most_loss, each) * counts.rows).sum())
