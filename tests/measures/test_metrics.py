"""Metrics, checked against their definitions row by row on small random releases."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.frequency.rollup import roll_up
from discreet.measures.cost_registry import cost_over
from discreet.measures.generalized_table import ClassSizes, GeneralizedTable, ReleasePair, merge_equal_groups
from discreet.measures.metrics import (
    METRICS,
    Better,
    metric_named,
    metric_values,
    size_metric_values,
    table_metric_values,
)
from discreet.measures.node_statistics import NodeStatistics
from discreet.measures.recoding_metrics import recoding_granularity
from discreet.model.class_recoding import RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.published_cells import Cells
from discreet.model.requirement import Requirement
from tests.drawing import some_of
from tests.oracle import plain_metrics as plain
from tests.oracle.random_tables import frequency_set_of, random_frequency_set

NUMBERS = GeneralizationHierarchy(
    "n",
    (("1", "2", "4", "8"), ("1-2", "4-8"), (TOP,)),
    tuple(np.array(a) for a in ([0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0])),
    "given",
)
WORDS = GeneralizationHierarchy(
    "w",
    (("a", "b", "c"), ("ab", "c"), (TOP,)),
    tuple(np.array(a) for a in ([0, 1, 2], [0, 0, 1], [0, 0, 0])),
    "given",
)
HIERARCHIES = (NUMBERS, WORDS)

codes = st.tuples(st.integers(0, 4), st.integers(0, 3))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[tuple[frozenset[int], ...]]]:
    """Draw an original and a release of some of its rows; cells cover the row's value and maybe others."""
    original = draw(st.lists(codes, min_size=1, max_size=7))
    kept = original[: draw(st.integers(0, len(original)))]
    rows = []
    for row in kept:
        cells = []
        for code, hierarchy in zip(row, HIERARCHIES, strict=True):
            others = draw(st.frozensets(st.integers(0, len(hierarchy.leaves)), max_size=3))
            cells.append(others | {code})
        rows.append(tuple(cells))
    return original, rows


def comparison_of(
    original: list[tuple[int, ...]], rows: list[tuple[frozenset[int], ...]], k: int = 1
) -> ReleasePair:
    frequency_set = frequency_set_of(HIERARCHIES, [(row, ()) for row in original])
    cells, columns = [], []
    for i, hierarchy in enumerate(HIERARCHIES):
        kinds = sorted({row[i] for row in rows}, key=sorted) or [frozenset({0})]
        cells.append(cells_of(hierarchy, kinds))
        columns.append([kinds.index(row[i]) for row in rows])
    shown = np.array(columns, dtype=np.int64).T.reshape(len(rows), len(HIERARCHIES))
    shown, counts = merge_equal_groups(shown, np.ones(len(rows), dtype=np.int64))
    release = GeneralizedTable(tuple(cells), shown, counts)
    return ReleasePair(frequency_set, release, len(original) - len(rows), k)


def cells_of(hierarchy: GeneralizationHierarchy, kinds: list[frozenset[int]]) -> Cells:
    intervals = [[(code, code) for code in sorted(kind)] for kind in kinds]
    flat = np.array([pair for part in intervals for pair in part], dtype=np.int64)
    return Cells(
        hierarchy.attribute,
        len(hierarchy.leaves),
        tuple(str(i) for i in range(len(kinds))),
        np.cumsum([0, *(len(part) for part in intervals)]),
        flat[:, 0],
        flat[:, 1],
    )


@settings(max_examples=some_of(120), deadline=None)
@given(tables())
def test_metrics_of_random_releases_equal_their_definitions(
    table: tuple[list[tuple[int, ...]], list[tuple[frozenset[int], ...]]],
) -> None:
    original, rows = table
    comparison = comparison_of(original, rows)
    suppressed = len(original) - len(rows)
    all_rows = [*rows, *[plain.everything(HIERARCHIES)] * suppressed]
    found = {m.metric.name: m.value for m in metric_values(comparison)}
    approx = pytest.approx
    assert found["loss"] == approx(plain.loss(all_rows, HIERARCHIES))
    assert found["granularity"] == approx(plain.granularity(all_rows, HIERARCHIES))
    assert found["ncp"] == approx(plain.certainty_penalty(all_rows, HIERARCHIES))
    assert found["gcp"] == approx(plain.certainty_penalty(all_rows, HIERARCHIES) / len(original) / 2)
    assert found["entropy"] == approx(plain.entropy(original, all_rows), abs=1e-9)
    assert found["ambiguity"] == approx(plain.ambiguity(all_rows, HIERARCHIES))
    levels = [plain.level_of([row[i] for row in rows], h) for i, h in enumerate(HIERARCHIES)]
    assert found["height"] == (None if None in levels else sum(level or 0 for level in levels))
    assert found["precision"] == approx(plain.precision(rows, suppressed, HIERARCHIES))
    sizes = sorted(rows.count(kind) for kind in set(rows))
    assert found["classes"] == len(sizes)
    assert found["c-dm"] == sum(size**2 for size in sizes) + suppressed * len(original)
    assert found["c-avg"] == approx(len(original) / max(len(sizes), 1))
    assert found["largest-class"] == (sizes[-1] if sizes else None)
    assert found["suppressed-cells"] == sum(
        plain.leaves_of(cell, h) == len(h.leaves)
        for row in all_rows
        for cell, h in zip(row, HIERARCHIES, strict=True)
    )
    nullable = [any(row[i] == h.null_code for row in original) for i, h in enumerate(HIERARCHIES)]
    if all(nullable[i] or cell <= frozenset(range(len(h.leaves))) for row in rows
           for i, (cell, h) in enumerate(zip(row, HIERARCHIES, strict=True))):  # fmt: skip
        assert found["kl-divergence"] == approx(plain.divergence(original, all_rows, HIERARCHIES), abs=1e-9)


def test_divergence_of_a_release_that_covers_nothing_is_infinite() -> None:
    comparison = comparison_of([(0, 0)], [(frozenset({1}), frozenset({1}))])
    assert metric_named("kl-divergence").of(comparison) == inf


@pytest.mark.parametrize("seed", range(some_of(20)))
def test_granularity_of_a_recoding_equals_that_of_its_release(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=6, rows=30, sensitive=0)
    classes = random.integers(0, 4, table.row_types)
    classes = np.unique(classes, return_inverse=True)[1] - int(random.random() < 0.5)
    if (classes < 0).all():
        return
    summary = [Summary.LCA, Summary.RANGES, Summary.SETS][seed % 3]
    recoding = classes_to_recoding(table, classes, Requirement(1), RecodingModel.CELL_GENERALIZATION, summary)
    released = metric_named("granularity").of(ReleasePair.of_recoding(table, recoding))
    assert recoding_granularity(table, recoding) == pytest.approx(released)


@settings(max_examples=some_of(200), deadline=None)
@given(tables())
def test_usefulness_of_a_release_is_known_only_where_classes_are_disjoint(
    table: tuple[list[tuple[int, ...]], list[tuple[frozenset[int], ...]]],
) -> None:
    """Usefulness equals that of every assignment of rows to classes; it is None if classes overlap."""
    original, rows = table[0][:6], table[1][:6]
    found = metric_named("usefulness").of(comparison_of(original, rows))
    ways = plain.ways_to_make(original, rows)
    useful = [plain.usefulness(groups, original, HIERARCHIES) for groups in ways]
    if found is not None:
        assert useful == pytest.approx([found] * len(useful))
    classes = set(rows)
    covered = [{row for row in original if all(map(frozenset.__contains__, cells, row))} for cells in classes]
    apart = sum(map(len, covered)) == len(set().union(*covered))
    full = all(
        sum(row in inside for row in original) == rows.count(cells)
        for cells, inside in zip(classes, covered, strict=True)
    )
    assert (found is not None) == (apart and full)


def test_metrics_of_numbers_declared_non_numeric_count_values() -> None:
    original = [(0, 0), (0, 1), (1, 0), (3, 2)]
    plainly = comparison_of(original, [(frozenset({code}), frozenset({other})) for code, other in original])
    found = [
        metric_named("usefulness").of(replace(plainly, numeric=declared))
        for declared in ({}, {"n": True}, {"n": False}, {"w": False})
    ]
    assert found == pytest.approx([1 / 3, 1 / 3, 1 / 3 + 1 / 3, 1 / 3])
    starred = comparison_of(original, [(frozenset(range(4)), frozenset(range(3)))] * 4)
    assert metric_named("ncp").of(replace(starred, numeric={"n": False})) == 8
    halves = [(frozenset({0, 1}), frozenset({code})) for _, code in original]
    ratios = [
        metric_named("ncp").of(replace(comparison_of(original, halves), numeric=n))
        for n in ({}, {"n": False})
    ]
    assert ratios == pytest.approx([4 / 7, 4 * 2 / 4])
    with pytest.raises(InputError, match="'w' is declared numeric"):
        metric_named("usefulness").of(replace(plainly, numeric={"w": True}))


@settings(max_examples=some_of(60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.data())
def test_metrics_of_full_domain_releases_equal_costs_of_nodes(seed: int, data: st.DataObject) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=12, sensitive=0)
    assume(table.rows)
    node = tuple(data.draw(st.integers(0, h.height)) for h in table.hierarchies)
    k = data.draw(st.integers(1, 3))
    comparison = released(table, node, k)
    counted = roll_up(table, node)
    statistics = NodeStatistics(
        node,
        table.hierarchies,
        Requirement(k),
        counted.counts,
        counted.counts < k,
        lambda at: table.codes[np.array([np.flatnonzero(counted.class_of == c)[0] for c in at], dtype=int)],
    )
    for metric, cost in (
        ("loss", "loss"),
        ("c-dm", "dm"),
        ("c-avg", "c-avg"),
        ("entropy", "entropy"),
        ("ambiguity", "ambiguity"),
        ("kl-divergence", "kl-divergence"),
    ):
        expected = cost_over(cost, table, Requirement(k)).of(statistics)
        assert metric_named(metric).of(comparison) == pytest.approx(expected, abs=1e-9), metric
    height = metric_named("height").of(comparison)
    assert height is not None
    assert height <= sum(node)


def released(table: FrequencySet, node: tuple[int, ...], k: int) -> ReleasePair:
    """Return a full-domain release whose classes below k are suppressed."""
    counted = roll_up(table, node)
    cells = []
    for i, (hierarchy, level) in enumerate(zip(table.hierarchies, node, strict=True)):
        number = len(hierarchy.labels[level])
        first = np.searchsorted(hierarchy.ancestors[level], np.arange(number))
        last = np.append(first[1:], len(hierarchy.leaves)) - 1
        if level == hierarchy.height and (table.codes[:, i] == hierarchy.null_code).any():
            last = last + 1  # the top represents NULL if there is one
        null = len(hierarchy.leaves)
        cells.append(
            Cells(
                hierarchy.attribute,
                null,
                (*hierarchy.labels[level], None),
                np.arange(number + 2),
                np.append(first, null),
                np.append(last, null),
            )
        )
    kept = counted.counts >= k
    release = GeneralizedTable(tuple(cells), counted.codes[kept], counted.counts[kept])
    return ReleasePair(table, release, int(counted.counts[~kept].sum()), k)


def test_height_and_precision_of_a_full_domain_release_equal_its_levels() -> None:
    table = frequency_set_of(HIERARCHIES, [((n, w), ()) for n, w in product(range(4), range(3))])
    for node in product(range(3), range(3)):
        comparison = released(table, node, 1)
        assert metric_named("height").of(comparison) == sum(node)
        assert metric_named("precision").of(comparison) == pytest.approx(1 - sum(node) / 4)


def test_metrics_of_an_ungeneralized_table_are_lossless() -> None:
    table = frequency_set_of(HIERARCHIES, [((0, 0), ()), ((0, 0), ()), ((4, 2), ())])
    found = {m.metric.name: m.value for m in metric_values(ReleasePair.ungeneralized(table))}
    assert found["precision"] == found["granularity"] == found["ambiguity"] == 1
    for name in ("loss", "ncp", "gcp", "entropy", "kl-divergence", "suppressed-rows", "suppressed-cells"):
        assert found[name] == pytest.approx(0.0, abs=1e-12)
    assert {m.metric.name for m in table_metric_values(ReleasePair.ungeneralized(table))} < set(found)


def test_usefulness_of_nursery_equals_the_paper() -> None:
    """Nursery with one starred attribute has the usefulness 3.2 of Bredereck et al. 2013, Table 3.

    3.2 = 1/3 + 1/5 + 1/4 + 1/4 + 1/3 + 1/2 + 1/3 + 1.
    """
    sizes = (3, 5, 4, 4, 3, 2, 3, 3)
    hierarchies = tuple(
        GeneralizationHierarchy(
            f"a{i}",
            (tuple(f"v{j}" for j in range(size)), (TOP,)),
            (np.arange(size), np.zeros(size, dtype=np.int64)),
            "given",
        )
        for i, size in enumerate(sizes)
    )
    rows = np.array(list(product(*map(range, sizes))), dtype=np.int64)
    table = FrequencySet(hierarchies, rows, np.ones(len(rows), dtype=np.int64))
    found = []
    for starred in range(len(sizes)):
        node = tuple(int(i == starred) for i in range(len(sizes)))
        found.append(metric_named("usefulness").of(released(table, node, 2)))
    expected = [1 + sum(1 / size for j, size in enumerate(sizes) if j != i) for i in range(len(sizes))]
    assert found == pytest.approx(expected)
    assert found[-1] == pytest.approx(3.2)


def test_size_metrics_are_computed_from_class_sizes() -> None:
    sizes = ClassSizes.of({5: 2, 2: 3}, suppressed=4)
    found = {m.metric.name: m.value for m in size_metric_values(sizes, 2)}
    assert found == {
        "classes": 5,
        "smallest-class": 2,
        "mean-class": 16 / 5,
        "largest-class": 5,
        "c-dm": 62 + 4 * 20,
        "c-avg": 20 / 5 / 2,
        "suppressed-rows": 4,
    }
    empty = {m.metric.name: m.value for m in size_metric_values(ClassSizes.of({}), 2)}
    assert (empty["classes"], empty["mean-class"], empty["c-dm"]) == (0, None, 0)


def test_metrics_page_lists_the_registry() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    with pytest.raises(InputError, match="the metric 'x'"):
        metric_named("x")
    page = (Path(__file__).resolve().parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    for m in METRICS:
        better = "–" if m.better is Better.NEITHER else m.better
        cells = (f"`{m.name}`", m.title, m.definition, m.unit, better, m.source)
        assert f"| {' | '.join(cells)} |" in page, m.name
