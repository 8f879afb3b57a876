"""Oracle: aggregate queries by enumeration of every row's possible values and every possible world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import product

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
    Predicate,
)

Cell = frozenset[str | None]
World = tuple[dict[str, str | None], ...]


def truth_of(predicate: Predicate, row: Mapping[str, str | None]) -> bool | None:
    """Evaluate a predicate for a row to true, false or unknown, as in SQL."""
    if isinstance(predicate, Everything):
        return True
    if isinstance(predicate, Not):
        found = truth_of(predicate.of, row)
        return None if found is None else not found
    if isinstance(predicate, And | Or):
        found_all = [truth_of(part, row) for part in predicate.parts]
        decisive = isinstance(predicate, Or)
        return decisive if decisive in found_all else None if None in found_all else not decisive
    value = row[predicate.attribute]
    if isinstance(predicate, IsNull):
        return value is None
    if value is None:
        return None
    if isinstance(predicate, Members):
        known = [_number(value) if isinstance(m, Decimal) else value for m in predicate.values]
        if any(k == m for k, m in zip(known, predicate.values, strict=True)):
            return True
        return None if None in known else False
    return _between(predicate, value)


def _number(text: str) -> Decimal | None:
    return Decimal(text) if text.lstrip("-").isdecimal() else None


def _between(interval: Interval, value: str) -> bool | None:
    ends = [end for end in (interval.low, interval.high) if end is not None]
    known: Decimal | str | None = value if isinstance(ends[0], str) else _number(value)
    if known is None:
        return None
    low, high = interval.low, interval.high
    above = low is None or known > low or (interval.low_closed and known == low)  # type: ignore[operator]
    below = high is None or known < high or (interval.high_closed and known == high)  # type: ignore[operator]
    return above and below


def answer_of(query: AggregateQuery, rows: Sequence[Mapping[str, str | None]]) -> float | None:
    """Answer a query over rows whose values are known; None for NULL."""
    found = [row for row in rows if truth_of(query.predicate, row) is True]
    if query.attribute is None:
        return float(len(found))
    values = [float(v) if query.aggregate is not Aggregate.COUNT else 0.0 for v in _values(query, found)]
    if query.aggregate is Aggregate.COUNT:
        return float(len(values))
    if not values:
        return None
    return {
        Aggregate.SUM: sum(values),
        Aggregate.AVG: sum(values) / len(values),
        Aggregate.MIN: min(values),
        Aggregate.MAX: max(values),
    }[query.aggregate]


def _values(query: AggregateQuery, rows: Sequence[Mapping[str, str | None]]) -> Iterator[str]:
    for row in rows:
        value = row[query.attribute or ""]
        if value is not None:
            yield value


def possible_rows(cells: Mapping[str, Cell]) -> list[dict[str, str | None]]:
    """Return every row that the cells of one row may represent."""
    names = list(cells)
    choices = [sorted(cells[name], key=str) for name in names]
    return [dict(zip(names, values, strict=True)) for values in product(*choices)]


def worlds(table: Sequence[Mapping[str, Cell]]) -> Iterator[World]:
    """Return every table that a generalized one may represent."""
    yield from product(*(possible_rows(row) for row in table))


def sure_bounds(
    query: AggregateQuery, table: Sequence[Mapping[str, Cell]]
) -> tuple[float, float] | tuple[None, None]:
    """Return the least and the largest answer over all worlds.

    Worlds without an answer are left out, except that a SUM of no rows is 0 if another world has an answer.
    """
    answers = [answer_of(query, world) for world in worlds(table)]
    known = [found for found in answers if found is not None]
    if known and len(known) < len(answers) and query.aggregate is Aggregate.SUM:
        known.append(0.0)
    return (min(known), max(known)) if known else (None, None)


def expected_rows(query: AggregateQuery, table: Sequence[Mapping[str, Cell]]) -> dict[float, float]:
    """Compute the expected selected rows by value of the query's attribute (0.0 for ``COUNT(*)``).

    Values are spread uniformly; NULL only receives a share from cells that are only NULL.
    """
    found: dict[float, float] = {}
    for row in table:
        spread = {name: (cell - {None}) or cell for name, cell in row.items()}
        possible = possible_rows(spread)
        for values in possible:
            value = values[query.attribute] if query.attribute is not None else "0"
            if value is not None and truth_of(query.predicate, values) is True:
                key = 0.0 if query.aggregate is Aggregate.COUNT else float(value)
                found[key] = found.get(key, 0.0) + 1.0 / len(possible)
    return found
