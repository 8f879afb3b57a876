"""What readers will see of a node, before anything is published: three views of its effect on the data.

* Each attribute's distribution before and after. After, a class shows a generalized value, and nothing tells
  the leaves below it apart: the rows of a value are spread evenly over its leaves.
* Two attributes together: the share of one's value among the rows of each group of the other.
* A question, how many rows have certain values: the estimate by the same even spread, and sure bounds. Rows
  whose class lies wholly within the question are counted for sure; those whose class only touches it may
  count, and so may all that are left out, of which only the number is known.

The order of an attribute's leaves is the one in which they are drawn: as numbers where all are, else groups
with most rows first at every level. ``EffectsBase`` is made once per table; a node then costs one roll-up.
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
from discreet.results.kept_rows import KeptTypes

MOST_BINS = 160
"""Leaves of an attribute that are drawn one by one; of more, neighbours share a bin."""

_MOST_GROUPS = 6
_KEPT = 16

Whole = NDArray[np.int64]
Question = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class DrawnAttribute:
    """An attribute as it is drawn: ``order``: leaf codes from left to right; ``rows`` by code, last NULL."""

    hierarchy: GeneralizationHierarchy
    order: Whole
    rows: Whole

    @classmethod
    def of(cls, table: FrequencySet, place: int) -> DrawnAttribute:
        """The attribute at a place of the frequency set."""
        hierarchy = table.hierarchies[place]
        rows = table.rows_by_code[place]
        numbers = _numbers(hierarchy.leaves)
        if numbers is not None:
            return cls(hierarchy, np.argsort(numbers, kind="stable"), rows)
        keys: list[NDArray[Any]] = []  # np.lexsort takes the last key first: the coarsest level
        for groups in hierarchy.ancestors:
            keys += [groups, -np.bincount(groups, rows[:-1])[groups]]
        return cls(hierarchy, np.lexsort(keys), rows)

    @property
    def bins(self) -> int:
        """How many bins are drawn."""
        return min(len(self.order), MOST_BINS)

    def binned(self, by_leaf: NDArray[np.float64]) -> NDArray[np.float64]:
        """Figures of leaves as the sums of the bins that are drawn, from left to right."""
        leaves = len(self.order)
        if leaves <= MOST_BINS:
            return by_leaf[self.order]
        bins = np.arange(leaves) * MOST_BINS // leaves
        return np.bincount(bins, by_leaf[self.order], MOST_BINS).astype(np.float64)

    def spread(self, kept: NDArray[np.float64], level: int) -> NDArray[np.float64]:
        """Published rows by leaf, those of a level's value spread evenly over its leaves."""
        groups = self.hierarchy.ancestors[level]
        return (np.bincount(groups, kept) / np.bincount(groups))[groups]

    def as_json(self) -> dict[str, Any]:
        """What a page draws before any node: bins with rows, and where each level's values begin."""
        one_by_one = len(self.order) <= MOST_BINS
        starts = []
        for groups in self.hierarchy.ancestors:
            shown = groups[self.order]
            starts.append([0, *(np.flatnonzero(np.diff(shown)) + 1).tolist()] if one_by_one else None)
        return {
            "before": self.binned(self.rows[:-1].astype(np.float64)).tolist(),
            "labels": [self.hierarchy.leaves[code] for code in self.order] if one_by_one else None,
            "starts": starts,
            "numeric": _numbers(self.hierarchy.leaves) is not None,
        }


@dataclass(frozen=True, eq=False)
class EffectsBase:
    """What the effects of every node of a table have in common."""

    table: FrequencySet
    _kept: OrderedDict[tuple[LatticeNode, Requirement], Whole] = field(
        default_factory=OrderedDict, repr=False
    )

    @cached_property
    def kept_types(self) -> KeptTypes:
        """Which row types each node publishes."""
        return KeptTypes(self.table)

    @cached_property
    def attributes(self) -> tuple[DrawnAttribute, ...]:
        """The quasi-identifiers as they are drawn."""
        return tuple(DrawnAttribute.of(self.table, i) for i in range(len(self.table.hierarchies)))

    def of_node(self, node: LatticeNode, requirement: Requirement) -> NodeEffects:
        """The effects of a node under a requirement; the last few are remembered."""
        kept = self._kept.get((node, requirement))
        if kept is None:
            kept = np.where(self.kept_types.of(node, requirement), self.table.counts, 0)
            self._kept[node, requirement] = kept
            while len(self._kept) > _KEPT:
                self._kept.pop(next(iter(self._kept)), None)
        return NodeEffects(self, node, kept)


@dataclass(frozen=True, eq=False)
class NodeEffects:
    """The effects of one node: ``kept`` are each row type's published rows."""

    base: EffectsBase
    node: LatticeNode
    kept: Whole

    @cached_property
    def _kept_by_code(self) -> tuple[Whole, ...]:
        """Published rows of each attribute's leaves, then of NULL: all but what is left out."""
        table = self.base.table
        lost = np.flatnonzero(self.kept < table.counts)
        codes, counts = table.codes[lost], table.counts[lost]
        return tuple(
            drawn.rows - np.bincount(codes[:, place], counts, len(drawn.rows)).astype(np.int64)
            for place, drawn in enumerate(self.base.attributes)
        )

    @property
    def detail(self) -> float:
        """1 less the mean of the attributes' losses, each suppressed row's whole, as of releases."""
        rows, lost = int(self.base.table.counts.sum()), 0.0
        suppressed = rows - int(self.kept.sum())
        for hierarchy, level, kept in zip(
            self.base.table.hierarchies, self.node, self._kept_by_code, strict=True
        ):
            leaves = len(hierarchy.leaves)
            if leaves > 1 and rows:
                groups = hierarchy.level_map(level)
                under = np.bincount(groups[:-1], minlength=int(groups.max()) + 1)
                under[under == 0] = 1  # NULL below the top stands for itself
                covered = int((under[groups] * kept).sum()) + leaves * suppressed
                lost += (covered - rows) / (rows * (leaves - 1))
        return 1.0 - lost / max(len(self.node), 1)

    def published(self) -> NDArray[np.float32]:
        """Every attribute's bins after the recoding, one attribute after the other."""
        parts = []
        for place, (drawn, level) in enumerate(zip(self.base.attributes, self.node, strict=True)):
            kept = self._kept_by_code[place][: len(drawn.order)].astype(np.float64)
            parts.append(drawn.binned(drawn.spread(kept, level)))
        return np.concatenate(parts or [np.zeros(0)]).astype("<f4")

    def together(self, name: str, value: str, by: str) -> list[dict[str, Any]]:
        """The share of ``name``'s ``value`` among the rows of each group of ``by``, before and after.

        Groups are the values of ``by`` at the node's level, at a coarser one where these are more than six,
        the six with most rows where the next coarser one is the top;
        ``share`` is None of a group that is not published, ``known`` whether the value is told apart.
        """
        table, places = self.base.table, self.base.table.attributes
        one, other = places.index(name), places.index(by)
        drawn, of = self.base.attributes[other], table.hierarchies[one]
        level = next(
            at
            for at in range(self.node[other], drawn.hierarchy.height + 1)
            if len(drawn.hierarchy.labels[at]) <= _MOST_GROUPS or at >= drawn.hierarchy.height - 1
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
        after = np.bincount(group_of, self.kept, size)
        found = np.bincount(group_of, self.kept * (cell_of == cells[code]), size) / within
        largest = set(
            np.argsort(-before[: len(drawn.hierarchy.labels[level])], kind="stable")[:_MOST_GROUPS].tolist()
        )
        shown = [group for group in dict.fromkeys(groups[drawn.order].tolist()) if group in largest]
        return [
            {
                "label": drawn.hierarchy.labels[level][group],
                "rows": int(before[group]),
                "truth": float(truth[group] / before[group]) if before[group] else 0.0,
                "share": float(found[group] / after[group]) if after[group] else None,
                "known": bool(within == 1),
            }
            for group in shown
        ]

    def answer(self, question: Question) -> dict[str, float | int]:
        """How many rows have some values: ``truth``, ``estimate``, and ``low`` to ``high``."""
        table = self.base.table
        chance = np.ones(table.row_types)
        surely, maybe, is_so = (np.ones(table.row_types, np.bool_) for _ in range(3))
        for name, values in question.items():
            place = table.attributes.index(name)
            hierarchy, level, codes = table.hierarchies[place], self.node[place], table.codes[:, place]
            asked = np.zeros(hierarchy.null_code + 1)
            asked[[hierarchy.code_of_leaf[value] for value in values]] = 1
            groups = hierarchy.level_map(level)
            sizes = np.bincount(groups[:-1], minlength=int(groups.max()) + 1)
            inside = np.bincount(groups[:-1], asked[:-1], len(sizes))
            # At the top a NULL is told by the same value as all others.
            mixed = level == hierarchy.height and bool((codes == hierarchy.null_code).any())
            chance *= (inside / np.maximum(sizes, 1))[groups][codes]
            surely &= ((inside == sizes) & (sizes > 0) & (not mixed))[groups][codes]
            maybe &= (inside > 0)[groups][codes]
            is_so &= asked[codes] > 0
        lost = int(table.counts.sum() - self.kept.sum())
        return {
            "truth": int(table.counts[is_so].sum()),
            "estimate": float((self.kept * chance).sum()),
            "low": int(self.kept[surely].sum()),
            "high": int(self.kept[maybe].sum()) + lost,
        }


def _numbers(leaves: Sequence[str]) -> NDArray[np.float64] | None:
    """Leaves as numbers, None where one is none."""
    try:
        return np.array([float(leaf) for leaf in leaves])
    except ValueError:
        return None
