"""Aggregate queries of a workload: an aggregate, a predicate over attributes, and a weight.

A predicate is true, false or unknown of a row, as in SQL: a comparison with NULL is unknown. ``bind_queries``
spells the names of a query as the table does, since SQL ignores case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from discreet.errors import InputError
from discreet.model.registry import suggest_name

Constant = Decimal | str
"""A number compares with the numbers that cell texts say; a text compares with the texts themselves."""


@dataclass(frozen=True)
class Everything:
    """True of every row: a query without WHERE."""


@dataclass(frozen=True)
class Interval:
    """``attribute`` lies between two ends; None is no end. Both ends are of one kind, numbers or texts."""

    attribute: str
    low: Constant | None = None
    high: Constant | None = None
    low_closed: bool = True
    high_closed: bool = True


@dataclass(frozen=True)
class Members:
    """``attribute`` equals one of some constants: ``=`` and ``IN``."""

    attribute: str
    values: tuple[Constant, ...]


@dataclass(frozen=True)
class IsNull:
    """``attribute`` is NULL."""

    attribute: str


@dataclass(frozen=True)
class Not:
    """The contrary of a predicate."""

    of: Predicate


@dataclass(frozen=True)
class And:
    """Every part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Or:
    """At least one part is true."""

    parts: tuple[Predicate, ...]


Atom = Interval | Members | IsNull
Predicate = Everything | Atom | Not | And | Or


def iterate_atoms(predicate: Predicate) -> Iterator[Atom]:
    """Every comparison of a predicate, in its order."""
    if isinstance(predicate, And | Or):
        for part in predicate.parts:
            yield from iterate_atoms(part)
    elif isinstance(predicate, Not):
        yield from iterate_atoms(predicate.of)
    elif not isinstance(predicate, Everything):
        yield predicate


class Aggregate(StrEnum):
    """What is asked of the rows that a predicate selects."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"


@dataclass(frozen=True)
class AggregateQuery:
    """``SELECT aggregate(attribute) FROM … WHERE predicate``.

    ``attribute`` None is ``COUNT(*)``; of an attribute, NULL is left out. ``weight`` is the query's share in
    a workload, 0 or more. ``text`` is the query as written, for print.
    """

    aggregate: Aggregate
    attribute: str | None
    predicate: Predicate
    weight: float = 1.0
    text: str = ""

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that the query names, each once, in order."""
        named = [atom.attribute for atom in iterate_atoms(self.predicate)]
        return tuple(dict.fromkeys(([self.attribute] if self.attribute else []) + named))


def attributes_of_queries(queries: tuple[AggregateQuery, ...]) -> tuple[str, ...]:
    """The attributes that a workload names, each once, in order."""
    return tuple(dict.fromkeys(name for query in queries for name in query.attributes))


def bind_queries(queries: Sequence[AggregateQuery], columns: Sequence[str]) -> tuple[AggregateQuery, ...]:
    """The queries with each name as the table spells it.

    A name that is no column is one in another case, where only one column differs from it by case alone;
    else ``InputError``.
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
        f"a query names '{name}', which is no column of the table",
        allowed=", ".join(columns),
        advice=suggest_name(name, columns),
    )
