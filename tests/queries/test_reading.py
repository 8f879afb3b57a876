"""The accepted query language, and the SQL generated from it in three dialects."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot

from discreet.engines.registry import ENGINES, query_dialects
from discreet.errors import InputError
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.permuted_query import PermutedTables, rewrite_query
from discreet.queries.select_query import KeyKind
from discreet.queries.select_query_parser import QueryableColumns, parse_release_query
from discreet.queries.sql_expression import ColumnKind
from discreet.sql.dialect import DUCKDB, PLAIN_SPARK, POSTGRES, Dialect

TEXTS = QueryableColumns(
    dict.fromkeys(("age", "sex", "zip"), ColumnKind.TEXT), {"salary": True}, {"salary": "no"}
)
TYPED = QueryableColumns(
    {
        "age": ColumnKind.INTEGER,
        "height": ColumnKind.NUMBER,
        "sex": ColumnKind.TEXT,
        "born": ColumnKind.OTHER,
    },
    {"salary": True},
    {},
)
CONDITIONS = """
age BETWEEN 30 AND 40 AND sex = 'F'
NOT (age < 30 OR age >= 60) AND zip <> '02174'
zip LIKE '02%' OR zip NOT LIKE '%4' OR zip ILIKE 'x%'
age IN (30, 31.5, -1) AND zip IN ('a', 'b''c') AND zip NOT IN ('x') AND age IN (1, 'one')
age IS NULL OR sex IS NOT NULL OR (age > 3) IS TRUE OR (sex = 'F') IS NULL
age + 1 > 2 * -3 AND (age - 1) / 2 < 20 AND age % 3 = 1 AND mod(age, 2) = 0
CASE WHEN sex = 'F' THEN age ELSE 0 END > 30 AND CASE sex WHEN 'F' THEN 1 WHEN 'M' THEN 2 END = 1
upper(sex) = 'F' AND lower(sex) || 'x' = 'fx' AND trim(zip) = '1' AND length(zip) = 5
substring(zip, 1, 2) = '02' AND substring(zip, 2) <> '' AND left(zip, 1) = '0' AND right(zip, 1) = '4'
abs(age) > 1 AND round(age) = 3 AND round(age, 1) = 3.5 AND floor(age) = 3 AND ceil(age) = 4
greatest(age, 3) > 2 AND least(zip, 'x') = 'a' AND coalesce(age, 0) = 0 AND coalesce(sex, 'none') = 'none'
nullif(age, 3) IS NULL AND CAST(age AS INTEGER) = 3 AND CAST(zip AS DOUBLE) > 2 AND CAST(age AS VARCHAR) = '3'
age IS DISTINCT FROM 3 AND sex IS NOT DISTINCT FROM NULL
TRUE AND NOT FALSE AND CAST(age AS DOUBLE) = CAST(zip AS DOUBLE)
people.age > 3 AND "sex" = 'F' AND AGE < 90 -- a comment
((age > 3)) /* and another */ AND (sex) = ('F')
""".strip().splitlines()


def connection_with_rows() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE release (age VARCHAR, sex VARCHAR, zip VARCHAR, group_id BIGINT)")
    connection.execute(
        "INSERT INTO release VALUES ('30', 'F', '02174', 1), (' 31.5 ', 'M', NULL, 1), "
        "(NULL, NULL, '1e2', 2), ('nan', 'F', '', 2), ('1_0', 'f', 'b''c', 2), ('-1', 'M', 'one', 1)"
    )
    return connection


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("dialect", query_dialects(ENGINES).values(), ids=lambda dialect: dialect.name)
def test_every_allowed_condition_is_sql_of_its_dialect(condition: str, dialect: Dialect) -> None:
    if dialect.name_quote == "`":
        condition = condition.replace('"', "`").replace("b''c", "bc")
    query = parse_release_query(f"SELECT COUNT(*) FROM people WHERE {condition}", TEXTS, dialect)
    tables = PermutedTables("release", "help", "group_id", numeric=True, scale=0, has_null=True)
    text = rewrite_query(query, tables, dialect)
    assert len(sqlglot.parse(text, read=dialect.name)) == 1
    if dialect is DUCKDB:
        assert len(connection_with_rows().execute(text).fetchall()) == 1


def test_several_aggregates_keys_and_names_are_read() -> None:
    query = parse_release_query(
        "SELECT sex AS s, AVG(salary) AS pay, count(*), sum(SALARY), SUM(salary), age >= 30 FROM people p "
        "WHERE p.age > 3 GROUP BY s, 6 ORDER BY 1 DESC, age >= 30",
        TEXTS,
    )
    assert [(a.aggregate, a.measure, a.title) for a in query.aggregates] == [
        (Aggregate.AVG, "salary", "pay"),
        (Aggregate.COUNT, None, "COUNT(*)"),
        (Aggregate.SUM, "salary", "SUM(salary)"),
        (Aggregate.SUM, "salary", "SUM(salary)"),
    ]
    assert [a.name for a in query.aggregates] == ["pay", "count", "sum_salary", "sum_salary_2"]
    assert [(key.title, key.kind) for key in query.keys] == [
        ("s", KeyKind.TEXT),
        ("age >= 30", KeyKind.TRUTH),
    ]
    assert query.order == ((0, True), (1, False))
    assert query.attributes == ("age", "sex")


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("age > 0", 2),
        ("age = 31.5", 1),
        ("age < 0", 1),
        ("zip = 2174", 1),
        ("zip = '2174'", 0),
        ("zip = 100", 1),
        ("age = 'nan'", 1),
        ("zip = ''", 1),
        ("zip IS NULL", 1),
        ("age IN (30, 'nan')", 2),
        ("age / 0 > 1", 0),
        ("age / 2 = 15", 1),
        ("CAST(age AS INTEGER) = 32", 1),
        ("sex = 'F' AND NOT age > 100", 1),
    ],
)
def test_text_is_compared_with_a_number_by_its_value(condition: str, rows: int) -> None:
    query = parse_release_query(f"SELECT COUNT(*) FROM people WHERE {condition}", TEXTS)
    assert query.condition is not None
    found = (
        connection_with_rows().execute(f"SELECT count(*) FROM release WHERE {query.condition.sql}").fetchall()
    )
    assert found == [(rows,)]


def test_postgres_divides_whole_numbers_without_a_remainder() -> None:
    text = "SELECT COUNT(*) FROM people WHERE age / 2 = 15"
    own = parse_release_query(text, TYPED, POSTGRES)
    assert own.condition is not None
    assert own.condition.sql == '("age" / NULLIF(2, 0)) = 15'
    elsewhere = parse_release_query(text, TYPED, POSTGRES, DUCKDB)
    plain = parse_release_query(text, TYPED)
    assert elsewhere.condition is not None
    assert plain.condition is not None
    for condition, ages in ((elsewhere.condition, [30, 31]), (plain.condition, [30])):
        rows = f"SELECT age FROM (VALUES (29), (30), (31), (32)) AS t(age) WHERE {condition.sql} ORDER BY age"
        assert [age for (age,) in duckdb.connect().execute(rows).fetchall()] == ages


def test_typed_columns_are_compared_in_their_type() -> None:
    query = parse_release_query(
        "SELECT COUNT(*) FROM people WHERE age < height AND age = 3 AND age = '03' AND born > '2020-01-01'",
        TYPED,
    )
    assert query.condition is not None
    assert query.condition.sql == (
        '"age" < "height" AND "age" = 3 AND CAST("age" AS VARCHAR) = \'03\' '
        "AND CAST(\"born\" AS VARCHAR) > '2020-01-01'"
    )


def test_unknown_and_non_numeric_columns_are_named_in_the_error() -> None:
    with pytest.raises(InputError, match="has no column") as error:
        parse_release_query("SELECT COUNT(*) FROM people WHERE aeg = 1", TEXTS)
    assert error.value.advice == "Did you mean 'age'?"
    with pytest.raises(InputError, match="not numeric"):
        parse_release_query("SELECT SUM(salary) FROM people", QueryableColumns({}, {"salary": False}, {}))


@pytest.mark.parametrize(
    ("dialect", "name", "text", "written"),
    [
        (DUCKDB, '"a ""b` c"', "'it''s \\'", "\"a \"\"b` c\" = 'it''s \\'"),
        (PLAIN_SPARK, '`a "b`` c`', "'it\\'s \\\\'", "CAST(`a \"b`` c` AS STRING) = 'it\\'s \\\\'"),
    ],
)
def test_names_and_texts_are_quoted(dialect: Dialect, name: str, text: str, written: str) -> None:
    odd = QueryableColumns({'a "b` c': ColumnKind.TEXT}, {}, {})
    query = parse_release_query(f"SELECT COUNT(*) FROM people WHERE {name} = {text}", odd, dialect)
    assert query.condition is not None
    assert query.condition.sql == written
