"""PostgreSQL: a table or view of a database, which the address names; a release may become a table there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.engines.declaration import DatabaseAddresses, EngineDeclaration, TableTarget
from discreet.engines.postgres.address import EXAMPLE, SCHEME, database_address, is_database_address
from discreet.errors import InternalError
from discreet.places.address import FORM, address_said
from discreet.sql.dialect import POSTGRES

if TYPE_CHECKING:
    from discreet.engines.base import Engine
    from discreet.model.table_spec import SourceSpec
    from discreet.settings import Settings


_LISTING = """
    SELECT CAST(n.nspname AS TEXT), CAST(c.relname AS TEXT)
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
      AND has_schema_privilege(n.oid, 'USAGE')
      AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
    ORDER BY 1, 2
"""


def _connect(settings: Settings, source: SourceSpec | None) -> Engine:
    from discreet.engines.postgres.engine import PostgresEngine

    if source is None or source.url is None:
        raise InternalError("PostgreSQL was asked for without the address of a database")
    return PostgresEngine(settings, address_said(source.url))


def _identities(engine: Engine, source: SourceSpec) -> tuple[tuple[str, str], ...]:
    from discreet.engines.postgres.engine import PostgresEngine
    from discreet.engines.postgres.identity import identities

    assert isinstance(engine, PostgresEngine)
    return identities(engine, source)


def _tables() -> TableTarget:
    from discreet.engines.postgres.delivery import check_schema_target, schema_delivery

    return TableTarget(check_schema_target, schema_delivery)


POSTGRES_ENGINE = EngineDeclaration(
    name="postgres",
    title="PostgreSQL",
    connect=_connect,
    dialect=POSTGRES,
    extra="postgres",
    databases=DatabaseAddresses(
        what="a PostgreSQL database",
        form=FORM,
        short=f"{SCHEME}…",
        example=EXAMPLE,
        matches=is_database_address,
        read=database_address,
        password="the variable PGPASSWORD or in ~/.pgpass",
        listing=_LISTING,
    ),
    tables=_tables,
    identities=_identities,
    tables_where="is one of PostgreSQL",
)
