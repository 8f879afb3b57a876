"""Predicates over attributes, as frozen values: what the WHERE of an aggregate query says.

A predicate is true, false or unknown of a row, as in SQL: a comparison with NULL is unknown. NOT is pushed
down to the comparisons when a predicate is bound to a table (``queries.region``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

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


def atoms_of(predicate: Predicate) -> Iterator[Atom]:
    """Every comparison of a predicate, in its order."""
    if isinstance(predicate, And | Or):
        for part in predicate.parts:
            yield from atoms_of(part)
    elif isinstance(predicate, Not):
        yield from atoms_of(predicate.of)
    elif not isinstance(predicate, Everything):
        yield predicate
