"""Aggregate queries of a workload: an aggregate, a predicate over attributes, and a weight.

A predicate is true, false or unknown for a row, as in SQL: a comparison with NULL is unknown.
``bind_queries`` replaces the names of a query by the table's spelling, since SQL ignores case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from discreet.errors import InputError
from discreet.model.registry import suggest_name

Constant = Decimal | str
"""Number, compared with the numbers that cell texts state, or text, compared with the texts themselves."""


@dataclass(frozen=True)
class Everything:
    """Predicate that is true for every row: a query without WHERE."""


@dataclass(frozen=True)
class Interval:
    """Range of ``attribute``; None means unbounded. Both ends are numbers, or both are texts."""

    attribute: str
    low: Constant | None = None
    high: Constant | None = None
    low_closed: bool = True
    high_closed: bool = True


@dataclass(frozen=True)
class Members:
    """Equality of ``attribute`` with one of several constants: ``=`` and ``IN``."""

    attribute: str
    values: tuple[Constant, ...]


@dataclass(frozen=True)
class IsNull:
    """Test of ``attribute`` for NULL."""

    attribute: str


@dataclass(frozen=True)
class Not:
    """Negation of a predicate."""

    of: Predicate


@dataclass(frozen=True)
class And:
    """Conjunction of predicates."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Or:
    """Disjunction of predicates."""

    parts: tuple[Predicate, ...]


Atom = Interval | Members | IsNull
Predicate = Everything | Atom | Not | And | Or


def iterate_atoms(predicate: Predicate) -> Iterator[Atom]:
    """Yield every comparison of a predicate, in its order."""
    if isinstance(predicate, And | Or):
        for part in predicate.parts:
            yield from iterate_atoms(part)
    elif isinstance(predicate, Not):
        yield from iterate_atoms(predicate.of)
    elif not isinstance(predicate, Everything):
        yield predicate


class Aggregate(StrEnum):
    """Aggregate function over the rows that a predicate selects."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"


@dataclass(frozen=True)
class AggregateQuery:
    """Query of the form ``SELECT aggregate(attribute) FROM … WHERE predicate``.

    ``attribute`` None is ``COUNT(*)``; NULLs of an attribute are left out. ``weight`` is the query's share
    in a workload, 0 or more. ``text`` is the query as written, for output.
    """

    aggregate: Aggregate
    attribute: str | None
    predicate: Predicate
    weight: float = 1.0
    text: str = ""

    @property
    def attributes(self) -> tuple[str, ...]:
        """Distinct attributes that the query names, in order."""
        named = [atom.attribute for atom in iterate_atoms(self.predicate)]
        return tuple(dict.fromkeys(([self.attribute] if self.attribute else []) + named))


def attributes_of_queries(queries: tuple[AggregateQuery, ...]) -> tuple[str, ...]:
    """Return the distinct attributes that a workload names, in order."""
    return tuple(dict.fromkeys(name for query in queries for name in query.attributes))


def bind_queries(queries: Sequence[AggregateQuery], columns: Sequence[str]) -> tuple[AggregateQuery, ...]:
    """Return the queries with names in the table's spelling.

    A name that is not a column matches the only column that differs from it just in case; raises
    ``InputError`` if there is none or several.
    """
    return tuple(
        replace(
            query,
            attribute=None if query.attribute is None else _find_column(query.attribute, columns),
            predicate=_rename_columns(query.predicate, columns),
        )
        for query in queries
    )


def _rename_columns(predicate: Predicate, columns: Sequence[str]) -> Predicate:
    if isinstance(predicate, Everything):
        return predicate
    if isinstance(predicate, Not):
        return Not(_rename_columns(predicate.of, columns))
    if isinstance(predicate, And | Or):
        return type(predicate)(tuple(_rename_columns(part, columns) for part in predicate.parts))
    return replace(predicate, attribute=_find_column(predicate.attribute, columns))


def _find_column(name: str, columns: Sequence[str]) -> str:
    if name in columns:
        return name
    alike = [column for column in columns if column.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    raise InputError(
        f"a query refers to the unknown column '{name}'",
        allowed=", ".join(columns),
        advice=suggest_name(name, columns),
    )
