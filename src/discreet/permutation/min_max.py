"""The partition with the least maximum error, groups overlapping where it helps (Zhang et al. 2007, 6.2).

Definition. Of all partitions into groups of at least k distinct values and a range of at least e, one has the
least maximum range. Unlike for the sum, its groups may have to overlap: of 1, 2, 3, 4 with k = 2 and e = 2
the groups {1, 3} and {2, 4} have ranges of 2, and neighbours do not. No value need lie in more than two
ranges.

The paper's general problem (its Problem 3) lets one group, that of the smallest value, need other k and e
than the rest. It serves the paper as a step; here it is what is solved.

Differences from the paper. Its program, left to a full version and called far from practical, is replaced
by bisection over the bound, each step a pass over where groups may begin (``kernels.group_overlaps``, with
the argument). Where neighbours alone reach the least bound, which a single pass tells and real columns mostly
allow, their partition of the least sum of errors is returned. Else the overlapping groups found are the
fewest; each is then cut by itself to the least sum of errors, which no range survives larger.

Cost of a pass: distinct values · values within a bound · at most k; passes: log2(range in units).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.errors import InternalError
from discreet.permutation.contiguous import cut_within, least_bound
from discreet.permutation.loops import Loops
from discreet.permutation.min_sum import Need, sorted_cuts
from discreet.permutation.parts import Parts
from discreet.permutation.value_runs import ValueRuns

LOOPS = ("can-cut", "cut-bounded", "chain-groups", "cut-least-sum", "walk-cuts")


@dataclass(frozen=True)
class _Link:
    """One group of a chain: its first and last value, and how many single values it keeps of the next."""

    begin: int
    end: int
    keeps: int


def least_maximum(runs: ValueRuns, need: Need, loops: Loops) -> tuple[Parts, int]:
    """The partition, and its largest range in units."""
    high = least_bound(runs, need, loops)
    chains = _Chains(runs, need, loops)
    low = max(min(need.e, need.first_e), 0)
    if high == low or not chains.exist(high - 1):
        return cut_within(runs, need, high, loops), high
    high -= 1
    while low < high:
        middle = (low + high) // 2
        if chains.exist(middle):
            high = middle
        else:
            low = middle + 1
    return _cut_each(runs, _parts(runs, chains.find(high)), need, loops), high


class _Chains:
    """Overlapping groups under a bound, by the loop and its work."""

    def __init__(self, runs: ValueRuns, need: Need, loops: Loops) -> None:
        self._loops, self._need, self._size = loops, need, runs.distinct
        single = runs.counts == 1
        places = np.where(single, -1, np.arange(runs.distinct))
        self._fixed = (
            loops.numbers(runs.integers),
            loops.numbers(np.concatenate([[0], np.cumsum(single)])),
            loops.numbers(np.maximum.accumulate(places)),
        )
        self._most_kept = max(need.k, need.first_k)
        states = runs.distinct * (self._most_kept + 1)
        self._reach = loops.filled(runs.distinct)
        self._tables = (loops.filled(states), loops.filled(states), loops.filled(states))

    def exist(self, bound: int) -> bool:
        """Whether every range can be at most ``bound``."""
        return self._run(bound) >= 0

    def find(self, bound: int) -> list[_Link]:
        """The groups of a chain, from left to right."""
        state = self._run(bound)
        if state < 0:
            raise InternalError("no chain of groups where one was found")
        before, before_kept, before_end = self._tables
        width = self._most_kept + 1
        links = [_Link(state // width, self._size - 1, 0)]
        while int(before[state]) >= 0:
            begin, kept = int(before[state]), int(before_kept[state])
            links.append(_Link(begin, int(before_end[state]), state % width))
            state = begin * width + kept
        return links[::-1]

    def _run(self, bound: int) -> int:
        needs = self._need.units
        return int(
            self._loops.run(
                "chain-groups", *self._fixed, needs, bound, self._most_kept, self._reach, self._tables
            )
        )


def _parts(runs: ValueRuns, links: list[_Link]) -> Parts:
    """Rows of each value in each group: halves of a value of several rows, single values as they are kept."""
    values: list[int] = []
    groups: list[int] = []
    rows: list[int] = []
    counts = runs.counts.tolist()
    done = 0
    for number, link in enumerate(links):
        following = links[number + 1].begin if number + 1 < len(links) else link.end + 1
        for value in range(done, following):
            values.append(value)
            groups.append(number)
            rows.append(counts[value])
        done = max(following, link.end + 1)
        overlap = range(following, link.end + 1)
        kept = set(_kept_singles([value for value in overlap if counts[value] == 1], link))
        for value in overlap:
            mine = 1 if value in kept else counts[value] // 2
            for group, part in ((number, mine), (number + 1, counts[value] - mine)):
                if part:
                    values.append(value)
                    groups.append(group)
                    rows.append(part)
    return Parts(*(np.array(column, dtype=np.int64) for column in (values, groups, rows)))


def _kept_singles(singles: list[int], link: _Link) -> list[int]:
    """Which single values of the overlap the left group keeps: its last one, then the lowest.

    The lowest of all is the next group's where that begins with it, and is kept last.
    """
    ordered = [value for value in singles if value == link.end]
    ordered += [value for value in singles[1:] if value != link.end]
    ordered += [value for value in singles[:1] if value != link.end]
    return ordered[: link.keeps]


def _cut_each(runs: ValueRuns, parts: Parts, need: Need, loops: Loops) -> Parts:
    """Every group cut by itself to the least sum of errors."""
    order = np.argsort(parts.groups, kind="stable")
    values, rows = parts.values[order], parts.rows[order]
    ends = np.searchsorted(parts.groups[order], np.arange(parts.group_count), side="right")
    found: list[Parts] = []
    begin, used = 0, 0
    integers = runs.integers
    for number, end in enumerate(ends.tolist()):
        own, counts = values[begin:end], rows[begin:end]
        units = [integers[value] for value in np.repeat(own, counts).tolist()]
        cuts = sorted_cuts(loops.numbers(units), need if number == 0 else need.again(), loops)
        inner = Parts.of_cuts(counts, cuts)
        found.append(Parts(own[inner.values], inner.groups + used, inner.rows))
        used += len(cuts) + 1
        begin = end
    joined = [
        np.concatenate([getattr(part, name) for part in found]) for name in ("values", "groups", "rows")
    ]
    by_value = np.lexsort((joined[1], joined[0]))
    return Parts(*(_column[by_value] for _column in joined))
