"""Compilation of kernels into the kernels that call them, and the cache of compiled code on disk.

Numba compiles each function for callers from Python as well and optimizes it once per caller; here all code
is optimized once. Cache files are named by module, function, first line and argument types; the folder's name
contains a digest of all kernel sources and versions (``numba_jit.cache_folder``). Overrides internals of
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
    """Library of code that is never run directly: its callers optimize it and generate its machine code."""

    def _optimize_final_module(self) -> None:
        """Skip the optimization."""

    def _finalize_final_module(self) -> None:
        own: Any = self
        own._finalize_dynamic_globals()
        own._finalized = True

    @property
    def codegen(self) -> Any:
        """Object that numba asks to connect machine code with its module; there is no machine code here."""
        return self

    def set_env(self, *_connection: object) -> None:
        """Ignore the connection of an environment."""


class _CalleeCompiler(Compiler):
    """Compiler of numba that leaves code as a part of other code."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        begin: Any = super().__init__
        part: Any = _CalleeLibrary
        begin(typing, target, library or part(target.codegen(), "part"), *rest)


def inline_into_callers(dispatcher: Any, options: dict[str, Any]) -> None:
    """Compile the function into compiled callers; only Python calls its separately compiled code."""
    function = dispatcher.py_func
    jit: Any = numba.njit

    @cache
    def within() -> Any:
        callers = {"pipeline_class": _CalleeCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return jit(**callers, **options)(function)

    # Numba calls these two to type a call and to compile it: both refer to the variant for callers.
    dispatcher.get_call_template = lambda types, named: within().get_call_template(types, named)
    dispatcher.get_overload = lambda signature: within().get_overload(signature)


def cache_on_disk(dispatcher: Any, folder: Path) -> None:
    """Load and store a compiled function's code in ``folder``."""
    function = dispatcher.py_func

    class Place(caching._CacheLocator):
        """Locator of the folder, independent of the path of the source."""

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            """Return an empty stamp: the folder's name already identifies the sources."""
            return ""

        def get_disambiguator(self) -> str:
            # Two functions of one name in a module differ by their line.
            return str(function.__code__.co_firstlineno)

        @classmethod
        def from_function(cls, *_function: object) -> Place:
            return cls()

    class Code(caching.CompileResultCacheImpl):
        """Serializer of the code of one function."""

        _locator_classes = _untyped([Place])

        def reduce(self, cres: Any) -> Any:
            """Serialize compiled code with its constants but without the globals of its environment."""
            *most, reload, environments = _untyped(super()).reduce(cres)
            if _calls_runtime(cres.library._final_module):
                # The reload function initializes numba's runtime first if the code links to it.
                reload = (*reload, _load_runtime)
            return (*most, reload, tuple(map(_CompactEnvironment, environments)))

    class Store(caching.FunctionCache):
        """Files of one function."""

        _impl_class = Code

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """Return the cached code for some argument types, or None.

            Numba would prepare to compile before it searches the cache, which takes half of the time of a
            program's first call. Cached code needs only the addresses of numba's own functions; the compiler
            prepares itself if there is no cached code.
            """
            own, result = _untyped(self), None  # stays None if the file cannot be read
            _register_runtime_symbols()
            with own._guard_against_spurious_io_errors():
                result = own._load_overload(sig, target_context)
            if result is None:
                prepare_compiler()
            return result

    store, files = _untyped(Store)(function), _untyped(_CacheFiles)
    store._cache_file = files(str(folder), store._impl.filename_base, "")
    dispatcher._cache = store


def prepare_compiler() -> None:
    """Import the modules that numba imports before it compiles, hiding scipy."""
    with without_scipy():
        import_module("numba.np.arraymath")


@cache
def _register_runtime_symbols() -> None:
    """Register with the linker the symbols of numba's runtime that compiled code calls."""
    for name, address in _untyped(import_module("numba.core.runtime._nrt_python")).c_helpers.items():
        add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def _calls_runtime(module: Any) -> bool:
    """Return whether code calls functions that numba compiles anew in each process, to count references.

    Code that counts references mostly contains its own copy, and needs no other.
    """
    anew = {each.name for each in _untyped(runtime).rtsys.library.get_defined_functions()}
    return any(each.is_declaration and each.name in anew for each in module.functions)


def _load_runtime() -> None:
    _untyped(runtime).rtsys.initialize(_untyped(cpu_target).target_context)


class _CompactEnvironment:
    """Environment (globals and constants) of a compiled function without the globals.

    Compiled code reads only the constants. The globals are lost if their module, mostly one of numba's, is
    not loaded.
    """

    def __init__(self, environment: Any) -> None:
        self.environment = environment

    def __reduce__(self) -> Any:
        _, parts = self.environment.__reduce__()
        return _load_environment, parts


def _load_environment(module: str, constants: list[Any], name: str) -> Any:
    kinds = _untyped(Environment)
    result = kinds._memo.get(name)
    if result is None:
        known = sys.modules.get(module)
        # Numba keeps environments by name; a second one of the same name would disconnect the first one's
        # code.
        result = kinds({"__name__": module} if known is None else vars(known))
        result.consts[:] = constants
        result.env_name = name
        kinds._memo[name] = result
    return result


class _CacheFiles(caching.IndexDataCacheFile):
    """Index, and a file for each set of argument types, named by their digest."""

    def save(self, key: Any, data: Any) -> None:
        """Store the code of some types; the index is written last, so that it never names a missing file."""
        own = _untyped(self)
        types = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        name = f"{own._index_name.removesuffix('.nbi')}.{types}.nbc"
        own._save_data(name, data)
        own._save_index({**own._load_index(), key: name})


def _untyped(thing: Any) -> Any:
    """Return ``thing`` typed as Any, since numba has no type stubs."""
    return thing
