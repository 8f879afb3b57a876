"""A small clinic's database for tests of the PostgreSQL engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import discreet
from discreet.engines.postgres.engine import PostgresEngine
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.servers.postgres import PostgresServer
from tests.waiting import wait_for

ROLES = {
    "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 30]}},
    "ward": {"role": "sensitive"},
}
RELEASED = ["people", "people_age_idx", "people_manifest"]
"""Relations of a generalized release to ``out.people``."""


@dataclass
class Clinic:
    """A database with a table of patients, and a role that may read it and create tables in one schema."""

    server: PostgresServer
    settings: Settings
    database: str
    role: str

    @property
    def url(self) -> str:
        return self.server.url(self.database, self.role)

    @property
    def source(self) -> SourceSpec:
        return SourceSpec(url=self.url, table="clinic.patients")

    def engine(self) -> PostgresEngine:
        return PostgresEngine(self.settings, self.url)

    def table(self, **spec: Any) -> Table:
        """Open the patients with their roles; ``spec`` are further sections."""
        document = {"source": {"table": "clinic.patients"}, "attributes": ROLES, **spec}
        return discreet.open(self.url, document, settings=self.settings)

    def run(self, *statements: str) -> None:
        self.server.run(*statements, database=self.database)

    def published(self) -> list[str]:
        """Return the names of the relations in the target's schema."""
        query = "SELECT relname FROM pg_class WHERE relnamespace = 'out'::regnamespace ORDER BY 1"
        return [name for (name,) in self.server.fetch(query, self.database)]

    def sessions(self) -> int:
        query = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{self.role}'"
        return int(self.server.fetch(query)[0][0])


@pytest.fixture
def clinic(postgres_server: PostgresServer, settings: Settings) -> Iterator[Clinic]:
    database = postgres_server.create_database()
    found = Clinic(postgres_server, settings, database, f"publisher_{database}")
    found.run(
        f"CREATE ROLE {found.role} LOGIN",
        "CREATE SCHEMA clinic",
        "CREATE SCHEMA out",
        "CREATE TABLE clinic.patients AS SELECT i % 90 AS age, 'a ' || i % 7 AS ward, i AS secret "
        "FROM generate_series(1, 1000) AS i",
        f"GRANT USAGE ON SCHEMA clinic TO {found.role}",
        f"GRANT SELECT ON clinic.patients TO {found.role}",
        f"GRANT USAGE, CREATE ON SCHEMA out TO {found.role}",
    )
    yield found
    # A server session ends shortly after its client has closed it.
    wait_for(lambda: found.sessions() == 0, "no session of the publisher")
    found.run(f"DROP OWNED BY {found.role}", f"DROP ROLE {found.role}")
    postgres_server.run(f"DROP DATABASE {database} WITH (FORCE)")
