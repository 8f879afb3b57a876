"""DuckDB databases: the driver, reused in-memory databases, session settings, row order and the buffer limit.

The driver is loaded without its Python query layer (a third of the import time). One database is kept for the
next engine (12 ms each). The buffer limit follows the memory of the process, so that the whole stays within
the setting.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from discreet.sql.quoting import literal

if TYPE_CHECKING:
    import duckdb


@cache
def load_driver() -> Any:
    """The module of the engine: ``connect``, and ``Error``, the same class as the package's."""
    try:
        import _duckdb
    except ImportError:  # a version that keeps it elsewhere
        import duckdb

        return duckdb
    return _duckdb


def register_rows(connection: duckdb.DuckDBPyConnection, name: str, rows: object) -> None:
    """Let statements of a connection read rows of this process's memory by a name."""
    import_module("duckdb")  # which tells the engine of frames and of Arrow's streams
    connection.register(name, rows)


ConnectionConfig = dict[str, str | bool | int | float | list[str]]

_SESSION = (
    "SET TimeZone = 'UTC'",
    "SET python_enable_replacements = false",
    "SET GLOBAL pandas_analyze_sample = 0",
)


def config(limit: int, threads: int, spill: str) -> ConnectionConfig:
    """How a connection starts: bytes of buffers, threads, the folder it spills to; it fetches nothing."""
    return {
        "memory_limit": f"{limit}B",
        "threads": str(threads),
        "temp_directory": spill,
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_persistent_secrets": "false",
        "enable_external_file_cache": "false",
    }


def initialize_session(connection: duckdb.DuckDBPyConnection) -> None:
    """Set what can only be set on a connection that is there."""
    for statement in _SESSION:
        connection.execute(statement)
    # A progress bar is off already where it cannot be drawn (in a notebook without ipywidgets), and there
    # DuckDB takes no setting of it, not even that one.
    shown = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]
    if shown:
        connection.execute("SET enable_progress_bar = false")


class RowOrderSetting:
    """The order of rows, which counting does without: kept for as long as anybody asks for it.

    ``execute`` runs a statement. Who asks within another's asking does not end it. The connection is told
    before a statement that needs the other way, and not where none comes: setting it takes as long as a small
    statement.
    """

    def __init__(self, execute: Callable[[str], object]) -> None:
        self._execute, self._requests = execute, 0
        self._current: bool | None = False

    @contextmanager
    def preserved(self) -> Iterator[None]:
        """Keep the order until the context ends."""
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1

    @property
    def is_preserved(self) -> bool:
        """Whether anybody asks for it."""
        return self._requests > 0

    def apply_setting(self) -> None:
        """Tell the connection what the next statement needs, where it was told the other way."""
        if self.is_preserved == self._current:
            return
        self._current = None  # not known, should this be interrupted
        self._execute(f"SET preserve_insertion_order = {str(self.is_preserved).lower()}")
        self._current = self.is_preserved


_LEAST = 1 << 29
_UNCOUNTED = 8
_INTERPRETER = 200 * 10**6
_NOTICED = 32
_GROWN = 1 << 25
_RESTING = 1 << 24
_USED = "SELECT coalesce(sum(memory_usage_bytes), 0) FROM duckdb_memory()"


def buffer_limit(memory_limit: int, resident: int | None = None) -> int:
    """The bytes of buffers for a process that is to stay within a limit and holds ``resident`` bytes already.

    Where that would leave less than half a gigabyte, the limit itself is what the engine gets, up to so much:
    it cannot sort or join with less.

    >>> buffer_limit(4 * 10**9, 300 * 10**6), buffer_limit(10**9, 700 * 10**6), buffer_limit(10**8, 10**9)
    (3200000000, 536870912, 100000000)
    """
    held = resident_bytes() if resident is None else resident
    return min(memory_limit, max(_LEAST, memory_limit - memory_limit // _UNCOUNTED - held))


class Buffers:
    """The limit of a connection's buffers, which follows what the process holds beside them.

    Arrays and texts that were fetched are taken off before the next large statement, and given back when they
    are gone. Memory that others than the engine let go and is still the process's counts as held.
    """

    def __init__(self, memory_limit: int) -> None:
        self._memory_limit, self._resident = memory_limit, resident_bytes()
        self._before = self._resident
        self.limit = buffer_limit(memory_limit, self._resident)

    def grown(self) -> bool:
        """Whether the process holds noticeably more than it did at the start, which may be the engine's."""
        return resident_bytes() - self._before > _GROWN

    def follow(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Set the limit anew where the process has grown or shrunk by more than a part of it."""
        if self._memory_limit <= _LEAST:  # all of it is the engine's
            return
        if abs(resident_bytes() - self._resident) < self._memory_limit // _NOTICED:
            return
        self._give_back(connection)
        self._resident = resident = resident_bytes()
        self._set(connection, buffer_limit(self._memory_limit, max(resident - _buffer_bytes(connection), 0)))

    def leave_room(self, connection: duckdb.DuckDBPyConnection, size: int) -> bool:
        """Set the limit so that ``size`` bytes fit beside the buffers until it is set anew; whether they do.

        The engine rests meanwhile, so its buffers may have less than any statement needs.
        """
        if self._memory_limit <= _LEAST or size < self._memory_limit // _NOTICED:
            return True
        if resident_bytes() + size <= self._memory_limit - self._memory_limit // _UNCOUNTED:
            return True
        self._give_back(connection)
        used = _buffer_bytes(connection)
        beside = max(resident_bytes() - used, 0) + size
        left = self._memory_limit - self._memory_limit // _UNCOUNTED - beside
        if left < used:
            self._set(connection, max(left, _RESTING))
            self._resident = 0  # whatever the process holds then, the next large statement asks
        return beside <= self._memory_limit

    def _give_back(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Give the system what the engine let go and holds on to: setting its limit, even as it is, does so.

        After a statement of 10,000 columns that is 200 MB, which would be taken off the buffers.
        """
        self._set(connection, self.limit)

    def _set(self, connection: duckdb.DuckDBPyConnection, limit: int) -> None:
        from duckdb import OutOfMemoryException

        with suppress(OutOfMemoryException):  # where so much cannot be moved to the disk, it stays as it was
            connection.execute(f"SET memory_limit = '{limit}B'")
            self.limit = limit


def _buffer_bytes(connection: duckdb.DuckDBPyConnection) -> int:
    """The bytes of the engine's buffers."""
    return int(connection.execute(_USED).fetchall()[0][0])


def resident_bytes() -> int:
    """What the process has in memory now; a guess where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _INTERPRETER


_REUSABLE: list[tuple[int, duckdb.DuckDBPyConnection]] = []
"""At most one, with the process that made it: its threads do not live on in one that is forked."""
_LOCK = Lock()

_CHANGED_SETTINGS = ("memory_limit", "threads", "temp_directory", "preserve_insertion_order")
"""What engines set, or are told each its own; they may also set what ``_RESET`` is about."""
_RESET = "RESET GLOBAL disabled_optimizers"
_ATTACHED = "SELECT count(*) FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'"


def acquire_database(limit: int, threads: int, spill: str) -> duckdb.DuckDBPyConnection:
    """A database of so many bytes of buffers and threads, which spills to a folder; ``duckdb.Error``."""
    told = config(limit, threads, spill)
    with _LOCK:
        kept = _REUSABLE.pop()[1] if _REUSABLE and _REUSABLE[0][0] == os.getpid() else None
    if kept is not None:
        try:
            for name in _CHANGED_SETTINGS:
                kept.execute(f"SET GLOBAL {name} = {literal(str(told[name]))}")
            kept.execute(_RESET)
            return kept
        except load_driver().Error:  # an engine's fault may have ended it
            kept.close()
    made: duckdb.DuckDBPyConnection = load_driver().connect(config=told)
    return made


def release_database(database: duckdb.DuckDBPyConnection, *, keep: bool) -> None:
    """Close a database, or keep it for the next engine where none is kept and nothing is left in it."""
    with _LOCK:
        if keep and not _REUSABLE and _is_empty(database):
            _REUSABLE.append((os.getpid(), database))
            return
    database.close()


def _is_empty(database: duckdb.DuckDBPyConnection) -> bool:
    """Whether no file is attached; False where an engine's fault has ended the database."""
    try:
        return bool(database.execute(_ATTACHED).fetchall() == [(0,)])
    except load_driver().Error:
        return False
