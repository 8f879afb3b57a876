"""Addresses of databases, catalogs and paths as users write them, resolved by the engines' declarations."""

from __future__ import annotations

from discreet.engines.declaration import EngineDeclaration
from discreet.engines.registry import engine_at, unique_engine
from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress
from discreet.places.address import is_variable, parse_path, resolve_address
from discreet.sql.quoting import table_parts


def is_database_address(text: str) -> bool:
    """Return True if a text is the address of a database of any engine.

    >>> is_database_address("Postgres://localhost/clinic"), is_database_address("people.csv")
    (True, False)
    """
    return ":" in text and _database_of(text) is not None


def read_database_address(text: str) -> str:
    """Normalize the address of a database for the engine's library.

    Raises ``InputError``, without the address, for other texts. ``env:NAME`` is returned unchanged after the
    check that the variable contains an address: its value is read at connection time.
    """
    databases = engine_at(text).databases
    assert databases is not None
    found = databases.read(resolve_address(text))
    return text if is_variable(text) else found


def is_engine_place(text: str) -> bool:
    """Return True if a text is an address of any engine.

    >>> is_engine_place("spark:people"), is_engine_place("C:/people")
    (True, False)
    """
    return ":" in text and (_database_of(text) or _scheme_of(text)) is not None


def engine_place(text: str, table: str | None = None) -> ReleaseAddress | None:
    """Resolve an engine's address, with a ``table`` there; None for a text that is no such address.

    Also returns None for a path address with a table. Raises ``InputError``, without the address, if a table
    is missing.
    """
    if ":" not in text:
        return None
    engine = _database_of(text)
    if engine is not None and engine.databases is not None:
        return ReleaseAddress(
            table=_require_table(table, engine.databases.what), url=engine.databases.read(text)
        )
    engine = _scheme_of(text)
    if engine is None or engine.scheme is None:
        return None
    path = text.removeprefix(engine.scheme)
    if not path and engine.catalog is not None:
        return ReleaseAddress(table=_require_table(table, engine.catalog), engine=engine.name)
    return None if table is not None else ReleaseAddress(path=parse_path(path), engine=engine.name)


def is_table_name(text: str) -> bool:
    """Return True if a text names a schema and a table.

    >>> is_table_name('out."the people"'), is_table_name("people")
    (True, False)
    """
    try:
        return len(table_parts(text)) == 2
    except InputError:
        return False


def _require_table(table: str | None, where: str) -> str:
    if table is None:
        raise InputError(f"{where} without a table", allowed="--table SCHEMA.NAME")
    return table


def _database_of(text: str) -> EngineDeclaration | None:
    return unique_engine(lambda e: e.databases is not None and e.databases.matches(text))


def _scheme_of(text: str) -> EngineDeclaration | None:
    return unique_engine(lambda e: e.scheme is not None and text.startswith(e.scheme))
