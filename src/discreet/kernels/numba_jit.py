"""Decorators of compiled kernels, and the folder of the on-disk cache.

A decorated function is passed to numba on its first call or when another kernel calls it. Importing this
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
    """Return the folder of compiled kernels; None if it is not writable.

    It is in ``NUMBA_CACHE_DIR``, else in the user's cache folder.
    """
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
    """Return a digest of the kernels' sources, versions and machine, so that stale code is never loaded."""
    sha = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        sha.update(source.read_bytes())
    for package in (numba, llvmlite, np):
        sha.update(str(package.__version__).encode())
    sha.update(f"{sys.version}{platform.machine()}{os.environ.get('NUMBA_BOUNDSCHECK', '')}".encode())
    return sha.hexdigest()[:16]


def compiled(function: _Function) -> _Function:
    """Compile a function of arrays on its first call, without the interpreter's lock, cached on disk."""
    return compiled_with(function, nogil=True)


def inlined(function: _Function) -> _Function:
    """Compile as ``compiled`` does, and inline the function into its compiled callers.

    For functions called once per group: LLVM would not inline them, and each call would pass every field of
    an array's descriptor.
    """
    return compiled_with(function, nogil=True, forceinline=True)


def compiled_with(function: _Function, **options: Any) -> _Function:
    """Compile a function on its first call with numba's ``options``, cached on disk if possible."""
    return cast(_Function, _LazyKernel(function, options))


class _LazyKernel:
    """Function of arrays that is passed to numba when it is first called or compiled into another.

    A run calls few kernels: their code contains the code of those that they call. Passing all imported
    kernels to numba would take longer than loading the code.
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
        """Type that numba reads when another compiled function calls this one."""
        return self._dispatcher._numba_type_

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)


def _make_dispatcher(function: Callable[..., object], options: dict[str, Any]) -> Any:
    dispatcher: Any = numba.njit(**options)(function)
    # Kernels use no types of other packages; searching for packages that add types takes longer than most
    # kernels take to load.
    dispatcher._compilation_chain_init_hook = lambda: None
    inline_into_callers(dispatcher, options)
    folder = cache_folder()
    if folder is not None:
        cache_on_disk(dispatcher, folder)
    return dispatcher


def compiled_without_refcounts(function: _Function) -> _Function:
    """Compile a function that allocates no arrays as ``compiled`` does, without reference counting."""
    return compiled_with(function, nogil=True, _nrt=False)
