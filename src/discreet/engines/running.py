"""The statements that engines of this process run now, for whoever must stop them from another thread.

DuckDB sees a signal of the main thread and gives up its statement, but then waits for its own threads, each
of which finishes what it is at: minutes of a large product, or of a large file. Told from another thread that
the statement is interrupted, they end at once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

_RUNNING: dict[int, RunningStatement] = {}


class RunningStatement:
    """A statement while it runs, a context manager; ``interrupt`` stops whatever its engine runs."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt

    def interrupt(self) -> None:
        """Stop the statement if it still runs."""
        if id(self) in _RUNNING:
            with suppress(Exception):
                self._interrupt()

    def __enter__(self) -> None:
        _RUNNING[id(self)] = self

    def __exit__(self, *_error: object) -> None:
        del _RUNNING[id(self)]


def running_statements() -> tuple[RunningStatement, ...]:
    """Those that run at this moment."""
    return tuple(_RUNNING.values())
