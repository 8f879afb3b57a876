"""DuckDB's module as its own package loads it, without the layer that describes queries in Python.

The layer takes three times as long to load as the engine itself, and no statement of ours needs it. What
DuckDB reads out of this process's memory it reads through it (``register``).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


@cache
def driver() -> Any:
    """The module of the engine: ``connect``, and ``Error``, the same class as the package's."""
    try:
        import _duckdb
    except ImportError:  # a version that keeps it elsewhere
        import duckdb

        return duckdb
    return _duckdb


def register(connection: duckdb.DuckDBPyConnection, name: str, rows: object) -> None:
    """Let statements of a connection read rows of this process's memory by a name."""
    import_module("duckdb")  # which tells the engine of frames and of Arrow's streams
    connection.register(name, rows)
