"""A trial of the fuzz: a table, a request, and the journey of the release; all follow from the seed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import CRITERIA
from tests.fuzz.chains import Chain, chain_of

NEGOTIATED, LEVELS = "negotiated", "levels"
"""Requests that are published without a model: a negotiation's answer, and levels by attribute."""
PERMUTATION = "permutation"
HOSTILE = "hostile"
"""The journey of tables whose cells have misled programs."""
ROW = "row_number"
"""The insensitive column that identifies the source row of a published row; some hostile tables lack it."""
SECRET = "secret-"
"""Prefix of every cell of an identifier: it occurs in no release."""
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def is_star(cell: object) -> bool:
    """Test whether a cell contains only stars: in a sensitive column it is not a value (decision 0016)."""
    if not isinstance(cell, str) or "*" not in cell:
        return False
    return all(sign == "*" or sign.isspace() or sign in "\u200b\u2060\ufeff" for sign in cell)


def number_of(text: str | None) -> Decimal | None:
    """Return a plain number, or None."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def counted(texts: Sequence[str | None]) -> Counter[str]:
    """Count the values of a column without NULL."""
    return Counter(text for text in texts if text is not None)


@dataclass(frozen=True)
class Column:
    """A column: its cells as texts or, if ``kind`` is not ``text``, as Python values.

    ``more`` has further keys of the spec: pseudonymization, ``shift``, ``weight``.
    """

    name: str
    role: str
    kind: str
    cells: tuple[Any, ...]
    hierarchy: Mapping[str, Any] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def value(self, row: int) -> Any:
        """Return the cell of a row as the program reads it: stars in a sensitive column are NULL."""
        cell = self.cells[row]
        return None if self.role == "sensitive" and is_star(cell) else cell

    @property
    def is_published(self) -> bool:
        """Whether a release has the column."""
        return self.role not in ("identifier", "subject") or "pseudonymization" in self.more

    @property
    def has_age(self) -> bool:
        """Whether the column is a date of birth, which is published as an age at least."""
        return self.hierarchy is not None and self.hierarchy["kind"] == "age"


@dataclass(frozen=True)
class Condition:
    """A criterion by its name, its parameter's value, its attribute and its fixed parts."""

    name: str
    value: Any
    attribute: str | None = None
    parts: tuple[tuple[str, Any], ...] = ()

    @property
    def criterion(self) -> Criterion:
        """The program's criterion."""
        return CRITERIA.named(self.name)(self.value, self.attribute, **dict(self.parts))

    def part(self, name: str) -> Any:
        """Return the value of a fixed part, the proposed one if the condition has none."""
        return getattr(self.criterion, name)

    def __str__(self) -> str:
        parts = "".join(f", {name}={value}" for name, value in self.parts)
        return f"{self.name}({self.attribute or ''}{parts})={self.value}"


@dataclass(frozen=True)
class Trial:
    """A table, a request, and a journey: the steps that are run with them.

    ``further`` are the conditions except ``k`` and ``l``. ``people`` are the rows of the population by
    quasi-identifier, in addition to those of the table. ``kernels`` chooses compiled code or its numpy twin.
    ``levels`` bound the request: the least and the greatest level by attribute. ``survey`` means that the
    spec names a column of survey weights.
    """

    seed: int
    columns: tuple[Column, ...]
    source: str
    release: str
    model: str
    k: int
    l: int | None = None
    limit: str | int = 0
    drop_nulls: bool = False
    star: bool = False
    command: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    journey: str = "publish"
    further: tuple[Condition, ...] = ()
    people: tuple[Mapping[str, Any], ...] = ()
    order: str = "sorted"
    kernels: bool = False
    levels: tuple[Mapping[str, int], Mapping[str, int]] = ({}, {})
    mutations: tuple[str, ...] = ()
    survey: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].cells)

    def of(self, role: str) -> list[Column]:
        """Return the columns of a role."""
        return [column for column in self.columns if column.role == role]

    @property
    def keys(self) -> list[Column]:
        """The quasi-identifiers."""
        return self.of("quasi-identifier")

    @property
    def published(self) -> list[Column]:
        """The columns of a release, in order."""
        return [column for column in self.columns if column.is_published]

    @property
    def subject(self) -> Column | None:
        """The column of the subjects."""
        return next(iter(self.of("subject")), None)

    @property
    def policy(self) -> str:
        """The policy for suppressed rows."""
        return "star" if self.star else "drop"

    @property
    def kept(self) -> list[int]:
        """The rows that the policy for NULLs retains."""
        listed = [*self.keys, *self.of("sensitive")]
        return [
            row
            for row in range(self.rows)
            if not self._is_set_apart(row)
            and not (self.drop_nulls and any(column.value(row) is None for column in listed))
        ]

    def _is_set_apart(self, row: int) -> bool:
        """Test whether a row has only stars or NULLs as quasi-identifiers, and at least one star."""
        cells = [column.cells[row] for column in self.keys]
        return all(cell is None or is_star(cell) for cell in cells) and any(map(is_star, cells))

    @property
    def most_suppressed(self) -> int:
        """The rows that may be suppressed; a policy for outliers of patterns has its own limit."""
        if self.model == "patterns" and self.limit == 0:
            return len(self.kept)
        if isinstance(self.limit, int):
            return self.limit
        return len(self.kept) * int(self.limit.rstrip("%")) // 100

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Every condition of the request, k and l first."""
        first = (Condition("k", self.k),) if self.k else ()
        second = (Condition("l", self.l),) if self.l else ()
        return (*first, *second, *self.further)

    def chains(self) -> dict[str, Mapping[str, Chain] | None]:
        """The chain of every value, by quasi-identifier; None for labels that ``chains`` cannot derive."""
        found: dict[str, Mapping[str, Chain] | None] = {}
        for column in self.keys:
            cells = [*(column.cells[row] for row in self.kept), *(one[column.name] for one in self.people)]
            texts = {str(cell) for cell in cells if cell is not None}
            found[column.name] = chain_of(column.hierarchy, sorted(texts))
        return found

    def at(self, rows: Sequence[int]) -> Trial:
        """The trial with some of its rows."""
        columns = (replace(c, cells=tuple(c.cells[row] for row in rows)) for c in self.columns)
        return replace(self, columns=tuple(columns))
