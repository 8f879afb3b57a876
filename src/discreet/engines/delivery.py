"""Delivery of a release: write its parts, audit them, write the manifest, and publish all in one last step.

Defines the protocol for every target, the writers that databases provide, the common code of releases in
tables, and delivery by renaming for databases that cannot create several tables in one transaction (Spark's
catalog, MariaDB): manifest first, data last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, Protocol, TypeVar, cast
from uuid import uuid4

from discreet.engines.base import Engine
from discreet.engines.files.output_files import NewTable
from discreet.engines.source_tables import read_text_table, table_digest
from discreet.errors import DiscreetError, InputError
from discreet.model.json_documents import parse_json
from discreet.model.release_address import MANIFEST_TABLE, ReleaseAddress
from discreet.model.release_kind import PermutedRelease, list_companion_tables
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import literal, table_parts
from discreet.sql.recoded_classes import ClassCells

DATA = "data"


@dataclass(frozen=True)
class Part:
    """Table of a release; ``name`` is its name in a database file.

    ``indexes`` are column lists to index, for databases with indexes; ``classes`` describes the cells that
    rows share with their class, if known.
    """

    table: NewTable
    name: str = "release"
    indexes: tuple[tuple[str, ...], ...] = ()
    classes: ClassCells | None = None


@dataclass(frozen=True)
class Listed:
    """Manifest entry of a part: a file, a table, or a table of a database file."""

    file: str | None
    table: str | None = None


@dataclass(frozen=True)
class ReleaseViews:
    """Views over a permuted release.

    ``statements`` create the views in a database file; ``queries`` returns their queries by name, over the
    data and the help table as relations of a dialect.
    """

    statements: Callable[[PermutedRelease], tuple[str, ...]]
    queries: Callable[[PermutedRelease, Dialect, str, str], Mapping[str, str]]


class Delivery(Protocol):
    """Delivery of one release to ``address``.

    Parts are named by their purpose: ``data``, ``help``, ``sensitive``.
    """

    @property
    def address(self) -> ReleaseAddress:
        """Final address of the release."""

    @property
    def file_format(self) -> str:
        """Format of the data in the manifest: ``csv``, ``parquet``, ``duckdb``, ``table``."""

    @property
    def typed(self) -> bool:
        """True if numbers, dates and the like keep their types; otherwise all cells are text."""

    def listed(self, purpose: str, name: str) -> Listed:
        """Return the manifest entry of a part that a database file calls ``name``."""

    def write(self, parts: Mapping[str, Part], views: Callable[[], tuple[str, ...]] | None = None) -> None:
        """Write the parts in their queries' order; ``views`` returns the statements of a file's views."""

    def write_views(self, queries: Callable[[Dialect, str, str], Mapping[str, str]]) -> None:
        """Create views over the written data and help table, if the target supports views."""

    def write_witness(self, query: str) -> SourceSpec:
        """Store a query's result for the audit only."""

    def auditor(self) -> AbstractContextManager[Engine]:
        """Return the engine that reads the written parts."""

    def source(self, purpose: str, table: str | None = None) -> SourceSpec:
        """Return the source of a written part for the auditor; ``table`` is its name in a database file."""

    def digest(self, purpose: str) -> str | None:
        """Return the digest of a written part; None if another part's digest covers it."""

    def write_manifest(self, text: str) -> None:
        """Write the manifest next to the parts."""

    def put_in_place(self) -> None:
        """Publish the release: the last step of the delivery."""

    @property
    def manifest(self) -> ReleaseAddress:
        """Final address of the manifest."""


class FolderWriter(Engine, Protocol):
    """Writer of folders of Parquet files: an engine whose declaration has ``folders``."""

    def write_folder(self, query: str, folder: Path, columns: Sequence[str] | None = None) -> None:
        """Write a new owner-only folder of Parquet files, in the query's order."""


class CatalogWriter(Engine, Protocol):
    """Writer of tables that are written under temporary names and renamed, as in Spark's catalog."""

    def write_table(self, query: str, table: str, columns: Sequence[str] | None = None) -> None:
        """Create a new table of the catalog, in the query's order."""

    def has_table(self, table: str) -> bool:
        """Return True if the catalog has a table of that name."""

    def rename_table(self, old: str, new: str) -> None:
        """Rename a table of the catalog."""

    def drop_catalog_table(self, table: str) -> None:
        """Drop a table of the catalog if it exists."""


W = TypeVar("W", bound=Engine)

TABLE_FORMAT = "table"
"""Format name in the manifest of a release that is a table of a database."""


@dataclass(frozen=True, eq=False)
class TableDelivery(Generic[W]):
    """Delivery of tables to ``address`` (see ``Delivery``) by an engine that writes tables."""

    writer: W
    address: ReleaseAddress

    @property
    def engine(self) -> Engine:
        """Engine that reads the source."""
        return self.writer

    @property
    def manifest(self) -> ReleaseAddress:
        """Companion table of the manifest."""
        return self.address.companion(MANIFEST_TABLE)

    @property
    def file_format(self) -> str:
        """Always ``table``."""
        return TABLE_FORMAT

    @property
    def typed(self) -> bool:
        """Always True: tables have types."""
        return True

    def auditor(self) -> AbstractContextManager[Engine]:
        """Return the writing engine, because only its session sees unpublished tables."""
        return nullcontext(self.writer)


def check_companions(
    own: Sequence[str], purposes: Sequence[str], address: ReleaseAddress, exists: Callable[[str], bool]
) -> None:
    """Raise ``InputError`` if a companion's name is taken by a table that is not in ``own``.

    ``own`` are the companions of the replaced release, ``purposes`` those of the new one other than the
    manifest; ``exists`` looks up a companion by its purpose.
    """
    for purpose in (MANIFEST_TABLE, *purposes):
        if purpose not in own and exists(purpose):
            raise InputError(
                f"{address.companion(purpose).label} exists and does not belong to a release of "
                f"{address.label}",
                advice="Choose another name for the release, or remove that table.",
            )


def companions_of(manifest: str | None) -> tuple[str, ...]:
    """Return the purposes of a release's companion views and tables from its manifest's text."""
    if manifest is None:
        return ()
    try:
        return (*list_companion_tables(parse_json(manifest)), MANIFEST_TABLE)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ()


@dataclass(frozen=True, eq=False)
class CatalogDelivery(TableDelivery[CatalogWriter]):
    """Delivery of tables to ``address`` (see ``Delivery``), named with ``mark`` until the last step."""

    mark: str
    written: list[str] = field(default_factory=list)

    def listed(self, purpose: str, name: str) -> Listed:
        """Return the table name of a part, without its database."""
        del name
        return Listed(None, table_parts(str(self._place(purpose).table))[-1])

    def write(self, parts: Mapping[str, Part], views: Callable[[], tuple[str, ...]] | None = None) -> None:
        """Create a table for each part."""
        del views
        for purpose, part in parts.items():
            self._write(purpose, part.table.query, part.table.columns)

    def write_views(self, queries: Callable[[Dialect, str, str], Mapping[str, str]]) -> None:
        """Do nothing: a view would name tables that are renamed at the end.

        Users get the statements from ``discreet query --views``.
        """

    def write_witness(self, query: str) -> SourceSpec:
        """Store a query's result in a temporary table."""
        name = f"witness_{uuid4().hex[:12]}"
        self.writer.create_table(name, query)
        return SourceSpec(table=name, url=self.address.url, engine=self.writer.name)

    def source(self, purpose: str, table: str | None = None) -> SourceSpec:
        """Return the source of a written table by its temporary name."""
        del table
        return SourceSpec(table=self._temporary(purpose), url=self.address.url, engine=self.writer.name)

    def digest(self, purpose: str) -> str | None:
        """Return the order-independent SHA-256 of a table's rows."""
        return table_digest(self.writer, self.source(purpose))

    def write_manifest(self, text: str) -> None:
        """Create the companion table with the manifest's text."""
        self._write(MANIFEST_TABLE, f"SELECT {literal(text)} AS c0", (MANIFEST_TABLE,))

    def put_in_place(self) -> None:
        """Drop the replaced release and rename the new tables: the manifest first, the data last.

        Readers therefore never see data without a manifest.
        """
        drop_release_tables(self.writer, self.address)
        placed: list[str] = []
        try:
            for purpose in (
                MANIFEST_TABLE,
                *(p for p in self.written if p not in (MANIFEST_TABLE, DATA)),
                DATA,
            ):
                table = str(self._place(purpose).table)
                self.writer.rename_table(self._temporary(purpose), table)
                placed.append(table)
        except BaseException:
            for table in placed:
                with suppress(DiscreetError):
                    self.writer.drop_catalog_table(table)
            raise

    def discard(self) -> None:
        """Drop written tables that were not published."""
        for purpose in self.written:
            with suppress(DiscreetError):
                self.writer.drop_catalog_table(self._temporary(purpose))

    def _write(self, purpose: str, query: str, columns: Sequence[str]) -> None:
        self.written.append(purpose)
        self.writer.write_table(query, self._temporary(purpose), columns)

    def _place(self, purpose: str) -> ReleaseAddress:
        return self.address if purpose == DATA else self.address.companion(purpose)

    def _temporary(self, purpose: str) -> str:
        return str(self._place(purpose).companion(self.mark).table)


def check_catalog_target(
    engine: Engine, spec: TableSpec, address: ReleaseAddress, *, overwrite: bool
) -> bool:
    """Return True if the catalog has the table already; raises ``InputError`` if it may not be replaced."""
    release_address = replace(address, engine=engine.name, url=spec.source.url)
    if spec.source.table is not None and table_parts(spec.source.table) == table_parts(
        str(release_address.table)
    ):
        raise InputError(
            f"{release_address.label} is the input, which a release must never replace",
            advice="Choose another name.",
        )
    exists = cast(CatalogWriter, engine).has_table(str(release_address.table))
    if exists and not overwrite:
        raise InputError(
            f"{release_address.label} exists",
            advice="Choose another name, or add --overwrite.",
        )
    return exists


@contextmanager
def catalog_delivery(
    engine: Engine,
    spec: TableSpec,
    address: ReleaseAddress,
    *,
    overwrite: bool,
    purposes: Sequence[str] = (),
) -> Iterator[CatalogDelivery]:
    """Deliver tables to a catalog; names are checked first.

    ``purposes`` are the companion tables other than the manifest. Raises ``InputError`` if the name is taken,
    or if a companion's name is taken by a table that is not part of the replaced release.
    """
    writer, release_address = (
        cast(CatalogWriter, engine),
        replace(address, engine=engine.name, url=spec.source.url),
    )
    if not check_catalog_target(engine, spec, address, overwrite=overwrite):
        drop_release_tables(writer, release_address)
    own = companions_of(read_text_table(writer, release_address.companion(MANIFEST_TABLE).source()))
    check_companions(
        own,
        purposes,
        release_address,
        lambda purpose: writer.has_table(str(release_address.companion(purpose).table)),
    )
    delivery = CatalogDelivery(writer, release_address, f"{uuid4().hex[:8]}_partial")
    try:
        yield delivery
    finally:
        delivery.discard()


def drop_release_tables(writer: CatalogWriter, address: ReleaseAddress) -> None:
    """Drop a release of the catalog: the data first, then the companions that its manifest lists."""
    own = companions_of(read_text_table(writer, address.companion(MANIFEST_TABLE).source()))
    writer.drop_catalog_table(str(address.table))
    for purpose in own:
        writer.drop_catalog_table(str(address.companion(purpose).table))
