"""Compiled sums of suppressed rows per node, and compiled peeling of groups of classes.

The sums run over the entries of the suppression histograms. Peeling suppresses the classes of failing groups
until every group passes; its twin is ``model.criteria.release_level.peel_classes``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled

Array = NDArray[Any]


@compiled
def sum_suppressed(
    signatures: Array, rows: Array, starts: Array, stops: Array, thresholds: Array, totals: Array
) -> None:
    """Add to ``totals[node]`` the rows of entries with any part below its threshold (0: no threshold)."""
    for node in range(len(totals)):
        total = totals[node]
        for entry in range(starts[node], stops[node]):
            fails = False
            for part in range(len(thresholds)):
                fails |= signatures[part, entry] < thresholds[part]
            total += rows[entry] if fails else 0
        totals[node] = total


@compiled
def cumulate_suppressed(
    signatures: Array, rows: Array, starts: Array, stops: Array, thresholds: Array, below: Array
) -> None:
    """Fill ``below[node, s]`` with the rows in classes of at most s rows or below another threshold.

    ``thresholds[0]`` applies to the signature's second part, the first sensitive attribute.
    """
    sizes = signatures[0]
    top = below.shape[1] - 1
    for node in range(len(below)):
        counts = below[node]
        for size in range(top + 1):
            counts[size] = 0
        for entry in range(starts[node], stops[node]):
            fails = False
            for part in range(len(thresholds)):
                fails |= signatures[part + 1, entry] < thresholds[part]
            if fails:
                counts[0] += rows[entry]
            elif sizes[entry] <= top:
                counts[sizes[entry]] += rows[entry]
        for size in range(1, top + 1):
            counts[size] += counts[size - 1]


_UNIT = 1_000_000_000


@compiled
def _exceeds_share(rows: Array, blocks: Array, billionths: int) -> bool:
    """Return whether an attribute of a group has no value, or a value with too large a share."""
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
def _sum_groups(
    groups: Array,
    left: Array,
    sizes: Array,
    begins: Array,
    codes: Array,
    counts: Array,
    rows: Array,
    values: Array,
) -> tuple[Array, Array]:
    """Sum the rows and values of groups; return the start of each group's classes, and the classes."""
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
def _find_failing_classes(
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
    """Mark the classes of failing groups as removed; return their number.

    Their indices are written to ``going``. No sum is changed, so that all groups are judged before one loses
    a class.
    """
    leave = 0
    for g in pending:
        if rows[g] > 0 and (rows[g] < value or _exceeds_share(values[g], blocks, billionths)):
            for slot in range(start[g], start[g + 1]):
                i = members[slot]
                if left[i]:
                    left[i] = False
                    going[leave] = i
                    leave += 1
    return leave


@compiled
def _remove_classes(
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
    """Subtract classes from the sums of their groups; return these groups, each once."""
    per = len(groups)
    result = np.empty(len(going) * per, np.int64)
    touched = 0
    for i in going:
        for j in range(per):
            g = groups[j, i]
            rows[g] -= sizes[i]
            for e in range(begins[i], begins[i + 1]):
                values[g, codes[e]] -= counts[e]
            if not waiting[g]:
                waiting[g] = True
                result[touched] = g
                touched += 1
    result = result[:touched]
    waiting[result] = False
    return result


@compiled
def peel_groups(
    groups: Array,
    number: int,
    sizes: Array,
    remaining: Array,
    begins: Array,
    codes: Array,
    counts: Array,
    blocks: Array,
    billionths: int,
    most: int,
    scores: Array,
) -> None:
    """Fill ``scores``, shape ``(classes,)``, as ``peel_classes`` does.

    ``groups`` has shape ``(groups of a class, classes)``. The entries ``begins[i]:begins[i + 1]`` of
    ``codes`` and ``counts`` are the values of class i; codes of attribute a begin at ``blocks[a]``.
    """
    left = remaining.copy()
    rows = np.zeros(number, np.int64)
    values = np.zeros((number, blocks[-1]), np.int64)
    start, members = _sum_groups(groups, left, sizes, begins, codes, counts, rows, values)
    alive = np.flatnonzero(rows > 0)
    pending = alive
    waiting = np.zeros(number, np.bool_)
    going = np.empty(len(left), np.int64)
    value = 1
    while True:
        leave = _find_failing_classes(
            pending, value, rows, values, blocks, billionths, start, members, left, going
        )
        if leave:
            scores[going[:leave]] = value - 1
            # At the same value again: only groups that lost classes can newly fail.
            pending = _remove_classes(
                going[:leave], groups, sizes, begins, codes, counts, rows, values, waiting
            )
            continue
        alive = alive[rows[alive] > 0]
        if not len(alive):
            break
        least = rows[alive].min()
        if least >= most:
            break
        # No group fails at a value up to the least remaining sum: skip these values.
        value = int(least) + 1
        pending = alive[rows[alive] < value]
    scores[left] = most
