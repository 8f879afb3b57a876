"""The place of a spec's rows: a file, a table of a database, or a table in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.engines.registry import ENGINES
from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.spec.document import SourceTable


def with_place(document: Mapping[str, Any], place: Mapping[str, str]) -> dict[str, Any]:
    """A spec's mapping whose rows are at another place: ``path`` or ``url`` in the place of either."""
    given = document.get("source", {})
    if not isinstance(given, Mapping):
        return dict(document)
    kept = {key: value for key, value in given.items() if key not in ("path", "url")}
    return {**document, "source": {**kept, **place}}


def check_place(table: SourceTable, data: object | None, label: str) -> None:
    """Check that exactly one place is named, and nothing that belongs to another."""
    engine = None if table.engine is None else ENGINES.named(table.engine)
    catalog = engine is not None and engine.catalog is not None and table.table is not None
    places = {"path": table.path, "url": table.url}
    named = [f"source.{name}" for name, value in places.items() if value is not None]
    named += ["a table in memory"] * (data is not None)
    if len(named) != 1 and not (catalog and not named):
        fact = "source.path is missing"
        if named:
            value = f" = {shown(table.path)}" if table.path is not None else ""
            fact = f"{named[0]}{value} beside {named[1]}"
        raise InputError(
            f"{label}: {fact}",
            allowed="the path of a CSV, TSV, Parquet or JSON-lines file, url and table of a database, or a "
            "table in memory from Python",
            advice=_of_frames(label, named),
        )
    if table.url is not None:
        if table.table is None:
            raise InputError(
                f"{label}: source.url without source.table",
                allowed='the name of a table, such as table = "clinic.people"',
            )
        files = ("format", "encoding", "delimiter", "quote", "unquoted_nulls", "engine")
        given = [name for name in files if name in table.model_fields_set]
        if given:
            raise InputError(
                f"{label}: source.{given[0]} concerns files, and the source is a database's table",
                advice="Remove it.",
            )
    if table.version is not None and table.path is None:
        raise InputError(
            f"{label}: source.version = {table.version} without source.path",
            allowed="version of a table of Delta Lake or Apache Iceberg, which path names",
            advice="Remove it.",
        )
    if data is not None and table.table is not None:
        raise InputError(f"{label}: source.table beside a table in memory", advice="Remove it.")


def _of_frames(label: str, named: list[str]) -> str | None:
    """What to do about a spec of a table in memory, and about a table in memory beside a path."""
    if not named:
        return f"If it is the spec of a table in memory, give that: discreet.open(frame, {label!r})."
    in_memory = "a table in memory" in named
    return f"Remove {named[0]} from the spec, or open it without the table." if in_memory else None
