"""What leaves a server's engine: it passes through files of this machine into the embedded engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from discreet.engines.closing import Closing
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.engines.files.database_file import NewTable
from discreet.engines.files.statistics_kinds import Codebook
from discreet.settings import Settings


class DeliveredHere(Closing, ABC):
    """The part of an ``Engine`` that keeps and writes on this machine what was found elsewhere.

    The embedded engine is made when it is first needed; ``close`` and ``interrupt`` of an engine must call
    those of this part as well.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedded: DuckdbEngine | None = None

    @abstractmethod
    def fetched(self, query: str) -> AbstractContextManager[str]:
        """A query's rows in owner-only files, while it lasts: what the embedded engine selects from them."""

    def keep_result(self, name: str, query: str) -> DuckdbEngine:
        """Copy a query's result into the embedded engine, which is returned (see ``Engine``)."""
        embedded = self._beside()
        with self.fetched(query) as rows:
            embedded.create_table(name, rows)
        return embedded

    def write_file(
        self,
        query: str,
        path: Path,
        file_format: str,
        columns: Sequence[str] | None = None,
        codebook: Codebook | None = None,
        types: Sequence[str] | None = None,
    ) -> None:
        """Write a query's result to a new owner-only file on this machine (see ``Engine``)."""
        del types  # what was fetched has types of its own
        with self.fetched(query) as rows:
            self._beside().write_file(rows, path, file_format, columns, codebook)

    def write_database(
        self, path: Path, tables: Mapping[str, NewTable], statements: Sequence[str] = ()
    ) -> None:
        """Write a new owner-only DuckDB file on this machine (see ``Engine``)."""
        with ExitStack() as stack:
            rows = {
                name: NewTable(stack.enter_context(self.fetched(table.query)), table.columns)
                for name, table in tables.items()
            }
            self._beside().write_database(path, rows, statements)

    def interrupt(self) -> None:
        """Stop what the embedded engine runs."""
        embedded = self._embedded  # which another thread may close meanwhile
        if embedded is not None:
            embedded.interrupt()

    def close(self) -> None:
        """Close the embedded engine; a second call does nothing."""
        embedded, self._embedded = self._embedded, None
        if embedded is not None:
            embedded.close()

    def _beside(self) -> DuckdbEngine:
        if self._embedded is None:
            self._embedded = DuckdbEngine(self._settings)
        return self._embedded
