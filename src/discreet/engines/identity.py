"""The identity of a source's table, as the engine that has it resolves it, and of its rows.

A table may be named in many ways: with or without its schema, through a link, another host name, a view. The
ledger of a privacy budget (``differential.ledger``) must know it under each of them. An identity is a kind
and a text; a table has several, and two sources that share one are the same table, or overlap: a view shares
the identities of the tables that it is made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines.distinct_rows import rows_digest
from discreet.engines.registry import ENGINES
from discreet.engines.scratch import opened_as_it_lies
from discreet.engines.standard_input import is_standard_input
from discreet.engines.view_tables import Identity as Identity
from discreet.sql.source import column_name, is_nested

if TYPE_CHECKING:
    from discreet.engines.base import Engine
    from discreet.model.table_spec import SourceSpec


def table_identities(engine: Engine, source: SourceSpec, tables: Iterable[str] = ()) -> tuple[Identity, ...]:
    """Return the identities of a source's table by its place.

    Args:
        tables: of a file, the tables in it that the source reads (``files.stored_tables``).

    Raises:
        InputError: the source has no such table.
    """
    if source.path is not None:
        return () if is_standard_input(source.path) else tuple(_of_path(source.path, tables))
    return ENGINES.named(engine.name).identities(engine, source)


def rows_identity(engine: Engine, source: SourceSpec) -> Identity | None:
    """Return the identity of a source's rows: a digest of all cells, whatever the order of rows and columns.

    The rows are read as they lie, whatever the spec takes for NULL or leaves out, so a copy in another form
    or another database has the same. None for a table without rows.
    Cost: one scan and one GROUP BY of all columns.
    """
    plain = replace(
        source,
        null_values=(),
        written={},
        decimal=None,
        strip=False,
        subset=None,
        link=None,
        ways={},
        shifts={},
    )
    with opened_as_it_lies(engine, plain) as table:
        names = sorted((n for n in table.columns if not is_nested(table.types[n])), key=_folded)
        cells = ", ".join(f"{table.column(n)} AS {column_name(i)}" for i, n in enumerate(names))
        found = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation}")[0][0])
        if not names or not found:
            return None
        ordered = replace(
            table,
            relation=f"(SELECT {cells} FROM {table.relation}) AS ordered",
            columns=tuple(names),
            types={name: table.types[name] for name in names},
        )
        heading = "\t".join(map(_folded, names))
        return "rows", f"{heading}\n{rows_digest(engine, ordered)}"


def _of_path(path: Path, tables: Iterable[str]) -> Iterable[Identity]:
    places = [str(real_path(path))]
    if path.is_file() and path.stat().st_nlink > 1:
        found = path.stat()
        places.append(f"file {found.st_dev}:{found.st_ino}")
    return [("path", f"{place}\n{table}") for table in tables for place in places]


def _folded(name: str) -> str:
    return name.strip().casefold()


def real_path(path: Path) -> Path:
    """Return a path without links, its last part spelled as its folder lists it.

    A file system that ignores case leads to one file by several spellings.
    """
    real = path.resolve()
    try:
        listed = [each for each in real.parent.iterdir() if each.name.casefold() == real.name.casefold()]
        return next((each for each in listed if each == real or each.samefile(real)), real)
    except OSError:
        return real
