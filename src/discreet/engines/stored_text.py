"""A text that stands alone in a table of a database: the manifest of a release."""

from __future__ import annotations

from discreet.engines.base import Engine
from discreet.engines.scratch import opened
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec


def stored_text(engine: Engine, source: SourceSpec, beside: SourceSpec | None = None) -> str | None:
    """The text of a table of one cell; None where there is no such table, or none that may be read.

    ``InputError`` for a table of another form, and where ``beside``, the table that the text is told of,
    cannot be read either.
    """
    try:
        engine.close_source(engine.open_source(source))
    except InputError:
        if beside is not None:
            engine.close_source(engine.open_source(beside))
        return None
    with opened(engine, source) as table:
        if len(table.columns) == 1:
            found = engine.fetch_rows(f"SELECT {table.text(table.columns[0])} FROM {table.relation} LIMIT 2")
            if len(found) == 1 and isinstance(found[0][0], str):
                return found[0][0]
    raise InputError(f"{source.label} holds no manifest", allowed="one row with one text")
