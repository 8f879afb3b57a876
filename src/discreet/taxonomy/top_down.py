"""Hierarchy-based multi-dimension recodings, by top-down specialization of classes.

Definitions (LeFevre et al. 2005, section 5.1.3): one function recodes vectors of values. *Full-subgraph*:
where a vector is recoded to (g1, …, gd), every vector below it is, so the boxes of leaves that classes stand
for are disjoint. *Unrestricted*: each vector goes to itself or to any vector above it, and boxes may overlap.

The search starts with one class of all rows. In rounds every class is divided along one attribute, by the
children of the value that it shows there; then each part shows, of every attribute, the lowest value that
stands for its rows. Parts that fail decide between the models:

- full-subgraph: a class is divided only where no part fails;
- unrestricted: parts that fail stay together at the value that the class shows, and where they fail even
  together the part that saves least stays with them.

Of the attributes along which a class may be divided it is the one that saves most loss, its own and that of
the other attributes, weighed after the lowest common values are taken. The paper names no search; dividing
top-down makes disjoint boxes by construction, which merging bottom-up has to repair after each step.

Cost: a round passes over the row types once for each attribute and each other attribute's shrinking,
O(types · d²); there are at most as many rounds as the longest sum of levels. No row is suppressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_cells import Summary
from discreet.frequency.class_summary import classes_to_recoding
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.taxonomy.class_counts import ClassCounts
from discreet.taxonomy.value_tree import ValueTree


class _Parts:
    """How each class would be divided along one attribute.

    ``part`` names the part of each row type, ``class_of`` the class of each part, ``saved`` what the division
    saves of each class's loss, minus infinity where it is not allowed.
    """

    def __init__(
        self, part: NDArray[np.int64], class_of: NDArray[np.int64], saved: NDArray[np.float64]
    ) -> None:
        self.part = part
        self.class_of = class_of
        self.saved = saved


class _Classes:
    """Classes of row types that may still be divided, and what they show."""

    def __init__(
        self,
        trees: Sequence[ValueTree],
        counts: ClassCounts,
        leaves: Sequence[NDArray[np.int64]],
        types: NDArray[np.int64],
        class_of: NDArray[np.int64],
    ) -> None:
        self.trees = trees
        self.counts = counts
        self.leaves = leaves
        self.types = types
        self.class_of = class_of
        self.number = int(class_of.max(initial=-1)) + 1
        self.rows = counts.rows[types]
        self.shown = self.common(class_of, self.number)
        self.lost = self.loss(self.shown, np.bincount(class_of, self.rows, minlength=self.number))

    def common(self, group: NDArray[np.int64], groups: int) -> list[NDArray[np.int64]]:
        """The lowest common value of each group of row types, by attribute."""
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(groups))
        found = []
        for tree, column in zip(self.trees, self.leaves, strict=True):
            leaves = column[self.types[order]]
            found.append(
                tree.common(np.minimum.reduceat(leaves, starts), np.maximum.reduceat(leaves, starts))
            )
        return found

    def loss(self, shown: Sequence[NDArray[np.int64]], rows: NDArray[Any]) -> NDArray[np.float64]:
        """The loss of groups by what they show."""
        costs = (tree.cost[values] for tree, values in zip(self.trees, shown, strict=True))
        return np.asarray(rows * sum(costs))

    def divided(self, i: int, *, leftovers: bool) -> _Parts:
        """How the classes would be divided along attribute i."""
        tree = self.trees[i]
        shown = self.shown[i][self.class_of]
        child = tree.child_above(shown, self.leaves[i][self.types])
        keys, part = np.unique(self.class_of * tree.size + child, return_inverse=True)
        class_of, failing = keys // tree.size, self.counts.failing(part, len(keys), self.types)
        if leftovers:
            part, class_of, failing = self._with_leftovers(i, part, keys % tree.size, class_of, failing)
        groups = len(class_of)
        rows = np.bincount(part, self.rows, minlength=groups)
        lost = np.bincount(class_of, self.loss(self.common(part, groups), rows), minlength=self.number)
        allowed = np.bincount(class_of, minlength=self.number) > 1
        allowed[class_of[failing]] = False
        return _Parts(part, class_of, np.where(allowed, self.lost - lost, -np.inf))

    def _with_leftovers(
        self,
        i: int,
        part: NDArray[np.int64],
        child: NDArray[np.int64],
        class_of: NDArray[np.int64],
        failing: NDArray[np.bool_],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Put failing parts of a class together, with a part that does not fail where they fail even then."""
        tree = self.trees[i]
        stays = failing.copy()
        pool = np.where(stays[part], class_of[part], self.number)
        short = self.counts.failing(pool, self.number + 1, self.types)[: self.number]
        rows = np.bincount(part, self.rows, minlength=len(child))
        saved = rows * (tree.cost[self.shown[i][class_of]] - tree.cost[child])
        good = np.flatnonzero(~failing & short[class_of])
        good = good[np.lexsort((saved[good], class_of[good]))]
        least = good[np.append(True, np.diff(class_of[good]) != 0)] if len(good) else good
        stays[least] = True
        keys = np.where(stays, class_of * (tree.size + 1) + tree.size, class_of * (tree.size + 1) + child)
        kept, number = np.unique(keys, return_inverse=True)
        part = number[part]
        return part, kept // (tree.size + 1), self.counts.failing(part, len(kept), self.types)


def full_subgraph(
    frequency_set: FrequencySet, trees: Sequence[ValueTree], counts: ClassCounts
) -> ClassRecoding:
    """A full-subgraph recoding; ``NoSolution`` where not even one class of all rows is good enough."""
    class_of = _specialized(frequency_set, trees, counts, leftovers=False)
    return _shown(frequency_set, counts, class_of, RecodingModel.FULL_SUBGRAPH)


def unrestricted_multi(
    frequency_set: FrequencySet, trees: Sequence[ValueTree], counts: ClassCounts
) -> ClassRecoding:
    """An unrestricted multi-dimension recoding; ``NoSolution`` where not even one class is good enough."""
    class_of = _specialized(frequency_set, trees, counts, leftovers=True)
    return _shown(frequency_set, counts, class_of, RecodingModel.UNRESTRICTED_MULTI)


def _specialized(
    frequency_set: FrequencySet, trees: Sequence[ValueTree], counts: ClassCounts, *, leftovers: bool
) -> NDArray[np.int64]:
    """The class of each row type at the end."""
    counts.require_solution(0)
    leaves = [tree.leaf_of[frequency_set.codes[:, i]] for i, tree in enumerate(trees)]
    final = np.zeros(frequency_set.row_types, dtype=np.int64)
    done = 0
    types, class_of = np.arange(frequency_set.row_types), np.zeros(frequency_set.row_types, dtype=np.int64)
    while len(types):
        classes = _Classes(trees, counts, leaves, types, class_of)
        ways = [classes.divided(i, leftovers=leftovers) for i in range(len(trees))]
        saved = np.stack([way.saved for way in ways])
        best = np.where(saved.max(axis=0) > 0, saved.argmax(axis=0), len(ways))
        chosen = best[class_of]
        ends = chosen == len(ways)
        numbers, final_of = np.unique(class_of[ends], return_inverse=True)
        final[types[ends]] = done + final_of
        done += len(numbers)
        part = np.zeros(len(types), dtype=np.int64)
        for i, way in enumerate(ways):
            part[chosen == i] = way.part[chosen == i]
        widest = max((len(way.class_of) for way in ways), default=1)
        going = ~ends
        types, class_of = (
            types[going],
            np.unique(class_of[going] * widest + part[going], return_inverse=True)[1],
        )
    return final


def _shown(
    frequency_set: FrequencySet, counts: ClassCounts, class_of: NDArray[np.int64], model: RecodingModel
) -> ClassRecoding:
    """The recoding in which each class shows lowest common values."""
    found = classes_to_recoding(frequency_set, class_of, counts.requirement, model, Summary.LCA)
    return with_distinct_classes(found)


def with_distinct_classes(recoding: ClassRecoding) -> ClassRecoding:
    """The same recoding, of one part per row type, with classes that show the same made one."""
    shown, number = np.unique(recoding.shown, axis=0, return_inverse=True)
    return replace(recoding, shown=shown, classes=number.ravel()[recoding.classes])
