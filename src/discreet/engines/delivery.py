"""Where a release is written, audited and put in place: files, a database's schema, or Spark's catalog.

Whatever the place, the steps are the same, and nothing of them shows before the last: write the parts, audit
them where they lie, write the manifest beside them, put all in place. What is left of a run that fails is
removed, or was never there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from discreet.engines.base import Engine
from discreet.engines.files.database_file import NewTable
from discreet.model.permuted_release import PermutationFacts
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.sql.class_cells import ClassCells
from discreet.sql.dialect import Dialect

DATA = "data"


@dataclass(frozen=True)
class Part:
    """A table that a release consists of; ``name`` is what a database file calls it.

    ``indexes`` are columns by which it is asked, where a database indexes them; ``classes`` is what its rows
    have in common with their class, where that is known.
    """

    table: NewTable
    name: str = "release"
    indexes: tuple[tuple[str, ...], ...] = ()
    classes: ClassCells | None = None


@dataclass(frozen=True)
class Listed:
    """How a manifest names a part: a file, a table, or a table of a database file."""

    file: str | None
    table: str | None = None


@dataclass(frozen=True)
class Views:
    """The views over a permuted release.

    ``statements`` make them in a database file; ``queries`` are theirs by name, over the data and the help
    table as relations of a dialect.
    """

    statements: Callable[[PermutationFacts], tuple[str, ...]]
    queries: Callable[[PermutationFacts, Dialect, str, str], Mapping[str, str]]


class Delivery(Protocol):
    """One release on its way to ``address``. Parts go by their purpose: ``data``, ``help``, ``sensitive``."""

    @property
    def address(self) -> ReleaseAddress:
        """Where the release will lie."""

    @property
    def file_format(self) -> str:
        """The manifest's word for the form of the data: ``csv``, ``parquet``, ``duckdb``, ``table``."""

    @property
    def typed(self) -> bool:
        """Whether numbers, dates and the like keep their types; everything is text otherwise."""

    def listed(self, purpose: str, name: str) -> Listed:
        """How the manifest names a part that a database file calls ``name``."""

    def write(self, parts: Mapping[str, Part], views: Callable[[], tuple[str, ...]] | None = None) -> None:
        """Write the parts, in their queries' order; ``views`` are the statements of a database file."""

    def write_views(self, queries: Callable[[Dialect, str, str], Mapping[str, str]]) -> None:
        """Make views over the written data and help table, where the place has views."""

    def write_witness(self, query: str) -> SourceSpec:
        """Keep a query's result for the audit alone."""

    def auditor(self) -> AbstractContextManager[Engine]:
        """The engine that reads what was written."""

    def source(self, purpose: str, table: str | None = None) -> SourceSpec:
        """A written part, for the auditor; ``table`` is its name in a database file."""

    def digest(self, purpose: str) -> str | None:
        """A written part's digest; None where another part's covers it."""

    def write_manifest(self, text: str) -> None:
        """Write the manifest beside the parts."""

    def put_in_place(self) -> None:
        """Take the last step: from now on the release is there."""

    @property
    def manifest(self) -> ReleaseAddress:
        """Where the manifest will lie."""
