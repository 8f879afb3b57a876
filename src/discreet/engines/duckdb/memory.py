"""How much of the memory limit the engine may fill, so that the process as a whole stays within it.

The limit that DuckDB is given is that of its buffers. Beside them it allocates what it does not count (up to
a ninth more was seen from outside), and the process has the interpreter, its libraries and our arrays.
"""

from __future__ import annotations

import os
from pathlib import Path

_LEAST = 1 << 29
_UNCOUNTED = 10
_INTERPRETER = 200 * 10**6


def buffer_limit(memory_limit: int, resident: int | None = None) -> int:
    """The bytes of buffers for a process that is to stay within a limit and holds ``resident`` bytes already.

    Where that would leave less than half a gigabyte, the limit itself is what the engine gets, up to so much:
    it cannot sort or join with less.

    >>> buffer_limit(4 * 10**9, 300 * 10**6), buffer_limit(10**9, 700 * 10**6), buffer_limit(10**8, 10**9)
    (3300000000, 536870912, 100000000)
    """
    held = resident_bytes() if resident is None else resident
    return min(memory_limit, max(_LEAST, memory_limit - memory_limit // _UNCOUNTED - held))


def resident_bytes() -> int:
    """What the process has in memory now; a guess where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _INTERPRETER
