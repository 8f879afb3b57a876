"""Context of a running verb: progress reporter, and interruption of its engines from another thread.

A process that must end stops its statements and removes temporary files by the functions at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Protocol

from discreet.engines.base import Engine
from discreet.engines.process_resources import RunningStatement, remove_temporary_folders, running_statements

Advance = Callable[[int, int], None]
"""Progress callback with the numbers of finished steps and of all steps."""


class Reporter(Protocol):
    """Listener for stages of work and single lines of notice."""

    def stage(self, title: str) -> AbstractContextManager[Advance]:
        """Enter a stage that may take long; its length is known at the first call of ``Advance``."""

    def notice(self, text: str) -> None:
        """Show one line to the user."""


class SilentReporter:
    """Reporter without output."""

    def __repr__(self) -> str:
        """Return the name of the default in signatures."""
        return "SILENT"

    @contextmanager
    def stage(self, title: str) -> Iterator[Advance]:  # noqa: ARG002
        """Show nothing."""
        yield lambda _done, _total: None

    def notice(self, text: str) -> None:
        """Show nothing."""


SILENT = SilentReporter()


class Interruption:
    """Registry of the open engines of one piece of work, so that another thread can stop their statements."""

    def __init__(self) -> None:
        self._engines: list[Engine] = []
        self._lock = Lock()

    def interrupt(self) -> None:
        """Stop the running statements; each raises an error in its own thread."""
        with self._lock:
            for engine in self._engines:
                engine.interrupt()

    @contextmanager
    def over(self, engine: Engine) -> Iterator[None]:
        """Register an engine while the block runs."""
        with self._lock:
            self._engines.append(engine)
        try:
            yield
        finally:
            with self._lock:
                self._engines.remove(engine)


CURRENT_INTERRUPTION: ContextVar[Interruption | None] = ContextVar("interruption", default=None)
"""Interruption of the work in this context; None if the work cannot be interrupted."""


@contextmanager
def interruptible_engine(engine: Engine) -> Iterator[None]:
    """Register an engine with the current interruption while the block runs."""
    current = CURRENT_INTERRUPTION.get()
    if current is None:
        yield
        return
    with current.over(engine):
        yield


def statements_of_process() -> tuple[RunningStatement, ...]:
    """Return the running statements of the embedded engine, in all threads."""
    return running_statements()


def remove_temporary_of_process() -> None:
    """Remove this process's temporary folders, and its release files that are not final yet.

    Running threads may fail afterwards, so the process must end immediately.
    """
    from discreet.release import release_target

    release_target.remove_staging_files()
    remove_temporary_folders()
