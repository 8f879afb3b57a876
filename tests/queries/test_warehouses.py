"""Rewritten queries and views for databases that discreet does not connect to, checked by parsing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

import discreet
from discreet.models import Permutation
from discreet.queries.permuted_query import PermutedTables, rewrite_query
from discreet.queries.select_query_parser import parse_release_query
from discreet.sql.dialect import Dialect
from discreet.sql.warehouses import BIGQUERY, SNOWFLAKE, WITHOUT_ENGINE
from tests.queries.test_reading import TYPED

TABLES = PermutedTables("people", "people_help", "group_id", numeric=True, scale=2, has_null=False)
EVERY = "SELECT sex, COUNT(*), COUNT(salary), SUM(salary), AVG(salary), MIN(salary), MAX(salary) FROM people"
HOSTILE = "o'x \\' OR 1=1 --\n; DROP"


def parsed(text: str, dialect: Dialect) -> exp.Expr:
    (tree,) = sqlglot.parse(text, read=dialect.name)
    assert tree is not None
    return tree


@pytest.mark.parametrize("has_null", [False, True])
@pytest.mark.parametrize("dialect", WITHOUT_ENGINE, ids=lambda dialect: dialect.name)
def test_rewritten_query_names_the_same_tables_functions_and_columns(
    dialect: Dialect, *, has_null: bool
) -> None:
    query = parse_release_query(
        f"{EVERY} WHERE age % 3 = 1 AND round(height, 1) > 1.5 GROUP BY sex", TYPED, dialect
    )
    text = rewrite_query(query, replace(TABLES, has_null=has_null), dialect)
    tree = parsed(text, dialect)
    made = {step.alias for step in tree.find_all(exp.CTE)}
    assert {t.name for t in tree.find_all(exp.Table)} - made == {"people", "people_help"}
    assert len(tree.selects) == len(query.column_names)
    assert {c.name for c in tree.find_all(exp.Column)} >= {"age", "height", "sex", "group_id"}
    for aggregate in (exp.Sum, exp.Min, exp.Max):
        assert tree.find(aggregate) is not None
    # Neither dialect has FILTER, and double quotes delimit a text in BigQuery.
    assert tree.find(exp.Filter) is None
    assert dialect is not BIGQUERY or '"' not in text


@pytest.mark.parametrize("dialect", WITHOUT_ENGINE, ids=lambda dialect: dialect.name)
def test_hostile_text_stays_one_constant(dialect: Dialect) -> None:
    (literal,) = parsed(f"SELECT {dialect.literal(HOSTILE)}", dialect).find_all(exp.Literal)
    assert literal.is_string
    assert literal.this == HOSTILE


@pytest.mark.parametrize("dialect", WITHOUT_ENGINE, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize(
    ("house", "kind"),
    [
        ("VARCHAR", {exp.DataType.Type.VARCHAR, exp.DataType.Type.TEXT}),
        ("DOUBLE", {exp.DataType.Type.DOUBLE}),
        ("BIGINT", {exp.DataType.Type.BIGINT}),
        ("DECIMAL(38,2)", {exp.DataType.Type.DECIMAL, exp.DataType.Type.BIGDECIMAL}),
        ("HUGEINT", {exp.DataType.Type.DECIMAL, exp.DataType.Type.BIGDECIMAL}),
    ],
)
def test_types_are_cast_to_those_of_the_warehouse(
    house: str, kind: set[exp.DataType.Type], dialect: Dialect
) -> None:
    cast = parsed(f"SELECT {dialect.cast('x', house)}", dialect).find(exp.Cast)
    assert cast is not None
    assert cast.to.this in kind


def test_pattern_matches_whole_texts() -> None:
    # Snowflake's function matches the whole text; BigQuery's searches for a part and needs anchors.
    assert SNOWFLAKE.full_match.format("x", "'[0-9]'") == "regexp_like(x, '[0-9]')"
    assert BIGQUERY.full_match.format("x", "'a|b'") == "regexp_contains(x, concat('^(?:', 'a|b', ')$'))"


@pytest.mark.parametrize("dialect", WITHOUT_ENGINE, ids=lambda dialect: dialect.name)
def test_views_of_a_release_are_statements_of_the_warehouse(tmp_path: Path, dialect: Dialect) -> None:
    source = tmp_path / "people.csv"
    rows = [f"{20 + i % 7},{1000 + 10 * i}" for i in range(12)]
    source.write_text("\n".join(["age,salary", *rows]) + "\n", encoding="utf-8")
    spec = tmp_path / "spec.toml"
    spec.write_text(
        f'[source]\npath = "{source}"\n[attributes.age]\nrole = "quasi-identifier"\n'
        '[attributes.salary]\nrole = "sensitive"\n',
        encoding="utf-8",
    )
    release = tmp_path / "release.parquet"
    discreet.open(spec).publish(Permutation(), release, k=3)
    script = discreet.views(release, dialect=dialect.name)
    trees = [parsed(statement, dialect) for statement in script.statements]
    assert all(isinstance(tree, exp.Create) and tree.kind == "VIEW" for tree in trees)
    assert len(trees) == 2
    answered = discreet.query(release, "SELECT AVG(salary) FROM people WHERE age < 23", dialect=dialect.name)
    assert answered.sql is not None
    assert parsed(answered.sql, dialect).find(exp.Group) is not None
