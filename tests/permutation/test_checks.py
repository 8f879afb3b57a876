"""Recounting of partitions, and proximity, checked against plain loops over the rows."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError, InternalError
from discreet.model.release_kind import NULL_CODE, GroupPartition, GroupRequirement, SensitiveColumn
from discreet.permutation.group_checks import check_partition, measure_proximity, proximity_warning
from discreet.permutation.partitions import partition_rows
from tests.drawing import some_of
from tests.permutation.test_optimizers import column_of
from tests.permutation.test_partitions import categories, group_requirement, numbers_column, with_nulls


def shares(values: list[Fraction | None], groups: list[int], epsilon: Fraction) -> list[Fraction]:
    """Return, for each row with a value, the share of its group's values within ε of it."""
    found = []
    for value, group in zip(values, groups, strict=True):
        if value is None:
            continue
        own = [v for v, g in zip(values, groups, strict=True) if g == group and v is not None]
        found.append(Fraction(sum(abs(v - value) <= epsilon for v in own), len(own)))
    return found


@pytest.mark.parametrize("scale", [0, 1])
@pytest.mark.parametrize("factor", [1, 2**58])
def test_proximity_equals_a_loop_over_rows(scale: int, factor: int) -> None:
    drawn = random.Random(12)
    for _ in range(some_of(150)):
        size = drawn.randint(1, 12)
        whole = [factor * drawn.randint(-12, 12) for _ in range(size)]
        column = with_nulls(column_of(whole, scale), [drawn.randint(0, size)])
        groups = np.array([drawn.randint(0, 2) for _ in range(size + 1)])
        epsilon = Decimal(drawn.choice(("0", "0.1", "0.5", "0.99"))) * 10 * factor
        assert column.numbers is not None
        values = [
            None if code == NULL_CODE else Fraction(int(column.numbers[code]), 10**scale)
            for code in column.codes.tolist()
        ]
        expected = shares(values, groups.tolist(), Fraction(epsilon))
        found = measure_proximity(column, groups, epsilon)
        assert found.worst_share == max(expected)
        assert found.rows == sum(share > Fraction(1, 2) for share in expected)


def test_proximity_of_doubles_is_exact() -> None:
    column = numbers_column(np.array([0.1, 0.2, 0.30000000000000004, 7.0]))
    groups = np.zeros(4, dtype=np.int64)
    assert measure_proximity(column, groups, Decimal("0.1")).worst_share == Fraction(1, 4)
    assert measure_proximity(column, groups, Decimal(repr(0.2)) + Decimal("1e-16")).worst_share == Fraction(
        3, 4
    )


def test_group_with_one_outlier_is_warned_about_without_a_value() -> None:
    """A group with one outlier gets a warning without a value.

    Nine tenths of the group are within a narrow interval; one row makes the range wide.
    """
    column = column_of([*range(731, 740), 9977])
    found = partition_rows(column, group_requirement(3, 1000))
    assert found.group_count == 1
    text = proximity_warning(column, found)
    assert text is not None
    assert "9 rows" in text
    assert "90 %" in text
    assert "731" not in text
    assert "9977" not in text
    wide = partition_rows(column_of([0, 100, 200, 300]), group_requirement(4, 100))
    assert proximity_warning(column_of([0, 100, 200, 300]), wide) is None
    assert (
        proximity_warning(categories("aab"), partition_rows(categories("aab"), group_requirement(2))) is None
    )


@pytest.mark.parametrize("epsilon", ["-1", "NaN"])
def test_invalid_epsilon_is_refused(epsilon: str) -> None:
    with pytest.raises(InputError, match="ε"):
        measure_proximity(column_of([1, 2]), np.array([0, 0]), Decimal(epsilon))
    with pytest.raises(InputError, match="not numeric"):
        measure_proximity(categories("ab"), np.array([0, 0]), Decimal(1))


def test_column_without_values_has_a_share_of_0() -> None:
    empty = SensitiveColumn("pay", np.array([NULL_CODE]), 0, np.zeros(0, np.int64))
    found = measure_proximity(empty, np.array([0]), Decimal(1))
    assert found.worst_share == 0


def test_groups_are_counted_again() -> None:
    column = with_nulls(column_of([5, 5, 8, 1, 9]), [1])
    groups = np.array([0, 0, 0, 0, 1, 1])
    found = check_partition(column, groups, group_requirement(2, 3))
    assert found.holds
    assert (found.groups, found.rows, found.rows_without_value) == (2, 6, 1)
    assert (found.least_distinct, found.least_range) == (2, 3)
    assert check_partition(column, groups, group_requirement(2, 4)).failing == 1
    assert check_partition(column, groups, group_requirement(3)).failing == 2
    assert not check_partition(column, np.array([0, 0, 0, 0, 2, 2]), group_requirement(2)).holds
    assert not check_partition(column, np.array([-1, 0, 0, 0, 1, 1]), group_requirement(2)).holds
    with pytest.raises(InternalError):
        check_partition(column, groups[:5], group_requirement(2))


def test_first_group_is_checked_by_its_own_requirement() -> None:
    column = column_of([1, 2, 3, 4, 5])
    groups = np.array([0, 0, 0, 1, 1])
    assert check_partition(column, groups, group_requirement(2), group_requirement(3)).holds
    assert not check_partition(column, groups, group_requirement(2), group_requirement(4)).holds
    assert check_partition(
        column, np.array([0, 0, 1, 1, 1]), group_requirement(3), group_requirement(2)
    ).holds
    assert not check_partition(column, groups, group_requirement(3), group_requirement(2)).holds
    assert not check_partition(
        column, np.array([1, 1, 1, 0, 0]), group_requirement(2), group_requirement(3, 5)
    ).holds


def test_every_strategy_meets_the_first_group_requirement() -> None:
    column = column_of([1, 2, 3, 4, 5, 6, 7, 8])
    for strategy in ("min-sum", "min-max", "contiguous-min-max"):
        found = partition_rows(column, group_requirement(2), strategy, first=group_requirement(4, 3))
        assert found.first == group_requirement(4, 3)
        own = [np.flatnonzero(found.groups == group) for group in range(found.group_count)]
        first = next(rows for rows in own if 0 in rows)
        assert len(first) >= 4
        assert found.group_count == 3


def test_partition_of_categories_has_no_range() -> None:
    column = categories("abcab")
    found: GroupPartition = partition_rows(column, GroupRequirement(2))
    counted = check_partition(column, found.groups, GroupRequirement(2))
    assert counted.least_range is None
    assert counted.holds
