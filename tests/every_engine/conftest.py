"""The places where every test of this folder runs: one test body for all engines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from discreet.settings import Settings
from tests.every_engine.places import DATABASE, READER, DuckdbPlace, Place, PostgresPlace, SparkPlace, prepare
from tests.servers.postgres import PostgresServer

_SCHEMAS = count(1)


@pytest.fixture(scope="session")
def database(postgres_server: PostgresServer) -> PostgresServer:
    """The server, with the database and the role that ``PostgresPlace`` uses."""
    prepare(postgres_server)
    return postgres_server


@pytest.fixture
def postgres_place(database: PostgresServer, settings: Settings, tmp_path: Path) -> Iterator[PostgresPlace]:
    """A schema of its own in the database of this process, dropped after the test."""
    schema = f"test_{next(_SCHEMAS)}"
    database.run(f"CREATE SCHEMA {schema}", f"GRANT USAGE ON SCHEMA {schema} TO {READER}", database=DATABASE)
    yield PostgresPlace(settings, tmp_path, database, schema)
    database.run("SET lock_timeout = '60s'", f"DROP SCHEMA {schema} CASCADE", database=DATABASE)


@pytest.fixture
def duckdb_place(settings: Settings, tmp_path: Path) -> DuckdbPlace:
    """A folder of the test's own."""
    folder = tmp_path / "duckdb"
    folder.mkdir()
    return DuckdbPlace(settings, folder)


@pytest.fixture
def spark_place(spark_process: None, settings: Settings, tmp_path: Path) -> SparkPlace:
    """A folder of the test's own, and the Spark session of this process."""
    return SparkPlace(settings, tmp_path)


_PLACES = ["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.spark)]


@pytest.fixture(params=_PLACES)
def place(request: pytest.FixtureRequest) -> Place:
    """Where a test puts its tables: the test runs once per engine."""
    found = request.getfixturevalue(f"{request.param}_place")
    assert isinstance(found, Place)
    return found
