"""32-bit row numbers, and the memory that a permutation takes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from discreet.model.release_kind import GroupRequirement, SensitiveColumn
from discreet.permutation.group_checks import check_partition, proximity_warning
from discreet.permutation.partitions import partition_rows
from discreet.permutation.row_positions import is_permutation_within, permute_within, working_bytes
from discreet.permutation.subject_groups import count_group_facts
from discreet.permutation.value_runs import ValueParts, ValueRuns

ROWS = 600_000


def column(rows: int, distinct: int, *, narrow: bool = True) -> SensitiveColumn:
    """Return a column that cycles through all values, with rows in random order."""
    codes = np.random.default_rng(rows).permutation(np.arange(rows) % distinct)
    numbers = np.arange(distinct, dtype=np.int64) * 7
    return SensitiveColumn("pay", codes.astype(np.int32 if narrow else np.int64), distinct, numbers)


def test_cuts_and_values_are_joined_as_in_plain_python() -> None:
    random = np.random.default_rng(5)
    for _ in range(200):
        counts = random.integers(1, 5, random.integers(1, 12))
        rows = [value for value, count in enumerate(counts.tolist()) for _ in range(count)]
        cuts = np.flatnonzero(random.random(len(rows)) < 0.3)
        cuts = cuts[cuts > 0]
        found: dict[tuple[int, int], int] = {}
        for place, value in enumerate(rows):
            key = (value, int((cuts <= place).sum()))
            found[key] = found.get(key, 0) + 1
        parts = ValueParts.of_cuts(counts, cuts)
        lines = zip(parts.values.tolist(), parts.groups.tolist(), parts.rows.tolist(), strict=True)
        assert [((value, group), count) for value, group, count in lines] == list(found.items())


def test_narrow_numbers_are_counted_like_wide_ones() -> None:
    """Narrow numbers are counted like wide ones, although 20,000 groups × 60,000 values exceed 32 bits."""
    for made in (column(60_000, 60_000, narrow=kind) for kind in (True, False)):
        groups = (made.codes // 3).astype(made.codes.dtype)
        facts = count_group_facts(ValueRuns.of(made), groups, 20_000)
        assert facts.least.tolist() == list(range(0, 60_000, 3))
        assert facts.most.tolist() == list(range(2, 60_000, 3))
        assert set(facts.distinct.tolist()) == set(facts.valued.tolist()) == {3}
        assert check_partition(made, groups, GroupRequirement(3)).holds
        assert not check_partition(made, groups, GroupRequirement(4)).holds


@pytest.mark.parametrize("distinct", [ROWS, ROWS // 2, ROWS // 20])
def test_memory_is_estimated_within_a_factor_of_two(distinct: int) -> None:
    made = column(ROWS, distinct)

    def work() -> None:
        found = partition_rows(made, GroupRequirement(10))
        assert proximity_warning(made, found) is None
        assert is_permutation_within(found.groups, permute_within(found.groups))

    work()  # warm up, so that one-time loading is not measured
    tracemalloc.start()
    try:
        work()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    arrays = working_bytes(ROWS, distinct) - working_bytes(0, 0) - 10**8
    assert arrays / 2 <= peak <= arrays * 1.2, (peak / 4 / ROWS, arrays / 4 / ROWS)
