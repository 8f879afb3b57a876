"""Compiled kernels on disk: one store for all copies of the program whose kernels are the same.

Numba keeps what it compiles by the path of its source: each copy of the program (in a further environment,
in a clone) would compile anew, though ``kernels.readiness`` reads in the folder that all is there. It also
numbers the files of a function in the order in which its types come, so that of two processes that compile at
once one may be given the other's code. Here a file is named by the types that it was compiled for; the
folder's name says of which sources and versions (``kernels.jit.cache_folder``).
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from numba.core import caching, runtime


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

    class Store(caching.FunctionCache):
        """The files of one function."""

        _impl_class = Code

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """The code of some types, where it is kept.

            Numba would make ready to compile before it looks, half of the time that the first call of a
            program takes. Code that is there needs the run-time of arrays alone, and where there is none the
            compiler makes ready by itself.
            """
            _untyped(runtime).rtsys.initialize(target_context)
            own = _untyped(self)
            with own._guard_against_spurious_io_errors():
                return own._load_overload(sig, target_context)

    store, files = _untyped(Store)(function), _untyped(_Files)
    store._cache_file = files(str(folder), store._impl.filename_base, "")
    dispatcher._cache = store


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
