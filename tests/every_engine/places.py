"""Places of tables: one class per engine, with the same few methods.

A test body is written once against ``Place``; a feature that one place lacks is marked there, with one of
three reasons.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.dialect import POSTGRES
from discreet.sql.quoting import identifier
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

Columns: TypeAlias = Mapping[str, tuple[str, Sequence[Any]]]
"""Columns by name, any characters: the house type, and Python values of equal number (None is NULL)."""


ODD_TEXTS = ["a", "A", "", " ", "it's", 'say "x"', "`", "\t", "a\nb", "\r", "\r\n", "\\N", "\\"]
ODD_TEXTS += ["NULL", "nan", "01", "1", "1.0", "?", "é", "e\u0301", "ä", "a\u0308", "日本", "😀", " a", "a "]
ODD_TEXTS += ["ß", "SS", '"', "'", "x" * 3000]
ODD_TEXTS += ["', 'x'); DROP TABLE people; --", "%", "%s %(x)s {0}", "$1 :x ?", "a,b;c|d"]
"""Texts that quoting, copying, comparing or typing might change."""


class Missing(StrEnum):
    """Reasons why a test does not hold in a place."""

    NOT_OURS_YET = "not yet ours: discreet does not do it there so far"
    NOT_THEIRS_YET = "not yet theirs: the engine cannot do it so far"
    NEVER = "never: it makes no sense there"


class Place(ABC):
    """Storage of small tables, and the engine that reads them there."""

    name: str
    distinguishes_case = True
    """Whether a table may have two columns whose names differ only in case."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self._tables = 0

    @abstractmethod
    def put(self, columns: Columns, **options: Any) -> SourceSpec:
        """Store a new table; ``options`` are further fields of the ``SourceSpec``."""

    def connect(self, source: SourceSpec | None = None) -> Engine:
        """Return the engine of the place, a context manager; ``source`` is one that was stored there."""
        return connect(self.settings, source)

    def held(self, columns: Columns) -> Columns:
        """Return the columns with NULL for cells that the place cannot store."""
        return columns

    def read_as(self, columns: Columns) -> Columns:
        """Return columns whose cells have, in every place, the texts that those of ``columns`` have here."""
        return columns

    @abstractmethod
    def new_release(self) -> ReleaseAddress:
        """Return the address of a new release."""

    def contents(self) -> set[str]:
        """Return the names of all files, or relations, of the place."""
        return {path.name for path in self.folder.iterdir()} - {"private"}

    def lacks(self, reason: Missing, why: str) -> NoReturn:
        """Skip the test here, for one of three reasons."""
        pytest.skip(f"{self.name}: {reason} ({why})")

    def next_table(self) -> int:
        """Return a number that no table of this place has."""
        self._tables += 1
        return self._tables


class DuckdbPlace(Place):
    """Parquet files, read by the embedded engine."""

    name = "duckdb"

    def put(self, columns: Columns, **options: Any) -> SourceSpec:
        """Write a Parquet file."""
        path = self.folder / f"table_{self.next_table()}.parquet"
        pq.write_table(arrow_table(columns), path)
        return SourceSpec(path=path, **options)

    def new_release(self) -> ReleaseAddress:
        """Return the address of a file."""
        return ReleaseAddress(path=self.folder / f"released_{self.next_table()}.parquet")


class PostgresPlace(Place):
    """Tables of a schema, read by a role with only the right to read them."""

    name = "postgres"

    def __init__(self, settings: Settings, folder: Path, server: PostgresServer, schema: str) -> None:
        super().__init__(settings, folder)
        self.server, self.schema = server, schema
        self.url = server.url(DATABASE, READER)

    def put(self, columns: Columns, **options: Any) -> SourceSpec:
        """Create a table that the reader may read."""
        import psycopg

        table = f"people {self.next_table()}"
        place = f"{identifier(self.schema)}.{identifier(table)}"
        types = ", ".join(f"{identifier(n)} {POSTGRES.type_name(t)}" for n, (t, _) in columns.items())
        with psycopg.connect(self.server.url(DATABASE), autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {place} ({types})".encode())
            with connection.cursor().copy(f"COPY {place} FROM STDIN".encode()) as copy:
                for row in zip(*(values for _, values in columns.values()), strict=True):
                    copy.write_row(row)
            connection.execute(f"GRANT SELECT ON {place} TO {READER}".encode())
        return SourceSpec(url=self.url, table=f"{self.schema}.{identifier(table)}", **options)

    def connect(self, source: SourceSpec | None = None) -> Engine:
        """Return the database's engine."""
        return connect(self.settings, source or SourceSpec(url=self.url))

    def allow_releases(self) -> None:
        """Grant the reader the right to create tables."""
        self.server.run(f"GRANT CREATE ON SCHEMA {self.schema} TO {READER}", database=DATABASE)

    def new_release(self) -> ReleaseAddress:
        """Return the address of a table that the reader may create."""
        self.allow_releases()
        return ReleaseAddress(table=f"{self.schema}.released_{self.next_table()}", url=self.url)

    def contents(self) -> set[str]:
        """Return the tables and views of the schema."""
        query = f"SELECT relname FROM pg_class WHERE relnamespace = '{self.schema}'::regnamespace"
        return {name for (name,) in self.server.fetch(query, DATABASE) if not name.endswith("_idx")}


class MariadbPlace(Place):
    """Tables of a database, read by a user with only the rights to read and to create temporary tables."""

    name = "mariadb"
    distinguishes_case = False

    def __init__(self, settings: Settings, folder: Path, server: MariadbServer, database: str) -> None:
        super().__init__(settings, folder)
        self.server, self.database = server, database
        self.url = server.url(database, READER)

    def put(self, columns: Columns, **options: Any) -> SourceSpec:
        """Create a table."""
        self._check(columns)
        table = f"people {self.next_table()}"
        types = ", ".join(
            f"{_backticks(name)} {_mariadb_type(house)}" for name, (house, _) in columns.items()
        )
        rows = list(zip(*(values for _, values in columns.values()), strict=True))
        with self.server.connect(self.database) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE `{table}` ({types}) CHARACTER SET utf8mb4")
            marks = ", ".join(["%s"] * len(columns))
            if rows:
                cursor.executemany(f"INSERT INTO `{table}` VALUES ({marks})", rows)
        return SourceSpec(url=self.url, table=identifier(table), **options)

    def connect(self, source: SourceSpec | None = None) -> Engine:
        """Return the database's engine."""
        return connect(self.settings, source or SourceSpec(url=self.url))

    def new_release(self) -> ReleaseAddress:
        """Skip the test: tests/engines/test_mariadb publishes there."""
        self.lacks(Missing.NOT_OURS_YET, "most of what a release needs")

    def held(self, columns: Columns) -> Columns:
        """Replace infinities and NaN by NULL."""
        return {
            name: (house, [None if _is_no_cell(value) else value for value in values])
            for name, (house, values) in columns.items()
        }

    def read_as(self, columns: Columns) -> Columns:
        """Convert types: booleans are numbers there, floats doubles, and zeros unsigned (docs/mariadb.md)."""
        return {name: _read_by_mariadb(*column) for name, column in columns.items()}

    def _check(self, columns: Columns) -> None:
        """Skip a test whose table cannot be created."""
        if len({name.rstrip().casefold() for name in columns}) < len(columns) or not all(columns):
            self.lacks(Missing.NEVER, "names that differ only in case, or are empty")
        if any(name != name.rstrip() or len(name) > 64 for name in columns):
            self.lacks(Missing.NEVER, "names with a blank at the end, or of more than 64 letters")
        for house, values in columns.values():
            if house.endswith("]"):
                self.lacks(Missing.NEVER, "no lists")
            if any(map(_is_no_cell, values)):
                self.lacks(Missing.NEVER, "no infinity, and nothing that is no number")


def _is_no_cell(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _read_by_mariadb(house: str, values: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    if house == "BOOLEAN":
        return "SMALLINT", [None if value is None else int(value) for value in values]
    if house == "FLOAT":
        house, values = "DOUBLE", pa.array(list(values), pa.float32()).to_pylist()
    # Adding a zero removes the sign of a negative zero.
    return house, [value + 0.0 if isinstance(value, float) else value for value in values]


def _backticks(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _mariadb_type(house: str) -> str:
    base, parenthesis, rest = house.partition("(")
    return _MARIADB[base] + parenthesis + rest


_MARIADB = {
    "VARCHAR": "LONGTEXT",
    "BOOLEAN": "BOOLEAN",
    "SMALLINT": "SMALLINT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "FLOAT": "FLOAT",
    "DOUBLE": "DOUBLE",
    "DATE": "DATE",
    "DECIMAL": "DECIMAL",
    "TIMESTAMP": "DATETIME(6)",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP(6)",
    "BLOB": "LONGBLOB",
}


class SparkPlace(Place):
    """Parquet files, read by Spark in a session that is created once per process."""

    name = "spark"

    def put(self, columns: Columns, **options: Any) -> SourceSpec:
        """Write a Parquet file."""
        path = self.folder / f"table_{self.next_table()}.parquet"
        pq.write_table(arrow_table(columns), path)
        return SourceSpec(path=path, engine="spark", **options)

    def new_release(self) -> ReleaseAddress:
        """Return the address of a folder."""
        return ReleaseAddress(path=self.folder / f"released_{self.next_table()}", engine="spark")

    def connect(self, source: SourceSpec | None = None) -> Engine:
        """Return Spark's engine."""
        return connect(self.settings, source or SourceSpec(engine="spark"))


DATABASE, READER = "every_engine", "reader"

SLOW_ON_SPARK = pytest.mark.parametrize(
    "place",
    ["duckdb", "postgres", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.slow])],
    indirect=True,
)
"""Mark of a test whose statements another test also runs on Spark: there it is one of the slow tests."""


def once_on_spark(name: str, values: Sequence[Any], on_spark: Any) -> pytest.MarkDecorator:
    """Mark a test of several values with similar statements: on Spark one runs, the others are slow."""
    cases = [
        pytest.param(place, value, marks=place_marks(place, is_slow=value != on_spark))
        for value in values
        for place in ("duckdb", "postgres", "spark")
    ]
    return pytest.mark.parametrize(("place", name), cases, indirect=["place"])


def place_marks(place: str, *, is_slow: bool) -> list[pytest.MarkDecorator]:
    """Return the marks of a case in a place; one that is slow runs on Spark only in ``make test-all``."""
    return [pytest.mark.spark, *([pytest.mark.slow] if is_slow else [])] if place == "spark" else []


def prepare(server: PostgresServer) -> None:
    """Create the database and the role of ``PostgresPlace``."""
    server.run(f"CREATE DATABASE {DATABASE}", f"CREATE ROLE {READER} LOGIN")


def arrow_table(columns: Columns) -> pa.Table:
    """Build an Arrow table of columns of house types."""
    fields = [pa.field(name, arrow_type(house)) for name, (house, _) in columns.items()]
    arrays = [pa.array(list(values), arrow_type(house)) for house, values in columns.values()]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


_ARROW = {
    "VARCHAR": pa.string(),
    "BOOLEAN": pa.bool_(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", tz="UTC"),
    "BLOB": pa.binary(),
    "INTEGER[]": pa.list_(pa.int32()),
}


def arrow_type(house: str) -> pa.DataType:
    """Return the Arrow type of a house type, including ``DECIMAL(p,s)``."""
    base, _, rest = house.partition("(")
    if base == "DECIMAL":
        precision, scale = (int(part) for part in rest.rstrip(")").split(","))
        return pa.decimal128(precision, scale)
    return _ARROW[base]
