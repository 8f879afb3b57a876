"""Partitions of all rows into groups that meet (k,e), by any strategy, and checked by a second count.

Partitions by objective and random ones depend on the values only and draw the rows, so the groups reveal
nothing except their values. Partitions that depend on quasi-identifiers and values do (minimality; Wong
et al. 2007): they carry a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.errors import InternalError
from discreet.model.release_kind import GroupPartition, GroupRequirement, SensitiveColumn
from discreet.model.request import Backend
from discreet.permutation import heuristic_partitions, optimal_partitions
from discreet.permutation.group_checks import check_partition
from discreet.permutation.heuristic_partitions import (
    partition_along_quasi_identifiers,
    partition_by_classes,
    partition_finest,
)
from discreet.permutation.optimal_partitions import (
    GroupNeed,
    PartitionLoops,
    PartitionNotice,
    partition_least_sum,
)
from discreet.permutation.partition_strategies import (
    PartitionStrategy,
    check_column_is_group,
    check_requirement,
    check_strategy_arguments,
    parse_strategy,
)
from discreet.permutation.row_positions import DrawOrder, RowIntegers, draw_order
from discreet.permutation.subject_groups import close_subject_groups, find_value_cuts
from discreet.permutation.value_runs import ValueParts, ValueRuns, assign_rows_to_groups

_LARGEST = 1 << 62
_MINIMALITY = (
    "minimality: groups were divided along quasi-identifiers wherever both parts met (k,e); from a group "
    "that was not divided, an attacker who knows the algorithm learns that the parts would have failed"
)
_SUBJECT_MINIMALITY = (
    "minimality: if people have several rows, the end of a group depends on the people of its values; an "
    "attacker who knows the algorithm learns that a smaller group would have had fewer than k people with "
    "different values"
)
_MERGE_MINIMALITY = (
    "minimality: classes that fail (k,e) were merged; an attacker who knows the algorithm learns that the "
    "classes of a merged group failed"
)


@dataclass(frozen=True, eq=False)
class _PartitionTask:
    """Inputs of one partition."""

    runs: ValueRuns
    need: GroupNeed
    requirement: GroupRequirement
    draw: DrawOrder
    evaluator: Backend
    notice: PartitionNotice | None
    quasi_identifiers: RowIntegers | None
    classes: RowIntegers | None
    merge_failing: bool

    def loops(self, names: tuple[str, ...], steps: int) -> PartitionLoops:
        return PartitionLoops.choose(self.runs, names, steps, self.evaluator, self.notice)


@dataclass(frozen=True, eq=False)
class _Partition:
    """Group of each row, and the objective's value in units if there is one."""

    groups: RowIntegers
    error: int | None = None
    optimal: bool = False
    warnings: tuple[str, ...] = ()


def partition_rows(
    column: SensitiveColumn,
    requirement: GroupRequirement,
    strategy: PartitionStrategy | str = PartitionStrategy.MIN_SUM,
    *,
    first: GroupRequirement | None = None,
    quasi_identifiers: RowIntegers | None = None,
    classes: RowIntegers | None = None,
    merge_failing: bool = False,
    draw: DrawOrder = draw_order,
    evaluator: Backend | str = Backend.AUTO,
    notice: PartitionNotice | None = None,
) -> GroupPartition:
    """Divide all rows into groups that meet (k,e).

    ``first`` replaces the requirement of the group of the smallest value (Zhang et al. 2007, Problem 3), for
    strategies with an objective; it must not be less strict than ``requirement``. ``quasi_identifiers``,
    shape ``(rows, attributes)``, are coordinates for ``qi-aware``. ``classes``, shape ``(rows,)``, are the
    equivalence classes for ``recoding`` (-1: suppressed); with ``merge_failing`` failing ones are merged.
    ``draw`` draws which rows of equal values belong to which group. If the column has subjects, the k values
    of a group belong to k different people; ``min-sum``, ``random`` and ``recoding`` support that. If values
    are no numbers, ``min-sum`` and ``min-max`` have no error to minimize, and make the most groups (with
    subjects not always the most).

    Raises ``InputError`` for a requirement without effect or that does not apply, ``NoSolution`` if the
    column has fewer than k distinct values or a range below e, ``RequirementNotMet`` if a class fails.

    References
    ----------
    Zhang, Koudas, Srivastava and Yu (2007).
    """
    chosen = parse_strategy(strategy)
    runs = ValueRuns.of(column)
    check_requirement(requirement, column)
    check_strategy_arguments(column, chosen, first, requirement, quasi_identifiers, classes)
    check_column_is_group(runs, requirement if first is None else first, column)
    need = _need(runs, requirement, first)
    makers = _MAKERS if column.subjects is None else _SUBJECT_MAKERS
    task = _PartitionTask(
        runs, need, requirement, draw, Backend(evaluator), notice, quasi_identifiers, classes, merge_failing
    )
    found = makers[chosen](task)
    error = None if found.error is None else runs.as_decimal(found.error)
    del runs, task  # frees their arrays before the check counts the partition with arrays of its own
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
    if not check_partition(column, result.groups, requirement, first).holds:
        raise InternalError(f"the partition '{chosen}' has a group that does not meet {requirement}")
    return result


def _min_sum(task: _PartitionTask) -> _Partition:
    if task.runs.units is None:
        return _finest_partition(task)
    parts, error = _least_sum(task)
    return _Partition(assign_rows_to_groups(task.runs, parts, task.draw), error, True)


def _least_sum(task: _PartitionTask) -> tuple[ValueParts, int]:
    return partition_least_sum(
        task.runs, task.need, task.loops(optimal_partitions.MIN_SUM_LOOPS, task.runs.rows)
    )


def _min_max(task: _PartitionTask) -> _Partition:
    if task.runs.units is None:
        return _finest_partition(task)
    loops = task.loops(optimal_partitions.MIN_MAX_LOOPS, 64 * task.runs.distinct * task.need.k)
    parts, error = optimal_partitions.partition_least_maximum(task.runs, task.need, loops)
    return _Partition(assign_rows_to_groups(task.runs, parts, task.draw), error, True)


def _contiguous(task: _PartitionTask) -> _Partition:
    loops = task.loops(optimal_partitions.CONTIGUOUS_LOOPS, 64 * task.runs.distinct)
    parts, error = optimal_partitions.partition_contiguous_least_maximum(task.runs, task.need, loops)
    return _Partition(assign_rows_to_groups(task.runs, parts, task.draw), error, True)


def _weighted(task: _PartitionTask) -> _Partition:
    steps = task.runs.rows * task.runs.rows.bit_length()
    fits = task.runs.span * max(task.runs.rows, 1) < _LARGEST
    loops = task.loops(optimal_partitions.WEIGHTED_LOOPS, steps) if fits else PartitionLoops(False)
    parts, error = optimal_partitions.partition_least_weighted_sum(task.runs, task.need, loops)
    return _Partition(assign_rows_to_groups(task.runs, parts, task.draw), error)


def _finest_partition(task: _PartitionTask) -> _Partition:
    return _Partition(partition_finest(task.runs, max(task.need.k, task.need.first_k), task.draw), 0, True)


def _random(task: _PartitionTask) -> _Partition:
    loops = task.loops(heuristic_partitions.RANDOM_LOOPS, task.runs.rows)
    return _Partition(heuristic_partitions.partition_randomly(task.runs, task.need, loops, task.draw))


def _qi_aware(task: _PartitionTask) -> _Partition:
    assert task.quasi_identifiers is not None
    if task.runs.units is None:
        everything = np.zeros(task.runs.distinct, dtype=np.int64)
        parts = ValueParts(np.arange(task.runs.distinct), everything, task.runs.counts)
    else:
        parts, _ = _least_sum(task)
    groups = partition_along_quasi_identifiers(task.runs, task.need, parts, task.quasi_identifiers, task.draw)
    return _Partition(groups, warnings=(_MINIMALITY,))


def _recoding(task: _PartitionTask) -> _Partition:
    assert task.classes is not None
    groups = partition_by_classes(
        task.runs, task.need, task.classes, task.requirement, merge_failing=task.merge_failing
    )
    merged = int(groups.max()) + 1 < len(np.unique(task.classes))
    return _Partition(groups, warnings=(_MERGE_MINIMALITY,) if merged else ())


_MAKERS: dict[PartitionStrategy, Callable[[_PartitionTask], _Partition]] = {
    PartitionStrategy.MIN_SUM: _min_sum,
    PartitionStrategy.MIN_MAX: _min_max,
    PartitionStrategy.CONTIGUOUS_MIN_MAX: _contiguous,
    PartitionStrategy.WEIGHTED_MIN_SUM: _weighted,
    PartitionStrategy.RANDOM: _random,
    PartitionStrategy.QI_AWARE: _qi_aware,
    PartitionStrategy.RECODING: _recoding,
}


def _subject_min_sum(task: _PartitionTask) -> _Partition:
    if task.runs.units is None:
        return _subject_random(task)
    parts = ValueParts.of_cuts(task.runs.counts, find_value_cuts(task.runs, task.need))
    groups = assign_rows_to_groups(task.runs, parts, task.draw)
    return _Partition(
        groups, optimal_partitions.sum_of_ranges(task.runs, parts), True, (_SUBJECT_MINIMALITY,)
    )


def _subject_random(task: _PartitionTask) -> _Partition:
    return _Partition(close_subject_groups(task.runs, task.need, task.draw), warnings=(_SUBJECT_MINIMALITY,))


_SUBJECT_MAKERS: dict[PartitionStrategy, Callable[[_PartitionTask], _Partition]] = {
    PartitionStrategy.MIN_SUM: _subject_min_sum,
    PartitionStrategy.RANDOM: _subject_random,
    PartitionStrategy.RECODING: _recoding,
}


def _need(runs: ValueRuns, requirement: GroupRequirement, first: GroupRequirement | None) -> GroupNeed:
    """Convert the requirement to units; k is at least 2, which a range above 0 implies."""
    special = first or requirement
    return GroupNeed(
        max(requirement.k, 2),
        runs.least_range(requirement.e),
        max(special.k, 2),
        runs.least_range(special.e),
    )
