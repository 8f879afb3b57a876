"""Importing the compiled kernels while the engine counts rows."""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Thread


def preload_kernels() -> None:
    """Begin to import the compiler in a thread, where it is not imported yet.

    The import takes a third of a second of a fresh process, most of it beside the engine's scan, which runs
    without the interpreter's lock.
    """
    if "numba" not in sys.modules:
        Thread(target=_import_kernels, name="kernels").start()


def _import_kernels() -> None:
    # A command that is refused at once ends while the compiler is still being imported, which then cannot
    # register what it does at the end: nobody needs it any more.
    with suppress(ImportError, RuntimeError):
        import discreet.kernels.evaluate  # noqa: F401
