"""Minimal sample uniques and their scores: kernel, numpy twin and loop agree, and match printed scores."""

from __future__ import annotations

from collections import Counter
from math import exp, factorial, lgamma, log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.attacks import suda as module
from discreet.attacks.population_risk import compute_individual_risks
from discreet.attacks.suda import (
    MinimalUniqueSets,
    compute_suda_scores,
    count_minimal_uniques,
    find_minimal_sets,
)
from discreet.model.request import Backend
from tests.drawing import some_of
from tests.oracle import plain_attacks

COLUMNS = ("a", "b", "c", "d")
ROWS = st.lists(st.tuples(*(st.integers(0, 2) for _ in COLUMNS)), min_size=1, max_size=12)
BOTH = pytest.mark.parametrize("evaluator", [Backend.TWIN, Backend.KERNELS])


def types_of(rows: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    counted = Counter(rows)
    types = sorted(counted)
    return np.array(types, dtype=np.int64), np.array([counted[t] for t in types])


def pairs(found: MinimalUniqueSets) -> list[tuple[int, int]]:
    return sorted(zip(found.rows.tolist(), found.masks.tolist(), strict=True))


def plain_sets(rows: list[tuple[int, ...]], largest: int) -> list[set[frozenset[str]]]:
    dicts = [dict(zip(COLUMNS, map(str, row), strict=True)) for row in rows]
    return plain_attacks.minimal_sets(dicts, COLUMNS, largest)


def plain_pairs(rows: list[tuple[int, ...]], largest: int) -> list[tuple[int, int]]:
    types = sorted(Counter(rows))
    return sorted(
        (types.index(row), sum(1 << COLUMNS.index(c) for c in each))
        for row, found in zip(rows, plain_sets(rows, largest), strict=True)
        for each in found
    )


@BOTH
@given(ROWS, st.integers(1, 4))
@examples(max_examples=some_of(40))
def test_minimal_sets_equal_their_definition(
    evaluator: Backend, rows: list[tuple[int, ...]], largest: int
) -> None:
    types, counts = types_of(rows)
    assert pairs(find_minimal_sets(types, counts, largest, evaluator=evaluator)) == plain_pairs(rows, largest)
    found = count_minimal_uniques(COLUMNS, types, counts, largest=largest)
    plain = plain_sets(rows, largest)
    sizes = range(1, largest + 1)
    assert found.rows == int((counts == 1).sum())
    assert found.sets == tuple(sum(len(s) == n for sets in plain for s in sets) for n in sizes)
    smallest = [min(map(len, sets), default=0) for sets in plain]
    assert found.rows_by_size == tuple(smallest.count(n) for n in sizes)
    assert dict(found.by_attribute) == {c: sum(any(c in s for s in sets) for sets in plain) for c in COLUMNS}


@given(ROWS, st.integers(2, 4), st.sampled_from([0.01, 0.3]))
@examples(max_examples=some_of(40))
def test_scores_equal_their_formulas(rows: list[tuple[int, ...]], largest: int, fraction: float) -> None:
    types, counts = types_of(rows)
    found = compute_suda_scores(
        find_minimal_sets(types, counts, largest, evaluator=Backend.TWIN), counts, fraction
    )
    scores = [0.0] * len(types)
    for row, mask in plain_pairs(rows, largest):
        scores[row] += prod(4 - i for i in range(mask.bit_count(), min(largest, 3) + 1))
    assert found.scores.tolist() == scores
    uniques, doubles = int((counts == 1).sum()), int((counts == 2).sum())
    if uniques:
        dis = uniques * fraction / (uniques * fraction + 2 * doubles * (1 - fraction))
        assert found.dis == pytest.approx(dis)
        some = [score for score in scores if score]
        adjust = sum(score**-1.2 for score in some)
        plain = [
            1 / (1 + (uniques / dis - uniques) / (score**1.2 * adjust)) if score else 0 for score in scores
        ]
        assert found.dis_scores.tolist() == pytest.approx(plain)


def survey() -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return ten persons by residence, gender, education and labour status, as in the guide of sdcMicro.

    Source: Benschop, Machingauta and Welch, Statistical Disclosure Control: A Practice Guide, "Measuring
    risk".
    """
    rows = [
        *[(0, 0, 0, 0)] * 2,
        (0, 0, 1, 1),
        (0, 1, 2, 0),
        (1, 0, 2, 2),
        (0, 1, 2, 0),
        (0, 0, 3, 1),
        (0, 1, 4, 2),
        *[(0, 0, 0, 1)] * 2,
    ]
    types, counts = types_of(rows)
    order = sorted(Counter(rows))
    return types, counts, [order.index(row) for row in rows]


@BOTH
def test_scores_equal_those_printed_in_the_guide(evaluator: Backend) -> None:
    types, counts, place = survey()
    found = compute_suda_scores(find_minimal_sets(types, counts, 3, evaluator=evaluator), counts, 0.01)
    assert [found.scores[i] for i in place] == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    found = compute_suda_scores(found.sets, counts, 0.01, "ihsn")
    printed = [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    assert [round(found.dis_scores[i], 4) for i in place] == printed


@pytest.mark.parametrize(
    ("rows", "people"), [(1, 17.0), (2, 110.0), (3, 10.0), (39, 80.0), (41, 80.0), (60, 900.0), (4, 4.0)]
)
def test_individual_risk_is_the_mean_of_one_by_people(rows: int, people: float) -> None:
    p = rows / people
    if p == 1:
        plain = 1 / rows
    else:
        plain = sum(
            exp(lgamma(n) - lgamma(rows) - lgamma(n - rows + 1) + rows * log(p) + (n - rows) * log(1 - p)) / n
            for n in range(rows, 8000)
        )
    found = compute_individual_risks(np.array([rows]), np.array([people]))
    assert found.tolist() == pytest.approx([plain], rel=1e-6)


def test_one_column_contributes_everything() -> None:
    types = np.array([[0, 0], [1, 0], [2, 0]])
    found = compute_suda_scores(
        find_minimal_sets(types, np.ones(3, dtype=np.int64)), np.ones(3, dtype=np.int64), 0.1
    )
    assert found.contributions.tolist() == [1.0, 0.0]
    assert found.scores.tolist() == [factorial(1)] * 3


def test_too_many_sets_lower_the_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    types = np.array([[i >> j & 1 for j in range(6)] for i in range(64)])
    counts = np.ones(64, dtype=np.int64)
    assert find_minimal_sets(types, counts, evaluator=Backend.KERNELS).largest == 6
    many = np.array([[i % 7, i % 11, i % 13, i % 17, i % 19] for i in range(1500)])
    ones = np.ones(1500, dtype=np.int64)
    whole = find_minimal_sets(many, ones, evaluator=Backend.KERNELS)
    monkeypatch.setattr(module, "_MOST_SETS", 2000)
    assert find_minimal_sets(many, ones, evaluator=Backend.KERNELS).largest < whole.largest
    assert module.limit_set_size(1500, 5, 5, steps=1) == 1


def test_too_many_columns_lower_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_CELLS", 20)
    codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1]])
    found = count_minimal_uniques(("a", "b", "c"), codes, np.array([1, 1, 1]))
    assert found.largest == 1
    assert found.sets == (3,)
    assert found.as_json()["largest_set"] == 1


def test_progress_reports_each_step() -> None:
    steps: list[tuple[int, int]] = []
    find_minimal_sets(
        np.array([[0, 0], [0, 1]]),
        np.array([1, 1]),
        evaluator=Backend.TWIN,
        progress=lambda *s: steps.append(s),
    )
    assert steps == [(1, 3), (2, 3), (3, 3)]
