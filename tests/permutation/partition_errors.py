"""Objectives of partitions, for any groups of rows."""

from __future__ import annotations

from decimal import Decimal

from discreet.model.release_kind import SensitiveColumn
from discreet.permutation.row_positions import RowIntegers
from discreet.permutation.subject_groups import count_group_facts
from discreet.permutation.value_runs import ValueRuns


def sum_of_errors(column: SensitiveColumn, groups: RowIntegers) -> Decimal:
    """Sum the groups' ranges in the attribute's unit, for any partition."""
    runs = ValueRuns.of(column)
    return runs.as_decimal(sum(count_group_facts(runs, groups, int(groups.max(initial=-1)) + 1).ranges()))


def maximum_error(column: SensitiveColumn, groups: RowIntegers) -> Decimal:
    """Return the largest of the groups' ranges in the attribute's unit, for any partition."""
    runs = ValueRuns.of(column)
    return runs.as_decimal(
        max(count_group_facts(runs, groups, int(groups.max(initial=-1)) + 1).ranges(), default=0)
    )
