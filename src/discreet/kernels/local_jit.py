"""The decorator of kernels that allocate nothing: compiled without counting references to arrays.

They run in loops of small functions over many arrays. There, counting each array in and out of each call
costs more than the work, and two threads would contend for the counters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from discreet.kernels.jit import kept

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled_lean(function: _Function) -> _Function:
    """Compile a function of arrays that makes none, on its first call, as ``kernels.jit.compiled`` does."""
    return kept(function, nogil=True, _nrt=False)
