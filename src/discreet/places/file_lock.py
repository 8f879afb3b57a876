"""Locks on files and folders, which the system lets go of however the process ends that holds one.

Where the system has none (Windows), ``AVAILABLE`` is False, and locking does nothing.
"""

from __future__ import annotations

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

AVAILABLE = fcntl is not None


def lock_at_once(descriptor: int) -> None:
    """Lock an open file until it is closed.

    ``BlockingIOError`` where another process has it, another ``OSError`` on a file system without locks.
    """
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def wait_for_lock(descriptor: int) -> None:
    """Lock an open file until it is closed, however long another has it; errors as of ``lock_at_once``."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
