from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.queries.aggregate_query import Aggregate, And, Interval, Members, iterate_atoms
from discreet.queries.region import AttributeDomain
from discreet.queries.workload_generation import WorkloadDescription, generate_workload
from discreet.queries.workload_text import parse_workload
from tests.queries.workload_writer import write_workload

DOMAINS = {
    "age": AttributeDomain("age", ("40", "9", "20", "30", "10")),
    "sex": AttributeDomain("sex", ("f", "m")),
    "job": AttributeDomain("job", tuple("abcdefgh")),
}
ROWS = {
    "age": np.array([10, 20, 30, 25, 15]),
    "sex": np.array([60, 40]),
    "job": np.array([0, 30, 10, 10, 10, 10, 20, 10]),
}


def test_each_predicate_selects_its_share() -> None:
    description = WorkloadDescription(queries=200, dimensions=1, selectivity=0.3, seed=3)
    for query in generate_workload(description, DOMAINS, ROWS):
        (atom,) = iterate_atoms(query.predicate)
        true, _ = DOMAINS[atom.attribute].selected(atom)
        rows = ROWS[atom.attribute]
        selected = rows[true[:-1]]
        assert selected.sum() >= 30
        if isinstance(atom, Members):
            assert selected.sum() - selected.max() < 30
        else:
            ordered = selected[np.argsort(DOMAINS["age"].numbers[true[:-1]])]
            assert isinstance(atom, Interval)
            assert ordered[:-1].sum() < 30


def test_point_queries_select_one_occurring_value() -> None:
    description = WorkloadDescription(queries=50, dimensions=2, selectivity=None, seed=1)
    for query in generate_workload(description, DOMAINS, ROWS):
        assert isinstance(query.predicate, And)
        for atom in query.predicate.parts:
            assert isinstance(atom, Members)
            assert len(atom.values) == 1
            assert "a" not in atom.values


def test_seed_repeats_a_workload_and_its_text_is_read_back() -> None:
    description = WorkloadDescription(
        queries=30, attributes=("age", "sex"), aggregate=Aggregate.AVG, measure="age", seed=9
    )
    queries = generate_workload(description, DOMAINS, ROWS)
    assert queries == generate_workload(description, DOMAINS, ROWS)
    assert queries != generate_workload(
        WorkloadDescription(**{**vars(description), "seed": 10}), DOMAINS, ROWS
    )
    assert {query.aggregate for query in queries} == {Aggregate.AVG}
    assert [q.predicate for q in parse_workload(write_workload(queries))] == [q.predicate for q in queries]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queries": 0}, "queries = 0"),
        ({"selectivity": 0.0}, "selectivity"),
        ({"aggregate": Aggregate.SUM}, "without a measure"),
        ({"attributes": ("x",)}, "over 'x'"),
        ({"dimensions": 4}, "dimensions = 4"),
        ({"attributes": ("none", "age")}, "NULL in every row"),
    ],
)
def test_invalid_descriptions_are_refused(options: dict[str, object], message: str) -> None:
    domains = DOMAINS | {"none": AttributeDomain("none", ("x",))}
    rows = ROWS | {"none": np.array([0])}
    if options.get("dimensions") == 4:
        domains, rows = DOMAINS, ROWS
    with pytest.raises(InputError, match=message):
        generate_workload(WorkloadDescription(**options), domains, rows)  # type: ignore[arg-type]
