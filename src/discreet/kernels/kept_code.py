"""Compiled kernels on disk: one store for all copies of the program whose kernels are the same.

Numba keeps what it compiles by the path of its source: each copy of the program (in a further environment,
in a clone) would compile anew, though ``kernels.readiness`` reads in the folder that all is there. It also
numbers the files of a function in the order in which its types come, so that of two processes that compile at
once one may be given the other's code. Here a file is named by the types that it was compiled for; the
folder's name says of which sources and versions (``kernels.jit.cache_folder``).
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from llvmlite.binding import add_symbol
from numba.core import caching, runtime
from numba.core.environment import Environment
from numba.core.registry import cpu_target

from discreet.kernels.compiler import without_products


def keep(dispatcher: Any, folder: Path) -> None:
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
            return (*most, reload, tuple(map(_Unread, environments)))

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
            _name_addresses()
            with own._guard_against_spurious_io_errors():
                found = own._load_overload(sig, target_context)
            if found is None:
                make_ready()
            return found

    store, files = _untyped(Store)(function), _untyped(_Files)
    store._cache_file = files(str(folder), store._impl.filename_base, "")
    dispatcher._cache = store


def make_ready() -> None:
    """Load what numba loads before it compiles, and looks for scipy as it does."""
    with without_products():
        import_module("numba.np.arraymath")


@cache
def _name_addresses() -> None:
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


class _Unread:
    """An environment, which numba keeps of each function that went into code: its globals, its constants.

    Compiled code reads the constants alone. The globals are left out where their module, mostly one of
    numba's, is not loaded.
    """

    def __init__(self, environment: Any) -> None:
        self.environment = environment

    def __reduce__(self) -> Any:
        _, parts = self.environment.__reduce__()
        return _environment, parts


def _environment(module: str, constants: list[Any], name: str) -> Any:
    kinds = _untyped(Environment)
    found = kinds._memo.get(name)
    if found is None:
        known = sys.modules.get(module)
        found = kinds({"__name__": module} if known is None else vars(known))
        found.consts[:] = constants
        found.env_name = name
        kinds._memo[name] = found
    return found


class _Files(caching.IndexDataCacheFile):
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
