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
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, cast

from discreet.kernels.compiler import without_products

with without_products():
    import numba
    import numba.np.arraymath  # Loaded by the first kernel anyway, and the part that looks for scipy.

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
    for package in ("numba", "llvmlite", "numpy"):
        sha.update(version(package).encode())
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
    dispatcher = numba.njit(**options)(function)
    join_callers(dispatcher, options)
    folder = cache_folder()
    if folder is not None:
        keep(dispatcher, folder)
    return cast(_Function, dispatcher)
