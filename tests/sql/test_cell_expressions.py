"""Predicates and grouping keys of house types, and a requirement as an SQL predicate."""

from __future__ import annotations

import duckdb
import pytest

from discreet.errors import InputError
from discreet.model.requirement import Requirement
from discreet.sql.cell_expressions import (
    any_null,
    cell_text,
    group_key,
    group_key_type,
    is_binary,
    is_nested,
    unpivot,
)
from discreet.sql.dialect import DUCKDB
from discreet.sql.recoded_rows import failure_predicate
from tests.criteria_of_tests import Share

NATIVE = ["VARCHAR", "BIGINT", "HUGEINT", "DECIMAL(10,2)", "DATE", "TIMESTAMP WITH TIME ZONE", "ENUM"]
BY_TEXT = ["DOUBLE", "FLOAT", "INTERVAL", "TIME WITH TIME ZONE", "BIT", "JSON", '"NULL"']
NESTED = ["INTEGER[]", "VARCHAR[3]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "UNION(a INT)"]


def test_group_keys_are_texts_only_where_equal_values_have_different_texts() -> None:
    assert [(group_key("c0", kind), group_key_type(kind)) for kind in NATIVE] == [("c0", k) for k in NATIVE]
    by_text = ("CAST(c0 AS VARCHAR)", "VARCHAR")
    assert [(group_key("c0", kind), group_key_type(kind)) for kind in BY_TEXT] == [by_text] * len(BY_TEXT)


def test_nested_and_binary_types_are_distinguished_from_scalars() -> None:
    assert all(map(is_nested, NESTED))
    assert not any(map(is_nested, [*NATIVE, "JSON"]))
    assert [is_binary("BLOB"), is_binary("VARCHAR")] == [True, False]


def test_null_texts_are_compared_with_the_whole_text() -> None:
    assert cell_text("c0", "VARCHAR", ["?", "n'a"]) == "CASE WHEN c0 IN ('?', 'n''a') THEN NULL ELSE c0 END"
    assert any_null([]) == "FALSE"


def test_unpivoted_cells_have_the_index_of_their_column() -> None:
    table = "(VALUES ('a', NULL, 'x'), ('b', 'b', '*')) AS t(p, q, r)"
    found = duckdb.sql(unpivot(DUCKDB, table, ["p", "q", "r"])).fetchall()
    assert sorted(found, key=str) == [(0, "a"), (0, "b"), (1, "b"), (1, None), (2, "*"), (2, "x")]


def test_failure_predicate_of_an_uncountable_criterion_is_refused() -> None:
    assert failure_predicate((), "n", {}) == "FALSE"
    requirement = Requirement(5, criteria=[Share(0.5, "a")])
    with pytest.raises(InputError, match=r"share\(a\)=0.5: the engine cannot compute") as error:
        failure_predicate(requirement.bound(("a",)), "n", {0: "m"})
    assert error.value.allowed == "k, l"
