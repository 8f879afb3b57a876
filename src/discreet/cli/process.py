"""Process of one command: garbage collection, signals, and its end.

Short-lived processes collect garbage rarely and skip the interpreter's teardown, which is a third of the
processor time of a small verb. SIGTERM, SIGHUP and SIGINT become a ``KeyboardInterrupt`` of the main thread.
A second thread reads them by ``signal.set_wakeup_fd``: it stops the running statement and ends the process
after five seconds or a second signal.
"""

from __future__ import annotations

import atexit
import gc
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from discreet.engines.process_resources import RunningStatement


_DEFAULT_ENVIRONMENT = {
    "DISCREET_NUMBA": "kernels",  # numba is loaded only for the kernels (``kernels.numba_import``)
    "OPENBLAS_NUM_THREADS": "1",  # numpy's matrices are small; more threads only slow its import
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # pydantic would search every installed package for plugins
}

_GC_THRESHOLD = 200_000
"""Number of new objects before a collection; cycles of fewer objects take some ten megabytes."""


def tune_process() -> None:
    """Collect garbage rarely, and load only the parts of libraries that commands need."""
    for name, value in _DEFAULT_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(_GC_THRESHOLD, 20, 50)


def exit_process(status: int) -> NoReturn:
    """Run the registered exit functions, then end the process without the interpreter's teardown.

    The interpreter ends it normally if non-daemon threads are running or a profiler or debugger is attached.
    The verb has closed files and connections; the exit functions remove temporary folders.
    """
    others = [each for each in threading.enumerate() if each is not threading.current_thread()]
    if not all(each.daemon for each in others) or sys.gettrace() or sys.getprofile():
        sys.exit(status)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


SECONDS_TO_END = 5.0
"""Time from the first signal to the end of the process."""

_SECONDS_TO_STOP = 0.5
"""Time from a signal until the statement that was running is stopped; most end sooner."""

_SECONDS_OF_REPETITION = 0.2
"""Signals within this time count as one: ``timeout`` and a closing terminal send two of a kind."""

_RETURNING_BEST: list[int] = []
"""Contains SIGINT while an interrupt requests the best answer found so far."""


@contextmanager
def interrupt_returns_best() -> Iterator[None]:
    """Let Ctrl-C not end the verb within the context.

    The code that catches the interrupt continues with the best answer found so far.
    """
    _RETURNING_BEST.append(signal.SIGINT)
    try:
        yield
    finally:
        _RETURNING_BEST.clear()


class Signals:
    """Handlers of the signals that end a verb."""

    def __init__(self, *, own_process: bool) -> None:
        self._received: list[int] = []
        in_main = threading.current_thread() is threading.main_thread()
        names = ("SIGTERM", "SIGHUP") if in_main else ()
        numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
        self._ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
        watched = own_process and in_main and os.name == "posix"
        self._watch = _SignalWatch(self._ends_verb) if watched else None

    @property
    def number(self) -> int | None:
        """First signal received, None without one."""
        if self._received:
            return self._received[0]
        return None if self._watch is None else self._watch.first

    def start(self) -> None:
        """Install the handlers; a signal that the caller handles or ignores (``nohup``) is left unchanged."""
        for number in self._ours:
            signal.signal(number, self._interrupt)
        if self._watch is not None:
            self._watch.start()

    def stop(self) -> None:
        """Restore the previous handlers."""
        if self._watch is not None:
            self._watch.stop()
        for number in self._ours:
            signal.signal(number, signal.SIG_DFL)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._watch is None:
            signal.signal(number, signal.SIG_DFL)
        elif self._received:
            return  # A second signal: the watching thread ends the process.
        self._received.append(number)
        raise KeyboardInterrupt

    def _ends_verb(self, number: int) -> bool:
        """Return whether the signal ends the verb: not if a server or Spark handles it at this time."""
        return signal.getsignal(number) in (self._interrupt, signal.default_int_handler)


@contextmanager
def signals_as_interrupts(*, own_process: bool) -> Iterator[Signals]:
    """Turn the signals that end a process into ``KeyboardInterrupt``, so that temporary files are removed.

    Only the command's ``own_process`` is ended by force: a program that calls a verb as a function decides
    for itself. There a second SIGTERM has its default effect.
    """
    signals = Signals(own_process=own_process)
    try:
        signals.start()
        yield signals
    finally:
        signals.stop()


class _SignalWatch:
    """Thread that reads signals and enforces the deadlines after them."""

    def __init__(self, ends_verb: Callable[[int], bool]) -> None:
        self.first: int | None = None
        self._ends_verb = ends_verb
        self._met: tuple[RunningStatement, ...] = ()
        self._first_at = self._stop_at = self._end_at = inf
        self._read, self._written = os.pipe()
        os.set_blocking(self._written, False)
        self._thread = threading.Thread(target=self._run, name="signals", daemon=True)

    def start(self) -> None:
        self._before = signal.set_wakeup_fd(self._written, warn_on_full_buffer=False)
        self._thread.start()

    def stop(self) -> None:
        # Restore the descriptor before closing the pipe; the thread ends when it reads the end of the pipe. A
        # descriptor that other code has installed in the meantime is put back.
        now = signal.set_wakeup_fd(self._before)
        if now != self._written:
            signal.set_wakeup_fd(now)
        os.close(self._written)
        self._thread.join()
        os.close(self._read)

    def _run(self) -> None:
        while (numbers := self._next()) is not None:
            for number in numbers:
                if self._ends_verb(number):
                    self._take(number)
            now = time.monotonic()
            if now >= self._stop_at:
                self._stop_at = inf
                for statement in self._met:
                    statement.interrupt()
            if now >= self._end_at:
                self._end("it did not end in time")

    def _next(self) -> bytes | None:
        """Wait, then return the received signals: empty after a deadline, None at the end of the pipe."""
        due = min(self._stop_at, self._end_at)
        wait = None if due == inf else max(due - time.monotonic(), 0.0)
        if not select.select([self._read], [], [], wait)[0]:
            return b""
        return os.read(self._read, 64) or None

    def _take(self, number: int) -> None:
        now = time.monotonic()
        if self.first is not None:
            if now - self._first_at > _SECONDS_OF_REPETITION:
                self._end("a second signal came")
            return
        from discreet.verbs.run_context import statements_of_process

        self._met = statements_of_process()
        self._stop_at = now + _SECONDS_TO_STOP
        if number in _RETURNING_BEST:
            _RETURNING_BEST.clear()
            return
        self.first, self._first_at = number, now
        self._end_at = now + SECONDS_TO_END

    def _end(self, reason: str) -> None:
        """Remove temporary files and end the process, even if other threads are running."""
        from discreet.verbs.run_context import remove_temporary_of_process

        number = signal.SIGTERM if self.first is None else self.first
        with suppress(Exception):
            remove_temporary_of_process()
        with suppress(OSError):
            text = (
                f"discreet: ended by {signal.Signals(number).name}: {reason}; temporary files were removed\n"
            )
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, text.encode())
        os._exit(128 + number)
