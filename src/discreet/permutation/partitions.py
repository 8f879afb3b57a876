"""Every way to make a partition, by its name: one signature, and one count of the result by itself.

Whatever makes the groups, the partition is given out only once each group was counted again.

What knowing the algorithm tells (minimality; Wong et al. 2007). Partitions by objective and random ones look
at the values alone, and draw the rows: any dealing out of values within the groups would have led to the same
groups with the same probability, so the groups tell nothing but their values. Partitions that look at
quasi-identifiers and at values do tell: that a group was not divided further says that the parts would have
failed. Those carry a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from discreet.errors import InternalError
from discreet.model.evaluator import Evaluator
from discreet.model.permutation import GroupPartition, GroupRequirement, SensitiveColumn
from discreet.permutation import contiguous, min_max, min_sum, random_groups
from discreet.permutation.checks import check_groups
from discreet.permutation.draw import Draw, draw_order
from discreet.permutation.group_facts import group_facts
from discreet.permutation.loops import Loops, Notice
from discreet.permutation.min_sum import Need, least_sum
from discreet.permutation.narrow import Whole
from discreet.permutation.near_groups import near_groups
from discreet.permutation.parts import Parts, groups_of_rows
from discreet.permutation.people import closing_groups, value_cuts
from discreet.permutation.random_groups import finest_groups
from discreet.permutation.recoding_groups import recoding_groups
from discreet.permutation.strategies import (
    PartitionStrategy,
    check_arguments,
    check_possible,
    check_requirement,
    strategy_of,
)
from discreet.permutation.value_runs import ValueRuns

__all__ = ["PartitionStrategy", "maximum_error", "partition", "sum_of_errors"]


_LARGEST = 1 << 62
_MINIMALITY = (
    "minimality: groups were divided along quasi-identifiers wherever both parts met (k,e); whoever knows "
    "that learns from a group that was not divided that the parts would have failed"
)
_WHOSE = (
    "minimality: where people have several rows, where a group ends depends on whose its values are; whoever "
    "knows the algorithm learns that a smaller group would have had fewer than k people with different values"
)
_MERGED = (
    "minimality: classes that fail (k,e) were merged; whoever knows that learns that the classes of a merged "
    "group failed"
)


@dataclass(frozen=True, eq=False)
class _Task:
    """One partition to be made."""

    runs: ValueRuns
    need: Need
    requirement: GroupRequirement
    draw: Draw
    evaluator: Evaluator
    notice: Notice | None
    quasi_identifiers: Whole | None
    classes: Whole | None
    merge_failing: bool

    def loops(self, names: tuple[str, ...], steps: int) -> Loops:
        return Loops.choose(self.runs, names, steps, self.evaluator, self.notice)


@dataclass(frozen=True, eq=False)
class _Found:
    """The group of each row, and the objective's value in units where there is one."""

    groups: Whole
    error: int | None = None
    optimal: bool = False
    warnings: tuple[str, ...] = ()


def partition(
    column: SensitiveColumn,
    requirement: GroupRequirement,
    strategy: PartitionStrategy | str = PartitionStrategy.MIN_SUM,
    *,
    first: GroupRequirement | None = None,
    quasi_identifiers: Whole | None = None,
    classes: Whole | None = None,
    merge_failing: bool = False,
    draw: Draw = draw_order,
    evaluator: Evaluator | str = Evaluator.AUTO,
    notice: Notice | None = None,
) -> GroupPartition:
    """Divide all rows into groups that meet (k,e).

    ``first`` is asked of the group of the smallest value instead (Zhang et al. 2007, Problem 3), by all that
    have an objective; it may not be less than ``requirement``. ``quasi_identifiers``,
    shape ``(rows, attributes)``, are coordinates for ``qi-aware``. ``classes``, shape ``(rows,)``, are the
    equivalence classes for ``recoding`` (-1: suppressed); with ``merge_failing`` those that fail are merged.
    Which rows of equal values go where is drawn by ``draw``. Where the column has subjects, k values of a
    group are of k different people; ``min-sum``, ``random`` and ``recoding`` can do that. Where values
    are no numbers, ``min-sum`` and ``min-max`` have no error to tell partitions apart, and make the most
    groups (of people: not always the most).

    Raises ``InputError`` for a requirement that asks nothing or makes no sense here, ``NoSolution`` where the
    column has fewer than k distinct values or a range below e, ``RequirementNotMet`` where a class fails.
    """
    chosen = strategy_of(strategy)
    runs = ValueRuns.of(column)
    check_requirement(requirement, column)
    check_arguments(column, chosen, first, requirement, quasi_identifiers, classes)
    check_possible(runs, requirement if first is None else first, column)
    need = _need(runs, requirement, first)
    makers = _MAKERS if column.subjects is None else _OF_PEOPLE
    task = _Task(
        runs, need, requirement, draw, Evaluator(evaluator), notice, quasi_identifiers, classes, merge_failing
    )
    found = makers[chosen](task)
    error = None if found.error is None else runs.as_decimal(found.error)
    del runs, task  # before the partition is counted again, by values of its own
    result = GroupPartition(
        strategy=chosen.value,
        requirement=requirement,
        groups=found.groups,
        group_count=int(found.groups.max()) + 1,
        error=error,
        optimal=found.optimal,
        first=first,
        warnings=found.warnings,
    )
    if not check_groups(column, result.groups, requirement, first).holds:
        raise InternalError(f"the partition '{chosen}' has a group that does not meet {requirement}")
    return result


def _min_sum(task: _Task) -> _Found:
    if task.runs.units is None:
        return _finest(task)
    parts, error = _least_sum(task)
    return _Found(groups_of_rows(task.runs, parts, task.draw), error, True)


def _least_sum(task: _Task) -> tuple[Parts, int]:
    return least_sum(task.runs, task.need, task.loops(min_sum.LOOPS, task.runs.rows))


def _min_max(task: _Task) -> _Found:
    if task.runs.units is None:
        return _finest(task)
    loops = task.loops(min_max.LOOPS, 64 * task.runs.distinct * task.need.k)
    parts, error = min_max.least_maximum(task.runs, task.need, loops)
    return _Found(groups_of_rows(task.runs, parts, task.draw), error, True)


def _contiguous(task: _Task) -> _Found:
    loops = task.loops(contiguous.LOOPS, 64 * task.runs.distinct)
    parts, error = contiguous.contiguous_least_maximum(task.runs, task.need, loops)
    return _Found(groups_of_rows(task.runs, parts, task.draw), error, True)


def _weighted(task: _Task) -> _Found:
    steps = task.runs.rows * task.runs.rows.bit_length()
    fits = task.runs.span * max(task.runs.rows, 1) < _LARGEST
    loops = task.loops(min_sum.WEIGHTED_LOOPS, steps) if fits else Loops(False)
    parts, error = min_sum.least_weighted_sum(task.runs, task.need, loops)
    return _Found(groups_of_rows(task.runs, parts, task.draw), error)


def _finest(task: _Task) -> _Found:
    return _Found(finest_groups(task.runs, max(task.need.k, task.need.first_k), task.draw), 0, True)


def _random(task: _Task) -> _Found:
    loops = task.loops(random_groups.LOOPS, task.runs.rows)
    return _Found(random_groups.random_groups(task.runs, task.need, loops, task.draw))


def _qi_aware(task: _Task) -> _Found:
    assert task.quasi_identifiers is not None
    if task.runs.units is None:
        everything = np.zeros(task.runs.distinct, dtype=np.int64)
        parts = Parts(np.arange(task.runs.distinct), everything, task.runs.counts)
    else:
        parts, _ = _least_sum(task)
    groups = near_groups(task.runs, task.need, parts, task.quasi_identifiers, task.draw)
    return _Found(groups, warnings=(_MINIMALITY,))


def _recoding(task: _Task) -> _Found:
    assert task.classes is not None
    groups = recoding_groups(
        task.runs, task.need, task.classes, task.requirement, merge_failing=task.merge_failing
    )
    merged = int(groups.max()) + 1 < len(np.unique(task.classes))
    return _Found(groups, warnings=(_MERGED,) if merged else ())


_MAKERS: dict[PartitionStrategy, Callable[[_Task], _Found]] = {
    PartitionStrategy.MIN_SUM: _min_sum,
    PartitionStrategy.MIN_MAX: _min_max,
    PartitionStrategy.CONTIGUOUS_MIN_MAX: _contiguous,
    PartitionStrategy.WEIGHTED_MIN_SUM: _weighted,
    PartitionStrategy.RANDOM: _random,
    PartitionStrategy.QI_AWARE: _qi_aware,
    PartitionStrategy.RECODING: _recoding,
}


def _people_min_sum(task: _Task) -> _Found:
    if task.runs.units is None:
        return _people_random(task)
    parts = Parts.of_cuts(task.runs.counts, value_cuts(task.runs, task.need))
    groups = groups_of_rows(task.runs, parts, task.draw)
    return _Found(groups, min_sum.sum_of_ranges(task.runs, parts), True, (_WHOSE,))


def _people_random(task: _Task) -> _Found:
    return _Found(closing_groups(task.runs, task.need, task.draw), warnings=(_WHOSE,))


_OF_PEOPLE: dict[PartitionStrategy, Callable[[_Task], _Found]] = {
    PartitionStrategy.MIN_SUM: _people_min_sum,
    PartitionStrategy.RANDOM: _people_random,
    PartitionStrategy.RECODING: _recoding,
}


def _need(runs: ValueRuns, requirement: GroupRequirement, first: GroupRequirement | None) -> Need:
    """The requirement in units; k is 2 at least, which a range above 0 implies."""
    special = first or requirement
    return Need(
        max(requirement.k, 2),
        runs.least_range(requirement.e),
        max(special.k, 2),
        runs.least_range(special.e),
    )


def sum_of_errors(column: SensitiveColumn, groups: Whole) -> Decimal:
    """The sum of the groups' ranges in the attribute's unit, of any partition."""
    runs = ValueRuns.of(column)
    return runs.as_decimal(sum(group_facts(runs, groups, int(groups.max(initial=-1)) + 1).ranges()))


def maximum_error(column: SensitiveColumn, groups: Whole) -> Decimal:
    """The largest of the groups' ranges in the attribute's unit, of any partition."""
    runs = ValueRuns.of(column)
    return runs.as_decimal(
        max(group_facts(runs, groups, int(groups.max(initial=-1)) + 1).ranges(), default=0)
    )
