"""A source as it is read: what was inferred, its columns, its first rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.engines.connect import connect
from discreet.engines.files.folder import kind_of_folder
from discreet.engines.files.sources import sheets_in
from discreet.engines.registry import engine_of
from discreet.engines.scratch import opened
from discreet.model.table_spec import SourceSpec
from discreet.profile.source_form import SourceForm, infer_form
from discreet.settings import Settings
from discreet.verbs.interruption import interruptible

PREVIEW_ROWS = 12
"""Rows of a preview."""

LONGEST_CELL = 200
"""Characters of a cell in a preview."""


@dataclass(frozen=True)
class SourceView:
    """A source's columns with the engine's types, and its first rows as they are read; None is NULL.

    ``source`` says which columns have a written form.

    ``form`` is what was inferred of a file, None for a table in memory or in a database.
    """

    source: SourceSpec
    form: SourceForm | None
    columns: tuple[str, ...]
    types: tuple[str, ...]
    preview: tuple[tuple[str | None, ...], ...]

    def as_json(self) -> dict[str, Any]:
        """The view as JSON; its preview holds values of the data, for the publisher's eyes."""
        form, own = self.form, self.source.written
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
                    "written": self._words(name),
                    "own_form": name in own,
                    "form": own[name].as_json() if name in own else None,
                }
                for name, kind in zip(self.columns, self.types, strict=True)
            ],
            "preview": [list(row) for row in self.preview],
        }

    def _words(self, name: str) -> str | None:
        """How a column's cells are written, in words."""
        form = self.source.form_of(name)
        return None if form is None else form.words


def view_source(source: SourceSpec, settings: Settings, *, rows: int = PREVIEW_ROWS) -> SourceView:
    """A source's columns and first ``rows`` rows, in the source's order; ``InputError`` where it is wrong.

    Rows of a database stay there: no row of a source is shown that another engine than the embedded has.
    """
    apart = not engine_of(source).embedded
    form = None if source.path is None or apart else infer_form(source.path, source.label, source.format)
    in_order = replace(settings, threads=1)
    with connect(in_order, source) as engine, interruptible(engine), opened(engine, source) as table:
        cells = ", ".join(f"left({table.text(name)}, {LONGEST_CELL})" for name in table.columns)
        query = f"SELECT {cells} FROM {table.relation} LIMIT {int(rows)}"
        found = [] if apart else engine.fetch_rows(query)
        types = tuple(table.types[name] for name in table.columns)
        columns = table.columns
    return SourceView(source, form, columns, types, tuple(tuple(row) for row in found))


def table_kind(folder: Path) -> str | None:
    """What a folder is as one table (``Parquet``, ``Delta Lake``, …); None where it is none."""
    return kind_of_folder(folder)


def sheets_to_choose(source: SourceSpec) -> tuple[str, ...]:
    """The sheets of a spreadsheet that has several with cells; none of any other source."""
    found = sheets_in(source)
    return found if len(found) > 1 else ()


def inferred_source(source: SourceSpec) -> SourceSpec:
    """A source with what its file seems to be where the publisher said nothing: encoding and quote.

    The delimiter is left to the engine, which tells it from the header too. ``InputError`` where the file
    cannot be opened.
    """
    if source.path is None:
        return source
    form = infer_form(source.path, source.label, source.format)
    return replace(source, encoding=form.encoding, quote=form.quote or source.quote)
