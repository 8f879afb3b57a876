"""Groups whose ranges may overlap: whether all can have a bounded range, and which (Zhang et al. 2007, 6.2).

Plain functions, compiled or run on lists as those of ``group_cuts``. They work on distinct values. A chain of
groups is decided by where each begins, from left to right:

- With the fewest groups, the next but one begins beyond the ``bound`` of a group: else the group between
  could be dealt out to both. So no value lies in three ranges, and a value of two rows serves all it lies in.
- A value of one row in the overlap of two groups serves one of them. The left one keeps as few as it needs,
  and always its largest value; the right one always has its smallest.
- Given where a group begins and where the next one does, it reaches as far as it may, or to the last value
  of two rows, or does not overlap: one of these three leaves the next group the most.

So all that matters of the past is how many single values the left neighbour keeps of a group's own, at most
k, and how far that neighbour may reach.
"""

from __future__ import annotations

from typing import Any

Whole = Any
Numbers = Any
"""An array of the compiled kernels, a list of the twin."""


def chain_groups(
    values: Numbers,
    singles: Numbers,
    shared_upto: Numbers,
    needs: tuple[Whole, Whole, Whole, Whole],
    bound: Whole,
    most_kept: Whole,
    reach: Numbers,
    tables: tuple[Numbers, Numbers, Numbers],
) -> Whole:
    """Whether groups with every range at most ``bound`` exist; a code of the last group, -1 where not.

    ``singles[i]`` counts the values before i of one row, ``shared_upto[i]`` is the last value up to i of two
    rows (-1: none); ``needs`` are as for ``group_cuts.cut_least_sum``. A state is a code: begin *
    (most_kept + 1) + values kept by the group before; ``tables`` say of it where the group before begins,
    what is kept of that, and where it ends. ``reach`` is work.
    """
    k, e, first_k, first_e = needs
    before, before_kept, before_end = tables
    size = len(values)
    width = most_kept + 1
    high = 0
    for left in range(size):
        while high + 1 < size and values[high + 1] - values[left] <= bound:
            high += 1
        reach[left] = high
        for kept in range(width):
            before[left * width + kept] = -2
    before[0] = -1
    for left in range(size):
        last = reach[left]
        need, span = (first_k, first_e) if left == 0 else (k, e)
        for kept in range(width):
            state = left * width + kept
            if before[state] == -2:
                continue
            if last == size - 1 and last - left + 1 - kept >= need and values[last] - values[left] >= span:
                return state
            lowest = left if before[state] < 0 else reach[before[state]]
            for following in range(lowest + 1, min(last + 1, size - 1) + 1):
                end, lost = -1, width
                if following - left - kept >= need and values[following - 1] - values[left] >= span:
                    end, lost = following - 1, 0
                for choice in range(2):
                    right = last if choice == 0 else shared_upto[last]
                    if lost == 0 or right < following or values[right] - values[left] < span:
                        continue
                    ends_single = 1 if shared_upto[right] != right else 0
                    if right == following and ends_single == 1:
                        continue
                    spare = right - left + 1 - kept - need
                    if spare < singles[following + 1] - singles[following]:
                        continue
                    least = max(singles[right + 1] - singles[following] - spare, ends_single)
                    if least < lost:
                        end, lost = right, least
                if end >= 0 and lost < width:
                    found = following * width + lost
                    if before[found] == -2:
                        before[found], before_kept[found], before_end[found] = left, kept, end
    return -1
