"""The greedy heuristic for pattern-guided anonymity (Bredereck et al. 2013, Algorithm 1), with a lower bound.

Patterns are taken cheapest first. Under each, every class of remaining rows that meets the requirement
is published and removed; rows that no pattern takes are outliers. The order among patterns of equal cost
is a parameter (``Tie``). A class may also have to meet distinct l, p-sensitivity or a monotone class
test, and a pattern may generalize an attribute to any level. The bound charges each row its cheapest
pattern under which the class of the whole table meets the growing criteria.

Cost: patterns times remaining row types (``kernels.greedy_cover``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.class_requirement import ClassRequirement, announce_subjects, find_globally_failing
from discreet.frequency.kernel_choice import choose_kernels
from discreet.kernels.local_recoding_twin import (
    count_covered_rows_twin,
    find_first_cover_twin,
    take_classes_twin,
)
from discreet.model.class_recoding import (
    OUTLIER,
    SUPPRESSED,
    ClassRecoding,
    ClassTest,
    OutlierPolicy,
    PatternMask,
    TieBreak,
)
from discreet.model.frequency_set import FrequencySet, drop_unneeded_subjects
from discreet.model.request import Backend
from discreet.model.requirement import Requirement
from discreet.patterns.pattern_assignment import find_distinct, recode_assignment
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.kernels.greedy_cover import RemainingTypes


_WORD = 64


@dataclass(frozen=True, eq=False)
class PatternKeys:
    """Bit keys of row types and bit masks of patterns.

    ``keys`` has shape ``(words, row types)`` and ``masks`` ``(patterns, words)``, in the mask's order.
    """

    keys: NDArray[np.uint64]
    masks: NDArray[np.uint64]


def build_pattern_keys(frequency_set: FrequencySet, mask: PatternMask) -> PatternKeys:
    """Build the keys of a frequency set's row types and the masks of a mask's patterns."""
    words = _KeyWords(frequency_set.row_types, len(mask))
    for j, hierarchy in enumerate(frequency_set.hierarchies):
        wanted = mask.levels[:, j]
        used = [level for level in range(hierarchy.height) if (wanted == level).any()]
        codes, of_row_type = find_distinct(frequency_set.codes[:, j])
        if not len(codes):
            continue
        values = [find_distinct(hierarchy.level_map(level)[codes])[1] for level in used]
        # Each level needs only the digits that distinguish values with the same value one used level above.
        for number, value in enumerate(values):
            above = values[number + 1] if number + 1 < len(values) else np.zeros(len(codes), np.int64)
            first = np.full(int(above.max()) + 1, len(codes), np.int64)
            np.minimum.at(first, above, value)
            words.add((value - first[above])[of_row_type], wanted <= used[number])
    return PatternKeys(np.stack(words.keys), np.ascontiguousarray(np.stack(words.masks, axis=1)))


class _KeyWords:
    """First-fit packing of groups of bits into words."""

    def __init__(self, row_types: int, patterns: int) -> None:
        self._row_types, self._patterns = row_types, patterns
        self._used = [0]
        self.keys = [np.zeros(row_types, np.uint64)]
        self.masks = [np.zeros(patterns, np.uint64)]

    def add(self, digits: NDArray[np.int64], retained: NDArray[np.bool_]) -> None:
        """Add one group: each row type's digit, and the patterns that distinguish the digits."""
        bits = int(digits.max(initial=0)).bit_length()
        if bits == 0:
            return
        word = next((w for w, used in enumerate(self._used) if used + bits <= _WORD), len(self._used))
        if word == len(self._used):
            self._used.append(0)
            self.keys.append(np.zeros(self._row_types, np.uint64))
            self.masks.append(np.zeros(self._patterns, np.uint64))
        shift = self._used[word]
        self.keys[word] |= digits.astype(np.uint64) << np.uint64(shift)
        self.masks[word][retained] |= np.uint64(((1 << bits) - 1) << shift)
        self._used[word] += bits


WalkNotice = Callable[[str], None]
_STEPS_WORTH_COMPILING = 1 << 25


def open_walk(
    keys: PatternKeys, demand: ClassRequirement, evaluator: Backend | str, notice: WalkNotice | None = None
) -> PatternWalk:
    """Open a walk over all row types; criteria other than k and l, or a class test, need the twins."""
    work = keys.masks.shape[0] * keys.keys.shape[1]
    worth, chosen = work >= _STEPS_WORTH_COMPILING, Backend(evaluator)
    if demand.plain and choose_kernels(
        ("patterns",), "walk over patterns", worth=worth, evaluator=chosen, notice=notice
    ):
        return _CompiledWalk(keys, demand)
    return _NumpyWalk(keys, demand)


class _CompiledWalk:
    """Walk with the kernels of ``kernels.greedy_cover``; the methods are those of ``_NumpyWalk``."""

    def __init__(self, keys: PatternKeys, demand: ClassRequirement) -> None:
        from discreet.kernels.greedy_cover import allocate_slots

        self._counts = demand.frequency_set.counts
        self._keys, self._need = keys.keys, np.int32(demand.need)
        self._values = demand.values()
        self._remaining_types = self._all_row_types()
        self._slots = allocate_slots(len(self._counts))
        self.remaining = len(self._counts)
        self.class_of = np.full(len(self._counts), SUPPRESSED, np.int64)
        self.classes = 0

    def _all_row_types(self) -> RemainingTypes:
        from discreet.kernels.greedy_cover import RemainingTypes

        return RemainingTypes(
            keys=self._keys.copy(),
            rows=np.minimum(self._counts, self._need).astype(np.int32),
            types=np.arange(len(self._counts)),
        )

    def take(self, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
        from discreet.kernels.greedy_cover import take_classes

        made = np.zeros(len(masks), np.int64)
        self.remaining, self.classes = take_classes(
            masks,
            self._need,
            self._remaining_types,
            self.remaining,
            self.classes,
            self.class_of,
            made,
            self._values,
            self._slots,
        )
        return made

    def placed_rows(self, mask: NDArray[np.uint64]) -> int:
        from discreet.kernels.greedy_cover import count_covered_rows

        rest, remaining = self._remaining_types, self.remaining
        return int(
            count_covered_rows(
                mask[None], 0, self._need, rest, remaining, self._counts, self._values, self._slots
            )
        )

    def first_holding(self, masks: NDArray[np.uint64], first: NDArray[np.int64]) -> None:
        from discreet.kernels.greedy_cover import find_first_cover

        find_first_cover(masks, self._need, self._all_row_types(), self._values, first, self._slots)

    def finish(self) -> None:
        from discreet.kernels.precompilation import mark_compiled

        mark_compiled("patterns")


class _NumpyWalk:
    """Walk with the numpy twins of ``kernels.local_recoding_twin``.

    ``class_of`` contains the class of each row type, ``classes`` counts the classes.
    """

    def __init__(self, keys: PatternKeys, demand: ClassRequirement) -> None:
        self._counts = demand.frequency_set.counts
        self._keys, self._need = keys.keys, demand.need
        self._holds = None if demand.counts_only else demand.holds
        self._types = np.arange(len(self._counts))
        self.class_of = np.full(len(self._counts), SUPPRESSED, np.int64)
        self.classes = 0

    @property
    def remaining(self) -> int:
        """Number of row types without class."""
        return len(self._types)

    def take(self, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Take every publishable class of each pattern in turn; return the number of classes per pattern."""
        made = np.zeros(len(masks), np.int64)
        self._types, self.classes = take_classes_twin(
            masks,
            self._need,
            self._keys,
            self._counts,
            self._types,
            self.classes,
            self.class_of,
            made,
            self._holds,
        )
        return made

    def placed_rows(self, mask: NDArray[np.uint64]) -> int:
        """Count the rows that one pattern would place."""
        return count_covered_rows_twin(mask, self._need, self._keys, self._counts, self._types, self._holds)

    def first_holding(self, masks: NDArray[np.uint64], first: NDArray[np.int64]) -> None:
        """Replace negative entries of ``first`` by the first pattern with a publishable class of all rows."""
        find_first_cover_twin(masks, self._need, self._keys, self._counts, first, self._holds)

    def finish(self) -> None:
        """End the walk: a compiled one marks its kernels as available."""


PatternWalk = _CompiledWalk | _NumpyWalk


_BOUND_BATCH = 1024


def growing_demand(demand: ClassRequirement, requirement: Requirement) -> ClassRequirement:
    """Return the growing part of a requirement, which the bound relies on."""
    if demand.growing:
        return demand
    growing = [criterion for criterion in requirement.criteria if criterion.growing]
    return ClassRequirement.of(
        demand.frequency_set, Requirement(criteria=growing) if growing else Requirement(1)
    )


def bound_from_walk(
    frequency_set: FrequencySet,
    mask: PatternMask,
    keys: PatternKeys,
    walk: PatternWalk,
    progress: Callable[[int], None] | None = None,
) -> float:
    """Compute the lower bound from existing keys and an open walk.

    ``progress`` is called with the number of finished patterns.
    """
    order = mask.order(TieBreak.LAST_COLUMN_FIRST)
    first = np.full(frequency_set.row_types, -1, np.int64)
    for start in range(0, len(order), _BOUND_BATCH):
        batch = np.minimum(first, 0)
        walk.first_holding(keys.masks[order[start : start + _BOUND_BATCH]], batch)
        found = (first < 0) & (batch >= 0)
        first[found] = start + batch[found]
        if progress is not None:
            progress(min(start + _BOUND_BATCH, len(order)))
        if not (first < 0).any():
            break
    walk.finish()
    costs = np.append(mask.pattern_costs[order], mask.top_cost)
    return float((np.minimum(costs[first], mask.top_cost) * frequency_set.counts).sum())


GreedyProgress = Callable[[int, int], None]
_BATCH = 1024
_MOST_ROWS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class GreedyResult:
    """Recoding guided by patterns: the pattern of each row type, and its cost.

    ``pattern_of`` contains positions in the mask, ``OUTLIER`` if the row type is suppressed. No assignment to
    the mask's patterns costs less than ``bound``; None if it was not requested.
    """

    recoding: ClassRecoding
    mask: PatternMask
    pattern_of: NDArray[np.int64]
    cost: float
    seconds: float
    bound: float | None = None

    @property
    def outliers(self) -> int:
        """Number of rows that are suppressed as outliers."""
        return self.recoding.suppressed

    @property
    def gap(self) -> float | None:
        """Share of the cost that may be avoidable: (cost − bound) / cost; None without a bound."""
        if self.bound is None:
            return None
        return max(self.cost - self.bound, 0.0) / self.cost if self.cost else 0.0


def solve_greedily(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    settings: Settings,
    *,
    tie: TieBreak | str = TieBreak.LAST_COLUMN_FIRST,
    class_test: ClassTest | None = None,
    limit: int | None = None,
    bound: bool = True,
    evaluator: Backend | str = Backend.AUTO,
    progress: GreedyProgress | None = None,
    notice: WalkNotice | None = None,
) -> GreedyResult:
    """Assign every row type to a pattern, cheapest patterns first.

    Parameters
    ----------
    mask
        The allowed patterns and their costs (``masks``).
    requirement
        Criteria that each class must meet, in addition to ``class_test``.
    tie
        Order among patterns of equal cost.
    limit
        Largest number of rows that may be suppressed as outliers; None leaves it to the mask's policy.
    bound
        Compute a lower bound of the cost, too.

    Raises
    ------
    NoSolution
        If no class can be made, for more outliers than the limit, or any under the policy *error*.
    InputError
        For an unknown tie, and for a criterion that is not monotone.
    LimitReached
        If it would not fit ``settings.memory_limit``.

    Notes
    -----
    Cost: patterns times remaining row types.

    References
    ----------
    Bredereck, Nichterlein and Niedermeier (2013), *Pattern-Guided k-Anonymity*. Algorithms 6(4), 678–701.
    Algorithm 1.
    """
    start_time = monotonic()
    if tie not in tuple(TieBreak):
        raise InputError(f"tie order '{tie}'", allowed=", ".join(TieBreak))
    frequency_set = drop_unneeded_subjects(frequency_set)
    demand = ClassRequirement.of(frequency_set, requirement, class_test)
    if frequency_set.subjects is not None:
        bound = False
        announce_subjects("walk through the patterns", notice)
    _check_memory(frequency_set, mask, settings)
    keys = build_pattern_keys(frequency_set, mask)
    walk: PatternWalk = open_walk(keys, demand, evaluator, notice)
    first, further = _split_progress(progress, len(mask)) if bound else (progress, None)
    pattern_of_class = _walk_patterns(walk, keys, mask, TieBreak(tie), first, monotone=demand.growing)
    pattern_of = np.full(frequency_set.row_types, OUTLIER, np.int64)
    placed = walk.class_of != SUPPRESSED
    pattern_of[placed] = pattern_of_class[walk.class_of[placed]]
    _check_outliers(frequency_set, mask, requirement, pattern_of, limit)
    if bound and not demand.growing:
        walk = open_walk(keys, growing_demand(demand, requirement), evaluator, notice)
    return GreedyResult(
        recoding=recode_assignment(frequency_set, mask, requirement, pattern_of, class_test=class_test),
        mask=mask,
        pattern_of=pattern_of,
        cost=assignment_cost(frequency_set, mask, pattern_of),
        seconds=monotonic() - start_time,
        bound=bound_from_walk(frequency_set, mask, keys, walk, further) if bound else None,
    )


def assignment_cost(frequency_set: FrequencySet, mask: PatternMask, pattern_of: NDArray[np.int64]) -> float:
    """Sum the cost of an assignment of row types; an outlier costs as much as a row of all stars."""
    costs = np.append(mask.pattern_costs, mask.top_cost)
    rows = np.zeros(len(costs), np.int64)
    np.add.at(rows, pattern_of, frequency_set.counts)
    return float((rows * costs).sum())


def _walk_patterns(
    walk: PatternWalk,
    keys: PatternKeys,
    mask: PatternMask,
    tie: TieBreak,
    progress: GreedyProgress | None,
    *,
    monotone: bool,
) -> NDArray[np.int64]:
    """Walk the patterns and return the pattern of each class that was made."""
    found, seen = [np.zeros(0, np.int64)], 0
    order = mask.order(tie) if tie is not TieBreak.BEST else np.zeros(0, np.int64)
    batches = (
        _by_most_rows(walk, keys, mask, monotone=monotone)
        if tie is TieBreak.BEST
        else (order[start : start + _BATCH] for start in range(0, len(order), _BATCH))
    )
    for batch in batches:
        if not walk.remaining:
            break
        found.append(np.repeat(batch, walk.take(keys.masks[batch])))
        seen += len(batch)
        if progress is not None:
            progress(seen, len(mask))
    return np.concatenate(found)


def _split_progress(
    progress: GreedyProgress | None, patterns: int
) -> tuple[GreedyProgress | None, Callable[[int], None] | None]:
    """Combine the progress of the walk and of the bound into one."""
    if progress is None:
        return None, None
    return lambda done, _: progress(done, 2 * patterns), lambda done: progress(patterns + done, 2 * patterns)


def _by_most_rows(
    walk: PatternWalk, keys: PatternKeys, mask: PatternMask, *, monotone: bool
) -> Iterator[NDArray[np.int64]]:
    """Yield patterns one by one: among those of equal cost, the one that places the most rows now.

    ``monotone`` means that the rows that a pattern would place decrease as rows are taken.
    """
    order = mask.order(TieBreak.LAST_COLUMN_FIRST)
    ends = np.flatnonzero(np.diff(mask.cost_ranks[order])) + 1
    for group in np.split(order, ends):
        if not monotone:
            yield from _by_rows_now(walk, keys, group.tolist())
            continue
        # Lazy greedy: old counts are upper bounds, so only the top of the heap is counted again.
        heap = [(-walk.placed_rows(keys.masks[p]), index) for index, p in enumerate(group.tolist())]
        heapify(heap)
        while heap:
            _, index = heappop(heap)
            now = -walk.placed_rows(keys.masks[group[index]])
            if heap and (now, index) > heap[0]:
                heappush(heap, (now, index))
            elif now:
                yield group[index : index + 1]
            else:
                break


def _by_rows_now(walk: PatternWalk, keys: PatternKeys, patterns: list[int]) -> Iterator[NDArray[np.int64]]:
    """Yield patterns of equal cost likewise, recounting all of them each time."""
    while patterns:
        now = [walk.placed_rows(keys.masks[p]) for p in patterns]
        most = max(now)
        if not most:
            return
        yield np.array([patterns.pop(now.index(most))])


def _check_memory(frequency_set: FrequencySet, mask: PatternMask, settings: Settings) -> None:
    types, attributes = frequency_set.row_types, len(frequency_set.attributes)
    needed = types * (24 * attributes + 160) + len(mask) * (4 * attributes + 64)
    if needed > settings.memory_limit or frequency_set.rows >= _MOST_ROWS:
        raise LimitReached(
            f"{len(mask):,} patterns over {types:,} row types need about {needed / 1e9:.1f} GB",
            allowed=f"{settings.memory_limit / 1e9:.1f} GB and fewer than {_MOST_ROWS:,} rows",
            advice="Raise the limit, add constraints, or name fewer quasi-identifiers.",
        )


def _check_outliers(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    pattern_of: NDArray[np.int64],
    limit: int | None,
) -> None:
    outliers = int(frequency_set.counts[pattern_of == OUTLIER].sum())
    rows = frequency_set.rows
    if rows and outliers == rows:
        failing = find_globally_failing(frequency_set, requirement)
        raise NoSolution(
            f"{requirement}: no pattern can hold any of the {rows:,} rows",
            advice=f"Allow patterns with more stars, or {failing.relaxing}.",
        )
    if outliers and mask.outliers is OutlierPolicy.ERROR:
        raise NoSolution(
            f"{requirement}: {outliers:,} of {rows:,} rows fit no pattern, and outliers are an error",
            allowed="suppress: outliers show only stars; delete: outliers are omitted",
            advice="Choose a policy for outliers, allow patterns with more stars, or "
            f"{requirement.relaxing}.",
        )
    if limit is not None and outliers > limit:
        raise NoSolution(
            f"{requirement}: {outliers:,} of {rows:,} rows fit no pattern; at most {limit:,} may be",
            advice=f"Raise the suppression limit, allow patterns with more stars, or {requirement.relaxing}.",
        )
