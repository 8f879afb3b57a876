"""Hostile and unsupported queries are refused with a reason, in every dialect, and nothing is executed."""

from __future__ import annotations

import pytest

from discreet.engines.registry import ENGINES, asked_dialects
from discreet.errors import InputError
from discreet.queries.operand import ColumnKind
from discreet.queries.reading import Readable, read_query
from discreet.sql.dialect import Dialect
from discreet.sql.warehouses import WITHOUT_ENGINE
from tests.queries.hostile import hostile

READABLE = Readable(
    kinds=dict.fromkeys(("age", "sex", "zip"), ColumnKind.TEXT),
    measures={"salary": True},
    refused={
        "salary": "'salary' is sensitive",
        "group_id": "'group_id' numbers groups",
        "ssn": "not published",
    },
)
QUERIES = tuple(dict.fromkeys(hostile()))


def test_there_are_enough() -> None:
    assert len(QUERIES) >= 500


@pytest.mark.parametrize("dialect", asked_dialects(ENGINES).values(), ids=lambda dialect: dialect.name)
def test_every_one_is_refused_with_a_reason(dialect: Dialect) -> None:
    for text in QUERIES:
        if dialect.name_quote == "`" and '"' in text:
            continue  # a constant there, no name
        if dialect in WITHOUT_ENGINE and "\\%" in text:
            continue  # the text has no backslash there
        with pytest.raises(InputError) as refused:
            read_query(text, READABLE, dialect)
        assert refused.value.message
        assert refused.value.allowed
        assert len(refused.value.message) < 400
