"""Lines of a help table computed in arrays, for exact numbers: running sums of sorted values per group.

Line h of a group has the sums of its h lowest and h highest values, and the values at these ends. Values
are sorted once, next to their group in one integer; lines need neither a join nor a sort. Sums over
several groups may wrap around 64 bits, differences within a group are exact.

Cost: one sort of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.permutation.row_positions import integer_dtype
from discreet.sql.help_table import COMPACT_COLUMNS, SortKeyLayout

LINES_PER_BATCH = 204_800
"""Lines that are made and loaded together; with fewer, a statement takes longer than loading them."""

HelpLines = dict[str, NDArray[np.signedinteger]]


def generate_help_lines(
    keys: NDArray[np.int64], form: SortKeyLayout, at_once: int = LINES_PER_BATCH
) -> Iterator[HelpLines]:
    """Yield the lines by group and hits in batches: columns ``sql.help_table.COMPACT_COLUMNS``, in units.

    ``keys``, shape ``(rows,)``, are ``sql.help_table.sort_keys``, and are sorted in place. Cost: that sort.
    """
    keys.sort()
    first = 0
    while first < len(keys):
        last = len(keys)
        if first + at_once < last:
            last = _group_start(keys, form, int(keys[first + at_once]) >> form.bits)
        if last > first:
            yield _lines_of_groups(keys[first:last], form)
        else:
            last = _group_start(keys, form, (int(keys[first]) >> form.bits) + 1)
            yield from _lines_of_large_group(keys[first:last], form, at_once)
        first = last


def _group_start(keys: NDArray[np.int64], form: SortKeyLayout, group: int) -> int:
    """Return the position of a group's first key among sorted keys."""
    return int(np.searchsorted(keys, group << form.bits))


def _lines_of_groups(keys: NDArray[np.int64], form: SortKeyLayout) -> HelpLines:
    """Compute the lines of whole groups."""
    groups, values = keys >> form.bits, _key_values(keys, form)
    starts = np.concatenate(([0], np.flatnonzero(groups[1:] != groups[:-1]) + 1))
    rows = np.diff(starts, append=len(keys))
    first = np.repeat(starts, rows)
    of_rows = np.repeat(rows, rows)
    hits = np.arange(1, len(keys) + 1) - first
    back = first + of_rows - hits
    # The running sum over all groups may wrap around; the differences within a group are exact.
    upto = np.cumsum(values)
    before = upto[starts] - values[starts]
    total = np.repeat(upto[starts + rows - 1] - before, rows)
    least = upto - np.repeat(before, rows)
    most = total - least[back] + values[back]
    ends = values[first], values[back], values, np.repeat(values[starts + rows - 1], rows)
    return _line_columns(form, (groups, hits, of_rows), (total, least, most), ends)


def _lines_of_large_group(keys: NDArray[np.int64], form: SortKeyLayout, at_once: int) -> Iterator[HelpLines]:
    """Yield the lines of one group in batches."""
    rows, least, most = len(keys), np.int64(0), np.int64(0)
    places = range(0, rows, at_once)
    total = sum(int(_key_values(keys[start : start + at_once], form).sum()) for start in places)
    low, high = _key_values(keys[[0, -1]], form)
    for start in places:
        last = min(start + at_once, rows)
        lowest = _key_values(keys[start:last], form)
        highest = _key_values(keys[rows - last : rows - start][::-1], form)
        of_lowest, of_highest = np.cumsum(lowest) + least, np.cumsum(highest) + most
        least, most = of_lowest[-1], of_highest[-1]
        columns = [np.full(last - start, n) for n in (int(keys[0]) >> form.bits, rows, total, low, high)]
        counts = columns[0], np.arange(start + 1, last + 1), columns[1]
        yield _line_columns(
            form, counts, (columns[2], of_lowest, of_highest), (columns[3], highest, lowest, columns[4])
        )


def _key_values(keys: NDArray[np.int64], form: SortKeyLayout) -> NDArray[np.int64]:
    """Extract the values of keys in units."""
    values: NDArray[np.int64] = (keys & ((1 << form.bits) - 1)) - form.widest
    return values


def _line_columns(
    form: SortKeyLayout,
    counts: tuple[NDArray[np.int64], ...],
    sums: tuple[NDArray[np.int64], ...],
    ends: tuple[NDArray[np.int64], ...],
) -> HelpLines:
    """Build the columns in the types in which they are loaded, 32 bits if these suffice."""
    kind = integer_dtype(form.widest + 1)
    short = [count.astype(np.int32 if int(count.max()) < 1 << 31 else np.int64) for count in counts]
    return dict(zip(COMPACT_COLUMNS, (*short, *sums, *(end.astype(kind) for end in ends)), strict=True))
