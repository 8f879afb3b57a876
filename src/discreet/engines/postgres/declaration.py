"""Declaration and addresses of PostgreSQL: sources are tables or views, releases become tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from discreet.engines.declaration import DatabaseAddresses, EngineDeclaration, TableTarget
from discreet.errors import InputError, InternalError
from discreet.places.address import ADDRESS_FORM, resolve_address
from discreet.sql.dialect import POSTGRES

if TYPE_CHECKING:
    from discreet.engines.base import Engine
    from discreet.model.table_spec import SourceSpec
    from discreet.settings import Settings


SCHEME = "postgresql://"
POSTGRES_EXAMPLE = f"{SCHEME}ann@localhost/clinic"
_POSTGRES = re.compile(r"postgres(?:ql)?(?:\+\w+)?://", re.IGNORECASE)
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::\d*)?", re.ASCII)


def is_postgres_address(text: str) -> bool:
    """Return True if a text is the address of a PostgreSQL database, in any spelling of the scheme.

    >>> is_postgres_address("Postgres://localhost/clinic"), is_postgres_address("people.csv")
    (True, False)
    """
    return _POSTGRES.match(text) is not None


def normalize_address(text: str) -> str:
    """Normalize the scheme of a database's address for the library.

    Raises ``InputError``, without the address, for any other text, and if user and host are ambiguous: a
    password with an unencoded ``/``, ``?`` or ``#`` would become part of the database's name.

    >>> normalize_address("POSTGRESQL+psycopg://localhost/clinic")
    'postgresql://localhost/clinic'
    """
    scheme = _POSTGRES.match(text)
    if scheme is None:
        raise InputError(
            "this is not an address of a PostgreSQL database",
            allowed=f"{ADDRESS_FORM}, as in {POSTGRES_EXAMPLE}",
        )
    rest = text[scheme.end() :]
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    location, _, options = rest.removeprefix(authority).partition("?")
    has_hosts = all(map(_HOST.fullmatch, authority.rpartition("@")[2].split(",")))
    if not has_hosts or "#" in rest or "@" in location or not all("=" in o for o in options.split("&") if o):
        raise InputError(
            "the database's address cannot be read",
            allowed=ADDRESS_FORM,
            advice="Percent-encode / ? # and @ in its user and password, or give the password in PGPASSWORD.",
        )
    return SCHEME + rest


# Tables, partitioned tables, views, materialized views and foreign tables that the role may read, without
# partitions and system schemas.
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
        raise InternalError("PostgreSQL needs the address of a database")
    return PostgresEngine(settings, resolve_address(source.url))


def _identities(engine: Engine, source: SourceSpec) -> tuple[tuple[str, str], ...]:
    from discreet.engines.postgres.engine import PostgresEngine, identities

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
        form=ADDRESS_FORM,
        short=f"{SCHEME}…",
        example=POSTGRES_EXAMPLE,
        matches=is_postgres_address,
        read=normalize_address,
        password="the variable PGPASSWORD or in ~/.pgpass",
        listing=_LISTING,
    ),
    tables=_tables,
    identities=_identities,
    tables_where="is one of PostgreSQL",
)
