"""From the names in a query to the columns of a table: SQL does not mind upper and lower case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.errors import InputError
from discreet.model.closest import closest
from discreet.queries.predicate import And, Everything, Not, Or, Predicate
from discreet.queries.query import AggregateQuery


def bound(queries: Sequence[AggregateQuery], columns: Sequence[str]) -> tuple[AggregateQuery, ...]:
    """The queries with each name as the table spells it.

    A name that is no column is one in another case, where only one column differs from it by case alone;
    else ``InputError``.
    """
    return tuple(
        replace(
            query,
            attribute=None if query.attribute is None else _column(query.attribute, columns),
            predicate=_renamed(query.predicate, columns),
        )
        for query in queries
    )


def _renamed(predicate: Predicate, columns: Sequence[str]) -> Predicate:
    if isinstance(predicate, Everything):
        return predicate
    if isinstance(predicate, Not):
        return Not(_renamed(predicate.of, columns))
    if isinstance(predicate, And | Or):
        return type(predicate)(tuple(_renamed(part, columns) for part in predicate.parts))
    return replace(predicate, attribute=_column(predicate.attribute, columns))


def _column(name: str, columns: Sequence[str]) -> str:
    if name in columns:
        return name
    alike = [column for column in columns if column.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    raise InputError(
        f"a query names '{name}', which is no column of the table",
        allowed=", ".join(columns),
        advice=closest(name, columns),
    )
