"""Minimal sample uniques, checked against a loop over rows and column sets."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks import suda
from discreet.attacks.suda import count_minimal_uniques
from discreet.attacks.suda import find_minimal_sets as found_sets
from discreet.model.request import Backend
from tests.oracle.plain_attacks import minimal_sets

COLUMNS = ("a", "b", "c", "d")
ROWS = st.lists(st.tuples(*(st.integers(0, 2) for _ in COLUMNS)), min_size=1, max_size=9)


@given(ROWS, st.integers(1, 4))
def test_the_sets_are_those_of_the_definition(rows: list[tuple[int, ...]], largest: int) -> None:
    counted = Counter(rows)
    types = sorted(counted)
    found = count_minimal_uniques(
        COLUMNS, np.array(types), np.array([counted[t] for t in types]), largest=largest
    )
    plain = minimal_sets([dict(zip(COLUMNS, map(str, row), strict=True)) for row in rows], COLUMNS, largest)
    assert found.rows == sum(number == 1 for number in counted.values())
    assert found.sets == tuple(
        sum(len(s) == n for sets in plain for s in sets) for n in range(1, largest + 1)
    )
    assert found.rows_by_size == tuple(
        sum(min((len(s) for s in sets), default=0) == n for sets in plain) for n in range(1, largest + 1)
    )
    assert dict(found.by_attribute) == {c: sum(any(c in s for s in sets) for sets in plain) for c in COLUMNS}


def test_too_many_columns_lower_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suda, "_MOST_CELLS", 20)
    codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1]])
    found = count_minimal_uniques(("a", "b", "c"), codes, np.array([1, 1, 1]))
    assert found.largest == 1
    assert found.sets == (3,)
    assert found.as_json()["largest_set"] == 1


def test_steps_are_told() -> None:
    told: list[tuple[int, int]] = []
    found_sets(
        np.array([[0, 0], [0, 1]]),
        np.array([1, 1]),
        evaluator=Backend.TWIN,
        progress=lambda *s: told.append(s),
    )
    assert told == [(1, 3), (2, 3), (3, 3)]
