"""What a connection of the embedded engine is told before and between its statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

Config = dict[str, str | bool | int | float | list[str]]

_SESSION = (
    "SET TimeZone = 'UTC'",
    "SET python_enable_replacements = false",
    "SET GLOBAL pandas_analyze_sample = 0",
)


def config(limit: int, threads: int, spill: str) -> Config:
    """How a connection starts: bytes of buffers, threads, the folder it spills to; it fetches nothing."""
    return {
        "memory_limit": f"{limit}B",
        "threads": str(threads),
        "temp_directory": spill,
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_persistent_secrets": "false",
        "enable_external_file_cache": "false",
    }


def begin(connection: duckdb.DuckDBPyConnection) -> None:
    """Set what can only be set on a connection that is there."""
    for statement in _SESSION:
        connection.execute(statement)
    # A progress bar is off already where it cannot be drawn (in a notebook without ipywidgets), and there
    # DuckDB takes no setting of it, not even that one.
    shown = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]
    if shown:
        connection.execute("SET enable_progress_bar = false")


class RowOrder:
    """The order of rows, which counting does without: kept for as long as anybody asks for it.

    ``execute`` runs a statement. Who asks within another's asking does not end it. The connection is told
    before a statement that needs the other way, and not where none comes: setting it takes as long as a small
    statement.
    """

    def __init__(self, execute: Callable[[str], object]) -> None:
        self._execute, self._asking = execute, 0
        self._told: bool | None = False

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the order until the context ends."""
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    @property
    def is_kept(self) -> bool:
        """Whether anybody asks for it."""
        return self._asking > 0

    def tell(self) -> None:
        """Tell the connection what the next statement needs, where it was told the other way."""
        if self.is_kept == self._told:
            return
        self._told = None  # not known, should this be interrupted
        self._execute(f"SET preserve_insertion_order = {str(self.is_kept).lower()}")
        self._told = self.is_kept
