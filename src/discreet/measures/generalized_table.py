"""Generalized tables, their class sizes, and the comparison of a release with its original.

A generalized table has groups of equal rows with one cell per attribute. Rows of a release are not linked to
rows of the original: the cells of a class determine its original rows only where classes do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.measures.recoding_metrics import NumericValues, OriginalMembers, numeric_values
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.published_cells import Cells


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """Number of classes of each size, and the number of suppressed rows.

    ``sizes`` is ascending; ``numbers`` is parallel to it. Suppressed rows are in no class.
    """

    sizes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    suppressed: int = 0

    @classmethod
    def of(cls, numbers_by_size: Mapping[int, int], suppressed: int = 0) -> ClassSizes:
        """Build from a mapping of sizes to numbers of classes."""
        sizes = np.array(sorted(numbers_by_size), dtype=np.int64)
        numbers = np.array([numbers_by_size[size] for size in sizes.tolist()], dtype=np.int64)
        return cls(sizes, numbers, suppressed)

    @property
    def rows(self) -> int:
        """Number of rows, including suppressed rows."""
        return int((self.sizes * self.numbers).sum()) + self.suppressed

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.numbers.sum())

    @property
    def smallest(self) -> int | None:
        """Rows of the smallest class; None if there is no class."""
        return int(self.sizes[0]) if len(self.sizes) else None

    @property
    def largest(self) -> int | None:
        """Rows of the largest class; None if there is no class."""
        return int(self.sizes[-1]) if len(self.sizes) else None

    @property
    def mean(self) -> float | None:
        """Mean rows per class; None if there is no class."""
        return (self.rows - self.suppressed) / self.classes if self.classes else None

    @property
    def discernibility(self) -> int:
        """C_DM: the sum of the squared sizes, plus all rows for each suppressed row (Bayardo and Agrawal)."""
        return int((self.sizes.astype(object) ** 2 * self.numbers).sum()) + self.rows * self.suppressed

    def normalized_average(self, k: int | None) -> float:
        """Return C_AVG: rows / classes / k (LeFevre and others); a table without classes counts as one class.

        If ``k`` is None, the size of the smallest class replaces it.
        """
        return self.rows / max(self.classes, 1) / max(k or self.smallest or 1, 1)


@dataclass(frozen=True, eq=False)
class GeneralizedTable:
    """Groups of equal generalized rows.

    Group g has ``rows[g]`` rows and the cell ``cells[i].labels[shown[g, i]]`` for attribute i; ``shown`` has
    shape ``(groups, attributes)`` and distinct rows.
    """

    cells: tuple[Cells, ...]
    shown: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def ungeneralized(cls, frequency_set: FrequencySet) -> GeneralizedTable:
        """Build the table in which every cell shows its leaf, without generalization."""
        cells = tuple(exact_cells(h.attribute, h.leaves) for h in frequency_set.hierarchies)
        return cls(cells, frequency_set.codes, frequency_set.counts)

    @classmethod
    def of_recoding(cls, recoding: ClassRecoding) -> GeneralizedTable:
        """Build the table that a recoding would publish, without suppressed rows."""
        cell_codes, rows = merge_equal_groups(recoding.shown, recoding.class_rows())
        return cls(recoding.cells, cell_codes, rows)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes, in order."""
        return tuple(cells.attribute for cells in self.cells)

    @cached_property
    def total(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.rows)

    def project(self, attributes: Sequence[str]) -> GeneralizedTable:
        """Return the table of some attributes, in the given order; merge groups that become equal."""
        places = [self.attributes.index(name) for name in attributes]
        cell_codes, rows = merge_equal_groups(self.shown[:, places], self.rows)
        return GeneralizedTable(tuple(self.cells[index] for index in places), cell_codes, rows)

    def rows_of_cells(self, attribute: int) -> NDArray[np.int64]:
        """Return the number of rows that show each cell of an attribute, shape ``(cells,)``."""
        result = np.zeros(len(self.cells[attribute].labels), dtype=np.int64)
        np.add.at(result, self.shown[:, attribute], self.rows)
        return result


def exact_cells(attribute: str, values: Sequence[str]) -> Cells:
    """Return the cells of an attribute that is not generalized: one per value, then one for NULL."""
    number = len(values)
    codes = np.arange(number + 1)
    return Cells(attribute, number, (*values, None), np.arange(number + 2), codes, codes)


def merge_equal_groups(
    cell_codes: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows of ``cell_codes`` that occur, in lexicographic order, with their counts."""
    nonempty = rows > 0
    cell_codes, rows = cell_codes[nonempty], rows[nonempty]
    if not len(rows):
        return cell_codes, rows
    if cell_codes.shape[1] == 0:
        return cell_codes[:1], rows.sum(keepdims=True)
    order = np.lexsort(cell_codes.T[::-1])
    ordered = cell_codes[order]
    starts = np.flatnonzero(np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1))))
    return ordered[starts], np.add.reduceat(rows[order], starts)


_BLOCK_BYTES = 1 << 24
_MAX_PAIRS = 1 << 38


@dataclass(frozen=True, eq=False)
class ReleasePair:
    """The quasi-identifiers of a release and of its original.

    ``release`` has the attributes of ``frequency_set`` in the same order and no suppressed row;
    ``suppressed`` rows are starred or missing. ``k`` normalizes C_AVG (None: the smallest class does),
    ``weights`` apply to the loss. ``numeric`` declares which attributes count as numbers; an attribute
    without a declaration does if every leaf is a number. ``known_members`` are the members of the classes, if
    known. ``stated`` is the usefulness that was measured when the release was made.
    """

    frequency_set: FrequencySet
    release: GeneralizedTable
    suppressed: int
    k: int | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    numeric: Mapping[str, bool] = field(default_factory=dict)
    known_members: OriginalMembers | None = None
    stated: float | None = None

    @classmethod
    def ungeneralized(
        cls, frequency_set: FrequencySet, k: int | None = None, numeric: Mapping[str, bool] | None = None
    ) -> ReleasePair:
        """Build the comparison of a table with itself: each row type is a class."""
        each = np.arange(frequency_set.row_types)
        return cls(
            frequency_set,
            GeneralizedTable.ungeneralized(frequency_set),
            0,
            k,
            numeric=numeric or {},
            known_members=OriginalMembers(each, each, len(each)),
        )

    @classmethod
    def of_recoding(
        cls,
        frequency_set: FrequencySet,
        recoding: ClassRecoding,
        weights: Mapping[str, float] | None = None,
        numeric: Mapping[str, bool] | None = None,
    ) -> ReleasePair:
        """Build the comparison of the table that a recoding would publish with its original."""
        return cls(
            frequency_set,
            GeneralizedTable.of_recoding(recoding),
            recoding.suppressed,
            recoding.requirement.k,
            weights or {},
            numeric or {},
            OriginalMembers.of_recoding(recoding),
        )

    @classmethod
    def of_release(
        cls,
        frequency_set: FrequencySet,
        release: GeneralizedTable,
        starred: int,
        k: int | None = None,
        weights: Mapping[str, float] | None = None,
        numeric: Mapping[str, bool] | None = None,
    ) -> ReleasePair:
        """Build the comparison of a release read from a file.

        ``starred`` of its rows show ``*`` in every cell and are not a class.
        """
        rows = release.rows.copy()
        stars = np.ones(release.groups, dtype=np.bool_)
        for i, cells in enumerate(release.cells):
            stars &= np.array([label == TOP for label in cells.labels])[release.shown[:, i]]
        rows[stars] -= min(starred, int(rows[stars].sum()))
        nonempty = rows > 0
        published = GeneralizedTable(release.cells, release.shown[nonempty], rows[nonempty])
        suppressed = frequency_set.rows - published.total
        return cls(frequency_set, published, suppressed, k, weights or {}, numeric or {})

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """Hierarchies of the attributes."""
        return self.frequency_set.hierarchies

    @property
    def rows(self) -> int:
        """Number of rows of the original."""
        return self.frequency_set.rows

    @cached_property
    def class_sizes(self) -> ClassSizes:
        """Sizes of the release's classes."""
        sizes, numbers = np.unique(self.release.rows, return_counts=True)
        return ClassSizes(sizes, numbers, self.suppressed)

    @cached_property
    def leaves(self) -> tuple[NDArray[np.int64], ...]:
        """Number of leaves under each cell of each attribute; a cell of only NULL counts one."""
        return tuple(cells.sizes() for cells in self.release.cells)

    @cached_property
    def rows_of_cells(self) -> tuple[NDArray[np.int64], ...]:
        """Number of the release's rows that show each cell of each attribute."""
        return tuple(self.release.rows_of_cells(i) for i in range(len(self.release.cells)))

    @cached_property
    def numbers(self) -> NumericValues:
        """Values of the attributes that count as numbers."""
        return numeric_values(self.hierarchies, self.numeric)

    @cached_property
    def members(self) -> OriginalMembers | None:
        """Original rows in each class; None if they cannot be determined.

        Without ``known_members``, a class consists of the rows that it covers, provided that classes cover
        disjoint rows and each has as many rows as it covers.
        """
        if self.known_members is not None or not self.can_cover:
            return self.known_members
        row_types = self.frequency_set.row_types
        class_of = np.full(row_types, self.release.groups)
        for classes, covered in self.covered():
            if (class_of[covered] < self.release.groups).any() or len(np.unique(covered)) < len(covered):
                return None
            class_of[covered] = classes
        rows = np.bincount(class_of, self.frequency_set.counts, self.release.groups + 1)
        if (rows[:-1] != self.release.rows).any():
            return None
        number = self.release.groups + bool(rows[-1])
        return OriginalMembers(class_of, np.arange(row_types), number)

    @property
    def can_cover(self) -> bool:
        """True if classes and row types are few enough to compare all pairs."""
        return self.release.groups * self.frequency_set.row_types <= _MAX_PAIRS

    def covered(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield pairs of classes and the row types that their cells cover, one block of classes at a time.

        Each cell has one bit per row type that it covers, so a class is the AND of its cells' bits. Cost:
        classes · row types · attributes / 64 machine words.
        """
        bits = [
            _covering_bits(cells, self.frequency_set.codes[:, i])
            for i, cells in enumerate(self.release.cells)
        ]
        width = bits[0].shape[1] if bits else 0
        step = max(1, _BLOCK_BYTES // max(8 * width, 1))
        for start in range(0, self.release.groups, step):
            cell_codes = self.release.shown[start : start + step]
            both = bits[0][cell_codes[:, 0]]
            for i in range(1, len(bits)):
                both &= bits[i][cell_codes[:, i]]
            at, word = np.nonzero(both)
            unpacked = np.unpackbits(both[at, word][:, None].view(np.uint8), axis=1, bitorder="little")
            pair, bit = np.nonzero(unpacked)
            yield start + at[pair], word[pair] * 64 + bit


def _covering_bits(cells: Cells, codes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the row types that each cell covers, as bits, shape ``(cells, words)``."""
    words = (len(codes) + 63) // 64
    found = np.zeros((len(cells.labels), words * 8), dtype=np.uint8)
    for cell in range(len(cells.labels)):
        mask = np.zeros(cells.leaves + 1, dtype=np.bool_)
        for j in range(int(cells.offsets[cell]), int(cells.offsets[cell + 1])):
            mask[cells.first[j] : cells.last[j] + 1] = True
        packed = np.packbits(mask[codes], bitorder="little")
        found[cell, : len(packed)] = packed
    return found.view(np.uint64)
