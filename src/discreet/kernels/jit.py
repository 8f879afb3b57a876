"""The compiler's decorator, and where compiled kernels are kept between runs.

The folder's name carries a digest of every kernel's source and of the versions that compile it: the compiler
itself notices only changes of the one file that a function stands in, not of those that it calls.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable
from functools import cache, update_wrapper
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

import numpy as np

from discreet.kernels.compiler import without_products

with without_products():
    import llvmlite
    import numba

    from discreet.kernels.joined_code import join_callers
    from discreet.kernels.kept_code import keep


_Function = TypeVar("_Function", bound=Callable[..., object])


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept (``NUMBA_CACHE_DIR``, else the user's cache); None if unwritable."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    if base is None:
        home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(home) / "discreet")
    folder = Path(base) / f"kernels-{_digest()}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _digest() -> str:
    sha = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        sha.update(source.read_bytes())
    for package in (numba, llvmlite, np):
        sha.update(str(package.__version__).encode())
    sha.update(f"{sys.version}{platform.machine()}{os.environ.get('NUMBA_BOUNDSCHECK', '')}".encode())
    return sha.hexdigest()[:16]


def compiled(function: _Function) -> _Function:
    """Compile a function of arrays on its first call, without the interpreter's lock, kept on disk."""
    return kept(function, nogil=True)


def inlined(function: _Function) -> _Function:
    """The same for a function that is called for every group, compiled into whoever calls it.

    Left to itself the compiler calls it, and hands over every word that describes an array, each time.
    """
    return kept(function, nogil=True, forceinline=True)


def kept(function: _Function, **options: Any) -> _Function:
    """Compile a function on its first call with options of the compiler's, kept on disk where that can be."""
    return cast(_Function, _Kernel(function, options))


class _Kernel:
    """A function of arrays, which numba takes up when it is first called, or compiled into another.

    A run calls few kernels: their code holds that of those which they call. Taking up all that are imported
    would take longer than loading the code.
    """

    _taking_up = RLock()

    def __init__(self, function: Callable[..., object], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._options = options
        self._taken_up: Any = None

    def __call__(self, *values: object) -> Any:
        return (self._taken_up or self._dispatcher)(*values)

    @property
    def _dispatcher(self) -> Any:
        with self._taking_up:
            if self._taken_up is None:
                self._taken_up = _dispatcher_of(vars(self)["__wrapped__"], self._options)
            return self._taken_up

    @property
    def _numba_type_(self) -> Any:
        """What numba asks for where another function calls this one."""
        return self._dispatcher._numba_type_

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)


def _dispatcher_of(function: Callable[..., object], options: dict[str, Any]) -> Any:
    dispatcher: Any = numba.njit(**options)(function)
    # Nobody else's types are met in kernels; looking for packages that add some takes longer than most load.
    dispatcher._compilation_chain_init_hook = lambda: None
    join_callers(dispatcher, options)
    folder = cache_folder()
    if folder is not None:
        keep(dispatcher, folder)
    return dispatcher
