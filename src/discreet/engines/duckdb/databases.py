"""Databases in memory that engines of this process use one after the other.

Making a database takes some twelve milliseconds, as long as all statements of a small table: its functions,
types and settings are entered anew. A verb opens several engines, a notebook or the workbench hundreds; so
one database is kept when its engine is closed. An engine has a connection of its own, with which its
temporary tables, views and registered rows end: what is kept holds no value of anybody's. One that has
spilled, or has grown, is not kept, since only closing it gives back files and memory.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

from discreet.engines.duckdb.driver import driver
from discreet.engines.duckdb.session import config
from discreet.sql.names import literal

if TYPE_CHECKING:
    import duckdb

_KEPT: list[tuple[int, duckdb.DuckDBPyConnection]] = []
"""At most one, with the process that made it: its threads do not live on in one that is forked."""
_CHANGING = Lock()

_CHANGED = ("memory_limit", "threads", "temp_directory", "preserve_insertion_order")
"""What engines set, or are told each its own; they may also set what ``_RESET`` is about."""
_RESET = "RESET GLOBAL disabled_optimizers"
_ATTACHED = "SELECT count(*) FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'"


def take(limit: int, threads: int, spill: str) -> duckdb.DuckDBPyConnection:
    """A database of so many bytes of buffers and threads, which spills to a folder; ``duckdb.Error``."""
    told = config(limit, threads, spill)
    with _CHANGING:
        kept = _KEPT.pop()[1] if _KEPT and _KEPT[0][0] == os.getpid() else None
    if kept is not None:
        try:
            for name in _CHANGED:
                kept.execute(f"SET GLOBAL {name} = {literal(str(told[name]))}")
            kept.execute(_RESET)
            return kept
        except driver().Error:  # an engine's fault may have ended it
            kept.close()
    made: duckdb.DuckDBPyConnection = driver().connect(config=told)
    return made


def end(database: duckdb.DuckDBPyConnection, *, keep: bool) -> None:
    """Close a database, or keep it for the next engine where none is kept and nothing is left in it."""
    with _CHANGING:
        if keep and not _KEPT and _is_empty(database):
            _KEPT.append((os.getpid(), database))
            return
    database.close()


def _is_empty(database: duckdb.DuckDBPyConnection) -> bool:
    """Whether no file is attached; False where an engine's fault has ended the database."""
    try:
        return bool(database.execute(_ATTACHED).fetchall() == [(0,)])
    except driver().Error:
        return False
