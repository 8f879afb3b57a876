"""What a description says of a table and its columns, whatever standard it follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from discreet.errors import InputError
from discreet.model.date_pattern import DatePattern
from discreet.model.file_form import FileForm
from discreet.model.table_spec import AttributeRole
from discreet.model.written_form import WrittenForm


@dataclass(frozen=True)
class DescribedColumn:
    """A column: how its cells are written, its role with the reason where one follows, and its title."""

    name: str
    written: WrittenForm | None = None
    role: AttributeRole | None = None
    reason: str = ""
    title: str | None = None


@dataclass(frozen=True)
class DescribedTable:
    """A table: where its rows lie, as it is written, how the file is cut into cells, and its columns.

    ``notes`` are sentences on what is said there and was not taken over.
    """

    columns: tuple[DescribedColumn, ...]
    data: str | None = None
    form: FileForm = field(default_factory=FileForm)
    notes: tuple[str, ...] = ()


def one_of(tables: Sequence[Any], names: Sequence[str], table: str | None, label: str) -> Any:
    """The table of a name, or the only one; ``InputError`` where that is not clear."""
    if table is None and len(tables) == 1:
        return tables[0]
    if table not in names:
        said = "no table" if table is None else f"the table '{table}'"
        raise InputError(
            f"{label} describes {len(tables)} tables, and {said} was chosen"
            if table is None
            else f"{label} does not describe {said}",
            allowed="--table with one of " + ", ".join(names) if names else "one table at least",
        )
    return tables[names.index(table)]


def number_form(decimal: object, thousands: object, name: str, notes: list[str]) -> WrittenForm | None:
    """Numbers with marks; None where they are plain. A mark that is not read here is a note."""
    if decimal in (None, ".") and not thousands:
        return None
    try:
        return WrittenForm(decimal=str(decimal or "."), thousands=str(thousands) if thousands else None)
    except InputError as error:
        notes.append(f"The form of '{name}' is told from the file, since {error.message} is not read.")
        return None


def date_form(pattern: str, name: str, notes: list[str]) -> WrittenForm | None:
    """Dates by a pattern of ``strptime``; what is not read here is a note, and told from the file."""
    try:
        short = "y" in DatePattern.parse(pattern).directives
        return WrittenForm(dates=(pattern,), pivot=datetime.now(UTC).year if short else None)
    except InputError as error:
        notes.append(f"The form of '{name}' is told from the file, since {error.message}.")
        return None


def role_of(column: Mapping[str, Any], label: str) -> AttributeRole | None:
    """The role that a description of ours has; ``InputError`` for one that is none."""
    told = column.get("discreet:role")
    if told is None:
        return None
    if told not in list(AttributeRole):
        raise InputError(f"the role '{told}' in {label}", allowed=", ".join(AttributeRole))
    return AttributeRole(told)


def only_plain(settings: Mapping[str, Any], usual: Mapping[str, tuple[Any, ...]], label: str) -> None:
    """``InputError`` where a dialect says what changes which rows there are, and is not done here."""
    for key, values in usual.items():
        if key in settings and settings[key] not in values:
            raise InputError(
                f"{label} says {key} = {settings[key]!r}, which is not read",
                allowed=f"{key} left out: a header in the first line, and a row in every other",
                advice="Write the file so, or init it without its description.",
            )
