"""Columns turned into rows, so that what is counted of each of many columns is counted by one grouping.

An aggregate of distinct values for each column, or a statement for each, costs far more than the cells do
where columns are many: an engine plans by columns, and gives each aggregate memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from discreet.sql.dialect import Dialect

T = TypeVar("T")

COLUMNS_AT_ONCE = 1000
"""A statement turns at most so many columns into rows: an engine holds some thousand rows of each."""


def cells(dialect: Dialect, relation: str, texts: Sequence[str]) -> str:
    """Every cell of some columns: ``place``, its column's from 0, and ``v``, its text.

    ``texts`` are expressions over the relation.
    """
    if dialect.cells is None:
        each = (f"SELECT {i} AS place, {text} AS v FROM {relation}" for i, text in enumerate(texts))
        return " UNION ALL ".join(each)
    turned = dialect.cells.format(", ".join(texts), len(texts))
    return f"SELECT {turned} FROM {relation}"


def in_parts(columns: Sequence[T], at_once: int = COLUMNS_AT_ONCE) -> Iterator[Sequence[T]]:
    """Columns, so many at once.

    >>> list(in_parts("abcde", 2))
    ['ab', 'cd', 'e']
    """
    for start in range(0, len(columns), at_once):
        yield columns[start : start + at_once]
