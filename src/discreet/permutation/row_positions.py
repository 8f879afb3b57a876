"""Row positions: their integer type, random orders of them, and permutations within groups.

Orders come from the operating system's generator and no seed is kept, because a known seed would reveal a
permutation. Each position gets 64 random bits as a sort key; ties are drawn again. One random order of all
rows, cut into groups, is uniform within each group and independent between groups. Row counts and positions
are int32 if they fit.

Cost: three sorts of the rows; from a million rows on a compiled loop shuffles each group in a third of that
time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.kernel_choice import choose_kernels
from discreet.frequency.packed_keys import sort_with_positions

RowIntegers = NDArray[np.signedinteger[Any]]
"""int32 or int64; convert to int64 before multiplying."""

ROWS_PER_BATCH = 1 << 18
"""Rows that are processed together, so that their working arrays fit the processor's caches."""
_INT32_VALUES = 1 << 31
_ROWS_WITHOUT_KERNELS = 50_000
_KERNEL_BYTES = 10**8
"""Size of the loaded code: compiled loops and their compiler."""


def integer_dtype(size: int) -> type[np.signedinteger[Any]]:
    """Return the smallest type for 0, …, ``size`` - 1, and -1.

    >>> integer_dtype(1 << 31), integer_dtype((1 << 31) + 1)
    (<class 'numpy.int32'>, <class 'numpy.int64'>)
    """
    return np.int32 if size <= _INT32_VALUES else np.int64


def working_bytes(rows: int, distinct: int, keys: int = 0) -> int:
    """Estimate the bytes of arrays, next to a column's own, while groups are computed and values permuted.

    ``keys`` is the number of quasi-identifiers that groups depend on. The maximum is reached when groups are
    assigned to rows, or when neighbours are counted.
    """
    row_bytes, wide = np.dtype(integer_dtype(rows + 1)).itemsize, np.dtype(np.int64).itemsize
    bytes_in_all = 3 * rows + 10 * distinct
    keyed = (3 * keys + 6) * rows if keys else 0
    return (
        max(bytes_in_all, 9 * rows) * row_bytes
        + keyed * wide
        + (_KERNEL_BYTES if rows > _ROWS_WITHOUT_KERNELS else 0)
    )


DrawOrder = Callable[[int], RowIntegers]
"""Returns, for n, an order of 0, …, n - 1 that is uniformly random."""

_KEY_BYTES, _WORD_BYTES = 8, 4
_ALL_BITS = (1 << 64) - 1


def random_words(number: int) -> NDArray[np.uint32]:
    """Return words of 32 random bits; no seed is kept."""
    return np.frombuffer(os.urandom(number * _WORD_BYTES), dtype=np.uint32)


def draw_order(n: int) -> RowIntegers:
    """Draw a uniformly random order of 0, …, n - 1; no seed is kept.

    Positions are the low bits of the sort keys, which halves the time of sorting positions by separate keys.
    """
    bits = n.bit_length()
    mask = (1 << bits) - 1
    keys = np.frombuffer(os.urandom(n * _KEY_BYTES), dtype=np.uint64) & np.uint64(_ALL_BITS ^ mask)
    keys |= np.arange(n, dtype=np.uint64)
    keys.sort()
    tied = (keys[1:] ^ keys[:-1]) <= mask
    keys &= np.uint64(mask)
    order = keys.astype(integer_dtype(n + 1))
    if tied.any():
        _draw_ties(order, tied)
    return order


def _draw_ties(order: RowIntegers, tied: NDArray[np.bool_]) -> None:
    """Draw the order of neighbours with equal keys; ``tied`` (n - 1,) marks keys equal to the one before."""
    several = np.flatnonzero(np.append(tied, False) | np.insert(tied, 0, False))
    runs = np.cumsum(~tied[several[1:] - 1])
    runs = np.insert(runs, 0, 0)
    drawn = draw_order(len(several))
    drawn = drawn[np.argsort(runs[drawn], kind="stable")]
    order[several] = order[several[drawn]]


_SHUFFLE_KERNEL = "permutation-shuffle"
_FEWEST_SHUFFLED_ROWS, _ROWS_WORTH_COMPILING, _MOST_SHUFFLED_ROWS = 1 << 20, 1 << 22, 1 << 31


def permute_within(groups: RowIntegers, draw: DrawOrder = draw_order) -> RowIntegers:
    """Draw a random permutation within each group: the source row of each row's value, shape ``(rows,)``."""
    rows = len(groups)
    many = draw is draw_order and _FEWEST_SHUFFLED_ROWS <= rows < _MOST_SHUFFLED_ROWS
    if many and choose_kernels([_SHUFFLE_KERNEL], "permutation", worth=rows > _ROWS_WORTH_COMPILING):
        return _shuffle_compiled(groups)
    order = draw(rows)
    order = order[order_by_group(groups[order])]
    sources = np.empty_like(order)
    sources[order_by_group(groups)] = order
    return sources


def _shuffle_compiled(groups: RowIntegers) -> RowIntegers:
    """Permute with the compiled loop.

    One spare word per 64 rows nearly always suffices; otherwise the permutation is drawn again.
    """
    from discreet.kernels.group_kernels import shuffle_groups
    from discreet.kernels.precompilation import mark_compiled

    rows = len(groups)
    sources = np.empty(rows, dtype=integer_dtype(rows + 1))
    while not shuffle_groups(groups, int(groups.max()) + 1, random_words(rows + rows // 64), sources):
        pass
    mark_compiled(_SHUFFLE_KERNEL)
    return sources


def order_by_group(groups: RowIntegers) -> RowIntegers:
    """Return the stable order of rows by group."""
    keys = groups.astype(np.uint64)
    places = sort_with_positions(keys)
    if places is None:
        return np.argsort(groups, kind="stable")
    keys &= np.uint64((1 << places) - 1)
    return keys.view(np.int64)


def draw_group_numbers(groups: int, draw: DrawOrder = draw_order) -> RowIntegers:
    """Number the groups 1, 2, … in a random order, so that numbers reveal no order of the groups."""
    return draw(groups) + 1


def is_permutation_within(groups: RowIntegers, sources: RowIntegers) -> bool:
    """Check whether every row's value goes to exactly one row of its own group."""
    used = np.zeros(len(groups), dtype=np.bool_)
    used[sources] = True
    return bool(len(sources) == len(groups) and used.all() and (groups[sources] == groups).all())
