"""Query answers, checked against every possible world of tiny tables."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.measures.generalized_table import GeneralizedTable, merge_equal_groups
from discreet.queries.aggregate_query import (
    Aggregate,
    AggregateQuery,
    And,
    Everything,
    Interval,
    IsNull,
    Members,
    Not,
    Or,
    Predicate,
)
from discreet.queries.region import AttributeDomain, find_region
from discreet.workload.answerable_table import AnswerableTable
from discreet.workload.published_labels import build_cells_of_codes
from discreet.workload.query_answer import answer_query
from tests.drawing import some_of
from tests.oracle.plain_workload import Cell, answer_of, expected_rows, sure_bounds, truth_of

DOMAINS = {"n": AttributeDomain("n", ("-1", "10", "2", "3")), "c": AttributeDomain("c", ("a", "b", "7"))}
EVERYTHING: dict[str, Cell] = {name: frozenset([*d.texts, None]) for name, d in DOMAINS.items()}
CELLS = {name: [*d.texts, None] for name, d in DOMAINS.items()}

numbers = st.sampled_from([Decimal(n) for n in (-1, 2, 3, 7, 10)])
texts = st.sampled_from(["a", "b", "2", "3", "z"])
names = st.sampled_from(["n", "c"])


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    values = numbers if draw(st.booleans()) else texts
    low, high = draw(st.none() | values), draw(values)
    return Interval(draw(names), low, high, draw(st.booleans()), draw(st.booleans()))


atoms = st.one_of(
    intervals(),
    st.builds(Members, names, st.lists(numbers | texts, min_size=1, max_size=3).map(tuple)),
    st.builds(IsNull, names),
)
predicates: st.SearchStrategy[Predicate] = st.recursive(
    atoms | st.just(Everything()),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=4,
)
rows_of_cells = st.lists(
    st.fixed_dictionaries(
        {
            name: st.frozensets(st.sampled_from(values), min_size=1, max_size=3)
            for name, values in CELLS.items()
        }
    ),
    max_size=3,
)


def table_of(rows: Sequence[dict[str, Cell]], missing: int = 0) -> AnswerableTable:
    cells, columns = [], []
    for name, domain in DOMAINS.items():
        kinds = sorted({row[name] for row in rows}, key=lambda cell: sorted(map(str, cell)))
        codes = [np.array(sorted(CELLS[name].index(value) for value in kind)) for kind in kinds]
        cells.append(
            build_cells_of_codes(name, len(domain.texts), [str(i) for i in range(len(kinds))], codes)
        )
        columns.append([kinds.index(row[name]) for row in rows])
    shown = np.array(columns, dtype=np.int64).T.reshape(len(rows), len(DOMAINS))
    shown, counts = merge_equal_groups(shown, np.ones(len(rows), dtype=np.int64))
    return AnswerableTable(
        GeneralizedTable(tuple(cells), shown, counts), DOMAINS, tuple(DOMAINS), missing=missing
    )


@settings(max_examples=some_of(150), deadline=None)
@given(predicates)
def test_boxes_are_disjoint_and_equal_the_predicate(predicate: Predicate) -> None:
    region = find_region(predicate, DOMAINS)
    for i, n in enumerate(CELLS["n"]):
        for j, c in enumerate(CELLS["c"]):
            inside = sum(all(mask[i if name == "n" else j] for name, mask in box.items()) for box in region)
            assert inside == (truth_of(predicate, {"n": n, "c": c}) is True)


@settings(max_examples=some_of(250), deadline=None)
@given(predicates, st.sampled_from(Aggregate), rows_of_cells, st.booleans())
def test_bounds_and_estimates_are_those_of_all_worlds(
    predicate: Predicate, aggregate: Aggregate, rows: list[dict[str, Cell]], missing: bool
) -> None:
    query = AggregateQuery(aggregate, "n", predicate)
    found = answer_query(query, table_of(rows, missing=int(missing)))
    least, largest = sure_bounds(query, [*rows, EVERYTHING] if missing else rows)
    assert found.lower == pytest.approx(least)
    assert found.upper == pytest.approx(largest)
    expected = expected_rows(query, rows)
    total = sum(expected.values())
    if aggregate is Aggregate.COUNT:
        assert found.estimate == pytest.approx(total)
    elif not expected:
        assert found.estimate is None
    else:
        assert found.estimate is not None
        assert (found.lower or 0.0) <= found.estimate <= (found.upper or 0.0)
        sums = sum(value * rows for value, rows in expected.items())
        if aggregate is Aggregate.SUM:
            assert found.estimate == pytest.approx(sums)
        if aggregate is Aggregate.AVG:
            assert found.estimate == pytest.approx(sums / total)


@settings(max_examples=some_of(150), deadline=None)
@given(
    predicates,
    st.sampled_from(Aggregate),
    st.sampled_from(["n", None]),
    st.lists(st.tuples(st.sampled_from(CELLS["n"]), st.sampled_from(CELLS["c"])), max_size=6),
)
def test_ungeneralized_table_answers_the_truth(
    predicate: Predicate,
    aggregate: Aggregate,
    attribute: str | None,
    rows: list[tuple[str | None, str | None]],
) -> None:
    query = AggregateQuery(aggregate if attribute else Aggregate.COUNT, attribute, predicate)
    table = table_of([{"n": frozenset([n]), "c": frozenset([c])} for n, c in rows])
    found = answer_query(query, table)
    truth = answer_of(query, [{"n": n, "c": c} for n, c in rows])
    assert found.estimate == pytest.approx(truth)
    assert found.lower == pytest.approx(truth)
    assert found.upper == pytest.approx(truth)


def test_sum_of_texts_is_refused() -> None:
    with pytest.raises(InputError, match="not every value"):
        answer_query(AggregateQuery(Aggregate.SUM, "c", Everything()), table_of([]))
    with pytest.raises(InputError, match="unknown column"):
        answer_query(AggregateQuery(Aggregate.COUNT, None, IsNull("x")), table_of([]))


def test_too_many_boxes_are_refused() -> None:
    domains = {f"x{i}": AttributeDomain(f"x{i}", ("0", "1")) for i in range(22)}
    pairs = tuple(And((Members(f"x{2 * i}", ("1",)), Members(f"x{2 * i + 1}", ("1",)))) for i in range(11))
    with pytest.raises(InputError, match="boxes"):
        find_region(Or(pairs), domains)
