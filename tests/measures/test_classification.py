from __future__ import annotations

import sys

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.measures.classification_accuracy import measure_accuracy
from discreet.measures.generalized_table import GeneralizedTable, exact_cells, merge_equal_groups
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.published_cells import Cells

TARGETS = ("no", "yes")


def hierarchy(leaves: int, numeric: bool = True) -> GeneralizationHierarchy:
    labels = tuple(str(i) if numeric else f"v{i}" for i in range(leaves))
    halves = np.arange(leaves) * 2 // leaves
    return GeneralizationHierarchy(
        "x",
        (labels, ("low", "high"), (TOP,)),
        (np.arange(leaves), halves, np.zeros(leaves, dtype=np.int64)),
        "given",
    )


def original(leaves: int, seed: int = 1) -> GeneralizedTable:
    """Return a table whose target is yes from the middle upwards, except for one row in ten."""
    random = np.random.default_rng(seed)
    x = random.integers(0, leaves + 1, 600)
    target = (x >= leaves // 2) ^ (random.random(600) < 0.1)
    shown, rows = merge_equal_groups(
        np.stack([x, target], axis=1).astype(np.int64), np.ones(600, dtype=np.int64)
    )
    cells = (exact_cells("x", hierarchy(leaves).leaves), exact_cells("target", TARGETS))
    return GeneralizedTable(cells, shown, rows)


def released(table: GeneralizedTable, leaves: int, level: int) -> GeneralizedTable:
    source = hierarchy(leaves)
    number = len(source.labels[level])
    first = np.searchsorted(source.ancestors[level], np.arange(number))
    last = np.append(first[1:], leaves) - 1
    x = Cells(
        "x",
        leaves,
        (*source.labels[level], None),
        np.arange(number + 2),
        np.append(first, leaves),
        np.append(last + (level == 2), leaves),
    )
    shown = table.shown.copy()
    shown[:, 0] = source.level_map(level)[shown[:, 0]]
    shown, rows = merge_equal_groups(shown, table.rows)
    return GeneralizedTable((x, table.cells[1]), shown, rows)


@pytest.mark.parametrize("leaves", [10, 120])
def test_accuracy_depends_on_retained_detail(leaves: int) -> None:
    table = original(leaves)
    halves = measure_accuracy(table, released(table, leaves, 1), [hierarchy(leaves)])
    nothing = measure_accuracy(table, released(table, leaves, 2), [hierarchy(leaves)])
    same = measure_accuracy(table, table, [hierarchy(leaves)])
    assert halves.held_out == nothing.held_out == 150
    assert same.release == same.original
    assert halves.release > 0.8 > 0.65 > nothing.release
    assert nothing.release == nothing.majority
    assert halves.recovered is not None
    assert halves.recovered > 0.8
    assert nothing.recovered == 0.0
    assert halves.original == nothing.original > 0.8


def test_accuracy_with_equal_seeds_is_equal() -> None:
    table = original(60)
    words = hierarchy(60, numeric=False)
    first, again, other = (
        measure_accuracy(table, released(table, 60, 1), [words], seed=seed) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert first.release > 0.8
    assert first.as_json()["held_out_rows"] == 150


def test_target_with_one_value_is_refused() -> None:
    table = original(10)
    one = GeneralizedTable(table.cells, table.shown[:1], table.rows[:1])
    with pytest.raises(InputError, match="has 1 values"):
        measure_accuracy(one, one, [hierarchy(10)])


def test_missing_scikit_learn_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(InputError, match=r"discreet\[classification\]"):
        measure_accuracy(original(10), original(10), [hierarchy(10)])
