"""How much of the memory limit the engine may fill, so that the process as a whole stays within it.

The limit that DuckDB is given is that of its buffers. Beside them it allocates what it does not count (up to
a ninth more was seen from outside), and the process has the interpreter, its libraries and our arrays.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

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
        self._set(connection, buffer_limit(self._memory_limit, max(resident - _used(connection), 0)))

    def leave_room(self, connection: duckdb.DuckDBPyConnection, size: int) -> bool:
        """Set the limit so that ``size`` bytes fit beside the buffers until it is set anew; whether they do.

        The engine rests meanwhile, so its buffers may have less than any statement needs.
        """
        if self._memory_limit <= _LEAST or size < self._memory_limit // _NOTICED:
            return True
        if resident_bytes() + size <= self._memory_limit - self._memory_limit // _UNCOUNTED:
            return True
        self._give_back(connection)
        used = _used(connection)
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


def _used(connection: duckdb.DuckDBPyConnection) -> int:
    """The bytes of the engine's buffers."""
    return int(connection.execute(_USED).fetchall()[0][0])


def resident_bytes() -> int:
    """What the process has in memory now; a guess where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _INTERPRETER
