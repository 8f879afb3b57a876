"""Mondrian releases compared with their originals: bounds hold, errors are counted."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.queries.aggregate_query import Aggregate, AggregateQuery, Everything
from discreet.queries.workload_text import parse_workload
from discreet.workload.answerable_table import table_of_frequency_set, table_of_recoding
from discreet.workload.query_answer import EstimatedAnswer, QueryError, WorkloadError, measure_workload_error
from tests.drawing import some_of
from tests.workload.test_partition import SETTINGS, points, table_of

QUERIES = parse_workload("""
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
def test_the_truth_lies_within_the_sure_bounds(
    rows: list[tuple[int, int]], k: int, summary: str, relaxed: bool
) -> None:
    table = table_of(rows)
    options = MondrianOptions(relaxed=relaxed, summary=summary)  # type: ignore[arg-type]
    k = min(k, table.rows)
    recoding = partition_table(table, Requirement(k), SETTINGS, options, evaluator="twin")
    release = table_of_recoding(table, recoding, attained=summary in ("ranges", "means"))
    found = measure_workload_error(QUERIES, table_of_frequency_set(table), release)
    for query in found.queries:
        assert query.holds, query
        if query.answer.estimate is not None and query.answer.lower is not None:
            assert query.answer.lower - 1e-9 <= query.answer.estimate
            assert query.answer.estimate <= (query.answer.upper or 0.0) + 1e-9
    assert found.outside == 0
    everyone = found.queries[0]
    assert everyone.truth == everyone.answer.estimate == everyone.answer.lower == table.rows


def test_range_summaries_give_the_extremes_exactly() -> None:
    random = np.random.default_rng(2)
    table: FrequencySet = table_of([(int(x), int(y)) for x, y in random.integers(0, 6, (50, 2))])
    recoding = partition_table(table, Requirement(5), SETTINGS, evaluator="twin")
    queries = parse_workload("SELECT MIN(x) FROM t; SELECT MAX(y) FROM t")
    for query in measure_workload_error(
        queries, table_of_frequency_set(table), table_of_recoding(table, recoding, attained=True)
    ).queries:
        assert query.answer.lower == query.answer.upper == query.answer.estimate == query.truth


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


def test_what_cannot_be_compared_is_counted() -> None:
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
