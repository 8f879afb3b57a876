"""What a database's engine can do beyond ``Engine``: publish tables where the source lies."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from discreet.engines.base import Engine


class SchemaWriter(Engine, Protocol):
    """PostgreSQL's engine: all in one transaction, of which nobody else sees anything before ``commit``."""

    def check_target(self, schema: str, name: str, *, overwrite: bool = False) -> None:
        """Raise ``InputError`` where the role may not create there, or the name is taken."""

    def reserved(self, schema: str, name: str) -> AbstractContextManager[None]:
        """Keep other publications away from a name meanwhile; ``InputError`` where another has it."""

    def place_of(self, table: str) -> tuple[str, str]:
        """The schema and the name of a table as the spec names it; ``InputError`` where there is none."""

    def write_table(
        self,
        query: str,
        schema: str,
        name: str,
        columns: Sequence[str],
        indexes: Sequence[Sequence[str]] = (),
    ) -> None:
        """Create a table of the query's rows in the query's order, with indexes and statistics."""

    def create_view(self, schema: str, name: str, query: str, columns: Sequence[str] | None = None) -> None:
        """Create a view."""

    def drop_relation(self, schema: str, name: str) -> None:
        """Drop a table or view, if it is there."""

    def temporary_table(self, name: str) -> str:
        """How a source names a temporary table of this session."""

    def table_exists(self, schema: str, name: str) -> bool:
        """Whether there is a table or view of that name."""

    def commit(self) -> None:
        """Let everybody see what was written."""


class FolderWriter(Engine, Protocol):
    """An engine whose declaration says that it writes ``folders``."""

    def write_folder(self, query: str, folder: Path, columns: Sequence[str] | None = None) -> None:
        """Write a new owner-only folder of Parquet files, in the query's order."""


class CatalogWriter(Engine, Protocol):
    """An engine whose tables are written under other names and renamed, as those of Spark's catalog."""

    def write_table(self, query: str, table: str, columns: Sequence[str] | None = None) -> None:
        """Create a new table of the catalog, in the query's order."""

    def has_table(self, table: str) -> bool:
        """Whether the catalog has a table of that name."""

    def rename_table(self, old: str, new: str) -> None:
        """Rename a table of the catalog."""

    def drop_catalog_table(self, table: str) -> None:
        """Drop a table of the catalog, if it is there."""
