"""Which classes stay where all groups of classes must be large, and no value too frequent in one.

The compiled form of ``model.criteria.of_cells.peeled``, which is its twin: groups that fail lose all their
classes at once, and only groups that lost one are looked at again.

Cost: the groups of all classes, a few times; the values of a group wherever it lost a class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled

Array = NDArray[Any]

_UNIT = 1_000_000_000


@compiled
def _likely(rows: Array, blocks: Array, billionths: int) -> bool:
    """Whether one of a group's attributes has no value, or one with too large a share."""
    for a in range(len(blocks) - 1):
        known = np.int64(0)
        most = np.int64(0)
        for v in range(blocks[a], blocks[a + 1]):
            known += rows[v]
            most = max(most, rows[v])
        if known == 0 or _UNIT * most > billionths * known:
            return True
    return False


@compiled
def _fill(
    groups: Array,
    left: Array,
    sizes: Array,
    begins: Array,
    codes: Array,
    counts: Array,
    rows: Array,
    values: Array,
) -> tuple[Array, Array]:
    """Add up the rows and values of groups; where the classes of each group begin, and the classes."""
    per, classes = groups.shape
    start = np.zeros(len(rows) + 1, np.int64)
    for j in range(per):
        for i in range(classes):
            if left[i]:
                g = groups[j, i]
                rows[g] += sizes[i]
                start[g + 1] += 1
                for e in range(begins[i], begins[i + 1]):
                    values[g, codes[e]] += counts[e]
    start = np.cumsum(start)
    members = np.empty(start[-1], np.int64)
    filled = start[:-1].copy()
    for j in range(per):
        for i in range(classes):
            if left[i]:
                g = groups[j, i]
                members[filled[g]] = i
                filled[g] += 1
    return start, members


@compiled
def _leaving(
    pending: Array,
    value: int,
    rows: Array,
    values: Array,
    blocks: Array,
    billionths: int,
    start: Array,
    members: Array,
    left: Array,
    going: Array,
) -> int:
    """How many classes are in groups that fail; their places are in ``going``, and ``left`` has them no more.

    No sum is changed, so that all groups are judged before one loses anything.
    """
    leave = 0
    for g in pending:
        if rows[g] > 0 and (rows[g] < value or _likely(values[g], blocks, billionths)):
            for place in range(start[g], start[g + 1]):
                i = members[place]
                if left[i]:
                    left[i] = False
                    going[leave] = i
                    leave += 1
    return leave


@compiled
def _remove(
    going: Array,
    groups: Array,
    sizes: Array,
    begins: Array,
    codes: Array,
    counts: Array,
    rows: Array,
    values: Array,
    waiting: Array,
) -> Array:
    """Take classes out of the sums of their groups; these groups, each once."""
    per = len(groups)
    found = np.empty(len(going) * per, np.int64)
    touched = 0
    for i in going:
        for j in range(per):
            g = groups[j, i]
            rows[g] -= sizes[i]
            for e in range(begins[i], begins[i + 1]):
                values[g, codes[e]] -= counts[e]
            if not waiting[g]:
                waiting[g] = True
                found[touched] = g
                touched += 1
    found = found[:touched]
    waiting[found] = False
    return found


@compiled
def peel(
    groups: Array,
    number: int,
    sizes: Array,
    standing: Array,
    begins: Array,
    codes: Array,
    counts: Array,
    blocks: Array,
    billionths: int,
    most: int,
    scores: Array,
) -> None:
    """Fill ``scores``, shape ``(classes,)``, as ``peeled`` does.

    ``groups`` has shape ``(groups of a class, classes)``. The entries ``begins[i]:begins[i + 1]`` of
    ``codes`` and ``counts`` are the values of class i, those of attribute a from ``blocks[a]`` on.
    """
    left = standing.copy()
    rows = np.zeros(number, np.int64)
    values = np.zeros((number, blocks[-1]), np.int64)
    start, members = _fill(groups, left, sizes, begins, codes, counts, rows, values)
    alive = np.flatnonzero(rows > 0)
    pending = alive
    waiting = np.zeros(number, np.bool_)
    going = np.empty(len(left), np.int64)
    value = 1
    while True:
        leave = _leaving(pending, value, rows, values, blocks, billionths, start, members, left, going)
        if leave:
            scores[going[:leave]] = value - 1
            # At the same value again: only groups that lost classes can have come to fail.
            pending = _remove(going[:leave], groups, sizes, begins, codes, counts, rows, values, waiting)
            continue
        alive = alive[rows[alive] > 0]
        if not len(alive):
            break
        least = rows[alive].min()
        if least >= most:
            break
        # Nobody leaves at a value up to the least sum that is left.
        value = int(least) + 1
        pending = alive[rows[alive] < value]
    scores[left] = most
