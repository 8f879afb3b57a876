"""Preview of a node before publication: three views of its effect on the data.

* Each attribute's distribution before and after. The rows of a generalized value are spread evenly over its
  leaves.
* Two attributes together: the share of one's value among the rows of each group of the other.
* A count query: its estimate by the same even spread, and certain bounds. Rows of classes within the query
  always count; rows of classes that overlap it may count, and so may all suppressed rows.

Leaves are ordered as numbers if all are numbers, else by groups with most rows first at every level.
``TableEffects`` is built once per table; a node then costs one roll-up.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.results.node_rows import PublishedRowTypes

MAX_BINS = 160
"""Maximum number of bins of an attribute; with more leaves, neighbours share a bin."""

_MAX_GROUPS = 6
_MAX_CACHED = 16

RowCounts = NDArray[np.int64]
CountQuery = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class AttributeBins:
    """The bins of an attribute. ``order``: leaf codes from left to right; ``rows`` by code, last NULL."""

    hierarchy: GeneralizationHierarchy
    order: RowCounts
    rows: RowCounts

    @classmethod
    def of(cls, table: FrequencySet, index: int) -> AttributeBins:
        """Build the bins of the attribute at an index of the frequency set."""
        hierarchy = table.hierarchies[index]
        rows = table.rows_by_code[index]
        numbers = _leaves_as_numbers(hierarchy.leaves)
        if numbers is not None:
            return cls(hierarchy, np.argsort(numbers, kind="stable"), rows)
        keys: list[NDArray[Any]] = []  # np.lexsort takes the last key first: the coarsest level
        for groups in hierarchy.ancestors:
            keys += [groups, -np.bincount(groups, rows[:-1])[groups]]
        return cls(hierarchy, np.lexsort(keys), rows)

    @property
    def bins(self) -> int:
        """The number of bins."""
        return min(len(self.order), MAX_BINS)

    def binned(self, by_leaf: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum figures of leaves by bin, from left to right."""
        leaves = len(self.order)
        if leaves <= MAX_BINS:
            return by_leaf[self.order]
        bins = np.arange(leaves) * MAX_BINS // leaves
        return np.bincount(bins, by_leaf[self.order], MAX_BINS).astype(np.float64)

    def spread(self, published_rows: NDArray[np.float64], level: int) -> NDArray[np.float64]:
        """Return published rows by leaf; the rows of a level's value are spread evenly over its leaves."""
        groups = self.hierarchy.ancestors[level]
        return (np.bincount(groups, published_rows) / np.bincount(groups))[groups]

    def as_json(self) -> dict[str, Any]:
        """Return the facts drawn before any node: bins with rows, first bins of each level's values."""
        one_by_one = len(self.order) <= MAX_BINS
        starts = []
        for groups in self.hierarchy.ancestors:
            group_order = groups[self.order]
            starts.append([0, *(np.flatnonzero(np.diff(group_order)) + 1).tolist()] if one_by_one else None)
        return {
            "before": self.binned(self.rows[:-1].astype(np.float64)).tolist(),
            "labels": [self.hierarchy.leaves[code] for code in self.order] if one_by_one else None,
            "starts": starts,
            "numeric": _leaves_as_numbers(self.hierarchy.leaves) is not None,
        }


@dataclass(frozen=True, eq=False)
class TableEffects:
    """Data shared by the effects of all nodes of a table."""

    table: FrequencySet
    _cache: OrderedDict[tuple[LatticeNode, Requirement], RowCounts] = field(
        default_factory=OrderedDict, repr=False
    )

    @cached_property
    def published_types(self) -> PublishedRowTypes:
        """The row types that each node publishes."""
        return PublishedRowTypes(self.table)

    @cached_property
    def attributes(self) -> tuple[AttributeBins, ...]:
        """The bins of the quasi-identifiers."""
        return tuple(AttributeBins.of(self.table, i) for i in range(len(self.table.hierarchies)))

    def of_node(self, node: LatticeNode, requirement: Requirement) -> NodeEffects:
        """Return the effects of a node under a requirement; the last few are cached."""
        published_rows = self._cache.get((node, requirement))
        if published_rows is None:
            published_rows = np.where(self.published_types.of(node, requirement), self.table.counts, 0)
            self._cache[node, requirement] = published_rows
            while len(self._cache) > _MAX_CACHED:
                self._cache.pop(next(iter(self._cache)), None)
        return NodeEffects(self, node, published_rows)


@dataclass(frozen=True, eq=False)
class NodeEffects:
    """The effects of one node; ``published_rows`` are the published rows of each row type."""

    base: TableEffects
    node: LatticeNode
    published_rows: RowCounts

    @cached_property
    def _published_by_code(self) -> tuple[RowCounts, ...]:
        """The published rows of each attribute's leaves, then of NULL.

        Only suppressed row types are counted, and subtracted from the attribute's rows.
        """
        table = self.base.table
        lost = np.flatnonzero(self.published_rows < table.counts)
        codes, counts = table.codes[lost], table.counts[lost]
        return tuple(
            drawn.rows - np.bincount(codes[:, index], counts, len(drawn.rows)).astype(np.int64)
            for index, drawn in enumerate(self.base.attributes)
        )

    @property
    def detail(self) -> float:
        """Detail: 1 less the mean loss of the attributes; a suppressed row has loss 1, as in releases."""
        rows, lost = int(self.base.table.counts.sum()), 0.0
        suppressed = rows - int(self.published_rows.sum())
        for hierarchy, level, published_rows in zip(
            self.base.table.hierarchies, self.node, self._published_by_code, strict=True
        ):
            leaves = len(hierarchy.leaves)
            if leaves > 1 and rows:
                groups = hierarchy.level_map(level)
                under = np.bincount(groups[:-1], minlength=int(groups.max()) + 1)
                under[under == 0] = 1  # NULL below the top covers only itself
                covered = int((under[groups] * published_rows).sum()) + leaves * suppressed
                lost += (covered - rows) / (rows * (leaves - 1))
        return 1.0 - lost / max(len(self.node), 1)

    def published(self) -> NDArray[np.float32]:
        """Return every attribute's bins after the recoding, one attribute after the other."""
        parts = []
        for index, (drawn, level) in enumerate(zip(self.base.attributes, self.node, strict=True)):
            published_rows = self._published_by_code[index][: len(drawn.order)].astype(np.float64)
            parts.append(drawn.binned(drawn.spread(published_rows, level)))
        return np.concatenate(parts or [np.zeros(0)]).astype("<f4")

    def together(self, name: str, value: str, by: str) -> list[dict[str, Any]]:
        """Return the share of ``name``'s ``value`` among the rows of each group of ``by``, before and after.

        Groups are the values of ``by`` at the node's level, or at a coarser one if these are more than six;
        the six groups with most rows if the next coarser level is the top. ``share`` is None for a group that
        is not published; ``known`` is True if the release distinguishes the value from all others.
        """
        table, places = self.base.table, self.base.table.attributes
        one, other = places.index(name), places.index(by)
        drawn, of = self.base.attributes[other], table.hierarchies[one]
        level = next(
            at
            for at in range(self.node[other], drawn.hierarchy.height + 1)
            if len(drawn.hierarchy.labels[at]) <= _MAX_GROUPS or at >= drawn.hierarchy.height - 1
        )
        groups = drawn.hierarchy.level_map(level)
        group_of = groups[table.codes[:, other]]
        code = of.code_of_leaf[value]
        cells = of.ancestors[self.node[one]]
        cell_of = np.append(cells, -1)[table.codes[:, one]]
        within = np.count_nonzero(cells == cells[code])
        size = int(groups.max()) + 1
        before = np.bincount(group_of, table.counts, size)
        truth = np.bincount(group_of, table.counts * (table.codes[:, one] == code), size)
        after = np.bincount(group_of, self.published_rows, size)
        found = np.bincount(group_of, self.published_rows * (cell_of == cells[code]), size) / within
        largest = set(
            np.argsort(-before[: len(drawn.hierarchy.labels[level])], kind="stable")[:_MAX_GROUPS].tolist()
        )
        groups_drawn = [group for group in dict.fromkeys(groups[drawn.order].tolist()) if group in largest]
        return [
            {
                "label": drawn.hierarchy.labels[level][group],
                "rows": int(before[group]),
                "truth": float(truth[group] / before[group]) if before[group] else 0.0,
                "share": float(found[group] / after[group]) if after[group] else None,
                "known": bool(within == 1),
            }
            for group in groups_drawn
        ]

    def answer(self, question: CountQuery) -> dict[str, float | int]:
        """Count the rows with given values: ``truth``, ``estimate``, and the bounds ``low`` and ``high``."""
        table = self.base.table
        chance = np.ones(table.row_types)
        certain, possible, matches = (np.ones(table.row_types, np.bool_) for _ in range(3))
        for name, values in question.items():
            index = table.attributes.index(name)
            hierarchy, level, codes = table.hierarchies[index], self.node[index], table.codes[:, index]
            weights = np.zeros(hierarchy.null_code + 1)
            weights[[hierarchy.code_of_leaf[value] for value in values]] = 1
            groups = hierarchy.level_map(level)
            sizes = np.bincount(groups[:-1], minlength=int(groups.max()) + 1)
            inside = np.bincount(groups[:-1], weights[:-1], len(sizes))
            # At the top a NULL is published with the same value as all others.
            mixed = level == hierarchy.height and bool((codes == hierarchy.null_code).any())
            chance *= (inside / np.maximum(sizes, 1))[groups][codes]
            certain &= ((inside == sizes) & (sizes > 0) & (not mixed))[groups][codes]
            possible &= (inside > 0)[groups][codes]
            matches &= weights[codes] > 0
        lost = int(table.counts.sum() - self.published_rows.sum())
        return {
            "truth": int(table.counts[matches].sum()),
            "estimate": float((self.published_rows * chance).sum()),
            "low": int(self.published_rows[certain].sum()),
            "high": int(self.published_rows[possible].sum()) + lost,
        }


def _leaves_as_numbers(leaves: Sequence[str]) -> NDArray[np.float64] | None:
    """Convert leaves to numbers; None if one is not a number."""
    try:
        return np.array([float(leaf) for leaf in leaves])
    except ValueError:
        return None
