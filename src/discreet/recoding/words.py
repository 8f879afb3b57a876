"""Row types as few whole numbers: their leaf codes packed into words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.sql.recode_classes import Word

_WIDEST = 1 << 62


def pack_words(sizes: Sequence[int]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Columns of ``0 … size - 1`` packed in order into words of at most 62 bits, by their factors."""
    words: list[list[tuple[int, int]]] = [[]]
    span = 1
    for i, size in enumerate(sizes):
        if span * size > _WIDEST:
            words.append([])
            span = 1
        words[-1].append((i, span))
        span *= size
    return tuple(tuple(word) for word in words)


def packed(codes: NDArray[np.int64], word: Word) -> NDArray[np.int64]:
    """The word of each row of codes, shape ``(rows,)``."""
    found = np.zeros(len(codes), dtype=np.int64)
    for i, factor in word:
        found += codes[:, i] * factor
    return found
