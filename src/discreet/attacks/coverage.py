"""Which classes of a release may be a person's: every class whose cells cover what is known of the person.

One bit per class tells whether its cell covers a code; a record's candidates are the AND of one word of bits
per matched column. Classes with equal cells are one, records with equal codes too, so nothing is done per
pair of rows. Cost for R records, C classes and d columns: R · C · d / 64 machine words, and what matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.measures.generalized_table import GeneralizedTable
from discreet.model.cells import Cells

_BLOCK_BYTES = 1 << 25
_PAIR_BYTES = 1 << 20
"""Bits that are unpacked at once: where every class matches, each is a pair of 16 bytes."""


def candidates(
    table: GeneralizedTable, codes: NDArray[np.int64], *, unknown_matches: bool
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Records and the groups of ``table`` that cover them, as pairs of places, some at a time.

    ``codes`` has shape ``(records, attributes)`` in leaf codes of the table's cells: the code after the last
    leaf is NULL, which matches every cell where ``unknown_matches`` and otherwise the cells that cover NULL;
    the one behind it is a value without a leaf, which only a cell with every leaf covers.
    """
    occurring, places = [], []
    for i in range(len(table.cells)):
        found, place = np.unique(codes[:, i], return_inverse=True)
        occurring.append(found)
        places.append(place.reshape(-1))
    widest = max((len(found) for found in occurring), default=1)
    step = max(64, _BLOCK_BYTES // max(widest, 1) // 64 * 64)
    for start in range(0, table.groups, step):
        bits = [
            _bits(cells, table.shown[start : start + step, i], occurring[i], unknown_matches=unknown_matches)
            for i, cells in enumerate(table.cells)
        ]
        for record, group in _matches(bits, places, len(codes)):
            yield record, start + group


def _matches(
    bits: Sequence[NDArray[np.uint64]], places: Sequence[NDArray[np.int64]], records: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The pairs of one block of groups."""
    width = bits[0].shape[1]
    step = max(1, _PAIR_BYTES // max(8 * width, 1))
    for start in range(0, records, step):
        both = bits[0][places[0][start : start + step]]
        for matrix, place in zip(bits[1:], places[1:], strict=True):
            both &= matrix[place[start : start + step]]
        at, word = np.nonzero(both)
        unpacked = np.unpackbits(both[at, word][:, None].view(np.uint8), axis=1, bitorder="little")
        pair, bit = np.nonzero(unpacked)
        yield start + at[pair], word[pair] * 64 + bit


def _bits(
    cells: Cells, shown: NDArray[np.int64], codes: NDArray[np.int64], *, unknown_matches: bool
) -> NDArray[np.uint64]:
    """For each code which of the groups show a cell that covers it, shape ``(codes, words)``."""
    used, cell_of_group = np.unique(shown, return_inverse=True)
    covered = _covers(cells, used, codes)
    strange = codes > cells.leaves
    covered[:, strange] = (cells.sizes()[used] == cells.leaves)[:, None]
    if unknown_matches:
        covered[:, codes == cells.leaves] = True
    of_groups = covered[cell_of_group.reshape(-1)]
    packed = np.packbits(of_groups.T, axis=1, bitorder="little")
    words = -(-packed.shape[1] // 8)
    found = np.zeros((len(codes), words * 8), dtype=np.uint8)
    found[:, : packed.shape[1]] = packed
    return found.view(np.uint64)


def _covers(cells: Cells, used: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each used cell covers each of the ascending codes, shape ``(cells, codes)``."""
    starts, ends = cells.offsets[used], cells.offsets[used + 1]
    numbers = ends - starts
    cell = np.repeat(np.arange(len(used)), numbers)
    interval = (
        np.repeat(starts, numbers) + np.arange(len(cell)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    )
    steps = np.zeros((len(used), len(codes) + 1), dtype=np.int32)
    np.add.at(steps, (cell, np.searchsorted(codes, cells.first[interval])), 1)
    np.add.at(steps, (cell, np.searchsorted(codes, cells.last[interval], side="right")), -1)
    found: NDArray[np.bool_] = np.cumsum(steps[:, :-1], axis=1) > 0
    return found
