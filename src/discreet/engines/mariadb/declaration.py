"""Declaration of MariaDB: sources are tables or views of the address's database, releases become tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.engines.declaration import DatabaseAddresses, EngineDeclaration, catalog_tables
from discreet.engines.mariadb.address import (
    MARIADB_EXAMPLE,
    MARIADB_FORM,
    PASSWORD_VARIABLE,
    is_mariadb_address,
    normalize_address,
)
from discreet.engines.mariadb.dialect import MARIADB, PLAIN_MARIADB
from discreet.errors import InternalError
from discreet.places.address import resolve_address

if TYPE_CHECKING:
    from discreet.engines.base import Engine
    from discreet.model.table_spec import SourceSpec
    from discreet.settings import Settings


_LISTING = """
    SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')
    ORDER BY table_schema, table_name
"""


def _connect(settings: Settings, source: SourceSpec | None) -> Engine:
    from discreet.engines.mariadb.engine import MariadbEngine

    if source is None or source.url is None:
        raise InternalError("MariaDB needs the address of a database")
    return MariadbEngine(settings, resolve_address(source.url))


def _identities(engine: Engine, source: SourceSpec) -> tuple[tuple[str, str], ...]:
    from discreet.engines.mariadb.engine import MariadbEngine, identities

    assert isinstance(engine, MariadbEngine)
    return identities(engine, source)


MARIADB_ENGINE = EngineDeclaration(
    name="mariadb",
    title="MariaDB",
    connect=_connect,
    dialect=MARIADB,
    reader=PLAIN_MARIADB,
    extra="mariadb",
    queried=False,
    databases=DatabaseAddresses(
        what="a MariaDB database",
        form=MARIADB_FORM,
        short="mariadb://…",
        example=MARIADB_EXAMPLE,
        matches=is_mariadb_address,
        read=normalize_address,
        password=f"the variable {PASSWORD_VARIABLE}",
        listing=_LISTING,
    ),
    tables=catalog_tables,
    identities=_identities,
    tables_where="is one of MariaDB",
)
