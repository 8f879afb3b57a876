"""What a process need not do that is one command's: look for objects in circles, and tidy memory at its end.

Importing makes some half a million objects, none of which goes before the end. Python's collector walks over
them again and again, and the interpreter takes them apart one by one as it ends: a third of the processor
time of a small verb.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress
from typing import NoReturn

_UNLESS_SET = {
    "DISCREET_NUMBA": "kernels",  # numba is loaded for the kernels alone (``kernels.compiler``)
    "OPENBLAS_NUM_THREADS": "1",  # numpy's matrices are small; more threads wait for work as it is loaded
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # it would look for some in every package that is installed
}

_OBJECTS = 200_000
"""Collect once so many more objects are there than before; circles of fewer take some ten megabytes."""


def begin_own_process() -> None:
    """Collect seldom, and load of libraries what commands need."""
    for name, value in _UNLESS_SET.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(_OBJECTS, 20, 50)


def end_own_process(status: int) -> NoReturn:
    """Do what was registered for the process's end, then end it.

    The interpreter ends it where threads are still at work, and where a profiler or a debugger looks on.
    Files and connections were closed by the verb; temporary folders are removed by what was registered.
    """
    others = [each for each in threading.enumerate() if each is not threading.current_thread()]
    if not all(each.daemon for each in others) or sys.gettrace() or sys.getprofile():
        sys.exit(status)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)
