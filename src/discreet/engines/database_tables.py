"""The tables of a database that its user may read, by their names."""

from __future__ import annotations

from discreet.engines.connect import connect
from discreet.engines.registry import engine_at
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.names import table_name


def readable_tables(url: str, settings: Settings) -> tuple[str, ...]:
    """The names of tables and views, with their schemas, as a spec writes them, in the order of both.

    ``url`` is an address, or ``env:NAME``. No row is read. ``InputError``, without the address, where the
    database cannot be reached.
    """
    databases = engine_at(url).databases
    assert databases is not None
    with connect(settings, SourceSpec(url=url)) as engine:
        return tuple(
            table_name((str(schema), str(name))) for schema, name in engine.fetch_rows(databases.listing)
        )
