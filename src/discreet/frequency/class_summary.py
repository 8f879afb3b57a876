"""Published cells of each class (ranges, means, sets or lowest common ancestors) and the recoding with them.

All rows of a class show one cell, which covers every leaf that occurs. Cells with the same text are merged
into one that covers the leaves of all. Cost: a few passes over the parts, then a label per distinct cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy, LeafOrder, order_leaves
from discreet.model.published_cells import Cells, range_label, set_label
from discreet.model.requirement import Requirement
from discreet.model.search_result import SuppressionPolicy

_MEAN_DIGITS = 2
_EXACT = Context(prec=1400)


class Summary(StrEnum):
    """Kind of cell that a class shows for each attribute."""

    RANGES = "ranges"
    MEANS = "means"
    SETS = "sets"
    LCA = "lca"


@dataclass(frozen=True, eq=False)
class ClassMembers:
    """Parts of the classes in class order; class c begins at ``starts[c]``.

    ``order`` lists the parts so that each class is contiguous; ``rows`` are the parts' rows in that order.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    rows: NDArray[np.int64]

    def least(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the smallest value of each class; ``values`` are in the order of the parts."""
        return np.minimum.reduceat(values, self.starts)

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the largest value of each class; ``values`` are in the order of the parts."""
        return np.maximum.reduceat(values, self.starts)


def make_class_cells(
    hierarchy: GeneralizationHierarchy,
    codes: NDArray[np.int64],
    members: ClassMembers,
    summary: Summary,
    *,
    by_tree: bool = False,
) -> tuple[Cells, NDArray[np.int64]]:
    """Build the cells of one attribute; return them with the cell of each class.

    ``codes`` are the leaf codes of the parts, in the order of ``members``. ``by_tree`` states that the
    classes follow the hierarchy: if its groups interleave in the order of the leaves, the lowest common
    ancestor replaces a range that covers more leaves. Cost: a few passes over the parts, then a label per
    distinct cell.
    """
    if not len(members.starts):
        return _CellBuilder(hierarchy, None).cells(members.starts)
    order = order_leaves(hierarchy)
    if summary is Summary.LCA:
        return _lca_cells(hierarchy, codes, members)
    if summary is Summary.SETS:
        return _set_cells(hierarchy, order, codes, members)
    if summary is Summary.MEANS and order.numbers is not None:
        return _mean_cells(hierarchy, order, order.numbers, codes, members)
    ranges = _range_cells(hierarchy, order, codes, members)
    if by_tree and hierarchy.leaf_ranks is not None and not order.numeric:
        return _choose_smaller(hierarchy, ranges, _lca_cells(hierarchy, codes, members))
    return ranges


def _choose_smaller(
    hierarchy: GeneralizationHierarchy,
    ranges: tuple[Cells, NDArray[np.int64]],
    groups: tuple[Cells, NDArray[np.int64]],
) -> tuple[Cells, NDArray[np.int64]]:
    """Choose, for each class, the cell that covers fewer leaves; the range if both cover the same number.

    A group is not chosen if its name could be read as the values that occur in the class (``low … high``).
    """
    own = hierarchy.code_of_leaf
    plain = np.array([label is None or _is_name(label, own) for label in groups[0].labels], dtype=np.bool_)
    merged = MergedCells(hierarchy)
    one, other = merged.add(ranges[0])[ranges[1]], merged.add(groups[0])[groups[1]]
    fewer = (groups[0].sizes()[groups[1]] < ranges[0].sizes()[ranges[1]]) & plain[groups[1]]
    kinds, cell_codes = np.unique(np.where(fewer, other, one), return_inverse=True)
    return merged.only(kinds), cell_codes


def _is_name(label: str, leaves: Mapping[str, int]) -> bool:
    """Return whether a group's label cannot be mistaken for a leaf, a range, a set or a mean."""
    return label not in leaves and not any(sign in label for sign in ("…", "{", "("))


def _lca_cells(
    hierarchy: GeneralizationHierarchy, codes: NDArray[np.int64], members: ClassMembers
) -> tuple[Cells, NDArray[np.int64]]:
    first, last = members.least(codes), members.largest(codes)
    level = np.full(len(first), hierarchy.height, dtype=np.int64)
    for candidate in range(hierarchy.height - 1, -1, -1):
        level_map = hierarchy.level_map(candidate)
        level[level_map[first] == level_map[last]] = candidate
    null_only = first == hierarchy.null_code
    level[null_only] = 0
    kinds, cell_codes = _distinct_keys(first * (hierarchy.height + 1) + level)
    builder = _CellBuilder(hierarchy, None)
    for key in kinds.tolist():
        code, at = divmod(key, hierarchy.height + 1)
        if code == hierarchy.null_code:
            builder.null()
        elif at == hierarchy.height:
            builder.top()
        else:
            ancestors = hierarchy.ancestors[at]
            value = int(ancestors[code])
            ends = np.searchsorted(ancestors, [value, value + 1])
            builder.add(hierarchy.labels[at][value], int(ends[0]), int(ends[1]) - 1)
    return builder.cells(cell_codes)


def _range_cells(
    hierarchy: GeneralizationHierarchy, order: LeafOrder, codes: NDArray[np.int64], members: ClassMembers
) -> tuple[Cells, NDArray[np.int64]]:
    ranks = order.rank[codes]
    radix = hierarchy.null_code + 1
    kinds, cell_codes = _distinct_keys(members.least(ranks) * radix + members.largest(ranks))
    builder = _CellBuilder(hierarchy, order)
    for key in kinds.tolist():
        low, high = divmod(key, radix)
        builder.range(low, high, range_label)
    return builder.cells(cell_codes)


def _mean_cells(
    hierarchy: GeneralizationHierarchy,
    order: LeafOrder,
    numbers: tuple[Decimal, ...],
    codes: NDArray[np.int64],
    members: ClassMembers,
) -> tuple[Cells, NDArray[np.int64]]:
    """Build means with their ranges, rounded to two digits more than the leaves have."""
    ranks = order.rank[codes]
    least, largest = members.least(ranks), members.largest(ranks)
    digits = max(max(0, -int(number.as_tuple().exponent)) for number in numbers)
    units = [int(number.scaleb(digits, _EXACT)) for number in numbers]
    total = int(members.rows.sum())
    machine = max(abs(unit) for unit in units) * total < 2**62
    values = np.array([*units, 0], dtype=np.int64 if machine else object)
    sums = np.add.reduceat(values[codes] * members.rows, members.starts)
    rows = np.add.reduceat(members.rows, members.starts)
    quantum = Decimal(1).scaleb(-_MEAN_DIGITS - digits)

    def label(leaves: Sequence[str]) -> str:
        if len(leaves) == 1:
            return leaves[0]
        exact = Decimal(total_units).scaleb(-digits, _EXACT)
        mean = (_EXACT.divide(exact, Decimal(count))).quantize(quantum, ROUND_HALF_EVEN, _EXACT)
        return f"{_plain_text(mean)} ({range_label(leaves)})"

    found: dict[tuple[int, int, int, int], int] = {}
    cell_codes = np.empty(len(rows), dtype=np.int64)
    builder = _CellBuilder(hierarchy, order)
    keys = zip(least.tolist(), largest.tolist(), sums.tolist(), rows.tolist(), strict=True)
    for number, key in enumerate(keys):
        if key not in found:
            found[key] = len(found)
            low, high, total_units, count = key
            builder.range(low, high, label)
        cell_codes[number] = found[key]
    return builder.cells(cell_codes)


def _set_cells(
    hierarchy: GeneralizationHierarchy, order: LeafOrder, codes: NDArray[np.int64], members: ClassMembers
) -> tuple[Cells, NDArray[np.int64]]:
    radix = hierarchy.null_code + 1
    class_of = np.zeros(len(codes), dtype=np.int64)
    class_of[members.starts[1:]] = 1
    pairs = np.cumsum(class_of) * radix + order.rank[codes]
    pairs.sort()
    pairs = pairs[np.append(True, np.diff(pairs) != 0)]
    ranks = pairs % radix
    ends = np.searchsorted(pairs, np.arange(len(members.starts) + 1) * radix).tolist()
    builder = _CellBuilder(hierarchy, order)
    single = np.diff(ends) == 1
    firsts = ranks[ends[:-1]]
    kinds, of_single = _distinct_keys(firsts[single]) if single.any() else (firsts[:0], firsts[:0])
    for rank in kinds.tolist():
        builder.set(np.array([rank]))
    cell_codes = np.empty(len(members.starts), dtype=np.int64)
    cell_codes[single] = of_single
    found: dict[bytes, int] = {}
    for number in np.flatnonzero(~single).tolist():
        members_of_set = ranks[ends[number] : ends[number + 1]]
        key = members_of_set.tobytes()
        if key not in found:
            found[key] = len(found) + len(kinds)
            builder.set(members_of_set)
        cell_codes[number] = found[key]
    return builder.cells(cell_codes)


class MergedCells:
    """Cells of one attribute from several recodings of one table; cells with the same text are merged."""

    def __init__(self, hierarchy: GeneralizationHierarchy) -> None:
        self._builder = _CellBuilder(hierarchy, None)

    def add(self, cells: Cells) -> NDArray[np.int64]:
        """Add cells; return the number of each of them here."""
        return np.array(
            [
                self._builder.put(label, _intervals(cells, number))
                for number, label in enumerate(cells.labels)
            ],
            dtype=np.int64,
        )

    def cells(self) -> Cells:
        """Return all merged cells."""
        return self._builder.cells(np.empty(0, dtype=np.int64))[0]

    def only(self, numbers: NDArray[np.int64]) -> Cells:
        """Return the cells of the given numbers, in this order."""
        every, found = self.cells(), MergedCells(self._builder.hierarchy)
        for number in numbers.tolist():
            found._builder.put(every.labels[number], _intervals(every, number))
        return found.cells()


def _intervals(cells: Cells, number: int) -> list[tuple[int, int]]:
    part = slice(int(cells.offsets[number]), int(cells.offsets[number + 1]))
    return list(zip(cells.first[part].tolist(), cells.last[part].tolist(), strict=True))


class _CellBuilder:
    """Builder that collects cells kind by kind; kinds with the same text become one cell."""

    def __init__(self, hierarchy: GeneralizationHierarchy, order: LeafOrder | None) -> None:
        self.hierarchy = hierarchy
        self._order = order
        self._in_order = order is None or bool((np.diff(order.code) == 1).all())
        self._labels: dict[str | None, int] = {}
        self._covers: list[list[tuple[int, int]]] = []
        self._cell_of_kind: list[int] = []

    def null(self) -> None:
        """Add a cell for NULL only."""
        self.put(None, [(self.hierarchy.null_code,) * 2])

    def top(self) -> None:
        """Add a cell for all values, including NULL."""
        self.add(self.hierarchy.labels[-1][0], 0, self.hierarchy.null_code)

    def add(self, label: str, first: int, last: int) -> None:
        """Add a cell for one interval of leaf codes."""
        self.put(label, [(first, last)])

    def range(self, low: int, high: int, label: Callable[[Sequence[str]], str]) -> None:
        """Add a cell for leaf ranks from low to high; ``label`` receives the first and last leaf."""
        null = self.hierarchy.null_code
        if low == null:
            self.null()
        elif high == null:
            self.top()
        else:
            self._ranks(np.arange(low, high + 1) if not self._in_order else None, low, high, label)

    def set(self, ranks: NDArray[np.int64]) -> None:
        """Add a cell for a set of leaf ranks."""
        null = self.hierarchy.null_code
        if ranks[-1] == null:
            self.top() if len(ranks) > 1 else self.null()
        else:
            assert self._order is not None
            codes = self._order.code[ranks]
            leaves = self.hierarchy.leaves
            self.put(set_label([leaves[c] for c in codes.tolist()]), _runs(np.sort(codes)))

    def _ranks(
        self, ranks: NDArray[np.int64] | None, low: int, high: int, label: Callable[[Sequence[str]], str]
    ) -> None:
        assert self._order is not None
        leaves, code = self.hierarchy.leaves, self._order.code
        ends = [leaves[int(code[low])]] + ([leaves[int(code[high])]] if high > low else [])
        cover = [(low, high)] if ranks is None else _runs(np.sort(code[ranks]))
        self.put(label(ends), cover)

    def put(self, label: str | None, cover: list[tuple[int, int]]) -> int:
        """Add a kind with its label and intervals; return its cell."""
        cell = self._labels.setdefault(label, len(self._covers))
        if cell == len(self._covers):
            self._covers.append(cover)
        else:
            self._covers[cell] = _union(self._covers[cell], cover)
        self._cell_of_kind.append(cell)
        return cell

    def cells(self, kinds: NDArray[np.int64]) -> tuple[Cells, NDArray[np.int64]]:
        """Return the cells, and the cell of each class given its kind."""
        lengths = [len(cover) for cover in self._covers]
        intervals = np.array([i for cover in self._covers for i in cover], dtype=np.int64).reshape(-1, 2)
        cells = Cells(
            attribute=self.hierarchy.attribute,
            leaves=self.hierarchy.null_code,
            labels=tuple(self._labels),
            offsets=np.cumsum([0, *lengths], dtype=np.int64),
            first=intervals[:, 0],
            last=intervals[:, 1],
        )
        return cells, np.array(self._cell_of_kind, dtype=np.int64)[kinds]


def _distinct_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct keys and each key's index among them; uses a table if the keys are small."""
    size = int(keys.max()) + 1
    if size > 4 * len(keys) + 65536:
        kinds, places = np.unique(keys, return_inverse=True)
        return kinds, places
    table = np.zeros(size, dtype=np.int64)
    table[keys] = 1
    kinds = np.flatnonzero(table)
    table[kinds] = np.arange(len(kinds))
    return kinds, table[keys]


def _runs(codes: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return ascending codes as intervals."""
    breaks = np.flatnonzero(np.diff(codes) > 1)
    firsts = codes[np.append(0, breaks + 1)]
    lasts = codes[np.append(breaks, len(codes) - 1)]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _union(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, last in sorted(one + other):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def _plain_text(number: Decimal) -> str:
    """Format a number in plain digits without trailing zeros."""
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


_REVEALED_BY_MEANS = 3
"""Largest class for which the mean and both ends of the range together determine each row's value."""


def classes_to_recoding(
    frequency_set: FrequencySet,
    classes: NDArray[np.int64],
    requirement: Requirement,
    model: str,
    summary: Summary = Summary.RANGES,
    *,
    row_types: NDArray[np.int64] | None = None,
    rows: NDArray[np.int64] | None = None,
    suppression: SuppressionPolicy = SuppressionPolicy.DROP,
    warnings: tuple[str, ...] = (),
    by_tree: bool = False,
) -> ClassRecoding:
    """Build the recoding in which part p, ``rows[p]`` rows of ``row_types[p]``, is in class ``classes[p]``.

    Without ``row_types`` and ``rows`` there is one part per row type. Classes are numbered from 0 without
    gaps; ``SUPPRESSED`` marks parts without a class. ``by_tree`` is as in ``make_class_cells``. Cost: a sort
    of the parts, then linear in parts and attributes.
    """
    if row_types is None:
        row_types = np.arange(frequency_set.row_types)
    if rows is None:
        rows = frequency_set.counts
    _check_parts(frequency_set, row_types, rows)
    if not _is_sorted(row_types, classes):
        order = np.lexsort((classes, row_types))
        row_types, classes, rows = row_types[order], classes[order], rows[order]
    members = _group_parts(classes, rows)
    chosen = row_types[members.order]
    codes = [column[chosen] for column in np.ascontiguousarray(frequency_set.codes.T)]
    found = [
        make_class_cells(hierarchy, column, members, Summary(summary), by_tree=by_tree)
        for hierarchy, column in zip(frequency_set.hierarchies, codes, strict=True)
    ]
    return ClassRecoding(
        model=model,
        attributes=frequency_set.attributes,
        requirement=requirement,
        cells=tuple(cells for cells, _ in found),
        shown=np.stack([cell_codes for _, cell_codes in found], axis=1),
        row_types=row_types,
        classes=classes,
        rows=rows,
        suppression=suppression,
        warnings=(*warnings, *_summary_warnings(frequency_set, codes, members, Summary(summary))),
    )


def _is_sorted(row_types: NDArray[np.int64], classes: NDArray[np.int64]) -> bool:
    steps = np.diff(row_types)
    return bool(((steps > 0) | ((steps == 0) & (np.diff(classes) > 0))).all())


def _check_parts(
    frequency_set: FrequencySet,
    row_types: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> None:
    placed = np.zeros(frequency_set.row_types, dtype=np.int64)
    np.add.at(placed, row_types, rows)
    if not np.array_equal(placed, frequency_set.counts) or bool((rows < 1).any()):
        raise InternalError("the parts of a recoding do not add up to the rows of the row types")


def _group_parts(classes: NDArray[np.int64], rows: NDArray[np.int64]) -> ClassMembers:
    order = np.argsort(classes, kind="stable")
    order = order[int((classes == SUPPRESSED).sum()) :]
    sorted_classes = classes[order]
    starts = np.flatnonzero(np.append(True, np.diff(sorted_classes) != 0)) if len(order) else order
    if not np.array_equal(sorted_classes[starts], np.arange(len(starts))):
        raise InternalError("the classes of a recoding are not numbered from 0 without a gap")
    return ClassMembers(order, starts, rows[order])


def _summary_warnings(
    frequency_set: FrequencySet, codes: Sequence[NDArray[np.int64]], members: ClassMembers, summary: Summary
) -> tuple[str, ...]:
    """Return warnings for the publisher about facts of the data that the summary reveals."""
    if summary is Summary.LCA or not len(members.starts):
        return ()
    if summary is Summary.SETS:
        return ("Sets show exactly which values occur in each class.",)
    found = ["Ranges end at values that occur in each class."]
    if summary is Summary.MEANS:
        sizes = np.add.reduceat(members.rows, members.starts)
        for hierarchy, column in zip(frequency_set.hierarchies, codes, strict=True):
            if order_leaves(hierarchy).numeric:
                found += _mean_warnings(hierarchy.attribute, column, members, sizes)
    return tuple(found)


def _mean_warnings(
    attribute: str, codes: NDArray[np.int64], members: ClassMembers, sizes: NDArray[np.int64]
) -> list[str]:
    collapsed = members.least(codes) == members.largest(codes)
    revealed = int((~collapsed & (sizes <= _REVEALED_BY_MEANS)).sum())
    single = int(collapsed.sum())
    result = []
    if revealed:
        result.append(
            f"Means of '{attribute}': in {revealed:,} of {len(sizes):,} classes, of at most "
            f"{_REVEALED_BY_MEANS} rows, mean and range together determine every row's value."
        )
    if single:
        result.append(
            f"Means of '{attribute}': in {single:,} of {len(sizes):,} classes the range is a single value, "
            "which is that of every row."
        )
    return result
