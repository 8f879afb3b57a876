"""Closing a group of rows as soon as it has enough: one pass over rows in a given order (Zhang et al. 2007).

A plain function, compiled or run on lists as those of ``group_cuts``.
"""

from __future__ import annotations

from typing import Any

Whole = Any
Numbers = Any
"""An array of the compiled kernels, a list of the twin."""


def close_groups(
    codes: Numbers, values: Numbers, k: Whole, e: Whole, seen: Numbers, groups: Numbers
) -> Whole:
    """The group of each row, rows in order; returns the number of groups.

    ``values`` are by code; a group closes with ``k`` codes and a range of ``e``. What is left over at the end
    joins the last group that closed. ``seen``, one entry per code, is work and holds -1.
    """
    group, distinct = 0, 0
    least, most = values[0], values[0]
    for i in range(len(codes)):
        code = codes[i]
        value = values[code]
        groups[i] = group
        if distinct == 0:
            least, most = value, value
        if seen[code] != group:
            seen[code] = group
            distinct += 1
            least, most = min(least, value), max(most, value)
        if distinct >= k and most - least >= e:
            group += 1
            distinct = 0
    if distinct > 0 and group > 0:
        i = len(codes) - 1
        while i >= 0 and groups[i] == group:
            groups[i] = group - 1
            i -= 1
    return group
