"""Queries as SQL text, which ``queries.parse`` reads back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from discreet.queries.predicate import (
    And,
    Atom,
    Constant,
    Everything,
    Interval,
    IsNull,
    Members,
    Not,
    Or,
    Predicate,
)
from discreet.queries.query import AggregateQuery

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
TABLE = "people"


def workload_text(queries: Sequence[AggregateQuery]) -> str:
    """A file of queries: one per line, with a weight where it is not 1."""
    lines = []
    for query in queries:
        weight = "" if query.weight == 1 else f"  -- weight {query.weight:g}"
        lines.append(f"{sql_of(query)};{weight}\n")
    return "".join(lines)


def sql_of(query: AggregateQuery) -> str:
    """A query as SQL text."""
    of = "*" if query.attribute is None else _name(query.attribute)
    text = f"SELECT {query.aggregate}({of}) FROM {TABLE}"
    if isinstance(query.predicate, Everything):
        return text
    return f"{text} WHERE {_condition(query.predicate)}"


def _condition(predicate: Predicate) -> str:
    if isinstance(predicate, Everything):
        return "1 = 1"
    if isinstance(predicate, Not):
        return f"NOT ({_condition(predicate.of)})"
    if isinstance(predicate, And | Or):
        sign = " AND " if isinstance(predicate, And) else " OR "
        return sign.join(
            f"({_condition(part)})" if isinstance(part, And | Or) else _condition(part)
            for part in predicate.parts
        )
    return _comparison(predicate)


def _comparison(atom: Atom) -> str:
    name = _name(atom.attribute)
    if isinstance(atom, IsNull):
        return f"{name} IS NULL"
    if isinstance(atom, Members):
        if len(atom.values) == 1:
            return f"{name} = {_constant(atom.values[0])}"
        return f"{name} IN ({', '.join(map(_constant, atom.values))})"
    return _range(name, atom)


def _range(name: str, atom: Interval) -> str:
    if atom.low is not None and atom.high is not None and atom.low_closed and atom.high_closed:
        return f"{name} BETWEEN {_constant(atom.low)} AND {_constant(atom.high)}"
    sides = []
    if atom.low is not None:
        sides.append(f"{name} {'>=' if atom.low_closed else '>'} {_constant(atom.low)}")
    if atom.high is not None:
        sides.append(f"{name} {'<=' if atom.high_closed else '<'} {_constant(atom.high)}")
    return " AND ".join(sides)


def _constant(value: Constant) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    return "'" + value.replace("'", "''") + "'"


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'
