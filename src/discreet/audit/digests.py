"""The digest of what an audit reads: a file's, a folder's files', or a table's rows in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from discreet.engines.base import Engine, SourceTable
from discreet.engines.files.folder import folder_digest
from discreet.engines.scratch import opened
from discreet.errors import InputError
from discreet.model.release_address import ReleaseAddress
from discreet.sql import digest as sql
from discreet.sql.source import canonical_text, group_key, group_key_type


def digest_of(engine: Engine, place: ReleaseAddress) -> str:
    """SHA-256 of what lies at an address; ``InputError`` where it cannot be read."""
    path = place.path
    if path is None:
        with opened(engine, place.source()) as table:
            return rows_digest(engine, table)
    if path.is_dir():
        return folder_digest(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def rows_digest(engine: Engine, table: SourceTable) -> str:
    """SHA-256 of an opened table's rows, whatever their order (``sql.digest``)."""
    dialect, keys, texts = engine.dialect, [], []
    for i, name in enumerate(table.columns):
        kind, own = table.types[name], sql.key_name(i)
        if table.null_values:
            keys.append(table.text(name))
            texts.append(own)
        else:
            keys.append(group_key(table.column(name), kind, dialect))
            texts.append(canonical_text(own, group_key_type(kind), dialect))
    query = sql.rows_digest(dialect, table.relation, keys, texts, _together(engine, table, keys))
    return str(engine.fetch_rows(query)[0][0])


def _together(engine: Engine, table: SourceTable, keys: Sequence[str]) -> int | None:
    """The place of the last column with few different cells."""
    for place in reversed(range(len(keys))):
        if engine.fetch_rows(sql.few_cells(table.relation, keys[place]))[0][0] <= sql.MOST_CELLS:
            return place
    return None
