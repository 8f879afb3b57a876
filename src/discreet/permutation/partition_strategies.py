"""Partition strategies by name, and the checks of a request for each.

Loaded with the list of recoding models, so it does not import the partitions themselves.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, NoSolution
from discreet.model.release_kind import GroupRequirement, SensitiveColumn
from discreet.permutation.subject_groups import count_group_facts
from discreet.permutation.value_runs import ValueRuns


class PartitionStrategy(StrEnum):
    """Names of the partition strategies."""

    MIN_SUM = "min-sum"
    MIN_MAX = "min-max"
    CONTIGUOUS_MIN_MAX = "contiguous-min-max"
    WEIGHTED_MIN_SUM = "weighted-min-sum"
    RANDOM = "random"
    QI_AWARE = "qi-aware"
    RECODING = "recoding"


_CONTIGUOUS_STRATEGIES = (PartitionStrategy.CONTIGUOUS_MIN_MAX, PartitionStrategy.WEIGHTED_MIN_SUM)
_FIRST_GROUP_STRATEGIES = (PartitionStrategy.MIN_SUM, PartitionStrategy.MIN_MAX, *_CONTIGUOUS_STRATEGIES)
_OF_PEOPLE = (PartitionStrategy.MIN_SUM, PartitionStrategy.RANDOM, PartitionStrategy.RECODING)
_NUMBERLESS_STRATEGIES = tuple(
    strategy for strategy in PartitionStrategy if strategy not in _CONTIGUOUS_STRATEGIES
)


def parse_strategy(name: PartitionStrategy | str) -> PartitionStrategy:
    """Return the strategy with a name; raise ``InputError`` for any other."""
    try:
        return PartitionStrategy(name)
    except ValueError:
        raise InputError(f"no partition '{name}'", allowed=", ".join(PartitionStrategy)) from None


def check_requirement(requirement: GroupRequirement, column: SensitiveColumn) -> None:
    """Raise ``InputError`` for a requirement without effect, or one that the column's type cannot meet."""
    k, e = requirement.k, requirement.e
    if k < 1:
        raise InputError(f"k = {k}", allowed="a whole number of at least 1")
    if not e.is_finite() or e < 0:
        raise InputError(f"e = {e}", allowed="a number of at least 0")
    if k == 1 and e == 0:
        raise InputError(
            "k = 1 with e = 0 requires nothing of a group", allowed="a k of at least 2, or an e above 0"
        )
    if e > 0 and column.numbers is None:
        raise InputError(
            f"e = {e}, but '{column.attribute}' is not numeric",
            allowed="e = 0, which requires k distinct values",
        )


def check_strategy_arguments(
    column: SensitiveColumn,
    strategy: PartitionStrategy,
    first: GroupRequirement | None,
    requirement: GroupRequirement,
    quasi_identifiers: NDArray[np.int64] | None,
    classes: NDArray[np.int64] | None,
) -> None:
    """Raise ``InputError`` if a strategy lacks an argument it needs, or has one it does not support."""
    if strategy not in _NUMBERLESS_STRATEGIES and column.numbers is None:
        raise InputError(
            f"'{strategy}' needs numbers, but '{column.attribute}' is not numeric",
            allowed=", ".join(_NUMBERLESS_STRATEGIES),
        )
    if column.subjects is not None and (first is not None or strategy not in _OF_PEOPLE):
        raise InputError(
            f"'{strategy}'{'' if first is None else ' with a first group'} counts rows, but subjects have "
            "several rows: a group of k values may contain fewer than k subjects",
            allowed=f"{', '.join(_OF_PEOPLE)}, without a first group",
        )
    if first is not None:
        check_requirement(first, column)
        if strategy not in _FIRST_GROUP_STRATEGIES:
            raise InputError(f"'{strategy}' has no first group", allowed=", ".join(_FIRST_GROUP_STRATEGIES))
        if first.k < requirement.k or first.e < requirement.e:
            raise InputError(
                f"the first group has a weaker requirement ({first}) than the others ({requirement})",
                allowed="at least as much, since every group of a release must meet (k,e)",
            )
    if strategy is PartitionStrategy.QI_AWARE and (
        quasi_identifiers is None or quasi_identifiers.ndim != 2 or len(quasi_identifiers) != column.rows
    ):
        raise InputError(f"'{strategy}' needs the rows' quasi-identifiers", allowed="one line for each row")
    if strategy is PartitionStrategy.RECODING and (classes is None or classes.shape != (column.rows,)):
        raise InputError(f"'{strategy}' needs the classes of a recoding", allowed="one class for each row")


def check_column_is_group(runs: ValueRuns, requirement: GroupRequirement, column: SensitiveColumn) -> None:
    """Raise ``NoSolution`` unless the whole column is a group; the message does not reveal its range."""
    if runs.distinct < requirement.k:
        raise NoSolution(
            f"'{column.attribute}' has fewer than k = {requirement.k:,} distinct values: {runs.distinct:,}",
            advice=f"Use a k of at most {runs.distinct:,}."
            if runs.distinct > 1
            else "Nothing can be permuted.",
        )
    if runs.subjects is not None:
        _check_subjects(runs, requirement, column)
    if runs.span < runs.least_range(requirement.e):
        raise NoSolution(
            f"the range of '{column.attribute}' is below e = {requirement.e}", advice="Use a smaller e."
        )


def _check_subjects(runs: ValueRuns, requirement: GroupRequirement, column: SensitiveColumn) -> None:
    """Raise ``NoSolution`` unless k people have k different values."""
    most = int(count_group_facts(runs, np.zeros(column.rows, dtype=np.int64), 1).distinct[0])
    if most < max(requirement.k, 2):
        raise NoSolution(
            f"at most {most:,} people have as many different values of '{column.attribute}', fewer than "
            f"k = {max(requirement.k, 2):,}",
            advice=f"Use a k of at most {most:,}." if most > 1 else "Nothing can be permuted.",
        )
