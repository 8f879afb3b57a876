"""Sources on the Load screen: how a file is read, its columns and first rows, named databases, the sample.

Only databases that the server's operator has named can be chosen; their addresses are never shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.engines.connection import NamedDatabase, connect
from discreet.engines.connection import list_tables as list_tables
from discreet.engines.connection import named_databases as named_databases
from discreet.engines.files.parquet_files import folder_kind as folder_kind
from discreet.engines.files.sources import list_sheets
from discreet.engines.registry import engine_of
from discreet.engines.source_tables import open_source_table
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.profile.file_format_inference import FileFormat, infer_file_format
from discreet.sample.census import census_spec, write_census
from discreet.settings import Settings
from discreet.verbs.run_context import interruptible_engine


def find_database(name: str, *, is_service: bool) -> NamedDatabase:
    """Return a named database; raise ``InputError`` if there is none of the name."""
    wanted = NamedDatabase(name, is_service=is_service)
    known = named_databases()
    if wanted not in known:
        raise InputError(
            "no database has this name",
            allowed=", ".join(each.name for each in known) or None,
            advice="Add it to the environment or a service file, and restart the workbench.",
        )
    return wanted


SAMPLE_NAME = "census.csv"
"""The file of the generated census: 30,000 invented people."""


def write_sample_table(folder: Path, *, path: str) -> dict[str, Any]:
    """Write the generated census into ``folder`` and return its spec's mapping, whose source is ``path``.

    An existing census is overwritten; it always has the same rows.
    """
    target = folder / SAMPLE_NAME
    target.unlink(missing_ok=True)
    write_census(target)
    target.chmod(0o600)
    return census_spec(path)


PREVIEW_ROWS = 12
"""Rows of a preview."""

MAX_CELL_CHARACTERS = 200
"""Maximum characters of a cell in a preview."""


@dataclass(frozen=True)
class SourceView:
    """A source's columns with the engine's types, and its first rows as they are read; None is NULL.

    ``source`` contains the cell formats of columns. ``form`` is the inferred format of a file, None for a
    table in memory or in a database.
    """

    source: SourceSpec
    form: FileFormat | None
    columns: tuple[str, ...]
    types: tuple[str, ...]
    preview: tuple[tuple[str | None, ...], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the view as JSON; its preview contains values of the data and is only for the publisher."""
        form, formats = self.form, self.source.formats
        return {
            "form": None
            if form is None
            else {
                "format": form.format,
                "encoding": form.encoding,
                "delimiter": form.delimiter,
                "quote": form.quote,
                "reasons": dict(form.reasons),
            },
            "columns": [
                {
                    "name": name,
                    "type": kind,
                    "format": None if (written := self.source.form_of(name)) is None else written.words,
                    "own_form": name in formats,
                    "form": formats[name].as_json() if name in formats else None,
                }
                for name, kind in zip(self.columns, self.types, strict=True)
            ],
            "preview": [list(row) for row in self.preview],
        }


def view_source(source: SourceSpec, settings: Settings, *, rows: int = PREVIEW_ROWS) -> SourceView:
    """Return a source's columns and first ``rows`` rows, in the source's order.

    Rows of another engine than the embedded one are not fetched: they stay in their database. Raises
    ``InputError`` if the source cannot be read.
    """
    is_remote = not engine_of(source).embedded
    form = (
        None
        if source.path is None or is_remote
        else infer_file_format(source.path, source.label, source.format)
    )
    in_order = replace(settings, threads=1)  # several threads would return rows in any order
    with (
        connect(in_order, source) as engine,
        interruptible_engine(engine),
        open_source_table(engine, source) as table,
    ):
        cells = ", ".join(f"left({table.text(name)}, {MAX_CELL_CHARACTERS})" for name in table.columns)
        query = f"SELECT {cells} FROM {table.relation} LIMIT {int(rows)}"
        found = [] if is_remote else engine.fetch_rows(query)
        types = tuple(table.types[name] for name in table.columns)
        columns = table.columns
    return SourceView(source, form, columns, types, tuple(tuple(row) for row in found))


def available_sheets(source: SourceSpec) -> tuple[str, ...]:
    """Return the sheets of a spreadsheet that has several with cells; empty for any other source."""
    found = list_sheets(source)
    return found if len(found) > 1 else ()


def infer_source(source: SourceSpec) -> SourceSpec:
    """Return a source with the inferred encoding and quote of its file, unless the publisher set them.

    The delimiter is left to the engine, which also uses the header to infer it. Raises ``InputError`` if the
    file cannot be opened.
    """
    if source.path is None:
        return source
    form = infer_file_format(source.path, source.label, source.format)
    return replace(source, encoding=form.encoding, quote=form.quote or source.quote)
