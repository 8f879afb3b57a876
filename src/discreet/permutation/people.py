"""Groups where people have several rows: k distinct values that k different people have.

Ten rows of one person hide nobody, so a group's k is the largest matching between its people and its values
(decision 0006): k people can be picked who have k different values. It is at most the number of people and at
most the number of values, and one person who talks takes one from it. A group's k never falls when rows join,
so, as where rows are counted, the union of two groups that overlap is a group, with no larger sum of ranges:
of all partitions one with the least sum of errors cuts between different values.

Least sum. For each last value the latest beginning that leaves a group is found by walking back from it, and
moves to the right only; the best cut before it is that of a prefix. Of those with the least sum the one with
the most groups is taken. Cost: values · rows of a group · k.

Closing. Rows are taken in an order that is drawn, and a group closes as soon as it has enough; what is left
over joins the last one. It needs no numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.kernels.matching import augment
from discreet.permutation.draw import Draw
from discreet.permutation.min_sum import Need
from discreet.permutation.narrow import Whole, narrow
from discreet.permutation.parts import spread_rest
from discreet.permutation.value_runs import ValueRuns


class GrowingGroup:
    """A group that rows join one by one; ``carried`` is the size of its largest matching."""

    def __init__(self) -> None:
        """No rows."""
        self.carried = 0
        self._subjects_of: dict[int, list[int]] = {}
        self._value_of: dict[int, int] = {}
        self._free: list[int] = []

    def add(self, subject: int, value: int) -> None:
        """A row joins. A matching grows by one at most, from a value that has no person of its own yet."""
        owners = self._subjects_of.setdefault(value, [])
        if not owners:
            self._free.append(value)
        if subject in owners:
            return
        owners.append(subject)
        for place, free in enumerate(self._free):
            if augment(free, self._subjects_of, self._value_of):
                del self._free[place]
                self.carried += 1
                return


def value_cuts(runs: ValueRuns, need: Need) -> NDArray[np.int64]:
    """The places among the rows sorted by value before which the partition of the least sum is cut.

    ``runs`` has subjects, and is a group as a whole.
    """
    units, latest = runs.integers, _latest_beginnings(runs, need)
    # best[b] is of the values before b: the gaps at its cuts in all, and its groups; None where impossible
    best: list[tuple[int, int] | None] = [(0, 0)]
    before: list[int] = [0]
    champion: tuple[int, int, int] | None = None
    seen = 0
    for beginning in latest:
        while seen <= beginning:
            found = best[seen]
            if found is not None:
                gap = units[seen] - units[seen - 1] if seen else 0
                rival = (found[0] + gap, found[1] + 1, seen)
                champion = rival if champion is None else max(champion, rival)
            seen += 1
        usable = beginning >= 0 and champion is not None
        best.append(champion[:2] if usable and champion is not None else None)
        before.append(champion[2] if usable and champion is not None else 0)
    if best[-1] is None:
        raise InternalError("no partition where the whole column is a group")
    cuts, place = [], before[-1]
    while place:
        cuts.append(place)
        place = before[place]
    starts = np.cumsum(runs.counts) - runs.counts
    return starts[np.array(cuts[::-1], dtype=np.int64)]


def _latest_beginnings(runs: ValueRuns, need: Need) -> list[int]:
    """For each value the latest one with which a group that ends there may begin, -1 where none may."""
    owners = _owners(runs)
    units, found = runs.integers, [-1] * runs.distinct
    for last in range(runs.distinct):
        group = GrowingGroup()
        for first in range(last, -1, -1):
            for subject in owners[first]:
                group.add(subject, first)
            if group.carried >= need.k and units[last] - units[first] >= need.e:
                found[last] = first
                break
    return found


def _owners(runs: ValueRuns) -> list[list[int]]:
    """The people who have each value."""
    assert runs.subjects is not None
    valued = runs.codes >= 0
    pairs = np.unique(np.column_stack([runs.codes[valued], runs.subjects[valued]]), axis=0)
    return [
        part.tolist() for part in np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], range(1, runs.distinct)))
    ]


def closing_groups(runs: ValueRuns, need: Need, draw: Draw) -> Whole:
    """The group of each row, groups being closed along a drawn order of the rows."""
    assert runs.subjects is not None
    valued = np.flatnonzero(runs.codes >= 0)
    order = valued[draw(len(valued))]
    groups = np.full(len(runs.codes), -1, dtype=narrow(len(runs.codes) + 1))
    units, number, group = runs.integers, 0, GrowingGroup()
    low, high = runs.distinct, -1
    rows = zip(order.tolist(), runs.codes[order].tolist(), runs.subjects[order].tolist(), strict=True)
    for row, value, subject in rows:
        groups[row] = number
        group.add(subject, value)
        low, high = min(low, value), max(high, value)
        if group.carried >= need.k and units[high] - units[low] >= need.e:
            number, group, low, high = number + 1, GrowingGroup(), runs.distinct, -1
    if not number:
        raise InternalError("no group closed where the whole column is one")
    return spread_rest(np.minimum(groups, number - 1), draw)


def carried_of_groups(groups: Whole, values: Whole, subjects: Whole, count: int) -> NDArray[np.int64]:
    """The largest matching of people and values of each group 0, …, ``count`` - 1, from rows with values.

    Only groups in which some person has several values, and some value several people, are matched.
    """
    rows = np.unique(np.column_stack([groups, values, subjects]), axis=0).astype(np.int64)
    of_values = _distinct_by_group(rows[:, [0, 1]], count)
    of_people = _distinct_by_group(rows[:, [0, 2]], count)
    pairs = np.bincount(rows[:, 0], minlength=count)
    found = np.where(pairs == of_values, of_people, of_values)
    ends = np.cumsum(pairs)
    for group in np.flatnonzero((pairs != of_values) & (pairs != of_people)).tolist():
        grown = GrowingGroup()
        for _, value, subject in rows[ends[group] - pairs[group] : ends[group]].tolist():
            grown.add(subject, value)
        found[group] = grown.carried
    return found.astype(np.int64)


def _distinct_by_group(pairs: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    return np.bincount(np.unique(pairs, axis=0)[:, 0], minlength=count).astype(np.int64)
