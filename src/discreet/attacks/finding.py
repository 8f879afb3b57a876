"""Result of an attack: figures and tables of plain values, each with its kind of number.

An attack words its findings once; the terminal, the screen and the report format the numbers by their kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Value = str | int | float | None
"""One cell; None where there is no value."""


class ValueKind(StrEnum):
    """Kind of a value, which determines how the value is formatted."""

    TEXT = "text"
    COUNT = "count"  # number of rows, sets, records, …
    CHANCE = "chance"  # 0 to 1, written as a percentage
    NUMBER = "number"  # any other number


@dataclass(frozen=True)
class Figure:
    """One figure of a finding: key for programs, label, kind and value."""

    name: str
    label: str
    kind: ValueKind
    value: Value

    def as_json(self) -> dict[str, Any]:
        """Return the figure's part of the JSON document."""
        return {"name": self.name, "label": self.label, "kind": str(self.kind), "value": self.value}


@dataclass(frozen=True)
class FoundColumn:
    """Column of a found table."""

    title: str
    kind: ValueKind = ValueKind.TEXT


@dataclass(frozen=True)
class FoundTable:
    """Table of a finding; every row has one value per column.

    ``persons`` marks a table whose rows describe single persons: only the data owner may see it.
    """

    title: str
    columns: tuple[FoundColumn, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""
    persons: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the table's part of the JSON document."""
        return {
            "title": self.title,
            "columns": [{"title": column.title, "kind": str(column.kind)} for column in self.columns],
            "rows": [list(row) for row in self.rows],
            "note": self.note,
            "persons": self.persons,
        }


@dataclass(frozen=True)
class Finding:
    """Result of one attack.

    ``attack`` is the attack's name, ``title`` its heading, ``lead`` one sentence about the attacker's action,
    and ``options`` its option values. ``skipped`` is the reason why the attack could not be tried; such a
    finding has no figures and no tables.
    """

    attack: str
    title: str
    lead: str
    options: Mapping[str, Any]
    figures: tuple[Figure, ...] = ()
    tables: tuple[FoundTable, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: str | None = None

    def figure(self, name: str) -> Value:
        """Return the value of a figure; raise ``KeyError`` for an unknown name."""
        return {each.name: each.value for each in self.figures}[name]

    def table(self, title: str) -> FoundTable:
        """Return the table with a title; raise ``KeyError`` for an unknown title."""
        return {each.title: each for each in self.tables}[title]

    def as_json(self) -> dict[str, Any]:
        """Return the finding's part of the JSON document."""
        return {
            "attack": self.attack,
            "title": self.title,
            "lead": self.lead,
            "options": dict(self.options),
            "figures": [each.as_json() for each in self.figures],
            "tables": [each.as_json() for each in self.tables],
            "notes": list(self.notes),
            "skipped": self.skipped,
        }


def columns(*titles: str | tuple[str, ValueKind]) -> tuple[FoundColumn, ...]:
    """Build columns from titles, as text columns where no kind is given."""
    return tuple(FoundColumn(each) if isinstance(each, str) else FoundColumn(*each) for each in titles)


def count(name: str, label: str, value: int | None) -> Figure:
    """Build a figure that is a count."""
    return Figure(name, label, ValueKind.COUNT, value)


def chance(name: str, label: str, value: float | None) -> Figure:
    """Build a figure from 0 to 1."""
    return Figure(name, label, ValueKind.CHANCE, value)


def number(name: str, label: str, value: float | None) -> Figure:
    """Build a figure that is any number."""
    return Figure(name, label, ValueKind.NUMBER, value)


def shown_rows(labels: Sequence[Sequence[str | None]], codes: Sequence[Sequence[int]]) -> list[list[Value]]:
    """Return rows of codes as rows of labels, with NULL as the text ``NULL``."""
    return [
        ["NULL" if (text := labels[i][code]) is None else text for i, code in enumerate(row)] for row in codes
    ]
