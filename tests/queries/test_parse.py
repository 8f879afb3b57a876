from __future__ import annotations

from decimal import Decimal

import pytest

from discreet.errors import InputError
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
    bind_queries,
)
from discreet.queries.workload_text import parse_workload
from tests.queries.workload_writer import write_workload

NUMBER = Decimal


def one(text: str) -> AggregateQuery:
    (query,) = parse_workload(text)
    return query


@pytest.mark.parametrize(
    ("condition", "predicate"),
    [
        ("age BETWEEN 20 AND 29", Interval("age", NUMBER(20), NUMBER(29))),
        ("age > -1.5", Interval("age", low=NUMBER("-1.5"), low_closed=False)),
        ("20 <= age", Interval("age", low=NUMBER(20))),
        ("age < 3", Interval("age", high=NUMBER(3), high_closed=False)),
        ("born >= '1990-01-01'", Interval("born", low="1990-01-01")),
        ("sex = 'Male'", Members("sex", ("Male",))),
        ("'Male' = sex", Members("sex", ("Male",))),
        ("zip IN ('02174', 53711)", Members("zip", ("02174", NUMBER(53711)))),
        ("sex <> 'Male'", Not(Members("sex", ("Male",)))),
        ("sex IS NULL", IsNull("sex")),
        ("sex IS NOT NULL", Not(IsNull("sex"))),
        ("\"marital-status\" = 'x'", Members("marital-status", ("x",))),
        ("age NOT IN (1, 2)", Not(Members("age", (NUMBER(1), NUMBER(2))))),
        (
            "a = 1 AND (b = 2 OR NOT c = 3)",
            And(
                (
                    Members("a", (NUMBER(1),)),
                    Or((Members("b", (NUMBER(2),)), Not(Members("c", (NUMBER(3),))))),
                )
            ),
        ),
    ],
)
def test_condition_is_read_as_a_predicate(condition: str, predicate: object) -> None:
    assert one(f"SELECT COUNT(*) FROM t WHERE {condition}").predicate == predicate


def test_aggregates_are_read() -> None:
    for aggregate in Aggregate:
        query = one(f"select {aggregate.lower()}(age) as a from t")
        assert (query.aggregate, query.attribute, query.predicate) == (aggregate, "age", Everything())
    assert one("SELECT COUNT(*) FROM s.t AS u").attribute is None


def test_weights_are_read_from_comments() -> None:
    text = """
    -- weight 3
    SELECT COUNT(*) FROM t;
    SELECT COUNT(*) FROM t;  -- weight 0.5
    SELECT COUNT(*) FROM t WHERE a = 'x;y' -- weight: 2
    ; /* just a remark */
    SELECT COUNT(*) FROM t
    """
    assert [query.weight for query in parse_workload(text)] == [3.0, 0.5, 2.0, 1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no query"),
        ("SELECT COUNT(*) FROM t;\n\nDROP TABLE t", "line 3: not a SELECT statement"),
        ("SELECT COUNT(*) FROM t;\nSELECT a FROM t", "line 2: SELECT a"),
        ("SELECT COUNT(DISTINCT a) FROM t", "COUNT(DISTINCT a)"),
        ("SELECT SUM(a + 1) FROM t", "SUM(a + 1)"),
        ("SELECT SUM(a), SUM(b) FROM t", "2 expressions"),
        ("SELECT COUNT(*) FROM t GROUP BY a", "GROUP"),
        ("SELECT COUNT(*) FROM t, u", "JOINS"),
        ("SELECT COUNT(*) FROM read_csv('x')", "FROM READ_CSV"),
        ("SELECT COUNT(*) FROM t TABLESAMPLE 10%", "FROM t TABLESAMPLE"),
        ("SELECT COUNT(*) FROM (SELECT 1)", "FROM (SELECT 1)"),
        ("SELECT COUNT(*) FILTER (WHERE a = 1) FROM t", "FILTER"),
        ("SELECT COUNT(*) FROM t WHERE a LIKE 'x%'", "LIKE"),
        ("SELECT COUNT(*) FROM t WHERE a = b", "constant"),
        ("SELECT COUNT(*) FROM t WHERE a = NULL", "constant"),
        ("SELECT COUNT(*) FROM t WHERE a BETWEEN 1 AND 'b'", "mixes"),
        ("SELECT COUNT(*) FROM t WHERE a IN (SELECT 1)", "IN (SELECT 1)"),
        ("SELECT COUNT(*) FROM t WHERE marital-status = 'x'", "double quotes"),
        ("SELECT COUNT(*) FROM t WHERE a >", "line 1: invalid SQL"),
        ("SELECT COUNT(*) FROM t;\n\nSELECT COUNT(*) FROM t WHERE a = 'x", "line 3: unterminated quote"),
        ("SELECT COUNT(*) FROM t -- weight -1", "invalid weight"),
        ("SELECT COUNT(*) FROM t -- weight 1 or 2", "invalid weight"),
        ("-- weight 1\nSELECT COUNT(*) FROM t -- weight 2", "invalid weight"),
        ("WITH x AS (SELECT 1) SELECT COUNT(*) FROM x", "WITH"),
    ],
)
def test_unsupported_queries_are_refused_with_their_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_workload(text, "queries.sql")
    assert message in str(caught.value)
    assert caught.value.message.startswith("queries.sql")


def test_column_names_are_bound_in_any_case() -> None:
    query = one("SELECT AVG(Age) FROM t WHERE NOT (SEX = 'x' OR age IS NULL)")
    (found,) = bind_queries([query], ["age", "sex", "Zip"])
    assert found.attributes == ("age", "sex")
    with pytest.raises(InputError, match="Did you mean 'Zip'"):
        bind_queries([one("SELECT COUNT(*) FROM t WHERE zipp = 1")], ["age", "sex", "Zip"])
    with pytest.raises(InputError, match="unknown column"):
        bind_queries([one("SELECT COUNT(*) FROM t WHERE AGE = 1")], ["age", "Age"])


def test_text_is_read_back() -> None:
    text = """SELECT SUM("Hours a") FROM people WHERE a > 1 AND (b <= 2.50 OR c = 'it''s') AND NOT (d = 1);
SELECT COUNT(*) FROM people WHERE a IN ('x', 'y') AND b BETWEEN -3 AND 1000;  -- weight 2
SELECT COUNT(*) FROM people;  -- weight 0
"""
    queries = parse_workload(text)
    again = write_workload(queries)
    assert again == text
