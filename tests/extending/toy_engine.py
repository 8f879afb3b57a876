"""A toy engine: the embedded engine under another name, with a folder of Parquet files as its database.

``toy:people.csv`` is a file, and ``toy:`` its shelf: the folder in the environment variable TOY_SHELF.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from discreet.engines.base import Engine, SourceTable
from discreet.engines.declaration import TableTarget
from discreet.engines.delivery import DATA, Listed, Part, TableDelivery
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.engines.source_tables import table_digest
from discreet.errors import InputError
from discreet.extending import EngineDeclaration, register_engine
from discreet.model.release_address import MANIFEST_TABLE, ReleaseAddress
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.settings import Settings
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.quoting import literal


def shelf(table: str) -> Path:
    """Return the file of a table."""
    return Path(os.environ["TOY_SHELF"], f"{table}.parquet")


class ToyEngine(DuckdbEngine):
    """The embedded engine with tables on the shelf."""

    name = "toy"

    def open_source(self, source: SourceSpec) -> SourceTable:
        """Open a source; a table without a path is on the shelf."""
        if source.table is not None and source.path is None:
            source = replace(source, path=shelf(source.table), table=None, format="parquet")
        return super().open_source(source)


def connect(settings: Settings, source: SourceSpec | None) -> Engine:
    """Return the engine; a database engine would read its address from the source."""
    del source
    return ToyEngine(settings)


@dataclass(frozen=True, eq=False)
class ToyDelivery(TableDelivery[Engine]):
    """Delivery of tables to the shelf: under temporary names until the end, the data renamed last."""

    purposes: list[str] = field(default_factory=list)

    def listed(self, purpose: str, name: str) -> Listed:
        """Return the name of a part in the manifest."""
        del name
        return Listed(None, self._table(purpose))

    def write(self, parts: Mapping[str, Part], views: Callable[[], tuple[str, ...]] | None = None) -> None:
        """Write each part."""
        del views
        for purpose, part in parts.items():
            self._write(purpose, part.table.query, part.table.columns)

    def write_views(self, queries: Callable[[Dialect, str, str], Mapping[str, str]]) -> None:
        """Do nothing: a shelf has no views."""

    def write_witness(self, query: str) -> SourceSpec:
        """Store the rows that only the audit reads."""
        self._write("witness", query, None)
        return self.source("witness")

    def source(self, purpose: str, table: str | None = None) -> SourceSpec:
        """Return a written part as a source for the audit."""
        del table
        return SourceSpec(table=f".{self._table(purpose)}", engine=self.writer.name)

    def digest(self, purpose: str) -> str | None:
        """Return the digest of a part's rows."""
        return table_digest(self.writer, self.source(purpose))

    def write_manifest(self, text: str) -> None:
        """Write the manifest as a table with one cell."""
        self._write(MANIFEST_TABLE, f"SELECT {literal(text)} AS c0", [MANIFEST_TABLE])

    def put_in_place(self) -> None:
        """Rename the written files."""
        for purpose in sorted(set(self.purposes) - {"witness"}, key=lambda purpose: purpose == DATA):
            shelf(f".{self._table(purpose)}").replace(shelf(self._table(purpose)))

    def discard(self) -> None:
        """Remove files that were not renamed."""
        for purpose in self.purposes:
            shelf(f".{self._table(purpose)}").unlink(missing_ok=True)

    def _write(self, purpose: str, query: str, columns: Sequence[str] | None) -> None:
        self.purposes.append(purpose)
        self.writer.write_file(query, shelf(f".{self._table(purpose)}"), "parquet", columns)

    def _table(self, purpose: str) -> str:
        return str((self.address if purpose == DATA else self.address.companion(purpose)).table)


def check(engine: Engine, spec: TableSpec, address: ReleaseAddress, *, overwrite: bool) -> None:
    """Refuse the input as the target, and an existing table."""
    del engine
    if address.table == spec.source.table:
        raise InputError(f"{address.label} is the input", advice="Choose another name.")
    if shelf(str(address.table)).exists() and not overwrite:
        raise InputError(f"{address.label} exists", advice="Choose another name, or add --overwrite.")


@contextmanager
def deliver(
    engine: Engine,
    spec: TableSpec,
    address: ReleaseAddress,
    *,
    overwrite: bool,
    purposes: Sequence[str] = (),
) -> Iterator[ToyDelivery]:
    """Deliver a release to the shelf; files of a killed run are not removed."""
    del purposes
    check(engine, spec, address, overwrite=overwrite)
    delivery = ToyDelivery(engine, replace(address, engine=engine.name))
    try:
        yield delivery
    finally:
        delivery.discard()


TOY = register_engine(
    EngineDeclaration(
        name="toy",
        title="the toy",
        connect=connect,
        dialect=DUCKDB,
        embedded=True,
        scheme="toy:",
        catalog="the toy's shelf",
        on_request=True,
        tables=lambda: TableTarget(check, deliver),
        tables_where="is the toy's",
    )
)
