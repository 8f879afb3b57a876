"""Cutting a sorted column into groups of least sum of ranges: one pass (Zhang et al. 2007, 6.1).

Plain functions of indexed arrays, written so that the compiler takes them as they stand and Python runs them
on lists of its own integers, which hold any number: the twin. ``group_kernels`` has the compiled ones.

A cut at position t lies before the t-th value, and spares the gap between the two values beside it, so the
sum of ranges is the whole range less the gaps at cuts. The best last cut before t is then the best of a
prefix of positions, all that leave [s, t) a group. Of equal gaps more cuts are better, and of equally many
the least sum of squared sizes, which is the least of lines in t: a convex hull of those that tie.
"""

from __future__ import annotations

from typing import Any

Whole = Any
Numbers = Any
"""An array of the compiled kernels, a list of the twin."""


def cut_least_sum(
    values: Numbers,
    needs: tuple[Whole, Whole, Whole, Whole],
    mask: Whole,
    rings: tuple[Numbers, Numbers, Numbers, Numbers, Numbers, Numbers],
    cuts: Numbers,
) -> Whole:
    """The best last cut before each place, in ``cuts``; returns the number of groups, 0 for none, or -1.

    ``values`` ascend, one per row; ``cuts`` has an entry for each place, 0 … rows. Of ``needs`` the group
    that begins at 0 has the last two, a number of distinct values and a range, all others the first two, of
    which the number is 2 at least. The rest is work, rings of ``mask`` + 1 entries, a power of two: of the
    best groups that end at a place, gaps spared (-1: none end there), their number, and the squares of their
    sizes; and a queue of lines. Where more places or lines are open than a ring holds, the result is -1.
    """
    k, e, first_k, first_e = needs
    gains, counts, squares, queue, lines, crossings = rings
    rows = len(values)
    distinct, start, from_start, head, tail = 0, 0, 0, 0, 0
    best_gain, best_count = -1, 1
    last, gain, count, square = values[0], -1, 0, 0
    for t in range(1, rows + 1):
        before = last
        last = values[t - 1]
        if t == 1 or last != before:
            distinct += 1
            from_start += 1
        while start + 1 < t and last - values[start + 1] >= e:
            left = from_start - (values[start + 1] != values[start])
            if left < k:
                break
            start += 1
            from_start = left
            gain, count = gains[start & mask], counts[start & mask]
            if gain < best_gain or (gain == best_gain and count < best_count):
                continue
            line = squares[start & mask] + start * start
            if gain > best_gain or count > best_count:
                best_gain, best_count = gain, count
                head = tail
            crossing = -1
            while tail > head:
                end = (tail - 1) & mask
                crossing = -((lines[end] - line) // (2 * (start - queue[end])))
                if tail - 1 == head or crossing > crossings[end]:
                    break
                tail -= 1
            end = tail & mask
            queue[end], lines[end], crossings[end] = start, line, crossing
            tail += 1
            if tail - head > mask:
                return -1
        if t - start > mask:
            return -1
        gain, count, square = -1, 0, 0
        if tail > head:
            while head + 1 < tail and crossings[(head + 1) & mask] <= t:
                head += 1
            begin = queue[head & mask]
            gain, count = best_gain, best_count + 1
            square = lines[head & mask] + t * t - 2 * begin * t
            cuts[t] = begin
        elif distinct >= first_k and last - values[0] >= first_e:
            gain, count, square = 0, 1, t * t
            cuts[t] = 0
        spared = gain + values[t] - last if t < rows and gain >= 0 else gain
        gains[t & mask], counts[t & mask], squares[t & mask] = spared, count, square
    return count if gain >= 0 else 0


def walk_cuts(cuts: Numbers, rows: Whole) -> Whole:
    """Turn last cuts before places into the cuts before the last place, in order; returns their number."""
    following, place = rows, cuts[rows]
    while place > 0:
        begin = cuts[place]
        cuts[place] = following
        following, place = place, begin
    number = 0
    while following < rows:
        place = cuts[following]
        cuts[number] = following
        following = place
        number += 1
    return number
