"""The context of a running verb: progress reporter, and interruption of its engines from another thread.

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
"""Called with the steps done and the steps in all."""


class Reporter(Protocol):
    """A listener: stages of work, and single lines of notice."""

    def stage(self, title: str) -> AbstractContextManager[Advance]:
        """Work that may take long; its length is known once ``Advance`` is called."""

    def notice(self, text: str) -> None:
        """One line that the user should see."""


class SilentReporter:
    """A listener that says nothing."""

    def __repr__(self) -> str:
        """As help shows what is left out."""
        return "SILENT"

    @contextmanager
    def stage(self, title: str) -> Iterator[Advance]:  # noqa: ARG002
        """Nothing is shown."""
        yield lambda _done, _total: None

    def notice(self, text: str) -> None:
        """Nothing is shown."""


SILENT = SilentReporter()


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


CURRENT_INTERRUPTION: ContextVar[Interruption | None] = ContextVar("interruption", default=None)
"""The interruption of the work that runs in this context, None where nobody may stop it."""


@contextmanager
def interruptible_engine(engine: Engine) -> Iterator[None]:
    """Let the current work's interruption know an engine while the block runs."""
    current = CURRENT_INTERRUPTION.get()
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
    from discreet.release import release_target

    release_target.remove_staging_files()
    remove_temporary_folders()
