"""Result of an attack: figures and tables of plain values, each with its kind of number.

An attack words its findings once; the terminal, the screen and the report format the numbers by their kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Value = str | int | float | None
"""One cell; None where there is nothing to tell."""


class ValueKind(StrEnum):
    """How a value is written."""

    TEXT = "text"
    COUNT = "count"  # a whole number of rows, sets, records, …
    CHANCE = "chance"  # 0 to 1, written as a percentage
    NUMBER = "number"  # any other number


@dataclass(frozen=True)
class Figure:
    """One figure: its key for programs, its words, and what it is."""

    name: str
    label: str
    kind: ValueKind
    value: Value

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
        return {"name": self.name, "label": self.label, "kind": str(self.kind), "value": self.value}


@dataclass(frozen=True)
class FoundColumn:
    """A column of a found table."""

    title: str
    kind: ValueKind = ValueKind.TEXT


@dataclass(frozen=True)
class FoundTable:
    """A table; every row has a value per column.

    ``persons`` says that its rows speak of single persons: it is for the owner's eyes alone.
    """

    title: str
    columns: tuple[FoundColumn, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""
    persons: bool = False

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
        return {
            "title": self.title,
            "columns": [{"title": column.title, "kind": str(column.kind)} for column in self.columns],
            "rows": [list(row) for row in self.rows],
            "note": self.note,
            "persons": self.persons,
        }


@dataclass(frozen=True)
class Finding:
    """What one attack found.

    ``attack`` is its name and ``title`` its words, ``lead`` says in a sentence what the attacker does,
    ``options`` what it was told, ``skipped`` why it could not be tried (there is nothing else then).
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
        """The value of a figure; ``KeyError`` where there is none of that name."""
        return {each.name: each.value for each in self.figures}[name]

    def table(self, title: str) -> FoundTable:
        """The table of a title; ``KeyError`` where there is none."""
        return {each.title: each for each in self.tables}[title]

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
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
    """Columns from their titles, of text where no kind is given."""
    return tuple(FoundColumn(each) if isinstance(each, str) else FoundColumn(*each) for each in titles)


def count(name: str, label: str, value: int | None) -> Figure:
    """A figure that counts."""
    return Figure(name, label, ValueKind.COUNT, value)


def chance(name: str, label: str, value: float | None) -> Figure:
    """A figure from 0 to 1."""
    return Figure(name, label, ValueKind.CHANCE, value)


def number(name: str, label: str, value: float | None) -> Figure:
    """A figure that is any number."""
    return Figure(name, label, ValueKind.NUMBER, value)


def shown_rows(labels: Sequence[Sequence[str | None]], codes: Sequence[Sequence[int]]) -> list[list[Value]]:
    """Rows of codes as the texts that they stand for, NULL in words."""
    return [
        ["NULL" if (text := labels[i][code]) is None else text for i, code in enumerate(row)] for row in codes
    ]
