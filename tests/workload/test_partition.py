"""Workload-driven Mondrian and the errors of its releases."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.mondrian.space import CutSpace, Fragment, WidestFirst
from discreet.queries.aggregate_query import Aggregate, AggregateQuery, Everything
from discreet.queries.workload_text import parse_workload
from discreet.settings import Settings
from discreet.workload.answerable_table import table_of_frequency_set, table_of_recoding
from discreet.workload.query_answer import EstimatedAnswer, QueryError, WorkloadError, measure_workload_error
from discreet.workload.workload_partition import WorkloadCutChooser, partition_for_workload
from tests.drawing import some_of
from tests.oracle.plain_workload import truth_of
from tests.oracle.random_tables import frequency_set_of

SIDE = 6
SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("nowhere"))
HIERARCHIES = tuple(
    GeneralizationHierarchy(
        name,
        (tuple(str(i) for i in range(SIDE)), (TOP,)),
        (np.arange(SIDE), np.zeros(SIDE, dtype=np.int64)),
        "given",
    )
    for name in ("x", "y")
)
WORKLOAD = """
SELECT COUNT(*) FROM t WHERE x BETWEEN 1 AND 2 AND y <= 3;  -- weight 2
SELECT COUNT(*) FROM t WHERE y IN (0, 4);
SELECT AVG(x) FROM t WHERE x = 3 OR y IS NULL;
"""
QUERIES = parse_workload(WORKLOAD)

points = st.lists(st.tuples(st.integers(0, SIDE), st.integers(0, SIDE)), min_size=2, max_size=30)


def table_of(rows: list[tuple[int, int]]) -> FrequencySet:
    return frequency_set_of(HIERARCHIES, [(row, ()) for row in rows])


def row_of(codes: tuple[int, ...]) -> dict[str, str | None]:
    return {name: None if c == SIDE else str(c) for name, c in zip(("x", "y"), codes, strict=True)}


def cost_of(table: FrequencySet, row_types: np.ndarray, queries: tuple[AggregateQuery, ...]) -> float:
    """Compute the cost over every point of a class's box; NULL is the point after the last."""
    held = table.codes[row_types]
    low, high = held.min(axis=0), held.max(axis=0)
    box = [(x, y) for x in range(low[0], high[0] + 1) for y in range(low[1], high[1] + 1)]
    total = 0.0
    for query in queries:
        if any(truth_of(query.predicate, row_of(point)) is True for point in box):
            missed = [truth_of(query.predicate, row_of(tuple(codes))) is not True for codes in held.tolist()]
            total += query.weight * int(table.counts[row_types][missed].sum())
    return total


@limits(max_examples=some_of(40), deadline=None)
@given(points, st.integers(1, 3))
def test_first_cut_is_the_best_at_any_end_of_a_predicate(rows: list[tuple[int, int]], k: int) -> None:
    table = table_of(rows)
    options = MondrianOptions()
    chooser = WorkloadCutChooser.of(QUERIES, table, WidestFirst(options, k), k)
    fragment = Fragment(CutSpace.of(table, options), np.arange(table.row_types))
    before = cost_of(table, fragment.row_types, QUERIES)
    assert chooser.cost(fragment) == pytest.approx(before)
    best = before
    for attribute in range(2):
        for last in chooser.ends[attribute].tolist():
            left = fragment.ranks[:, attribute] <= last
            sides = (fragment.row_types[left], fragment.row_types[~left])
            if min(int(table.counts[side].sum()) for side in sides) >= k:
                best = min(best, sum(cost_of(table, side, QUERIES) for side in sides))
    cuts = list(chooser(fragment))
    assume(cuts)
    left = fragment.ranks[:, cuts[0].attribute] <= cuts[0].last
    sides = (fragment.row_types[left], fragment.row_types[~left])
    after = sum(cost_of(table, side, QUERIES) for side in sides)
    assert after <= before
    assert best == pytest.approx(min(after, before) if best < before else before)


@limits(max_examples=some_of(40), deadline=None)
@given(points, st.integers(1, 4))
def test_every_class_has_k_rows_and_every_row_a_class(rows: list[tuple[int, int]], k: int) -> None:
    assume(len(rows) >= k)
    table = table_of(rows)
    recoding = partition_for_workload(QUERIES, table, Requirement(k), SETTINGS)
    assert recoding.class_rows().min() >= k
    assert recoding.class_rows().sum() == table.rows
    for part, row_type in enumerate(recoding.row_types.tolist()):
        for i, cells in enumerate(recoding.cells):
            shown = recoding.shown[recoding.classes[part], [i]]
            assert cells.cover(shown, table.codes[[row_type], i]).all()


def test_irrelevant_workload_gives_mondrian() -> None:
    random = np.random.default_rng(5)
    table = table_of([(int(x), int(y)) for x, y in random.integers(0, SIDE, (80, 2))])
    plain = partition_table(table, Requirement(4), SETTINGS, evaluator="twin")
    for text in (
        "SELECT COUNT(*) FROM t",
        "SELECT COUNT(*) FROM t WHERE x = 2 -- weight 0",
        "SELECT COUNT(*) FROM t WHERE x > 99",
    ):
        found = partition_for_workload(parse_workload(text), table, Requirement(4), SETTINGS)
        assert np.array_equal(found.classes, plain.classes)


def test_workload_partition_answers_better_than_mondrian() -> None:
    random = np.random.default_rng(6)
    table = table_of([(int(x), int(y)) for x, y in random.integers(0, SIDE, (600, 2))])
    queries = parse_workload("SELECT COUNT(*) FROM t WHERE x <= 0; SELECT COUNT(*) FROM t WHERE y IN (1, 4)")
    original = table_of_frequency_set(table)
    errors = []
    for recoding in (
        partition_table(table, Requirement(60), SETTINGS, evaluator="twin"),
        partition_for_workload(queries, table, Requirement(60), SETTINGS),
    ):
        found = measure_workload_error(queries, original, table_of_recoding(table, recoding, attained=True))
        assert found.outside == 0
        errors.append(found.mean_absolute or 0.0)
    assert errors[1] < errors[0]


def test_predicates_over_other_columns_are_refused() -> None:
    queries = parse_workload("SELECT SUM(z) FROM t WHERE x = 1; SELECT COUNT(*) FROM t WHERE z = 1")
    with pytest.raises(InputError, match="restricts 'z'"):
        partition_for_workload(queries, table_of([(0, 0), (1, 1)]), Requirement(1), SETTINGS)


MANY_QUERIES = parse_workload("""
SELECT COUNT(*) FROM t;
SELECT COUNT(x) FROM t WHERE y <> 2;
SELECT COUNT(*) FROM t WHERE x BETWEEN 1 AND 4 AND y IS NOT NULL;
SELECT SUM(x) FROM t WHERE y < 3 OR x > 4;
SELECT AVG(y) FROM t WHERE x IN (1, 2, 5);
SELECT MIN(x) FROM t WHERE y >= 2;
SELECT MAX(y) FROM t WHERE x >= 1 AND y < 5;
SELECT MIN(x) FROM t;
SELECT MAX(x) FROM t WHERE y IS NULL;
""")


@limits(max_examples=some_of(60), deadline=None)
@given(points, st.integers(1, 4), st.sampled_from(["ranges", "means", "sets", "lca"]), st.booleans())
def test_truth_is_within_the_sure_bounds(
    rows: list[tuple[int, int]], k: int, summary: str, relaxed: bool
) -> None:
    table = table_of(rows)
    options = MondrianOptions(relaxed=relaxed, summary=summary)  # type: ignore[arg-type]
    k = min(k, table.rows)
    recoding = partition_table(table, Requirement(k), SETTINGS, options, evaluator="twin")
    release = table_of_recoding(table, recoding, attained=summary in ("ranges", "means"))
    found = measure_workload_error(MANY_QUERIES, table_of_frequency_set(table), release)
    for query in found.queries:
        assert query.holds, query
        if query.answer.estimate is not None and query.answer.lower is not None:
            assert query.answer.lower - 1e-9 <= query.answer.estimate
            assert query.answer.estimate <= (query.answer.upper or 0.0) + 1e-9
    assert found.outside == 0
    everyone = found.queries[0]
    assert everyone.truth == everyone.answer.estimate == everyone.answer.lower == table.rows


def error_of(
    truth: float | None,
    estimate: float | None,
    weight: float = 1.0,
    aggregate: Aggregate = Aggregate.COUNT,
    bounds: tuple[float | None, float | None] = (0.0, 100.0),
) -> QueryError:
    query = AggregateQuery(aggregate, None, Everything(), weight)
    return QueryError(query, truth, EstimatedAnswer(estimate, *bounds))


def test_errors_are_weighted_means() -> None:
    found = WorkloadError((error_of(10.0, 13.0, weight=3.0), error_of(0.0, 1.0), error_of(None, None, 0.0)))
    assert found.mean_absolute == pytest.approx((3 * 3 + 1) / 4)
    assert found.mean_relative == pytest.approx(0.3)
    assert found.root_mean_square == pytest.approx(sqrt((3 * 9 + 1) / 4))
    assert found.deviation == pytest.approx(sqrt((3 * 0.25 + 2.25) / 4))
    assert (found.unanswered, found.outside) == (0, 0)


def test_incomparable_queries_are_counted() -> None:
    found = WorkloadError(
        (
            error_of(5.0, None, aggregate=Aggregate.AVG),
            error_of(None, 5.0, aggregate=Aggregate.MIN),
            error_of(5.0, None, aggregate=Aggregate.SUM),
            error_of(5.0, 7.0, bounds=(6.0, 8.0)),
            error_of(5.0, 7.0, bounds=(None, None)),
        )
    )
    assert found.unanswered == 2
    assert found.outside == 2
    assert found.mean_absolute == pytest.approx((5 + 2 + 2) / 3)
    assert WorkloadError(()).mean_absolute is None
    assert found.as_json()["queries"][0]["absolute_error"] is None
