"""Kernels that other kernels call: compiled into their callers, and optimized there alone.

Numba compiles each function for callers from Python as well: code that takes apart some dozen arrays, an
optimized copy, a file on disk. Its caller, which takes the code in, is optimized with all of it once more,
and so is the caller's caller: a kernel of eighty kernels took thirty seconds. Here all code is optimized
once, which takes twelve; what comes out runs as fast. A kernel cannot call itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _Part(JITCodeLibrary):
    """Code that is never run by itself: its callers optimize it, and make machine code of it."""

    def _optimize_final_module(self) -> None:
        """Nothing."""

    def _finalize_final_module(self) -> None:
        own: Any = self
        own._finalize_dynamic_globals()
        own._finalized = True

    @property
    def codegen(self) -> Any:
        """Who is asked to connect machine code with its module; there is none."""
        return self

    def set_env(self, *_connection: object) -> None:
        """Nothing."""


class _Within(Compiler):
    """Numba's compiler, which leaves code as a part of other code."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        begin: Any = super().__init__
        part: Any = _Part
        begin(typing, target, library or part(target.codegen(), "part"), *rest)


def join_callers(dispatcher: Any, options: dict[str, Any]) -> None:
    """Let compiled functions that call this one take its code in, and Python alone call what it compiles."""
    function = dispatcher.py_func
    jit: Any = numba.njit

    @cache
    def within() -> Any:
        callers = {"pipeline_class": _Within, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return jit(**callers, **options)(function)

    # What numba asks for to type a call, and then to compile it.
    dispatcher.get_call_template = lambda types, named: within().get_call_template(types, named)
    dispatcher.get_overload = lambda signature: within().get_overload(signature)
