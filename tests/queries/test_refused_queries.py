"""Hostile and unsupported queries are refused with a reason in every dialect, without any execution."""

from __future__ import annotations

import pytest

from discreet.engines.registry import ENGINES, query_dialects
from discreet.errors import InputError
from discreet.queries.select_query_parser import QueryableColumns, parse_release_query
from discreet.queries.sql_expression import ColumnKind
from discreet.sql.dialect import Dialect
from discreet.sql.warehouses import WITHOUT_ENGINE
from tests.queries.hostile import hostile

READABLE = QueryableColumns(
    kinds=dict.fromkeys(("age", "sex", "zip"), ColumnKind.TEXT),
    measures={"salary": True},
    refused={
        "salary": "'salary' is sensitive",
        "group_id": "'group_id' numbers groups",
        "ssn": "not published",
    },
)
QUERIES = tuple(dict.fromkeys(hostile()))


def test_at_least_500_refused_queries_are_listed() -> None:
    assert len(QUERIES) >= 500


@pytest.mark.parametrize("dialect", query_dialects(ENGINES).values(), ids=lambda dialect: dialect.name)
def test_every_listed_query_is_refused_with_a_reason(dialect: Dialect) -> None:
    for text in QUERIES:
        if dialect.name_quote == "`" and '"' in text:
            continue  # a constant in this dialect
        if dialect in WITHOUT_ENGINE and "\\%" in text:
            continue  # no backslash in this dialect's text
        with pytest.raises(InputError) as refused:
            parse_release_query(text, READABLE, dialect)
        assert refused.value.message
        assert refused.value.allowed
        assert len(refused.value.message) < 400
