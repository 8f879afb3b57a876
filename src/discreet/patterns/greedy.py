"""The greedy heuristic for pattern-guided anonymity (Bredereck et al. 2013, Algorithm 1).

Patterns are taken cheapest first. Under each, the rows that remain fall into classes of equal values where
the pattern shows them, and every class that meets the requirement is published and leaves. What no pattern
takes is an outlier. The text of the paper asks for more than k rows; its tables come out only with k rows
or more.

With m attributes and unit costs the result costs at most m times the optimum where the pattern that stars
nothing is allowed, and Theorem 4's table shows that it can be m − 1 times. Among patterns of equal cost the
order matters (``Tie``): on the paper's data up to some five percent of the cost. The paper's own order
differs from table to table. ``best`` looks at how many rows each of them would place: rows that leave can
only lower that number where criteria are growing (``model.monotone``), so a pattern is then looked at again
only when it comes first by what was known of it before.

Here a class may also have to meet distinct l, p-sensitivity or any monotone class test, and a pattern may
stop at any level of a hierarchy. Cost: patterns times row types that remain (``kernels.local_greedy``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.class_demand import Demand
from discreet.frequency.failing_criteria import failing_as_a_whole
from discreet.frequency.subject_rows import tell_of_subjects
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.class_test import ClassTest
from discreet.model.evaluator import Evaluator
from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import OUTLIER, OutlierPolicy, PatternMask, Tie
from discreet.model.recoding import SuppressionPolicy
from discreet.model.requirement import Requirement
from discreet.model.subject_rows import counting_rows
from discreet.patterns.assignment import recode_assignment
from discreet.patterns.evaluation import Notice, Walk, walk_of
from discreet.patterns.keys import PatternKeys, pattern_keys
from discreet.patterns.lower_bound import bound_of_walk, bounding
from discreet.settings import Settings

Progress = Callable[[int, int], None]
_BATCH = 1024
_MOST_ROWS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class GuidedRecoding:
    """A recoding guided by patterns: the pattern of each row type, and what it costs.

    ``pattern_of`` holds places in the mask, ``OUTLIER`` where the row type is suppressed. ``bound`` is a cost
    that no assignment to the mask's patterns goes below; None where it was not asked.
    """

    recoding: ClassRecoding
    mask: PatternMask
    pattern_of: NDArray[np.int64]
    cost: float
    seconds: float
    bound: float | None = None

    @property
    def outliers(self) -> int:
        """Rows that are suppressed as outliers."""
        return self.recoding.suppressed

    @property
    def gap(self) -> float | None:
        """The share of the cost that may be too much: (cost − bound) / cost; None without a bound."""
        if self.bound is None:
            return None
        return max(self.cost - self.bound, 0.0) / self.cost if self.cost else 0.0


def greedy(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    settings: Settings,
    *,
    tie: Tie | str = Tie.LAST_COLUMN_FIRST,
    class_test: ClassTest | None = None,
    limit: int | None = None,
    bound: bool = True,
    suppression: SuppressionPolicy = SuppressionPolicy.DROP,
    evaluator: Evaluator | str = Evaluator.AUTO,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> GuidedRecoding:
    """Assign every row type to a pattern, cheapest patterns first.

    ``limit`` is the largest number of rows that may be suppressed as outliers; None leaves it to the mask's
    policy. ``class_test`` is asked beside the requirement. ``bound`` computes a lower bound too.

    Raises ``NoSolution`` where no class could be made, where there are more outliers than the limit, or any
    where the policy is *error*; ``InputError`` for an unknown tie;
    ``LimitReached`` where it would not fit ``settings.memory_limit``.
    """
    begun = monotonic()
    if tie not in tuple(Tie):
        raise InputError(f"tie order '{tie}'", allowed=", ".join(Tie))
    frequency_set = counting_rows(frequency_set)
    demand = Demand.of(frequency_set, requirement, class_test)
    if frequency_set.subjects is not None:
        bound = False
        tell_of_subjects("walk through the patterns", notice)
    _check_memory(frequency_set, mask, settings)
    keys = pattern_keys(frequency_set, mask)
    walk: Walk = walk_of(keys, demand, evaluator, notice)
    first, further = _in_two(progress, len(mask)) if bound else (progress, None)
    pattern_of_class = _walked(walk, keys, mask, Tie(tie), first, falls=demand.growing)
    pattern_of = np.full(frequency_set.row_types, OUTLIER, np.int64)
    placed = walk.class_of != SUPPRESSED
    pattern_of[placed] = pattern_of_class[walk.class_of[placed]]
    _check_outliers(frequency_set, mask, requirement, pattern_of, limit)
    if bound and not demand.growing:
        walk = walk_of(keys, bounding(demand, requirement), evaluator, notice)
    return GuidedRecoding(
        recoding=recode_assignment(
            frequency_set, mask, requirement, pattern_of, class_test=class_test, suppression=suppression
        ),
        mask=mask,
        pattern_of=pattern_of,
        cost=cost_of(frequency_set, mask, pattern_of),
        seconds=monotonic() - begun,
        bound=bound_of_walk(frequency_set, mask, keys, walk, further) if bound else None,
    )


def cost_of(frequency_set: FrequencySet, mask: PatternMask, pattern_of: NDArray[np.int64]) -> float:
    """What an assignment of row types costs; an outlier costs as much as a row of all stars."""
    costs = np.append(mask.pattern_costs, mask.top_cost)
    rows = np.zeros(len(costs), np.int64)
    np.add.at(rows, pattern_of, frequency_set.counts)
    return float((rows * costs).sum())


def _walked(
    walk: Walk, keys: PatternKeys, mask: PatternMask, tie: Tie, progress: Progress | None, *, falls: bool
) -> NDArray[np.int64]:
    """Walk the patterns; the pattern of each class that was made."""
    found, seen = [np.zeros(0, np.int64)], 0
    batches = _by_most_rows(walk, keys, mask, falls=falls) if tie is Tie.BEST else _in_order(mask.order(tie))
    for batch in batches:
        if not walk.remaining:
            break
        found.append(np.repeat(batch, walk.take(keys.masks[batch])))
        seen += len(batch)
        if progress is not None:
            progress(seen, len(mask))
    return np.concatenate(found)


def _in_two(progress: Progress | None, patterns: int) -> tuple[Progress | None, Callable[[int], None] | None]:
    """Progress of the walk and of the bound as parts of one whole."""
    if progress is None:
        return None, None
    return lambda done, _: progress(done, 2 * patterns), lambda done: progress(patterns + done, 2 * patterns)


def _in_order(order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    return (order[start : start + _BATCH] for start in range(0, len(order), _BATCH))


def _by_most_rows(
    walk: Walk, keys: PatternKeys, mask: PatternMask, *, falls: bool
) -> Iterator[NDArray[np.int64]]:
    """Patterns one by one: of those that cost the same, the one that places most rows now.

    ``falls``: what a pattern would place falls as rows leave.
    """
    order = mask.order(Tie.LAST_COLUMN_FIRST)
    ends = np.flatnonzero(np.diff(mask.cost_ranks[order])) + 1
    for group in np.split(order, ends):
        if not falls:
            yield from _by_rows_now(walk, keys, group.tolist())
            continue
        heap = [(-walk.placed_rows(keys.masks[p]), place) for place, p in enumerate(group.tolist())]
        heapify(heap)
        while heap:
            _, place = heappop(heap)
            now = -walk.placed_rows(keys.masks[group[place]])
            if heap and (now, place) > heap[0]:
                heappush(heap, (now, place))
            elif now:
                yield group[place : place + 1]
            else:
                break


def _by_rows_now(walk: Walk, keys: PatternKeys, patterns: list[int]) -> Iterator[NDArray[np.int64]]:
    """The same of patterns that cost the same, each looked at again every time."""
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
            f"{len(mask):,} patterns over {types:,} row types would take about {needed / 1e9:.1f} GB",
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
        failing = failing_as_a_whole(frequency_set, requirement)
        raise NoSolution(
            f"{requirement}: no pattern can hold any of the {rows:,} rows",
            advice=f"Allow patterns with more stars, or {failing.relaxing}.",
        )
    if outliers and mask.outliers is OutlierPolicy.ERROR:
        raise NoSolution(
            f"{requirement}: {outliers:,} of {rows:,} rows fit no pattern, and outliers are an error",
            allowed="outliers suppress: they show stars only; outliers delete: they are left out",
            advice="Choose a policy for outliers, allow patterns with more stars, or "
            f"{requirement.relaxing}.",
        )
    if limit is not None and outliers > limit:
        raise NoSolution(
            f"{requirement}: {outliers:,} of {rows:,} rows fit no pattern and would be suppressed; "
            f"at most {limit:,} may be",
            advice=f"Raise the suppression limit, allow patterns with more stars, or {requirement.relaxing}.",
        )
