"""Top-down specialization along hierarchies: single-dimension and multi-dimension recodings.

Definitions (LeFevre et al. 2005, sections 5.1.1, 5.1.3). *Full-subtree*: if a value is generalized to g, so
is every value under g; a recoding is one cut of each tree. *Unrestricted single-dimension*: each value is
recoded to itself or any ancestor. *Full-subgraph*: if a vector is recoded to g, so is every vector below g.
*Unrestricted multi-dimension*: each vector is recoded to itself or any vector above it.

Full-subtree is NP-hard. The search is top-down specialization (Fung, Wang and Yu 2005, with loss instead of
information gain): the value whose replacement by its children saves most loss is tried first, in several
runs that are then improved. Unrestricted recoding moves single values or groups down from that result. The
multi-dimension models divide classes by the children of one attribute's value, in rounds.

Cost: a pass over the row types under a value for each trial; O(types · d²) per round for the
multi-dimension models, which suppress no row.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.lattice import LatticeNode
from discreet.taxonomy.class_counts import ClassCounts, number_classes_of_columns
from discreet.taxonomy.value_tree import ValueTree, build_recoding_of_columns, loss_of_columns

_IMPROVEMENT_ROUNDS = 3
_DISTURBED_RUNS = 12
_DISTURBANCE_SEED = 4

SpecializationScore = Callable[[float], float]
"""Function from the loss that a specialization saves to its priority."""


class TreeCut:
    """Cut of every attribute's tree, stored as the published value of each row type; specialized in place.

    It begins at the values of the node ``start``, or at the roots.
    """

    def __init__(self, trees: Sequence[ValueTree], counts: ClassCounts, start: LatticeNode | None) -> None:
        self.trees = trees
        self.counts = counts
        codes = counts.table.codes.T
        self.leaves = [tree.leaf_of[column] for tree, column in zip(trees, codes, strict=True)]
        self.columns = [np.full(len(counts.rows), tree.root) for tree in trees]
        if start is not None:
            levels = zip(trees, start, codes, strict=True)
            self.columns = [tree.at_level[level][column] for tree, level, column in levels]
        self.recount()

    def recount(self) -> None:
        """Count the classes anew, after ``columns`` were set."""
        self.class_of = number_classes_of_columns(self.columns, [len(tree.labels) for tree in self.trees])
        self.failing = self.counts.failing(self.class_of, int(self.class_of.max(initial=-1)) + 1)
        self.failing_rows = int(self.counts.rows[self.failing[self.class_of]].sum())

    def under(self, i: int, value: int) -> NDArray[np.int64]:
        """Return the row types with this published value."""
        return np.flatnonzero(self.columns[i] == value)

    def saved_loss(self, i: int, value: int, types: NDArray[np.int64]) -> float:
        """Return the loss that specializing the value saves."""
        tree = self.trees[i]
        children = self.trees[i].child_above(value, self.leaves[i][types])
        return float(((tree.cost[value] - tree.cost[children]) * self.counts.rows[types]).sum())

    def specialize(self, i: int, value: int, types: NDArray[np.int64], limit: int) -> bool:
        """Replace a value by its children, unless more than ``limit`` rows would be in failing classes.

        Columns are copied before they are written, because ``_improve_cut`` keeps the former ones.
        """
        children = self.trees[i].child_above(value, self.leaves[i][types])
        size = len(self.trees[i].labels)
        keys, divided = np.unique(self.class_of[types] * size + children, return_inverse=True)
        failing = self.counts.failing(divided, len(keys), types)
        before = int(self.counts.rows[types][self.failing[self.class_of[types]]].sum())
        after = self.failing_rows - before + int(self.counts.rows[types][failing[divided]].sum())
        if after > limit:
            return False
        self.columns[i] = self.columns[i].copy()
        self.columns[i][types] = children
        self.failing = np.concatenate([self.failing, failing])
        self.class_of = self.class_of.copy()
        self.class_of[types] = len(self.failing) - len(failing) + divided
        self.failing_rows = after
        return True

    def total_loss(self) -> float:
        """Return the current loss."""
        return loss_of_columns(self.counts, self.trees, self.columns)


def specialize_all(
    cut: TreeCut, limit: int, score: SpecializationScore, postponed: tuple[int, int] | None = None
) -> None:
    """Specialize while any value can be specialized; ``postponed`` is a value that is tried last."""
    waiting: list[tuple[float, int, int]] = []
    last: list[tuple[int, int]] = []

    def offer(i: int, value: int) -> None:
        if not cut.trees[i].children[value]:
            return
        if (i, value) == postponed:
            last.append((i, value))
            return
        types = cut.under(i, value)
        heapq.heappush(waiting, (-score(cut.saved_loss(i, value, types)), i, value))

    for i, column in enumerate(cut.columns):
        for value in np.unique(column).tolist():
            offer(i, value)
    while waiting or last:
        i, value = heapq.heappop(waiting)[1:] if waiting else last.pop()
        if (i, value) == postponed and not waiting:
            postponed = None
        if cut.specialize(i, value, cut.under(i, value), limit):
            for child in cut.trees[i].children[value]:
                offer(i, child)


def find_best_cut(
    trees: Sequence[ValueTree], counts: ClassCounts, limit: int, start: LatticeNode | None
) -> TreeCut:
    """Return the best cut of several runs; one of them starts from the node ``start``."""
    counts.require_solution(limit)
    random = np.random.default_rng(_DISTURBANCE_SEED)

    def disturbed(saved_loss: float) -> float:
        return saved_loss * float(np.exp(random.normal()))

    runs: list[tuple[LatticeNode | None, SpecializationScore]] = [(None, _undisturbed)]
    runs += [(None, disturbed)] * _DISTURBED_RUNS
    runs += [] if start is None else [(start, _undisturbed)]
    best, least = None, np.inf
    for node, score in runs:
        cut = TreeCut(trees, counts, node)
        specialize_all(cut, limit, score)
        total_loss = cut.total_loss()
        if total_loss < least:
            best, least = cut, total_loss
    assert best is not None
    return _improve_cut(best, limit)


def search_full_subtree(
    trees: Sequence[ValueTree], counts: ClassCounts, limit: int, start: LatticeNode | None
) -> ClassRecoding:
    """Return a full-subtree recoding with at most ``limit`` suppressed rows.

    It loses no more than full-domain recoding at ``start``, a node within the limit. Raises ``NoSolution``
    if there is no recoding.
    """
    cut = find_best_cut(trees, counts, limit, start)
    cells = [tree.cells() for tree in trees]
    return build_recoding_of_columns(counts, cut.columns, cells, RecodingModel.FULL_SUBTREE)


def _improve_cut(cut: TreeCut, limit: int) -> TreeCut:
    """Generalize values again, one at a time, specialize the rest, and keep changes that reduce the loss."""
    best = cut.total_loss()
    for _ in range(_IMPROVEMENT_ROUNDS):
        before = best
        for i, value in _inner_values(cut):
            columns = list(cut.columns)
            below = np.isin(cut.columns[i], cut.trees[i].children[value])
            if not below.any():
                continue
            cut.columns[i] = np.where(below, value, cut.columns[i])
            cut.recount()
            specialize_all(cut, limit, _undisturbed, postponed=(i, value))
            total_loss = cut.total_loss()
            if total_loss < best - 1e-9 * (1 + best):
                best = total_loss
            else:
                cut.columns = columns
                cut.recount()
        if best >= before:
            break
    return cut


def _inner_values(cut: TreeCut) -> list[tuple[int, int]]:
    """Return the values whose children are all published, for values that occur."""
    result = []
    for i, (tree, column) in enumerate(zip(cut.trees, cut.columns, strict=True)):
        values_in_use = set(np.unique(column).tolist())
        result += [
            (i, value) for value, kids in enumerate(tree.children) if kids and values_in_use.issuperset(kids)
        ]
    return result


def _undisturbed(saved_loss: float) -> float:
    return saved_loss


_MOVE_ROUNDS = 6

ValueMove = tuple[float, int, int, int, tuple[int, ...]]
"""Saved loss, attribute, current value, new value, and the leaves to move."""


class _LeafImages:
    """Published value of each leaf of each attribute, changed by moves from the ``columns`` of row types."""

    def __init__(self, cut: TreeCut, columns: Sequence[NDArray[np.int64]], limit: int) -> None:
        self.trees, self.counts, self.leaves = cut.trees, cut.counts, cut.leaves
        self.limit = limit
        self.columns = [column.copy() for column in columns]
        self.rows_of: list[NDArray[Any]] = []
        self.images: list[NDArray[np.int64]] = []
        for tree, leaves, column in zip(self.trees, self.leaves, columns, strict=True):
            self.rows_of.append(np.bincount(leaves, self.counts.rows, minlength=tree.root + 1))
            image = np.full(tree.root + 1, -1, dtype=np.int64)
            image[leaves] = column
            self.images.append(image)
        self.failing = self.counts.failing_types(self._classes(None))
        self.failing_rows = int(self.counts.rows[self.failing].sum())

    def _classes(self, types: NDArray[np.int64] | None) -> NDArray[np.int64]:
        columns = self.columns if types is None else [column[types] for column in self.columns]
        return number_classes_of_columns(columns, [len(tree.labels) for tree in self.trees])

    def moves(self) -> list[ValueMove]:
        """Return every move downwards, sorted by descending saved loss."""
        found: set[ValueMove] = set()
        for i, (tree, image) in enumerate(zip(self.trees, self.images, strict=True)):
            shown_by: dict[tuple[int, int], list[int]] = {}
            for leaf in np.flatnonzero(image >= 0).tolist():
                path = tree.above(leaf)
                for value in path[: path.index(int(image[leaf]))]:
                    shown_by.setdefault((int(image[leaf]), value), []).append(leaf)
            for (parent, value), leaves in shown_by.items():
                for group in {tuple(leaves), *((leaf,) for leaf in leaves)}:
                    rows = float(self.rows_of[i][list(group)].sum())
                    saved_loss = rows * float(tree.cost[parent] - tree.cost[value])
                    if saved_loss > 0:
                        found.add((saved_loss, i, parent, value, group))
        return sorted(found, key=lambda move: (-move[0], *move[1:]))

    def make(self, move: ValueMove) -> bool:
        """Apply a move, unless it is outdated or too many rows would be in failing classes."""
        _, i, parent, value, group = move
        leaves = np.array(group)
        if (self.images[i][leaves] != parent).any():
            return False
        column = self.columns[i]
        moved = np.flatnonzero(np.isin(self.leaves[i], leaves))
        is_new = not (self.images[i] == value).any()
        if is_new and self.counts.failing_rows(self._classes(moved), moved) > self.limit:
            return False
        types = np.flatnonzero((column == parent) | (column == value))
        column[moved] = value
        failing = self.counts.failing_types(self._classes(types), types)
        rows = self.counts.rows[types]
        after = self.failing_rows - int(rows[self.failing[types]].sum()) + int(rows[failing].sum())
        if after > self.limit:
            column[moved] = parent
            return False
        self.images[i][leaves] = value
        self.failing[types] = failing
        self.failing_rows = after
        return True


def search_unrestricted_single(
    trees: Sequence[ValueTree], counts: ClassCounts, limit: int, start: LatticeNode | None
) -> ClassRecoding:
    """Return an unrestricted single-dimension recoding with at most ``limit`` suppressed rows.

    ``start`` is the start node of the full-subtree recoding (see ``search_full_subtree``). Raises
    ``NoSolution`` if there is no recoding.
    """
    cut = find_best_cut(trees, counts, limit, start)
    roots = [np.full(len(counts.rows), tree.root) for tree in trees]
    found = [cut.columns]
    for columns in (cut.columns, roots):
        images = _LeafImages(cut, columns, limit)
        for _ in range(_MOVE_ROUNDS):
            if not sum(images.make(move) for move in images.moves()):
                break
        found.append(images.columns)
    best = min(found, key=lambda columns: loss_of_columns(counts, trees, columns))
    cells = [tree.cells() for tree in trees]
    return build_recoding_of_columns(counts, best, cells, RecodingModel.UNRESTRICTED_SINGLE)


class _ClassDivision(NamedTuple):
    """Division of each class along one attribute.

    ``part`` contains the part of each row type, ``class_of`` the class of each part, ``saved_loss`` the
    loss that the division of each class saves, minus infinity if the division is not allowed.
    """

    part: NDArray[np.int64]
    class_of: NDArray[np.int64]
    saved_loss: NDArray[np.float64]


class _OpenClasses:
    """Classes of row types that may still be divided, with their published values."""

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
        self.total_loss = self.loss(self.shown, np.bincount(class_of, self.rows, minlength=self.number))

    def common(self, group: NDArray[np.int64], groups: int) -> list[NDArray[np.int64]]:
        """Return the lowest common value of each group of row types, by attribute."""
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(groups))
        result = []
        for tree, column in zip(self.trees, self.leaves, strict=True):
            leaves = column[self.types[order]]
            result.append(
                tree.common(np.minimum.reduceat(leaves, starts), np.maximum.reduceat(leaves, starts))
            )
        return result

    def loss(self, cell_codes: Sequence[NDArray[np.int64]], rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the loss of groups by their published values."""
        costs = (tree.cost[values] for tree, values in zip(self.trees, cell_codes, strict=True))
        return np.asarray(rows * sum(costs))

    def divided(self, i: int, *, leftovers: bool) -> _ClassDivision:
        """Return the division of the classes along attribute i."""
        tree = self.trees[i]
        class_cells = self.shown[i][self.class_of]
        child = tree.child_above(class_cells, self.leaves[i][self.types])
        keys, part = np.unique(self.class_of * tree.size + child, return_inverse=True)
        class_of, failing = keys // tree.size, self.counts.failing(part, len(keys), self.types)
        if leftovers:
            part, class_of, failing = self._with_leftovers(i, part, keys % tree.size, class_of, failing)
        groups = len(class_of)
        rows = np.bincount(part, self.rows, minlength=groups)
        total_loss = np.bincount(class_of, self.loss(self.common(part, groups), rows), minlength=self.number)
        allowed = np.bincount(class_of, minlength=self.number) > 1
        allowed[class_of[failing]] = False
        return _ClassDivision(part, class_of, np.where(allowed, self.total_loss - total_loss, -np.inf))

    def _with_leftovers(
        self,
        i: int,
        part: NDArray[np.int64],
        child: NDArray[np.int64],
        class_of: NDArray[np.int64],
        failing: NDArray[np.bool_],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Merge the failing parts of a class; if they still fail, add the part whose loss rises least."""
        tree = self.trees[i]
        stays = failing.copy()
        pool = np.where(stays[part], class_of[part], self.number)
        short = self.counts.failing(pool, self.number + 1, self.types)[: self.number]
        rows = np.bincount(part, self.rows, minlength=len(child))
        saved_loss = rows * (tree.cost[self.shown[i][class_of]] - tree.cost[child])
        good = np.flatnonzero(~failing & short[class_of])
        good = good[np.lexsort((saved_loss[good], class_of[good]))]
        least = good[np.append(True, np.diff(class_of[good]) != 0)] if len(good) else good
        stays[least] = True
        keys = np.where(stays, class_of * (tree.size + 1) + tree.size, class_of * (tree.size + 1) + child)
        keys_of_classes, number = np.unique(keys, return_inverse=True)
        part = number[part]
        return (
            part,
            keys_of_classes // (tree.size + 1),
            self.counts.failing(part, len(keys_of_classes), self.types),
        )


def search_full_subgraph(trees: Sequence[ValueTree], counts: ClassCounts) -> ClassRecoding:
    """Return a full-subgraph recoding, or raise ``NoSolution`` if all rows together fail."""
    class_of = _specialize_classes(trees, counts, leftovers=False)
    return _recoding_of_classes(counts, class_of, RecodingModel.FULL_SUBGRAPH)


def search_unrestricted_multi(trees: Sequence[ValueTree], counts: ClassCounts) -> ClassRecoding:
    """Return an unrestricted multi-dimension recoding, or raise ``NoSolution`` if all rows together fail."""
    class_of = _specialize_classes(trees, counts, leftovers=True)
    return _recoding_of_classes(counts, class_of, RecodingModel.UNRESTRICTED_MULTI)


def _specialize_classes(
    trees: Sequence[ValueTree], counts: ClassCounts, *, leftovers: bool
) -> NDArray[np.int64]:
    """Divide the classes in rounds until no division saves loss; return the class of each row type."""
    counts.require_solution(0)
    leaves = [tree.leaf_of[column] for tree, column in zip(trees, counts.table.codes.T, strict=True)]
    final = np.zeros(len(counts.rows), dtype=np.int64)
    done = 0
    types, class_of = np.arange(len(counts.rows)), np.zeros(len(counts.rows), dtype=np.int64)
    while len(types):
        classes = _OpenClasses(trees, counts, leaves, types, class_of)
        ways = [classes.divided(i, leftovers=leftovers) for i in range(len(trees))]
        saved_loss = np.stack([way.saved_loss for way in ways])
        best = np.where(saved_loss.max(axis=0) > 0, saved_loss.argmax(axis=0), len(ways))
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


def _recoding_of_classes(
    counts: ClassCounts, class_of: NDArray[np.int64], model: RecodingModel
) -> ClassRecoding:
    """Build the recoding in which each class has the lowest common values of its rows."""
    found = classes_to_recoding(counts.table, class_of, counts.requirement, model, Summary.LCA)
    return merge_equal_classes(found)


def merge_equal_classes(recoding: ClassRecoding) -> ClassRecoding:
    """Merge classes with equal published cells; the recoding must have one part per row type."""
    cell_codes, number = np.unique(recoding.shown, axis=0, return_inverse=True)
    return replace(recoding, shown=cell_codes, classes=number.ravel()[recoding.classes])
