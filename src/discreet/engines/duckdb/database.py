"""DuckDB databases: driver, reused in-memory databases, session settings, row order and buffer limit.

The driver is loaded without its Python query layer (a third of the import time). One database is kept for the
next engine (creating one takes 12 ms). The buffer limit follows the memory of the process, so that the total
stays within the memory limit.
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
    """Return the driver module: ``connect``, and ``Error``, which is the same class as the package's."""
    try:
        import _duckdb
    except ImportError:  # versions without the separate module
        import duckdb

        return duckdb
    return _duckdb


def register_rows(connection: duckdb.DuckDBPyConnection, name: str, rows: object) -> None:
    """Register in-memory rows under a name for the statements of a connection."""
    import_module("duckdb")  # its import registers DataFrames and Arrow streams with the driver
    connection.register(name, rows)


ConnectionConfig = dict[str, str | bool | int | float | list[str]]

_SESSION = (
    "SET TimeZone = 'UTC'",
    "SET python_enable_replacements = false",
    "SET GLOBAL pandas_analyze_sample = 0",
)


def config(limit: int, threads: int, spill: str) -> ConnectionConfig:
    """Return a connection's settings: buffer bytes, threads and spill folder; downloads are disabled."""
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
    """Set the settings that require an open connection."""
    for statement in _SESSION:
        connection.execute(statement)
    # The progress bar is already off where it cannot be drawn (in a notebook without ipywidgets); there
    # DuckDB rejects every setting of it, even turning it off.
    progress_bar = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]
    if progress_bar:
        connection.execute("SET enable_progress_bar = false")


class RowOrderSetting:
    """Preservation of row order, which counting does not need: on while at least one caller requires it.

    ``execute`` runs a statement. Requests can be nested. The connection's setting is changed only before a
    statement that needs the other value: setting it takes as long as a small statement.
    """

    def __init__(self, execute: Callable[[str], object]) -> None:
        self._execute, self._requests = execute, 0
        self._current: bool | None = False

    @contextmanager
    def preserved(self) -> Iterator[None]:
        """Preserve row order until the context ends."""
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1

    @property
    def is_preserved(self) -> bool:
        """True while a caller requires row order."""
        return self._requests > 0

    def apply_setting(self) -> None:
        """Set the connection to the value that the next statement needs, if it differs."""
        if self.is_preserved == self._current:
            return
        self._current = None  # unknown if the statement is interrupted
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
    """Return the buffer size in bytes for a process within a memory limit that holds ``resident`` bytes.

    If less than half a gigabyte would remain, the engine gets the smaller of the limit and half a gigabyte:
    it cannot sort or join with less.

    >>> buffer_limit(4 * 10**9, 300 * 10**6), buffer_limit(10**9, 700 * 10**6), buffer_limit(10**8, 10**9)
    (3200000000, 536870912, 100000000)
    """
    in_use = resident_bytes() if resident is None else resident
    return min(memory_limit, max(_LEAST, memory_limit - memory_limit // _UNCOUNTED - in_use))


class Buffers:
    """Limit of a connection's buffers, adjusted to the other memory of the process.

    Fetched arrays and texts are subtracted before the next large statement, and added again when they are
    freed. Memory freed by others than the engine but not returned to the system counts as used.
    """

    def __init__(self, memory_limit: int) -> None:
        self._memory_limit, self._resident = memory_limit, resident_bytes()
        self._before = self._resident
        self.limit = buffer_limit(memory_limit, self._resident)

    def grown(self) -> bool:
        """Return True if the process has grown by more than 32 MiB, which may be the engine's memory."""
        return resident_bytes() - self._before > _GROWN

    def follow(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Update the limit if the process has grown or shrunk by more than a 32nd of the memory limit."""
        if self._memory_limit <= _LEAST:  # the engine gets the whole limit
            return
        if abs(resident_bytes() - self._resident) < self._memory_limit // _NOTICED:
            return
        self._give_back(connection)
        self._resident = resident = resident_bytes()
        self._set(connection, buffer_limit(self._memory_limit, max(resident - _buffer_bytes(connection), 0)))

    def leave_room(self, connection: duckdb.DuckDBPyConnection, size: int) -> bool:
        """Lower the limit so that ``size`` bytes fit until the next update; return whether they fit.

        The engine is idle meanwhile, so its buffers may be smaller than any statement needs.
        """
        if self._memory_limit <= _LEAST or size < self._memory_limit // _NOTICED:
            return True
        if resident_bytes() + size <= self._memory_limit - self._memory_limit // _UNCOUNTED:
            return True
        self._give_back(connection)
        used = _buffer_bytes(connection)
        reserved = max(resident_bytes() - used, 0) + size
        left = self._memory_limit - self._memory_limit // _UNCOUNTED - reserved
        if left < used:
            self._set(connection, max(left, _RESTING))
            self._resident = 0  # forces an update before the next large statement
        return reserved <= self._memory_limit

    def _give_back(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Return freed memory to the system: DuckDB does so when its limit is set, even to the same value.

        After a statement of 10,000 columns this is 200 MB, which would be subtracted from the buffers.
        """
        self._set(connection, self.limit)

    def _set(self, connection: duckdb.DuckDBPyConnection, limit: int) -> None:
        from duckdb import OutOfMemoryException

        with suppress(OutOfMemoryException):  # the limit stays unchanged if the buffers cannot be spilled
            connection.execute(f"SET memory_limit = '{limit}B'")
            self.limit = limit


def _buffer_bytes(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the size of the engine's buffers in bytes."""
    return int(connection.execute(_USED).fetchall()[0][0])


def resident_bytes() -> int:
    """Return the resident memory of the process in bytes; a guess if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _INTERPRETER


_REUSABLE: list[tuple[int, duckdb.DuckDBPyConnection]] = []
"""At most one database, with the process that created it: its threads do not survive a fork."""
_LOCK = Lock()

_CHANGED_SETTINGS = ("memory_limit", "threads", "temp_directory", "preserve_insertion_order")
"""Settings that differ between engines or that engines change, in addition to that of ``_RESET``."""
_RESET = "RESET GLOBAL disabled_optimizers"
_ATTACHED = "SELECT count(*) FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'"


def acquire_database(limit: int, threads: int, spill: str) -> duckdb.DuckDBPyConnection:
    """Return a reused or new database with a buffer limit in bytes, threads and a spill folder.

    Raises ``duckdb.Error``.
    """
    settings = config(limit, threads, spill)
    with _LOCK:
        reusable = _REUSABLE.pop()[1] if _REUSABLE and _REUSABLE[0][0] == os.getpid() else None
    if reusable is not None:
        try:
            for name in _CHANGED_SETTINGS:
                reusable.execute(f"SET GLOBAL {name} = {literal(str(settings[name]))}")
            reusable.execute(_RESET)
            return reusable
        except load_driver().Error:  # an engine's internal error may have invalidated it
            reusable.close()
    made: duckdb.DuckDBPyConnection = load_driver().connect(config=settings)
    return made


def release_database(database: duckdb.DuckDBPyConnection, *, keep: bool) -> None:
    """Close a database, or keep it for the next engine if none is kept and no file is attached."""
    with _LOCK:
        if keep and not _REUSABLE and _is_empty(database):
            _REUSABLE.append((os.getpid(), database))
            return
    database.close()


def _is_empty(database: duckdb.DuckDBPyConnection) -> bool:
    """Return True if no file is attached; False if an internal error has invalidated the database."""
    try:
        return bool(database.execute(_ATTACHED).fetchall() == [(0,)])
    except load_driver().Error:
        return False
