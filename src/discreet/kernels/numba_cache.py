"""Compile kernels into the kernels that call them, and cache compiled code on disk.

Numba compiles each function for callers from Python as well and optimizes it once per caller; here all code
is optimized once. Cache files are named by module, function, first line and argument types; the folder's
name has a digest of all kernel sources and versions (``numba_jit.cache_folder``). Overrides internals of
numba.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import add_symbol
from numba.core import caching, runtime
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import Environment
from numba.core.registry import cpu_target

from discreet.kernels.numba_import import without_scipy


class _CalleeLibrary(JITCodeLibrary):
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


class _CalleeCompiler(Compiler):
    """Numba's compiler, which leaves code as a part of other code."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        begin: Any = super().__init__
        part: Any = _CalleeLibrary
        begin(typing, target, library or part(target.codegen(), "part"), *rest)


def inline_into_callers(dispatcher: Any, options: dict[str, Any]) -> None:
    """Let compiled functions that call this one take its code in, and Python alone call what it compiles."""
    function = dispatcher.py_func
    jit: Any = numba.njit

    @cache
    def within() -> Any:
        callers = {"pipeline_class": _CalleeCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return jit(**callers, **options)(function)

    # What numba asks for to type a call, and then to compile it.
    dispatcher.get_call_template = lambda types, named: within().get_call_template(types, named)
    dispatcher.get_overload = lambda signature: within().get_overload(signature)


def cache_on_disk(dispatcher: Any, folder: Path) -> None:
    """Let a function that numba compiles look for its code in a folder, and leave it there."""
    function = dispatcher.py_func

    class Place(caching._CacheLocator):
        """The folder, whatever the path of the source."""

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            """Nothing, as the folder is one of these sources alone."""
            return ""

        def get_disambiguator(self) -> str:
            return str(function.__code__.co_firstlineno)

        @classmethod
        def from_function(cls, *_function: object) -> Place:
            return cls()

    class Code(caching.CompileResultCacheImpl):
        """Code of one function, in that place."""

        _locator_classes = _untyped([Place])

        def reduce(self, cres: Any) -> Any:
            """What is kept of compiled code: less than numba would load with it."""
            *most, reload, environments = _untyped(super()).reduce(cres)
            if _calls_runtime(cres.library._final_module):
                reload = (*reload, _load_runtime)
            return (*most, reload, tuple(map(_CompactEnvironment, environments)))

    class Store(caching.FunctionCache):
        """The files of one function."""

        _impl_class = Code

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """The code of some types, where it is kept.

            Numba would make ready to compile before it looks, half of the time that the first call of a
            program takes. Code that is there needs the addresses of numba's own functions alone, and where
            there is none the compiler makes ready by itself.
            """
            own, found = _untyped(self), None  # None, too, where the file cannot be read
            _register_runtime_symbols()
            with own._guard_against_spurious_io_errors():
                found = own._load_overload(sig, target_context)
            if found is None:
                prepare_compiler()
            return found

    store, files = _untyped(Store)(function), _untyped(_CacheFiles)
    store._cache_file = files(str(folder), store._impl.filename_base, "")
    dispatcher._cache = store


def prepare_compiler() -> None:
    """Load what numba loads before it compiles, and looks for scipy as it does."""
    with without_scipy():
        import_module("numba.np.arraymath")


@cache
def _register_runtime_symbols() -> None:
    """Name to the linker what compiled code calls of numba, as making ready to compile would, too."""
    for name, address in _untyped(import_module("numba.core.runtime._nrt_python")).c_helpers.items():
        add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def _calls_runtime(module: Any) -> bool:
    """Whether code calls what numba compiles anew in each process, to count references.

    Code that counts them mostly holds a copy of its own, and needs no other.
    """
    anew = {each.name for each in _untyped(runtime).rtsys.library.get_defined_functions()}
    return any(each.is_declaration and each.name in anew for each in module.functions)


def _load_runtime() -> None:
    _untyped(runtime).rtsys.initialize(_untyped(cpu_target).target_context)


class _CompactEnvironment:
    """An environment, which numba keeps of each function that went into code: its globals, its constants.

    Compiled code reads the constants alone. The globals are left out where their module, mostly one of
    numba's, is not loaded.
    """

    def __init__(self, environment: Any) -> None:
        self.environment = environment

    def __reduce__(self) -> Any:
        _, parts = self.environment.__reduce__()
        return _load_environment, parts


def _load_environment(module: str, constants: list[Any], name: str) -> Any:
    kinds = _untyped(Environment)
    found = kinds._memo.get(name)
    if found is None:
        known = sys.modules.get(module)
        found = kinds({"__name__": module} if known is None else vars(known))
        found.consts[:] = constants
        found.env_name = name
        kinds._memo[name] = found
    return found


class _CacheFiles(caching.IndexDataCacheFile):
    """An index, and a file for each set of types, whose name is a digest of them."""

    def save(self, key: Any, data: Any) -> None:
        """Keep the code of some types; the index is last, so that it names no file that is missing."""
        own = _untyped(self)
        types = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        name = f"{own._index_name.removesuffix('.nbi')}.{types}.nbc"
        own._save_data(name, data)
        own._save_index({**own._load_index(), key: name})


def _untyped(thing: Any) -> Any:
    """What numba gives no types for."""
    return thing
