"""The levels of a table in a text that needs no reader of CSV: no quotes, LF alone, lines of as many cells.

Cells are compared as bytes, all lines at once, and a text is made of the first of each run of equal ones
alone: of a hierarchy that lies depth first there are hardly more than values.
"""

from __future__ import annotations

import csv

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchy.levels_of_rows import Level

_SPECIAL = ('"', "\r", "\0")
_NEWLINE = ord("\n")
_WORD = 8
_LONGEST = 64


def plain_levels(text: str, delimiter: str) -> list[Level] | None:
    """The columns of a table of several, whose first has no value twice and whose last has one value.

    None where the text is none of the kind, or a reader of CSV might see other cells in it, or an error.
    """
    if not text or not delimiter.isascii() or any(character in text for character in _SPECIAL):
        return None
    raw = text.removesuffix("\n").encode("utf-8", "surrogatepass")
    bounds = _bounds(raw, delimiter)
    if bounds is None:
        return None
    starts, stops = bounds
    lengths = stops - starts
    if lengths.max() > min(_LONGEST, csv.field_size_limit()):
        return None
    words = np.ndarray(len(raw), "<u8", raw + bytes(_WORD), strides=(1,))
    levels = []
    for column in range(starts.shape[1]):
        runs = _runs(words, starts[:, column], lengths[:, column])
        places = zip(starts[runs, column].tolist(), stops[runs, column].tolist(), strict=True)
        if len(raw) == len(text.removesuffix("\n")):
            values = [text[start:stop] for start, stop in places]
        else:
            values = [raw[start:stop].decode("utf-8", "surrogatepass") for start, stop in places]
        levels.append(Level.of_runs(values, runs, len(starts)))
    if len(levels[-1].labels) > 1 or len(levels[0].labels) < len(starts):
        return None
    return levels


def _bounds(raw: bytes, delimiter: str) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Where each cell begins and ends, shape ``(lines, columns)``; None where lines differ in their cells."""
    data = np.frombuffer(raw, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    between = np.flatnonzero(data == ord(delimiter))
    lines = len(ends) + 1
    inner = len(between) // lines
    if not inner or len(between) != lines * inner:
        return None
    inside = between.reshape(lines, inner)
    if (inside[:-1, -1] > ends).any() or (inside[1:, 0] < ends).any():
        return None
    first, last = np.append(-1, ends), np.append(ends, len(raw))
    starts = np.column_stack((first, inside)) + 1
    return starts, np.column_stack((inside, last))


def _runs(
    words: NDArray[np.uint64], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The rows whose cell differs from that of the row before, the first among them."""
    fresh = np.ones(len(starts), np.bool_)
    fresh[1:] = lengths[1:] != lengths[:-1]
    for done in range(0, int(lengths.max()), _WORD):
        bits = 8 * np.clip(lengths - done, 0, _WORD)
        # A shift by all bits of a word would be none.
        mask = np.where(bits > 0, ~np.uint64(0) >> (np.uint64(64) - np.maximum(bits, 1).astype(np.uint64)), 0)
        held = words[np.minimum(starts + done, len(words) - 1)] & mask
        fresh[1:] |= held[1:] != held[:-1]
    return np.flatnonzero(fresh)
