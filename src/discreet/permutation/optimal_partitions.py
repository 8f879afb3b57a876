"""Partitions of least sum and of least maximum error (Zhang et al. 2007, sections 6.1 to 6.3).

The error of a group is its range; groups have at least k distinct values and a range of at least e. The
least sum is reached by cutting the sorted rows, in one pass; weighted by rows it is the best contiguous
partition. The least maximum of contiguous groups is found by bisection over the bound, and of
overlapping groups by bisection with a chain of groups per step. ``PartitionLoops`` selects compiled
loops or plain Python.

Differences from the paper: its dynamic programs over pairs of rows are replaced by these passes. Among
optimal partitions the one with the most groups is taken. Cost: a sort, then linear in the rows;
bisections: distinct values · log2(range in units), with overlaps times values within a bound times at
most k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.frequency.kernel_choice import choose_kernels
from discreet.kernels.group_partitions import (
    can_cut,
    chain_groups,
    close_groups,
    cut_bounded,
    cut_least_sum,
    cut_least_weight,
    trace_cuts,
)
from discreet.model.request import Backend
from discreet.permutation.value_runs import ValueParts, ValueRuns

_PYTHON_LOOPS: dict[str, Callable[..., Any]] = {
    "cut-least-sum": cut_least_sum,
    "cut-least-weight": cut_least_weight,
    "walk-cuts": trace_cuts,
    "can-cut": can_cut,
    "cut-bounded": cut_bounded,
    "chain-groups": chain_groups,
    "close-groups": close_groups,
}
_STEPS_WORTH_COMPILING = 500_000
"""Approximate number of steps of plain Python in the time of compiling a loop."""
_STEPS_WITHOUT_NUMBA = 50_000
"""Number of steps that plain Python takes in less time than importing numba."""

PartitionNotice = Callable[[str], None]


@dataclass(frozen=True)
class PartitionLoops:
    """Compiled or plain Python loops, and the arrays that they take."""

    compiled: bool

    @classmethod
    def choose(
        cls,
        runs: ValueRuns,
        names: Sequence[str],
        steps: int,
        evaluator: Backend = Backend.AUTO,
        notice: PartitionNotice | None = None,
    ) -> PartitionLoops:
        """Choose compiled loops if numbers fit 64 bits and the steps justify compiling or loading them."""
        if runs.units is not None and runs.array is None:
            if notice is not None and steps > _STEPS_WORTH_COMPILING:
                notice("values exceed 64 bits: partitioning in plain Python, which is slower")
            return cls(False)
        if evaluator is Backend.AUTO and steps < _STEPS_WITHOUT_NUMBA:
            return cls(False)
        parts = [_kernel_name(name) for name in names]
        return cls(
            choose_kernels(
                parts, "partition", worth=steps > _STEPS_WORTH_COMPILING, evaluator=evaluator, notice=notice
            )
        )

    def run(self, name: str, *arguments: Any) -> Any:
        """Run a loop by its name."""
        if not self.compiled:
            return _PYTHON_LOOPS[name](*arguments)
        from discreet.kernels.group_kernels import COMPILED
        from discreet.kernels.precompilation import mark_compiled

        result = COMPILED[name](*arguments)
        mark_compiled(_kernel_name(name))
        return result

    def numbers(self, values: Sequence[int] | NDArray[Any]) -> Any:
        """Convert integers or truth values to the form that the loops take."""
        if self.compiled:
            found = np.asarray(values)
            return found if found.dtype == np.bool_ else found.astype(np.int64, copy=False)
        return values.tolist() if isinstance(values, np.ndarray) else list(values)

    def filled(self, size: int, value: int = 0) -> Any:
        """Allocate a filled work array."""
        return np.full(size, value, dtype=np.int64) if self.compiled else [value] * size

    def work(self, size: int, *, narrow: bool = False) -> Any:
        """Allocate an array, of 32 bits if ``narrow``, that is written before it is read.

        Memory that is never touched is not used.
        """
        return np.empty(size, dtype=np.int32 if narrow else np.int64) if self.compiled else [0] * size


def _kernel_name(name: str) -> str:
    return f"permutation-{name}"


MIN_SUM_LOOPS = ("cut-least-sum", "walk-cuts")
WEIGHTED_LOOPS = ("cut-least-weight", "walk-cuts")
_RING_SIZE = 1 << 14
_RING_GROWTH = 32


@dataclass(frozen=True)
class GroupNeed:
    """Requirement in units of the values: ``k`` and ``e`` of every group and of the group of the smallest."""

    k: int
    e: int
    first_k: int
    first_e: int

    @property
    def units(self) -> tuple[int, int, int, int]:
        """The four numbers as the loops take them."""
        return self.k, self.e, self.first_k, self.first_e

    def without_first(self) -> GroupNeed:
        """Return the requirement without a special first group."""
        return GroupNeed(self.k, self.e, self.k, self.e)


def partition_least_sum(runs: ValueRuns, need: GroupNeed, loops: PartitionLoops) -> tuple[ValueParts, int]:
    """Compute the partition of least sum of errors, and that sum in units.

    Cost: a sort, then one pass over the rows.

    References
    ----------
    Zhang, Koudas, Srivastava and Yu (2007).
    Section 6.
    """
    cuts = sorted_cuts(_sorted_rows(runs, loops), need, loops)
    parts = ValueParts.of_cuts(runs.counts, cuts)
    return parts, sum_of_ranges(runs, parts)


def partition_least_weighted_sum(
    runs: ValueRuns, need: GroupNeed, loops: PartitionLoops
) -> tuple[ValueParts, int]:
    """Compute the contiguous groups with the least sum of ranges times rows, and that sum in units.

    ``loops`` must be plain Python if rows times the whole range does not fit 62 bits.
    """
    size = runs.rows + 1
    cuts, totals, queue, takeovers = (loops.work(size) for _ in range(4))
    values = _sorted_rows(runs, loops)
    cost = int(loops.run("cut-least-weight", values, need.units, totals, cuts, queue, takeovers))
    if cost < 0:
        raise InternalError("no partition found although the whole column is a group")
    number = int(loops.run("walk-cuts", cuts, size - 1))
    places = np.array(cuts[:number], dtype=np.int64)
    return ValueParts.of_cuts(runs.counts, places), cost


def _sorted_rows(runs: ValueRuns, loops: PartitionLoops) -> Any:
    """Return every row's value in units, ascending, as the loops take them."""
    if loops.compiled and runs.array is not None:
        return runs.array if runs.rows == runs.distinct else np.repeat(runs.array, runs.counts)
    rows, integers = np.repeat(np.arange(runs.distinct), runs.counts), runs.integers
    return loops.numbers([integers[row] for row in rows.tolist()])


def sorted_cuts(values: object, need: GroupNeed, loops: PartitionLoops) -> NDArray[np.int64]:
    """Return the positions before which ascending ``values`` (int64 array, or list in Python) are cut."""
    size = len(values) + 1  # type: ignore[arg-type]
    cuts = loops.work(size, narrow=size < 1 << 31)
    ring = min(_RING_SIZE, 1 << size.bit_length())
    while True:
        rings = tuple(loops.work(ring) for _ in range(6))
        count = int(loops.run("cut-least-sum", values, need.units, ring - 1, rings, cuts))
        if count >= 0:
            break
        # The ring was too small for the open cuts: rare, and known only after the run. Repeat with a larger
        # ring until it suffices.
        ring *= _RING_GROWTH
    if count == 0:
        raise InternalError("no partition found although the whole column is a group")
    number = int(loops.run("walk-cuts", cuts, size - 1))
    return np.array(cuts[:number], dtype=np.int64)


def sum_of_ranges(runs: ValueRuns, parts: ValueParts) -> int:
    """Sum the ranges of the groups, in units."""
    return sum(part_ranges(runs, parts))


def part_ranges(runs: ValueRuns, parts: ValueParts) -> list[int]:
    """Compute each group's range in units."""
    count = parts.group_count
    least = np.full(count, runs.distinct, dtype=np.int64)
    most = np.full(count, -1, dtype=np.int64)
    np.minimum.at(least, parts.groups, parts.values)
    np.maximum.at(most, parts.groups, parts.values)
    return runs.spans(least, most)


CONTIGUOUS_LOOPS = ("can-cut", "cut-bounded")


def partition_contiguous_least_maximum(
    runs: ValueRuns, need: GroupNeed, loops: PartitionLoops
) -> tuple[ValueParts, int]:
    """Compute the contiguous partition of least maximum range, and that range in units."""
    bound = least_bound(runs, need, loops)
    return cut_within(runs, need, bound, loops), bound


def least_bound(runs: ValueRuns, need: GroupNeed, loops: PartitionLoops) -> int:
    """Find the least maximum error of contiguous groups, in units, by bisection."""
    values, shared = loops.numbers(runs.integers), loops.numbers(runs.counts > 1)
    reached = loops.filled(runs.distinct + 1)
    low, high = min(need.e, need.first_e), runs.span
    while low < high:
        middle = (low + high) // 2
        if loops.run("can-cut", values, shared, need.units, middle, reached):
            high = middle
        else:
            low = middle + 1
    return low


def cut_within(runs: ValueRuns, need: GroupNeed, bound: int, loops: PartitionLoops) -> ValueParts:
    """Cut to the least sum of errors under ``bound``, and among those to the most groups.

    ``bound`` must be attainable.
    """
    size = runs.distinct
    values, shared = loops.numbers(runs.integers), loops.numbers(runs.counts > 1)
    work = [loops.filled(size) for _ in range(2)]
    inside, back, queue = (loops.filled(size) for _ in range(3))
    loops.run("cut-bounded", values, shared, need.units, bound, *work, inside, back, queue)
    begins: list[tuple[int, bool]] = []
    right = size - 1
    while int(back[right]) >= 0:
        left = int(back[right])
        begins.append((left, bool(inside[left])))
        right = left if inside[left] else left - 1
    begins.reverse()
    return ValueParts.of_cuts(runs.counts, _cut_positions(runs, begins))


def _cut_positions(runs: ValueRuns, begins: list[tuple[int, bool]]) -> NDArray[np.int64]:
    """Return the positions of cuts among sorted rows.

    If a cut divides a value's rows, it is moved such that the neighbouring groups become similar in size.
    """
    starts = np.cumsum(runs.counts) - runs.counts
    places = [int(starts[left]) for left, _ in begins]
    ends = [0, *places, runs.rows]
    for number, (left, inside) in enumerate(begins):
        if inside:
            rows = int(runs.counts[left])
            middle = (ends[number] + ends[number + 2]) // 2
            places[number] = min(max(middle, int(starts[left]) + 1), int(starts[left]) + rows - 1)
            ends[number + 1] = places[number]
    return np.array(places, dtype=np.int64)


MIN_MAX_LOOPS = ("can-cut", "cut-bounded", "chain-groups", "cut-least-sum", "walk-cuts")


@dataclass(frozen=True)
class _ChainGroup:
    """Group of a chain: its first and last value, and the number of single values it keeps of the next."""

    begin: int
    end: int
    keeps: int


def partition_least_maximum(
    runs: ValueRuns, need: GroupNeed, loops: PartitionLoops
) -> tuple[ValueParts, int]:
    """Compute the partition of least maximum range, whose groups may overlap, and that range in units.

    Cost: a bisection over the range, each step linear in the values within the bound times k.

    References
    ----------
    Zhang, Koudas, Srivastava and Yu (2007).
    Section 6.
    """
    high = least_bound(runs, need, loops)
    chains = _ChainSearch(runs, need, loops)
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
    return _cut_each(runs, _parts_of_chain(runs, chains.find(high)), need, loops), high


class _ChainSearch:
    """Search for chains of overlapping groups under a bound, with its work arrays."""

    def __init__(self, runs: ValueRuns, need: GroupNeed, loops: PartitionLoops) -> None:
        self._loops, self._need, self._size = loops, need, runs.distinct
        single = runs.counts == 1
        places = np.where(single, -1, np.arange(runs.distinct))
        self._fixed = (
            loops.numbers(runs.integers),
            loops.numbers(np.concatenate([[0], np.cumsum(single)])),
            loops.numbers(np.maximum.accumulate(places)),
        )
        self._most_shared = max(need.k, need.first_k)
        states = runs.distinct * (self._most_shared + 1)
        self._reach = loops.filled(runs.distinct)
        self._tables = (loops.filled(states), loops.filled(states), loops.filled(states))

    def exist(self, bound: int) -> bool:
        """Check whether every range can be at most ``bound``."""
        return self._run(bound) >= 0

    def find(self, bound: int) -> list[_ChainGroup]:
        """Return the groups of a chain from left to right."""
        state = self._run(bound)
        if state < 0:
            raise InternalError("no chain of groups found on the second pass")
        before, before_kept, before_end = self._tables
        width = self._most_shared + 1
        links = [_ChainGroup(state // width, self._size - 1, 0)]
        while int(before[state]) >= 0:
            begin, singles = int(before[state]), int(before_kept[state])
            links.append(_ChainGroup(begin, int(before_end[state]), state % width))
            state = begin * width + singles
        return links[::-1]

    def _run(self, bound: int) -> int:
        needs = self._need.units
        return int(
            self._loops.run(
                "chain-groups", *self._fixed, needs, bound, self._most_shared, self._reach, self._tables
            )
        )


def _parts_of_chain(runs: ValueRuns, links: list[_ChainGroup]) -> ValueParts:
    """Assign rows to the groups of a chain: half of a value's rows each, single values as they are kept."""
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
        single_values = set(_singles_of_left_group([value for value in overlap if counts[value] == 1], link))
        for value in overlap:
            mine = 1 if value in single_values else counts[value] // 2
            for group, part in ((number, mine), (number + 1, counts[value] - mine)):
                if part:
                    values.append(value)
                    groups.append(group)
                    rows.append(part)
    return ValueParts(*(np.array(column, dtype=np.int64) for column in (values, groups, rows)))


def _singles_of_left_group(singles: list[int], link: _ChainGroup) -> list[int]:
    """Select the single values of the overlap that the left group keeps: its last one, then the lowest.

    The lowest of all belongs to the next group if that begins with it, and is selected last.
    """
    ordered = [value for value in singles if value == link.end]
    ordered += [value for value in singles[1:] if value != link.end]
    ordered += [value for value in singles[:1] if value != link.end]
    return ordered[: link.keeps]


def _cut_each(runs: ValueRuns, parts: ValueParts, need: GroupNeed, loops: PartitionLoops) -> ValueParts:
    """Cut every group separately to the least sum of errors."""
    order = np.argsort(parts.groups, kind="stable")
    values, rows = parts.values[order], parts.rows[order]
    ends = np.searchsorted(parts.groups[order], np.arange(parts.group_count), side="right")
    found: list[ValueParts] = []
    begin, used = 0, 0
    integers = runs.integers
    for number, end in enumerate(ends.tolist()):
        own, counts = values[begin:end], rows[begin:end]
        units = [integers[value] for value in np.repeat(own, counts).tolist()]
        cuts = sorted_cuts(loops.numbers(units), need if number == 0 else need.without_first(), loops)
        inner = ValueParts.of_cuts(counts, cuts)
        found.append(ValueParts(own[inner.values], inner.groups + used, inner.rows))
        used += len(cuts) + 1
        begin = end
    joined = [
        np.concatenate([getattr(part, name) for part in found]) for name in ("values", "groups", "rows")
    ]
    by_value = np.lexsort((joined[1], joined[0]))
    return ValueParts(*(_column[by_value] for _column in joined))
