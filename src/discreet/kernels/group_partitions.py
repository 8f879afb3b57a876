"""Partition of a sorted column into groups by range sums and range bounds (Zhang et al. 2007).

Cuts of least weight are the least-weight subsequence problem (Hirschberg and Larmore 1987). The functions
index arrays only. ``group_kernels`` compiles them; Python runs them on lists of unbounded integers, which is
the twin. They import neither numba nor numpy.
"""

from __future__ import annotations

from typing import Any

Integer = Any
Integers = Any
"""Array of the compiled kernels, or list of the twin."""


GroupNeeds = tuple[Integer, Integer, Integer, Integer]
"""Least distinct values and least range of a group, then the same of the group that begins at 0."""
CutRings = tuple[Integers, Integers, Integers, Integers, Integers, Integers]


def cut_least_sum(
    values: Integers, needs: GroupNeeds, mask: Integer, rings: CutRings, cuts: Integers
) -> Integer:
    """Find the partition of least sum of ranges, then most groups, then least sum of squared sizes.

    Fills ``cuts`` with the best last cut before each place; returns the number of groups, 0 for none, or -1.
    ``values`` ascend, one per row; ``cuts`` has an entry for each place, 0 … rows. ``needs`` has the least
    number of distinct values and the least range of a group, then the same of the group that begins at 0; the
    first number is at least 2. ``rings`` is scratch: rings of ``mask`` + 1 entries, a power of two. They
    contain for the best groups that end at a place the gaps saved (-1: none end there), their number and the
    sum of their squared sizes; and a queue of lines. If more places or lines are open than a ring can
    contain, the result is -1.
    """
    k, e, first_k, first_e = needs
    gains, counts, squares, queue, lines, crossings = rings
    rows = len(values)
    # Least sum of squared sizes: (t - b)² - t² is linear in t per begin b, so a hull of lines answers all t.
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
            # Only begins with the best gain and number compete; a better one empties the queue.
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
            # Hull minimum at t; crossings ascend, so the head only moves forward.
            cuts[t] = begin
        elif distinct >= first_k and last - values[0] >= first_e:
            gain, count, square = 0, 1, t * t
            cuts[t] = 0
        spared = gain + values[t] - last if t < rows and gain >= 0 else gain
        gains[t & mask], counts[t & mask], squares[t & mask] = spared, count, square
    return count if gain >= 0 else 0


def trace_cuts(cuts: Integers, rows: Integer) -> Integer:
    """Turn last cuts before places into the cuts before the last place, in order; return their number."""
    following, slot = rows, cuts[rows]
    while slot > 0:
        begin = cuts[slot]
        cuts[slot] = following
        following, slot = slot, begin
    number = 0
    while following < rows:
        slot = cuts[following]
        cuts[number] = following
        following = slot
        number += 1
    return number


def cut_least_weight(
    values: Integers,
    needs: GroupNeeds,
    totals: Integers,
    cuts: Integers,
    queue: Integers,
    takeovers: Integers,
) -> Integer:
    """Find the partition with the least sum of size times range; return its cost, -1 if there is none.

    Fills ``cuts`` with the best last cut before each place. ``values``, ``needs`` and ``cuts`` are as for
    ``cut_least_sum``. The other arrays are scratch with one entry per place: the least cost of groups that
    end there (-1: none), and the queue of begins with the places from which each is best.
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
            # First place at which the new begin is at least as good: costs cross once, so bisect.
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


def can_cut(
    values: Integers,
    shared: Integers,
    needs: GroupNeeds,
    bound: Integer,
    reached: Integers,
) -> bool:
    """Return whether cuts exist with every group's range at most ``bound``.

    ``values`` ascend strictly; ``needs`` are as for ``cut_least_sum``; ``shared[i]`` is true if value i has
    two rows, so that two groups can contain it. ``reached``, with one entry more than values, is scratch: the
    number of the first values that can begin a group.
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
    values: Integers,
    shared: Integers,
    needs: GroupNeeds,
    bound: Integer,
    gains: Integers,
    counts: Integers,
    inside: Integers,
    back: Integers,
    queue: Integers,
) -> Integer:
    """Find the least sum of ranges and, among these, the most groups, with every range at most ``bound``.

    ``back[r]`` is the first value of the best group that ends with value r, -1 for the group that begins at
    0. ``inside[l]`` is true if the group before the one that begins with value l contains l too. ``gains``
    and ``counts``, of the groups before each value, and ``queue`` are scratch. Returns the number of groups,
    0 if there are none.
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
            # Sliding-window maximum: the queue keeps begins with descending gain.
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
        span = top - values[0]
        if end_gain < 0 and right + 1 >= first_k and span >= first_e and span <= bound:
            back[right] = -1
            end_gain, end_count = 0, 1
        if (
            shared[right]
            and end_gain >= 0
            and (end_gain > gains[right] or (end_gain == gains[right] and end_count > counts[right]))
        ):
            gains[right], counts[right], inside[right] = end_gain, end_count, True
    return end_count if end_gain >= 0 else 0


def chain_groups(
    values: Integers,
    singles: Integers,
    shared_upto: Integers,
    needs: GroupNeeds,
    bound: Integer,
    most_kept: Integer,
    reach: Integers,
    tables: tuple[Integers, Integers, Integers],
) -> Integer:
    """Find groups with every range at most ``bound``; return a code of the last group, -1 if none exist.

    ``singles[i]`` counts the values before i with one row; ``shared_upto[i]`` is the last value up to i with
    two rows (-1: none); ``needs`` are as for ``cut_least_sum``. A state is a code: begin * (most_kept + 1) +
    values that the previous group keeps. ``tables`` record for each state the begin of the previous group,
    the values kept of that, and its end. ``reach`` is scratch.
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
                    # Two candidate ends: as far as the bound allows, or the last shared value before.
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


def close_groups(
    codes: Integers, values: Integers, k: Integer, e: Integer, seen: Integers, groups: Integers
) -> Integer:
    """Assign each row its group, rows in order; return the number of groups.

    ``values`` are by code. A group is closed when it has ``k`` codes and a range of ``e``. Rows left at the
    end join the last closed group. ``seen``, one entry per code, is scratch and must be filled with -1.
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
