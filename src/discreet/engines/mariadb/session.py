"""A session of MariaDB: its address, settings and statements, and the warnings that must not be missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from discreet.engines import failures
from discreet.engines.mariadb.address import place_of
from discreet.engines.mariadb.failures import from_connecting, from_statement
from discreet.engines.mariadb.spelling import spelled
from discreet.errors import InputError, InternalError, LimitReached
from discreet.settings import Settings, statement_timeout

T = TypeVar("T")
_CONNECT_SECONDS = 10
_LEAST_VERSION = (10, 11)
_LEAST_PACKET = 16 << 20
_BATCH = 10_000
_MODES = "ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,NO_UNSIGNED_SUBTRACTION"
_CUT_SHORT = {1260: "a text was cut short", 1265: "a text was cut short", 1406: "a text was cut short"}
"""Warnings of results that are not what was asked for."""


class Session:
    """A connection; one thread at a time, but for ``interrupt``."""

    def __init__(self, settings: Settings, url: str) -> None:
        self._pymysql = _pymysql()
        self._address = place_of(url)
        self.place, self.database = self._address.label, self._address.database
        self.limit, self.label = statement_timeout(), "the database"
        self._memory_limit = settings.memory_limit
        self._connection = self._connect()
        try:
            self._check_server()
            for statement in _settings(settings, self.limit):
                self.run(statement)
        except BaseException:
            self.close()
            raise

    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        self._within(statement, self._pymysql.cursors.Cursor, lambda _: None)

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self._within(query, self._pymysql.cursors.Cursor, lambda cursor: list(cursor.fetchall()))

    def described(self, query: str) -> list[Any]:
        """The columns of a query, which gives no row."""
        return self._within(
            f"SELECT * FROM ({query}) AS described LIMIT 0",
            self._pymysql.cursors.Cursor,
            lambda cursor: list(cursor._result.fields),
        )

    def stream(self, query: str, consume: Callable[[Iterator[Sequence[Any]]], T]) -> T:
        """What is made of a query's rows, which come as they are read, cells as the texts that were sent."""

        def read(cursor: Any) -> T:
            return consume(_rows_of(cursor))

        before = self._connection.decoders
        self._connection.decoders = {}
        try:
            return self._within(query, self._pymysql.cursors.SSCursor, read)
        finally:
            self._connection.decoders = before

    def interrupt(self) -> None:
        """Ask the server, by another session, to stop what this one runs."""
        try:
            with self._connect() as other, other.cursor() as cursor:
                cursor.execute(f"KILL QUERY {self._connection.thread_id()}")
        except (self._pymysql.Error, InputError, LimitReached):
            return

    def close(self) -> None:
        """Close the connection, with which temporary tables and locks go."""
        try:
            self._connection.close()
        except self._pymysql.Error:
            return

    def _connect(self) -> Any:
        place = self._address
        options = {} if place.certificates is None else {"ssl_ca": place.certificates}
        try:
            return self._pymysql.connect(
                user=place.user or None,
                password=place.password,
                host=place.host,
                port=place.port,
                unix_socket=place.socket,
                database=place.database,
                charset="utf8mb4",
                connect_timeout=_CONNECT_SECONDS,
                autocommit=True,
                local_infile=False,
                **options,
            )
        except self._pymysql.Error as error:
            raise from_connecting(_number(error), place=place.label) from None
        except (OSError, RuntimeError) as error:
            raise InputError(f"{place.label}: no connection ({type(error).__name__})") from None

    def _check_server(self) -> None:
        version, packet = self.fetch("SELECT version(), @@max_allowed_packet")[0]
        numbers = tuple(int(part) for part in str(version).split("-")[0].split(".")[:2])
        if "mariadb" not in str(version).lower() or numbers < _LEAST_VERSION:
            raise InputError(
                f"{self.place}: a server of version {version}", allowed="MariaDB 10.11 and later"
            )
        if packet < _LEAST_PACKET:
            raise InputError(
                f"{self.place}: max_allowed_packet is {packet:,} bytes, which would cut results short",
                allowed=f"{_LEAST_PACKET:,} bytes and more",
            )

    def _within(self, statement: str, kind: Any, action: Callable[[Any], T]) -> T:
        """What an action gives with a cursor on a statement's result."""
        try:
            with failures.interruptible(), self._connection.cursor(kind) as cursor:
                cursor.execute(spelled(statement))
                found = action(cursor)
                if cursor.warning_count:
                    self._check_warnings(cursor)
                return found
        except self._pymysql.Error as error:
            raise from_statement(_number(error), label=self.label, limit=self.limit) from None
        except MemoryError:
            raise failures.out_of_memory(self._memory_limit) from None

    def _check_warnings(self, cursor: Any) -> None:
        """Raise where the server warns that a result is not what was asked for."""
        cursor.execute("SHOW WARNINGS")
        for row in cursor.fetchall():
            if int(row[1]) in _CUT_SHORT:
                raise InternalError(
                    f"the database says that {_CUT_SHORT[int(row[1])]}",
                    advice="Ask for a larger max_allowed_packet, and report this if that is of no help.",
                )


def _settings(settings: Settings, limit: float | None) -> Iterator[str]:
    # Sizes that are no multiple of a block are refused.
    buffers = 1 << max(20, min(settings.memory_limit // 8, 1 << 29).bit_length() - 1)
    yield f"SET SESSION sql_mode = '{_MODES}'"
    yield "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin"
    yield "SET SESSION time_zone = '+00:00'"
    yield "SET SESSION group_concat_max_len = 1073741824"
    # Joins by a hash (level 3 and up) lose rows where NULL meets NULL by <=>, as of 10.11.18.
    yield "SET SESSION join_cache_level = 2"
    yield f"SET SESSION join_buffer_size = {buffers}"
    yield f"SET SESSION join_buffer_space_limit = {4 * buffers}"
    yield f"SET SESSION sort_buffer_size = {buffers}"
    yield f"SET SESSION tmp_memory_table_size = {buffers}"
    yield "SET SESSION lock_wait_timeout = 60"
    if limit:
        yield f"SET SESSION max_statement_time = {limit}"


def _rows_of(cursor: Any) -> Iterator[Sequence[Any]]:
    while batch := cursor.fetchmany(_BATCH):
        yield from batch


def _number(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _pymysql() -> Any:
    try:
        import pymysql
        import pymysql.cursors
    except ImportError:
        raise InputError(
            "MariaDB needs the package PyMySQL, which is not installed",
            advice="Install it: pip install 'discreet[mariadb]'.",
        ) from None
    return pymysql
