"""Delivering tables where several cannot be made in one transaction, as in Spark's catalog.

They are written under temporary names, audited there, and renamed at last. So the order is that of files: the
manifest first, then the companions, the data last; a manifest without its data is an aborted run, which the
next one removes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import cast
from uuid import uuid4

from discreet.engines.base import Engine
from discreet.engines.delivery import DATA, Listed, Part
from discreet.engines.distinct_rows import table_digest
from discreet.engines.stored_text import stored_text
from discreet.engines.table_delivery import TableDelivery, companions_of
from discreet.engines.table_writer import CatalogWriter
from discreet.errors import DiscreetError, InputError
from discreet.model.release_address import MANIFEST, ReleaseAddress
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.sql.dialect import Dialect
from discreet.sql.names import literal, table_parts


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
        self._write(MANIFEST, f"SELECT {literal(text)} AS c0", (MANIFEST,))

    def put_in_place(self) -> None:
        """Drop the release that is replaced, and rename: the manifest first, the data last."""
        remove_release_tables(self.writer, self.address)
        placed: list[str] = []
        try:
            for purpose in (MANIFEST, *(p for p in self.written if p not in (MANIFEST, DATA)), DATA):
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
        remove_release_tables(writer, place)
    own = companions_of(stored_text(writer, place.companion(MANIFEST).source()))
    for purpose in (MANIFEST, *purposes):
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


def remove_release_tables(writer: CatalogWriter, place: ReleaseAddress) -> None:
    """Drop a release of the catalog, the data first, and what its manifest lists."""
    own = companions_of(stored_text(writer, place.companion(MANIFEST).source()))
    writer.drop_catalog_table(str(place.table))
    for purpose in own:
        writer.drop_catalog_table(str(place.companion(purpose).table))
