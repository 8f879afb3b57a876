"""Places where every test of this folder runs: one test body for all engines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from discreet.settings import Settings
from tests.every_engine.places import (
    DATABASE,
    READER,
    DuckdbPlace,
    MariadbPlace,
    Place,
    PostgresPlace,
    SparkPlace,
    prepare,
)
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

_SCHEMAS = count(1)


@pytest.fixture(scope="session")
def database(postgres_server: PostgresServer) -> PostgresServer:
    """The server, with the database and the role that ``PostgresPlace`` uses."""
    prepare(postgres_server)
    return postgres_server


@pytest.fixture
def postgres_place(database: PostgresServer, settings: Settings, tmp_path: Path) -> Iterator[PostgresPlace]:
    """A new schema in the database of this process, dropped after the test."""
    schema = f"test_{next(_SCHEMAS)}"
    database.run(f"CREATE SCHEMA {schema}", f"GRANT USAGE ON SCHEMA {schema} TO {READER}", database=DATABASE)
    yield PostgresPlace(settings, tmp_path, database, schema)
    database.run("SET lock_timeout = '60s'", f"DROP SCHEMA {schema} CASCADE", database=DATABASE)


@pytest.fixture(scope="session")
def maria(mariadb_server: MariadbServer) -> MariadbServer:
    """The server, with the user that reads ``MariadbPlace``."""
    mariadb_server.run(f"CREATE USER {READER}")
    return mariadb_server


@pytest.fixture
def mariadb_place(maria: MariadbServer, settings: Settings, tmp_path: Path) -> Iterator[MariadbPlace]:
    """A new database, dropped after the test."""
    name = maria.create_database()
    maria.run(f"GRANT SELECT, CREATE TEMPORARY TABLES ON {name}.* TO {READER}")
    yield MariadbPlace(settings, tmp_path, maria, name)
    maria.run(f"REVOKE ALL ON {name}.* FROM {READER}", f"DROP DATABASE {name}")


@pytest.fixture
def duckdb_place(settings: Settings, tmp_path: Path) -> DuckdbPlace:
    """A folder of the test."""
    folder = tmp_path / "duckdb"
    folder.mkdir()
    return DuckdbPlace(settings, folder)


@pytest.fixture
def spark_place(spark_process: None, settings: Settings, tmp_path: Path) -> SparkPlace:
    """A folder of the test, and the Spark session of this process."""
    return SparkPlace(settings, tmp_path)


ON_MARIADB = {"test_engine", "test_text", "test_starred_cells", "test_full_domain"}
SLOW_ON_MARIADB = {"test_counting", "test_audit", "test_reading"}
"""Modules, and tests, that run on MariaDB; unsupported features are refused (docs/mariadb.md)."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out tests of features that MariaDB lacks, and mark slow ones."""
    for item in list(items):
        call, module = (
            getattr(item, "callspec", None),
            item.location[0].rpartition("/")[2].removesuffix(".py"),
        )
        if call is None or call.params.get("place") != "mariadb":
            continue
        if module in SLOW_ON_MARIADB:
            item.add_marker(pytest.mark.slow)
        elif not {module, getattr(item, "originalname", None)} & ON_MARIADB:
            items.remove(item)


_PLACES = ["duckdb", "postgres", "mariadb", pytest.param("spark", marks=pytest.mark.spark)]


@pytest.fixture(params=_PLACES)
def place(request: pytest.FixtureRequest) -> Place:
    """The place of a test's tables: the test runs once per engine."""
    found = request.getfixturevalue(f"{request.param}_place")
    assert isinstance(found, Place)
    return found
