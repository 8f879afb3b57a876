"""The dialects that a query may be asked in, by name."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.sql.dialect import DUCKDB, READERS, Dialect


def dialect_named(name: str | None) -> Dialect:
    """What a reader of a release runs by himself: ``duckdb`` (by default), ``postgres``, ``spark``.

    ``InputError`` for another name.
    """
    if name is None:
        return DUCKDB
    if name not in READERS:
        raise InputError(f"dialect '{name}'", allowed=", ".join(READERS))
    return READERS[name]
