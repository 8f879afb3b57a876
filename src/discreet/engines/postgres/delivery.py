"""Delivery of a release into a schema of the source's PostgreSQL database, in one transaction.

Creates the companion tables ``NAME_manifest``, ``NAME_help`` and ``NAME_sensitive``, and views. Loaded on
demand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast
from uuid import uuid4

from discreet.engines.base import Engine
from discreet.engines.delivery import DATA, Listed, Part, TableDelivery, check_companions, companions_of
from discreet.engines.postgres.schema_tables import TablePlace
from discreet.engines.source_tables import read_text_table, table_digest
from discreet.errors import InputError
from discreet.model.release_address import MANIFEST_TABLE, ReleaseAddress
from discreet.model.release_kind import HELP_FILE
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import literal, qualified, table_parts

if TYPE_CHECKING:
    from discreet.engines.postgres.engine import PostgresEngine

_MOST_INDEXED = 32
"""PostgreSQL's limit on the columns of an index."""


@dataclass(frozen=True, eq=False)
class SchemaDelivery(TableDelivery["PostgresEngine"]):
    """Delivery of tables to ``address`` (see ``Delivery``), as ``name`` in ``schema``."""

    schema: str
    name: str
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns of the first index of each written table, by purpose; its rows are stored in their order."""

    def listed(self, purpose: str, name: str) -> Listed:
        """Return the table name of a part, without its schema."""
        del name
        return Listed(None, self._name(purpose))

    def write(self, parts: Mapping[str, Part], views: Callable[[], tuple[str, ...]] | None = None) -> None:
        """Create a table for each part, with its indexes and statistics."""
        del views
        for purpose, part in parts.items():
            self.orders[purpose] = part.indexes[0] if part.indexes else ()
            self.writer.write_table(
                part.table.query,
                self.schema,
                self._name(purpose),
                part.table.columns,
                [index[:_MOST_INDEXED] for index in part.indexes],
            )

    def write_views(self, queries: Callable[[Dialect, str, str], Mapping[str, str]]) -> None:
        """Create views over the data and the help table; roles that can read both can query the release."""
        tables = (qualified(self._name(purpose), self.schema) for purpose in (DATA, HELP_FILE))
        for name, query in queries(self.writer.dialect, *tables).items():
            self.writer.create_view(self.schema, f"{self.name}_{name}", query)

    def write_witness(self, query: str) -> SourceSpec:
        """Store a query's result in a temporary table, which is dropped with the session."""
        name = f"witness_{uuid4().hex[:12]}"
        self.writer.create_table(name, query)
        return SourceSpec(url=self.address.url, table=self.writer.temporary_table(name))

    def source(self, purpose: str, table: str | None = None) -> SourceSpec:
        """Return the source of a written table."""
        del table
        address = self.address if purpose == DATA else self.address.companion(purpose)
        return address.source()

    def digest(self, purpose: str) -> str | None:
        """Return the order-independent SHA-256 of a table's rows."""
        return table_digest(self.writer, self.source(purpose), self.orders.get(purpose, ()))

    def write_manifest(self, text: str) -> None:
        """Create the companion table with the manifest's text."""
        query = f"SELECT {self.writer.dialect.cast(literal(text), 'VARCHAR')} AS c0"
        self.writer.write_table(query, self.schema, self._name(MANIFEST_TABLE), (MANIFEST_TABLE,))

    def put_in_place(self) -> None:
        """Commit the transaction."""
        self.writer.commit()

    def _name(self, purpose: str) -> str:
        return self.name if purpose == DATA else f"{self.name}_{purpose}"


def check_schema_target(
    engine: Engine, spec: TableSpec, address: ReleaseAddress, *, overwrite: bool
) -> tuple[str, str]:
    """Return the schema and the name of the target table.

    Raises ``InputError`` if a release may not or cannot be created there.
    """
    schema, name = _schema_and_name(address)
    writer, source = cast("PostgresEngine", engine), spec.source
    if source.table is not None and writer.resolve_table(source.table) == TablePlace(schema, name):
        raise InputError(
            f"the table {source.table} is the input, which a release must never replace",
            advice="Choose another name or schema.",
        )
    writer.check_target(schema, name, overwrite=overwrite)
    return schema, name


@contextmanager
def schema_delivery(
    engine: Engine,
    spec: TableSpec,
    address: ReleaseAddress,
    *,
    overwrite: bool,
    purposes: Sequence[str] = (),
) -> Iterator[SchemaDelivery]:
    """Deliver tables to the source's database; rights and names are checked first.

    ``purposes`` are the companion tables other than the manifest. A replaced release is dropped in the same
    transaction, with its companions. Raises ``InputError`` if the name is taken, or if a companion's name is
    taken by a relation that is not part of the replaced release.
    """
    schema, name = _schema_and_name(address)
    writer, release_address = cast("PostgresEngine", engine), replace(address, url=spec.source.url)
    # The name is locked before the checks: otherwise their results could change.
    with writer.reserved(schema, name):
        check_schema_target(engine, spec, address, overwrite=overwrite)
        _drop(writer, release_address, schema, name)
        check_companions(
            (), purposes, release_address, lambda purpose: writer.table_exists(schema, f"{name}_{purpose}")
        )
        yield SchemaDelivery(writer, release_address, schema, name)


def _schema_and_name(address: ReleaseAddress) -> tuple[str, str]:
    parts = table_parts(str(address.table))
    if len(parts) != 2:
        raise InputError(f"'{address.table}' has no schema", allowed="SCHEMA.NAME")
    return parts[0], parts[1]


def _drop(writer: PostgresEngine, address: ReleaseAddress, schema: str, name: str) -> None:
    """Drop the release to be replaced, with the companions that its manifest lists."""
    own = companions_of(read_text_table(writer, address.companion(MANIFEST_TABLE).source()))
    for purpose in own:
        writer.drop_relation(schema, f"{name}_{purpose}")
    writer.drop_relation(schema, name)
