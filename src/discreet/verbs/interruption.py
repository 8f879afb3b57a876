"""Stopping work from another thread: the engines that a piece of work has open, and how to interrupt them.

A process that is to end stops its statements and removes what is temporary, of whatever work it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from discreet.engines.base import Engine
from discreet.engines.running import RunningStatement, running_statements
from discreet.engines.temporary_folder import remove_own


class Interruption:
    """Knows the engines that one piece of work has open, so that another thread may stop their statements."""

    def __init__(self) -> None:
        self._engines: list[Engine] = []
        self._lock = Lock()

    def interrupt(self) -> None:
        """Stop the statements that run now; each fails in its own thread."""
        with self._lock:
            for engine in self._engines:
                engine.interrupt()

    @contextmanager
    def over(self, engine: Engine) -> Iterator[None]:
        """Know an engine while the block runs."""
        with self._lock:
            self._engines.append(engine)
        try:
            yield
        finally:
            with self._lock:
                self._engines.remove(engine)


INTERRUPTION: ContextVar[Interruption | None] = ContextVar("interruption", default=None)
"""The interruption of the work that runs in this context, None where nobody may stop it."""


@contextmanager
def interruptible(engine: Engine) -> Iterator[None]:
    """Let the current work's interruption know an engine while the block runs."""
    current = INTERRUPTION.get()
    if current is None:
        yield
        return
    with current.over(engine):
        yield


def statements_of_process() -> tuple[RunningStatement, ...]:
    """The statements of the embedded engine that run now, in whatever thread."""
    return running_statements()


def remove_temporary_of_process() -> None:
    """Remove this process's temporary folders, and the files of releases that it has not put in place.

    What its threads are at may fail, so the process is to end at once.
    """
    from discreet.release import temporary

    temporary.remove_own()
    remove_own()
