"""Suppression histograms of every lattice node, whole, as arrays.

A class's *signature* is its size (distinct subjects where k counts subjects) and, with l-diversity, its
number of distinct values per sensitive attribute. A node's histogram says how many rows lie in classes of
each signature (Pilalidou and Vassiliadis). Rows with a signature below a threshold are the rows to suppress,
so everything that a negotiation asks is a sum over a part of one histogram.

Layout: sizes up to ``limit`` are kept dense, ``small[node, s]`` being the rows in classes of size at most s.
Entries hold single signatures, several entries of one signature allowed, in no promised order:
``starts[node]:stops[node]`` is the node's slice of ``rows`` and of ``signatures`` (shape ``(1 + sensitive
attributes, entries)``). With ``partial`` entries hold only sizes above ``limit``, else all sizes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALL_LIMIT = 64


@dataclass(frozen=True, eq=False)
class Histograms:
    """Every node's histogram; see the module for the layout. ``classes`` counts classes per node."""

    classes: NDArray[np.int64]
    small: NDArray[Any]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    signatures: NDArray[Any]
    rows: NDArray[Any]
    partial: bool

    @property
    def limit(self) -> int:
        """The largest size that ``small`` keeps."""
        return int(self.small.shape[1]) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self.classes, self.small, self.starts, self.stops, self.signatures, self.rows)
        return sum(array.nbytes for array in arrays)

    def of(self, node: int) -> dict[tuple[int, ...], int]:
        """One node's whole histogram: rows by signature (for tests and for display)."""
        result: dict[tuple[int, ...], int] = {}
        signatures, rows = self._entries(node)
        for signature, count in zip(signatures.T.tolist(), rows.tolist(), strict=True):
            key = tuple(signature)
            result[key] = result.get(key, 0) + count
        return dict(sorted(result.items()))

    def below(self, thresholds: tuple[int | None, ...]) -> NDArray[np.int64]:
        """Rows to suppress per node: any part of the signature below its threshold (None: no threshold).

        Cost: a look-up per node where only size matters and is within ``limit``; else one pass over the
        entries.
        """
        size, *distinct = thresholds
        only_size = all(threshold is None for threshold in distinct)
        if only_size and size is not None and size - 1 <= self.limit:
            return self.small[:, max(size - 1, 0)].astype(np.int64)
        if all(threshold is None for threshold in thresholds):
            return np.zeros(len(self.classes), np.int64)
        totals = self.small[:, -1].astype(np.int64) if self.partial else np.zeros(len(self.classes), np.int64)
        self._add_below(np.array([threshold or 0 for threshold in thresholds]), totals)
        return totals

    def diverse(self, distinct: tuple[int | None, ...]) -> NDArray[Any]:
        """``small`` for classes that must also have so many distinct values, shape ``(nodes, limit + 1)``.

        Column s holds the rows to suppress for k = s + 1 and these thresholds, so that one pass over the
        entries answers every k up to ``limit + 1``.
        """
        thresholds = np.array([threshold or 0 for threshold in distinct])
        below = np.empty_like(self.small)
        if "numba" in sys.modules:
            from discreet.kernels.below import cumulate_diverse

            cumulate_diverse(self.signatures, self.rows, self.starts, self.stops, thresholds, below)
            return below
        failing = (self.signatures[1:] < thresholds[:, np.newaxis]).any(axis=0)
        sizes = np.where(failing, 0, np.minimum(self.signatures[0], self.limit + 1))
        for node in range(len(below)):
            part = slice(int(self.starts[node]), int(self.stops[node]))
            tally = np.bincount(sizes[part], self.rows[part], minlength=self.limit + 2)
            below[node] = np.cumsum(tally[:-1])
        return below

    def _add_below(self, thresholds: NDArray[np.int64], totals: NDArray[np.int64]) -> None:
        """Compiled where the kernels are in use already, else in numpy."""
        if "numba" in sys.modules:
            from discreet.kernels.below import sum_below

            sum_below(self.signatures, self.rows, self.starts, self.stops, thresholds, totals)
            return
        failing = np.zeros(len(self.rows), np.bool_)
        for column, threshold in zip(self.signatures, thresholds.tolist(), strict=True):
            failing |= column < threshold
        sums = np.zeros(len(self.rows) + 1, np.int64)
        np.cumsum(np.where(failing, self.rows, 0), dtype=np.int64, out=sums[1:])
        totals += sums[self.stops] - sums[self.starts]

    def below_at(self, node: int, thresholds: tuple[int | None, ...]) -> int:
        """Rows to suppress at one node."""
        size, *distinct = thresholds
        if size is not None and size - 1 <= self.limit and all(t is None for t in distinct):
            return int(self.small[node, max(size - 1, 0)])
        signatures, rows = self._entries(node)
        failing = np.zeros(len(rows), np.bool_)
        for column, threshold in zip(signatures, thresholds, strict=True):
            if threshold is not None:
                failing |= column < threshold
        return int(rows[failing].sum())

    def largest(
        self, node: int, thresholds: tuple[int | None, ...], parts: tuple[int, ...], limit: int
    ) -> int:
        """The largest t for which a node stays within ``limit`` suppressed rows.

        ``parts`` are the positions of the signature that t bounds from below, none of them beyond its own
        threshold where it has one; the other thresholds hold as they are. 0 where no t is possible.
        """
        signatures, rows = self._entries(node)
        never = np.iinfo(np.int64).max
        fails_at = np.full(len(rows), never)
        for position, column in enumerate(signatures):
            threshold = thresholds[position]
            below = np.ones(len(rows), np.bool_) if threshold is None else column < threshold
            if position in parts:
                fails_at = np.where(below, np.minimum(fails_at, column + 1), fails_at)
            elif threshold is not None:
                fails_at = np.where(below, 0, fails_at)
        sequence = np.argsort(fails_at, kind="stable")
        fails_at = fails_at[sequence]
        over = np.flatnonzero((np.cumsum(rows[sequence]) > limit) & (fails_at < never))
        if len(over):
            return max(int(fails_at[over[0]]) - 1, 0)
        return int(max((signatures[p].max(initial=0) for p in parts), default=0))

    def _entries(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A node's signatures (shape ``(parts, entries)``) and rows, dense sizes included."""
        part = slice(int(self.starts[node]), int(self.stops[node]))
        signatures = self.signatures[:, part].astype(np.int64)
        rows = self.rows[part].astype(np.int64)
        if not self.partial:
            return signatures, rows
        dense = np.diff(self.small[node].astype(np.int64))
        sizes = np.flatnonzero(dense)
        return (
            np.concatenate((sizes[np.newaxis] + 1, signatures), axis=1),
            np.concatenate((dense[sizes], rows)),
        )
