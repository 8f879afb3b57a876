"""Decorators of compiled kernels, and the folder of the on-disk cache.

A decorated function is handed to numba on its first call or when another kernel calls it. Importing this
module imports numba without scipy.
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

from discreet.kernels.numba_import import without_scipy

with without_scipy():
    import llvmlite
    import numba

    from discreet.kernels.numba_cache import cache_on_disk, inline_into_callers


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
    return compiled_with(function, nogil=True)


def inlined(function: _Function) -> _Function:
    """The same for a function that is called for every group, compiled into whoever calls it.

    Left to itself the compiler calls it, and hands over every word that describes an array, each time.
    """
    return compiled_with(function, nogil=True, forceinline=True)


def compiled_with(function: _Function, **options: Any) -> _Function:
    """Compile a function on its first call with options of the compiler's, kept on disk where that can be."""
    return cast(_Function, _LazyKernel(function, options))


class _LazyKernel:
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
                self._taken_up = _make_dispatcher(vars(self)["__wrapped__"], self._options)
            return self._taken_up

    @property
    def _numba_type_(self) -> Any:
        """What numba asks for where another function calls this one."""
        return self._dispatcher._numba_type_

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)


def _make_dispatcher(function: Callable[..., object], options: dict[str, Any]) -> Any:
    dispatcher: Any = numba.njit(**options)(function)
    # Nobody else's types are met in kernels; looking for packages that add some takes longer than most load.
    dispatcher._compilation_chain_init_hook = lambda: None
    inline_into_callers(dispatcher, options)
    folder = cache_folder()
    if folder is not None:
        cache_on_disk(dispatcher, folder)
    return dispatcher


_LeanFunction = TypeVar("_LeanFunction", bound=Callable[..., object])


def compiled_without_refcounts(function: _LeanFunction) -> _LeanFunction:
    """Compile a function of arrays that makes none, on its first call, as ``kernels.numba_jit.compiled``
    does.
    """
    return compiled_with(function, nogil=True, _nrt=False)
