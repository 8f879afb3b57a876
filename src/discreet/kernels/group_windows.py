"""Cutting a sorted column into groups of bounded range: decision, and least sum under a bound.

The partition is that of Zhang et al. (2007, section 6.3).

Plain functions, compiled or run on lists as those of ``group_cuts``. They work on distinct values: a cut
lies before a value, or inside it where it has two rows, and then both groups hold it. As a group has two
distinct values or more, a value is cut inside once at most.
"""

from __future__ import annotations

from typing import Any

Whole = Any
Numbers = Any
"""An array of the compiled kernels, a list of the twin."""


def can_cut(
    values: Numbers,
    shared: Numbers,
    needs: tuple[Whole, Whole, Whole, Whole],
    bound: Whole,
    reached: Numbers,
) -> bool:
    """Whether cuts exist with every group's range at most ``bound``.

    ``values`` ascend strictly; ``needs`` are as for ``group_cuts.cut_least_sum``; ``shared[i]`` says that
    value i has two rows. ``reached``, of one entry more than there are values, is work: how many of the
    first values may begin a group.
    """
    k, e, first_k, first_e = needs
    low, high = 0, 0
    ends = False
    reached[0] = 0
    for right in range(len(values)):
        begins = ends
        top = values[right]
        while top - values[low] > bound:
            low += 1
        while right - high >= k and top - values[high + 1] >= e:
            high += 1
        ends = right + 1 >= first_k and top - values[0] >= first_e and top - values[0] <= bound
        if not ends and low <= high and right - high + 1 >= k and top - values[high] >= e:
            ends = reached[high + 1] > reached[low]
        reached[right + 1] = reached[right]
        if begins or (ends and shared[right]):
            reached[right + 1] += 1
    return ends


def cut_bounded(
    values: Numbers,
    shared: Numbers,
    needs: tuple[Whole, Whole, Whole, Whole],
    bound: Whole,
    gains: Numbers,
    counts: Numbers,
    inside: Numbers,
    back: Numbers,
    queue: Numbers,
) -> Whole:
    """The least sum of ranges, and of those the most groups, with every range at most ``bound``.

    ``back[r]`` is the first value of the best group that ends with value r, -1 for the group that begins at
    0; ``inside[l]`` says that the group before the one that begins with value l holds l too. ``gains`` and
    ``counts``, of what begins with each value, and ``queue`` are work. Returns the number of groups, 0 where
    there are none.
    """
    k, e, first_k, first_e = needs
    low, high, pushed = 0, 0, 0
    head, tail = 0, 0
    end_gain, end_count = -1, 0
    for right in range(len(values)):
        top = values[right]
        gains[right], counts[right], inside[right] = -1, 0, False
        if end_gain >= 0:
            gains[right], counts[right] = end_gain + top - values[right - 1], end_count
        while top - values[low] > bound:
            low += 1
        while right - high >= k and top - values[high + 1] >= e:
            high += 1
        end_gain, end_count = -1, 0
        if right - high + 1 >= k and top - values[high] >= e:
            while pushed <= high:
                gain, count = gains[pushed], counts[pushed]
                while tail > head and gain >= 0:
                    other = queue[tail - 1]
                    if gains[other] > gain or (gains[other] == gain and counts[other] > count):
                        break
                    tail -= 1
                if gain >= 0:
                    queue[tail] = pushed
                    tail += 1
                pushed += 1
            while head < tail and queue[head] < low:
                head += 1
            if head < tail:
                back[right] = queue[head]
                end_gain, end_count = gains[queue[head]], counts[queue[head]] + 1
        whole = top - values[0]
        if end_gain < 0 and right + 1 >= first_k and whole >= first_e and whole <= bound:
            back[right] = -1
            end_gain, end_count = 0, 1
        if (
            shared[right]
            and end_gain >= 0
            and (end_gain > gains[right] or (end_gain == gains[right] and end_count > counts[right]))
        ):
            gains[right], counts[right], inside[right] = end_gain, end_count, True
    return end_count if end_gain >= 0 else 0
