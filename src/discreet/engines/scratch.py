"""What lives in an engine for a while: temporary tables, and sources while they are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from discreet.engines.base import Engine, SourceTable
from discreet.engines.temporary_tables import TemporaryTables as TemporaryTables
from discreet.errors import DiscreetError
from discreet.model.table_spec import SourceSpec


@contextmanager
def opened(engine: Engine, source: SourceSpec) -> Iterator[SourceTable]:
    """A source's rows for as long as the context lasts: those of its link, dates shifted where it says so.

    ``InputError`` where it cannot be read. What is counted is what is published, so whoever counts rows opens
    them here; identifiers are replaced for a release alone (``opened_for_release``).
    """
    with ExitStack() as stack:
        table = stack.enter_context(opened_as_it_lies(engine, source))
        if source.link is not None:
            from discreet.engines.treated import linked_rows

            table = stack.enter_context(linked_rows(engine, source.link, table))
        if source.shifts:
            from discreet.engines.treated import shifted_rows

            table = stack.enter_context(shifted_rows(engine, source, table))
        yield table


@contextmanager
def opened_as_it_lies(engine: Engine, source: SourceSpec) -> Iterator[SourceTable]:
    """A source's rows as they lie there; ``InputError`` where it cannot be read."""
    table = engine.open_source(source)
    try:
        yield table
    finally:
        with suppress(DiscreetError):
            engine.close_source(table)


def confirm_all_read(engine: Engine, table: SourceTable, rows: int) -> None:
    """Raise ``InputError`` unless a source has ``rows`` records (``Engine.confirm_rows``).

    Of linked rows nothing is asked: all records were confirmed where the keys were read (``release.keys``).
    """
    if not table.linked:
        engine.confirm_rows(table.as_it_lies, rows)


@contextmanager
def opened_for_release(engine: Engine, source: SourceSpec) -> Iterator[SourceTable]:
    """A source's rows as they are published: identifiers that are not left out are replaced as well.

    ``InputError`` also where a replacement is a text that the column has.
    """
    with opened(engine, source) as table:
        if not source.ways:
            yield table
            return
        from discreet.engines.treated import replaced_identifiers

        with replaced_identifiers(engine, source, table) as replaced:
            yield replaced
