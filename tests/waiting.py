"""How tests wait: for what they expect, with an end; and how they make sure that Ctrl-C reaches them."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE = 120.0
"""Seconds after which what a test waits for will not come any more, however busy the machine is."""

_PAUSE = 0.02

Found = TypeVar("Found")


def wait_for(look: Callable[[], Found], what: str, seconds: float = PATIENCE) -> Found:
    """Look until something is found that counts as true, and give it back.

    ``AssertionError`` names ``what`` was expected, and what was last seen, once the seconds are over.
    """
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, f"after {seconds:g} seconds still not: {what} (last seen: {found!r})"
        time.sleep(_PAUSE)
    return found


def status_of(child: subprocess.Popen[str], seconds: float = PATIENCE) -> tuple[int, str]:
    """The exit status of a program and what it wrote to stderr; killed where it does not end."""
    try:
        return child.wait(seconds), "" if child.stderr is None else child.stderr.read()
    finally:
        child.kill()


@contextmanager
def ctrl_c_arrives() -> Iterator[None]:
    """SIGINT raises ``KeyboardInterrupt`` here, and is not ignored by the programs that are started here.

    A shell's background job ignores it from its start, as some machines' builds do, and hands that on.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
