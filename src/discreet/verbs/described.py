"""What a description beside the data says, as ``discreet init`` takes it over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from discreet.errors import InputError
from discreet.foreign.description import Description, is_description, read_description
from discreet.model.file_form import FileForm
from discreet.places.address import path_of
from discreet.profile.propose import NOTHING_KNOWN, KnownColumns


@dataclass(frozen=True)
class AboutData:
    """What is known of data before they are read, by the description that there is, if there is one.

    ``rows`` is where they lie, None where the caller says it.
    """

    description: Description | None = None
    rows: Path | None = None

    def form(self, given: FileForm) -> FileForm:
        """How the file is cut into cells: as is given, else as described; texts for NULL of both."""
        if self.description is None:
            return given
        said = self.description.table.form
        return replace(
            given,
            encoding=given.encoding or said.encoding,
            delimiter=given.delimiter or said.delimiter,
            quote=said.quote if given.quote is None else given.quote,
            null_values=tuple(dict.fromkeys((*given.null_values, *said.null_values))),
        )

    @property
    def known(self) -> KnownColumns:
        """The columns' forms and roles."""
        if self.description is None:
            return NOTHING_KNOWN
        columns = self.description.table.columns
        return KnownColumns(
            self.description.path.name,
            tuple(c.name for c in columns),
            {c.name: c.written for c in columns if c.written is not None},
            {c.name: (c.role, c.reason) for c in columns if c.role is not None},
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of the description."""
        return () if self.description is None else (self.description.path,)

    @property
    def told(self) -> tuple[str, ...]:
        """Sentences on what was taken over."""
        if self.description is None:
            return ()
        name, columns = self.description.path.name, self.description.table.columns
        titles = "; ".join(f"{c.name}: {c.title}" for c in columns if c.title and c.title != c.name)
        said = (f"{name} calls its columns so: {titles}.",) if titles else ()
        return (f"Read as {name} says of {len(columns)} of its columns.", *said)

    @property
    def notes(self) -> tuple[str, ...]:
        """What it says and was not taken over."""
        return () if self.description is None else self.description.table.notes


def description_of(data: object, table: str | None, schema: str | Path | None) -> AboutData:
    """The description of data: the ``schema`` beside them, or data that are one themselves; or nothing.

    ``InputError`` where it cannot be read, names no rows that lie here, or does not say which table is meant.
    """
    if schema is not None:
        return AboutData(read_description(path_of(schema, "the path of a schema"), table))
    if not is_description(data):
        return AboutData()
    found = read_description(Path(str(data)), table)
    if found.data is None:
        raise InputError(f"{found.path} names no rows", advice=f"discreet init DATA --schema {data}")
    return AboutData(found, found.data)
