"""Cutting a sorted column into groups of least sum of ranges, each times its rows.

Zhang et al. (2007, 6.1) leave out the weights.

A plain function, compiled or run on lists as those of ``group_cuts``. The weighed cost obeys the quadrangle
inequality, also where too short groups cost infinitely much: a later beginning that is once the better one
stays it. So the beginnings that are still of use wait in a queue, each with the place from which it is best,
which bisection finds (the least-weight subsequence problem; Hirschberg and Larmore 1987).
"""

from __future__ import annotations

from typing import Any

Whole = Any
Numbers = Any
"""An array of the compiled kernels, a list of the twin."""


def cut_least_weight(
    values: Numbers,
    needs: tuple[Whole, Whole, Whole, Whole],
    totals: Numbers,
    cuts: Numbers,
    queue: Numbers,
    takeovers: Numbers,
) -> Whole:
    """The best last cut before each place, in ``cuts``; returns the least cost, -1 where there are no groups.

    ``values``, ``needs`` and ``cuts`` are as for ``group_cuts.cut_least_sum``. The rest is work, one entry
    per place: the least cost of groups that end there (-1: none do), and the queue.
    """
    k, e, first_k, first_e = needs
    rows = len(values)
    distinct, start, from_start, head, tail, opened = 0, 0, 0, 0, 0, 0
    totals[0] = 0
    for t in range(1, rows + 1):
        last = values[t - 1]
        if t == 1 or last != values[t - 2]:
            distinct += 1
            from_start += 1
        begin = start
        if opened == 0 and distinct >= first_k and last - values[0] >= first_e:
            queue[0], takeovers[0] = 0, t
            tail, opened = 1, 1
        while start + 1 < t and last - values[start + 1] >= e:
            left = from_start - (values[start + 1] != values[start])
            if left < k:
                break
            start += 1
            from_start = left
        for found in range(begin + 1, start + 1):
            if totals[found] < 0:
                continue
            least = t
            while tail > head:
                other = queue[tail - 1]
                low, high = t, rows + 1
                while low < high:
                    middle = (low + high) // 2
                    end = values[middle - 1]
                    old = totals[other] + (middle - other) * (end - values[other])
                    if totals[found] + (middle - found) * (end - values[found]) <= old:
                        high = middle
                    else:
                        low = middle + 1
                least = low
                if least > max(takeovers[tail - 1], t):
                    break
                tail -= 1
            if least <= rows:
                queue[tail], takeovers[tail] = found, least
                tail += 1
        while head + 1 < tail and takeovers[head + 1] <= t:
            head += 1
        totals[t] = -1
        if tail > head:
            best = queue[head]
            totals[t] = totals[best] + (t - best) * (last - values[best])
            cuts[t] = best
    return totals[rows]
