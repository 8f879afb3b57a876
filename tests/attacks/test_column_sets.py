"""Distinction, separation and chances of column sets, checked against a loop over pairs of rows."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.attacks.column_sets import compute_set_risks, limit_column_sets
from discreet.attacks.declaration import AttackedTable
from tests.drawing import some_of
from tests.oracle.plain_attacks import chances, class_of

COLUMNS = ("a", "b", "c")
ROWS = st.lists(st.tuples(*(st.integers(0, 2) for _ in COLUMNS)), min_size=1, max_size=9)


def side_of(rows: list[tuple[int, ...]]) -> AttackedTable:
    counted = Counter(rows)
    types = sorted(counted)
    labels = tuple(("0", "1", "2", None) for _ in COLUMNS)
    return AttackedTable("before", COLUMNS, np.array(types), np.array([counted[t] for t in types]), labels)


@given(ROWS, st.integers(1, 3), st.integers(1, 4))
@examples(max_examples=some_of(40))
def test_every_set_is_counted(rows: list[tuple[int, ...]], largest: int, floor: int) -> None:
    dicts = [dict(zip(COLUMNS, map(str, row), strict=True)) for row in rows]
    found = list(compute_set_risks(side_of(rows), largest, floor))
    sets = [chosen for size in range(1, largest + 1) for chosen in combinations(COLUMNS, size)]
    assert [risk.attributes for risk in found] == sets
    for risk in found:
        classes = [class_of(row, risk.attributes) for row in dicts]
        pairs = list(combinations(classes, 2))
        assert risk.combinations == len(set(classes))
        assert risk.distinction == len(set(classes)) / len(rows)
        assert risk.separation == pytest.approx(sum(a != b for a, b in pairs) / len(pairs) if pairs else 1.0)
        risks = chances(dicts, risk.attributes)
        assert risk.distinction == pytest.approx(sum(risks) / len(rows))
        assert risk.highest == pytest.approx(max(risks))
        assert risk.unique_rows == sum(each == 1 for each in risks)
        assert risk.over == sum(each > 1 / floor for each in risks)


def test_wide_table_has_smaller_sets() -> None:
    assert limit_column_sets(9, 3) == 3
    assert limit_column_sets(60, 3) == 2
    assert limit_column_sets(9000, 3) == 1
    assert list(
        compute_set_risks(
            AttackedTable("after", COLUMNS, np.empty((0, 3), int), np.empty(0, int), ((None,),) * 3), 1
        )
    )
