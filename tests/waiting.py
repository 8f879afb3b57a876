"""Waiting in tests: for an expected state, with a limit; and a check that Ctrl-C arrives."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE = 120.0
"""Seconds after which an expected state will not occur any more, even on a busy machine."""

_PAUSE = 0.02

Found = TypeVar("Found")


def wait_for(look: Callable[[], Found], expected: str, seconds: float = PATIENCE) -> Found:
    """Poll until a result is true, and return it.

    Raises ``AssertionError`` with ``expected`` (the state in words) and the last result after the time limit.
    """
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, (
            f"after {seconds:g} seconds still not: {expected} (last seen: {found!r})"
        )
        time.sleep(_PAUSE)
    return found


def status_of(child: subprocess.Popen[str], seconds: float = PATIENCE) -> tuple[int, str]:
    """Return the exit status of a program and its stderr; it is killed if it does not end."""
    try:
        return child.wait(seconds), "" if child.stderr is None else child.stderr.read()
    finally:
        child.kill()


@contextmanager
def ctrl_c_arrives() -> Iterator[None]:
    """Let SIGINT raise ``KeyboardInterrupt`` here, and reach the programs that are started here.

    A shell's background job ignores SIGINT from its start, as on some build machines, and children inherit
    that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
