"""Minimal sample uniques of a table: which rows are alone by which smallest sets of columns.

A set of columns singles a row out when no other row has the same values in them. It is minimal when no
smaller set within it does (Elliot, Manning and Ford 2002). A row with small and many minimal sets is in
greater danger: less need be known of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.kernel_choice import choose_kernels
from discreet.model.evaluator import Evaluator

Whole = NDArray[np.int64]

_PART = "sample-uniques"
_WORTH = 5_000_000
_MOST_STEPS = 1 << 33
_MOST_SETS = 1 << 26


@dataclass(frozen=True, eq=False)
class MinimalSets:
    """Pairs of a row type and a minimal set of it: its place, and the set as a mask of columns.

    ``width`` columns there are; sets of up to ``largest`` were looked for.
    """

    width: int
    largest: int
    rows: Whole
    masks: Whole

    @cached_property
    def sizes(self) -> Whole:
        """The number of columns of each pair's set."""
        return np.bitwise_count(self.masks).astype(np.int64)

    def has(self, column: int) -> NDArray[np.bool_]:
        """Which pairs' sets have a column."""
        found: NDArray[np.bool_] = (self.masks >> column) & 1 == 1
        return found


def minimal_sets(
    codes: Whole,
    counts: Whole,
    largest: int | None = None,
    *,
    evaluator: Evaluator = Evaluator.AUTO,
    progress: Callable[[int, int], None] | None = None,
) -> MinimalSets:
    """The minimal sets of distinct ``codes``, shape ``(row types, attributes)``, with their rows.

    ``largest`` columns are in a set at most (None: all); it is lowered where the work or what is found would
    be too much.
    """
    width = codes.shape[1]
    size = affordable_size(len(codes), width, width if largest is None else min(largest, width))
    single = (counts == 1).astype(np.int64)
    steps = len(codes) * sum(comb(width, each) for each in range(1, size + 1))
    if not choose_kernels([_PART], "search for minimal uniques", worth=steps > _WORTH, evaluator=evaluator):
        from discreet.kernels.sample_uniques_twin import find_minimal_twin

        rows, masks = find_minimal_twin(codes.T, single, size, progress)
        return MinimalSets(width, size, rows, masks)
    while True:
        found = _compiled(codes, single, size)
        if found is not None or size == 1:
            rows, masks = found or (np.empty(0, np.int64), np.empty(0, np.int64))
            return MinimalSets(width, size, rows, masks)
        size -= 1


def affordable_size(row_types: int, width: int, largest: int, steps: int = _MOST_STEPS) -> int:
    """The largest size of sets, at least 1, of which all can be walked in so many steps."""
    while largest > 1 and row_types * sum(comb(width, size) for size in range(1, largest + 1)) > steps:
        largest -= 1
    return largest


def _compiled(codes: Whole, single: Whole, largest: int) -> tuple[Whole, Whole] | None:
    """The same by the kernel, columns with many values last; None where too many sets are found."""
    from discreet.kernels.readiness import mark_compiled
    from discreet.kernels.sample_uniques import find_minimal

    width = codes.shape[1]
    if not len(codes) or not width:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    sizes = codes.max(axis=0) + 1
    different = np.array([len(np.unique(codes[:, j])) for j in range(width)])
    order = np.argsort(different, kind="stable")
    ordered = np.ascontiguousarray(codes[:, order].T.astype(np.int32))
    rows, masks, number = find_minimal(
        ordered,
        single.astype(np.int32),
        sizes[order].astype(np.int64),
        largest,
        max(1024, 2 * len(codes)),
        _MOST_SETS,
    )
    mark_compiled(_PART)
    if number < 0:
        return None
    given = np.zeros(number, np.int64)
    for place, column in enumerate(order.tolist()):
        given |= ((masks[:number] >> place) & 1) << column
    return rows[:number], given
