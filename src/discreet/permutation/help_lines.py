"""The lines of a help table in arrays, where every row has an exact number: running sums of sorted values.

Of a group's n sorted values, line h has the sum of the h lowest and of the h highest, and these ends. The
highest are the lowest of the values read backwards, so a group needs no join with itself, and no line is
sorted: the values are, once, beside their group in one whole number (``sql.help_table.Units``).

Lines are made for some groups at a time; of a group that has more rows than that, for some of its rows. Sums
that run over several groups may pass 64 bits and come round; what is left within a group is right all the
same, as no group's sum passes them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.placed_sort import sort_numbers
from discreet.permutation.narrow import narrow
from discreet.sql.help_table import KEPT, Units

AT_ONCE = 204_800
"""Lines that are made and loaded together: of fewer, a statement takes longer than what it loads."""

Lines = dict[str, NDArray[np.signedinteger]]


def help_lines(keys: NDArray[np.int64], form: Units, at_once: int = AT_ONCE) -> Iterator[Lines]:
    """The lines by group and hits, in parts: columns ``sql.help_table.KEPT``, in units.

    ``keys`` (rows,) are ``sql.help_table.sort_keys``, and are sorted in place. Cost: that sort.
    """
    sort_numbers(keys)
    first = 0
    while first < len(keys):
        last = len(keys)
        if first + at_once < last:
            last = _begin(keys, form, int(keys[first + at_once]) >> form.bits)
        if last > first:
            yield _of_groups(keys[first:last], form)
        else:
            last = _begin(keys, form, (int(keys[first]) >> form.bits) + 1)
            yield from _of_one(keys[first:last], form, at_once)
        first = last


def _begin(keys: NDArray[np.int64], form: Units, group: int) -> int:
    """Where a group begins among sorted keys."""
    return int(np.searchsorted(keys, group << form.bits))


def _of_groups(keys: NDArray[np.int64], form: Units) -> Lines:
    """The lines of whole groups."""
    groups, values = keys >> form.bits, _values(keys, form)
    starts = np.concatenate(([0], np.flatnonzero(groups[1:] != groups[:-1]) + 1))
    rows = np.diff(starts, append=len(keys))
    first = np.repeat(starts, rows)
    of_rows = np.repeat(rows, rows)
    hits = np.arange(1, len(keys) + 1) - first
    back = first + of_rows - hits
    upto = np.cumsum(values)
    before = upto[starts] - values[starts]
    total = np.repeat(upto[starts + rows - 1] - before, rows)
    least = upto - np.repeat(before, rows)
    most = total - least[back] + values[back]
    ends = values[first], values[back], values, np.repeat(values[starts + rows - 1], rows)
    return _lines(form, (groups, hits, of_rows), (total, least, most), ends)


def _of_one(keys: NDArray[np.int64], form: Units, at_once: int) -> Iterator[Lines]:
    """The lines of one group, some at a time."""
    rows, least, most = len(keys), np.int64(0), np.int64(0)
    places = range(0, rows, at_once)
    total = sum(int(_values(keys[place : place + at_once], form).sum()) for place in places)
    low, high = _values(keys[[0, -1]], form)
    for place in places:
        last = min(place + at_once, rows)
        lowest = _values(keys[place:last], form)
        highest = _values(keys[rows - last : rows - place][::-1], form)
        of_lowest, of_highest = np.cumsum(lowest) + least, np.cumsum(highest) + most
        least, most = of_lowest[-1], of_highest[-1]
        whole = [np.full(last - place, n) for n in (int(keys[0]) >> form.bits, rows, total, low, high)]
        counts = whole[0], np.arange(place + 1, last + 1), whole[1]
        yield _lines(form, counts, (whole[2], of_lowest, of_highest), (whole[3], highest, lowest, whole[4]))


def _values(keys: NDArray[np.int64], form: Units) -> NDArray[np.int64]:
    """The values of keys in units."""
    values: NDArray[np.int64] = (keys & ((1 << form.bits) - 1)) - form.widest
    return values


def _lines(
    form: Units,
    counts: tuple[NDArray[np.int64], ...],
    sums: tuple[NDArray[np.int64], ...],
    ends: tuple[NDArray[np.int64], ...],
) -> Lines:
    """Columns as they are loaded, in 32 bits where those hold them."""
    kind = narrow(form.widest + 1)
    short = [count.astype(np.int32 if int(count.max()) < 1 << 31 else np.int64) for count in counts]
    return dict(zip(KEPT, (*short, *sums, *(end.astype(kind) for end in ends)), strict=True))
