"""Delivery of a release: write its parts, audit them in place, write the manifest, and make all visible in
one last step.

The protocol for every target, the writers that databases provide, what releases in tables have in common, and
delivery by renaming where several tables cannot be made in one transaction (Spark's catalog, MariaDB):
manifest first, data last.
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
from discreet.model.release_kind import RELEASE_VIEWS, PermutedRelease
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import literal, table_parts
from discreet.sql.recoded_classes import ClassCells

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
class ReleaseViews:
    """The views over a permuted release.

    ``statements`` make them in a database file; ``queries`` are theirs by name, over the data and the help
    table as relations of a dialect.
    """

    statements: Callable[[PermutedRelease], tuple[str, ...]]
    queries: Callable[[PermutedRelease, Dialect, str, str], Mapping[str, str]]


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


W = TypeVar("W", bound=Engine)

TABLE_FORMAT = "table"
"""The manifest's word for a release that is a table of a database."""


@dataclass(frozen=True, eq=False)
class TableDelivery(Generic[W]):
    """Tables on their way to ``address`` (see ``Delivery``), by an engine that writes tables."""

    writer: W
    address: ReleaseAddress

    @property
    def engine(self) -> Engine:
        """The engine that holds the source."""
        return self.writer

    @property
    def manifest(self) -> ReleaseAddress:
        """The companion table of the manifest."""
        return self.address.companion(MANIFEST_TABLE)

    @property
    def file_format(self) -> str:
        """``table``."""
        return TABLE_FORMAT

    @property
    def typed(self) -> bool:
        """A table has types."""
        return True

    def auditor(self) -> AbstractContextManager[Engine]:
        """The engine itself, which alone sees what is not in place yet."""
        return nullcontext(self.writer)


def companions_of(manifest: str | None) -> tuple[str, ...]:
    """The purposes of the companion views and tables of a release, by its manifest's text."""
    if manifest is None:
        return ()
    try:
        permuted = parse_json(manifest).get("permutation")
        return (MANIFEST_TABLE,) if permuted is None else (*RELEASE_VIEWS, *permuted["files"], MANIFEST_TABLE)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ()


@dataclass(frozen=True, eq=False)
class CatalogDelivery(TableDelivery[CatalogWriter]):
    """Tables on their way to ``address`` (see ``Delivery``); until the end their names end in ``mark``."""

    mark: str
    written: list[str] = field(default_factory=list)

    def listed(self, purpose: str, name: str) -> Listed:
        """The table of a part, without its database."""
        del name
        return Listed(None, table_parts(str(self._place(purpose).table))[-1])

    def write(self, parts: Mapping[str, Part], views: Callable[[], tuple[str, ...]] | None = None) -> None:
        """Create a table of each part."""
        del views
        for purpose, part in parts.items():
            self._write(purpose, part.table.query, part.table.columns)

    def write_views(self, queries: Callable[[Dialect, str, str], Mapping[str, str]]) -> None:
        """None: a view names tables that are renamed at the end; ``discreet query --views`` prints them."""

    def write_witness(self, query: str) -> SourceSpec:
        """A temporary table."""
        name = f"witness_{uuid4().hex[:12]}"
        self.writer.create_table(name, query)
        return SourceSpec(table=name, url=self.address.url, engine=self.writer.name)

    def source(self, purpose: str, table: str | None = None) -> SourceSpec:
        """A written table, by its temporary name."""
        del table
        return SourceSpec(table=self._temporary(purpose), url=self.address.url, engine=self.writer.name)

    def digest(self, purpose: str) -> str | None:
        """SHA-256 of a table's rows, whatever their order."""
        return table_digest(self.writer, self.source(purpose))

    def write_manifest(self, text: str) -> None:
        """Create the companion table of one text."""
        self._write(MANIFEST_TABLE, f"SELECT {literal(text)} AS c0", (MANIFEST_TABLE,))

    def put_in_place(self) -> None:
        """Drop the release that is replaced, and rename: the manifest first, the data last."""
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
        """Drop what was written and not put in place."""
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
    """Whether the catalog has the table already; ``InputError`` where it may not be replaced."""
    place = replace(address, engine=engine.name, url=spec.source.url)
    if spec.source.table is not None and table_parts(spec.source.table) == table_parts(str(place.table)):
        raise InputError(
            f"{place.label} is the input, which a release must never replace", advice="Choose another name."
        )
    exists = cast(CatalogWriter, engine).has_table(str(place.table))
    if exists and not overwrite:
        raise InputError(
            f"{place.label} exists",
            advice="Choose another name, or ask for it to be overwritten (--overwrite).",
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

    ``purposes`` are those of the companions beside the manifest. ``InputError`` where the name is taken, or
    one that a companion wants is taken by something else.
    """
    writer, place = cast(CatalogWriter, engine), replace(address, engine=engine.name, url=spec.source.url)
    if not check_catalog_target(engine, spec, address, overwrite=overwrite):
        drop_release_tables(writer, place)
    own = companions_of(read_text_table(writer, place.companion(MANIFEST_TABLE).source()))
    for purpose in (MANIFEST_TABLE, *purposes):
        beside = place.companion(purpose)
        if purpose not in own and writer.has_table(str(beside.table)):
            raise InputError(
                f"{beside.label} exists, and is no part of a release of {place.label}",
                advice="Choose another name for the release, or remove that table.",
            )
    delivery = CatalogDelivery(writer, place, f"{uuid4().hex[:8]}_partial")
    try:
        yield delivery
    finally:
        delivery.discard()


def drop_release_tables(writer: CatalogWriter, place: ReleaseAddress) -> None:
    """Drop a release of the catalog, the data first, and what its manifest lists."""
    own = companions_of(read_text_table(writer, place.companion(MANIFEST_TABLE).source()))
    writer.drop_catalog_table(str(place.table))
    for purpose in own:
        writer.drop_catalog_table(str(place.companion(purpose).table))
