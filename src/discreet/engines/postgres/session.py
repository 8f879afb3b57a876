"""A session of PostgreSQL: its address, its settings, and a transaction whose statements may fail singly.

The transaction sees one snapshot of the database from its first statement on. Every statement stands in a
savepoint, so that one that fails takes back what it did and nothing else. The savepoint is set in the message
that brings the statement, and stays until the next one: a round trip to a far database may take longer than
the statement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from discreet.engines import failures
from discreet.engines.postgres.failures import CANCELLED, from_connecting, from_statement
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.settings import Settings, statement_timeout

if TYPE_CHECKING:
    import psycopg
    from psycopg import Connection, Cursor

T = TypeVar("T")
_LEAST_MEMORY, _MOST_MEMORY = 4 << 20, 1 << 30
_CONNECT_SECONDS = "10"
_SAVEPOINT = "discreet_statement"


class Session:
    """A connection, and its one transaction at a time."""

    def __init__(self, settings: Settings, url: str) -> None:
        self._psycopg = _psycopg()
        self.limit = statement_timeout()
        self.label = "the database"
        self._memory_limit = settings.memory_limit
        self._marked = False
        parameters = address_parts(url)
        self.place = _place(parameters)
        try:
            self._connection: Connection[Any] = self._psycopg.connect(
                **{"connect_timeout": _CONNECT_SECONDS, **parameters},
                application_name="discreet",
                client_encoding="UTF8",
                prepare_threshold=None,
            )
        except self._psycopg.Error as error:
            raise from_connecting(
                str(error), place=self.place, database=parameters.get("dbname", "")
            ) from None
        try:
            # One snapshot: what is counted is what is recoded.
            self._connection.isolation_level = self._psycopg.IsolationLevel.REPEATABLE_READ
            if self._connection.info.server_version < 150000:
                raise InputError(
                    f"{self.place}: PostgreSQL {self._connection.info.server_version // 10000}",
                    allowed="PostgreSQL 15 and later",
                )
            self._set(settings)
        except BaseException:
            self.close()
            raise

    def _set(self, settings: Settings) -> None:
        memory = max(_LEAST_MEMORY, min(_MOST_MEMORY, settings.memory_limit // (4 * settings.threads)))
        values = {
            "TimeZone": "UTC",
            "DateStyle": "ISO, MDY",
            "IntervalStyle": "postgres",
            # Doubles as the shortest text that reads as the same number.
            "extra_float_digits": "1",
            "bytea_output": "hex",
            "standard_conforming_strings": "on",
            "client_min_messages": "error",
            # A policy that hides rows becomes an error: a part must not pass for the table.
            "row_security": "off",
            # Joins that take NULLs as alike are misjudged, and sorting or looping for them takes minutes.
            "enable_mergejoin": "off",
            "enable_nestloop": "off",
            "jit": "off",
            "work_mem": f"{memory // 1024}kB",
            "maintenance_work_mem": f"{memory // 1024}kB",
            "temp_buffers": f"{min(memory, _MOST_MEMORY // 4) // 1024}kB",
            "max_parallel_workers_per_gather": str(settings.threads - 1),
            "statement_timeout": f"{int((self.limit or 0) * 1000)}ms",
            "lock_timeout": "1min",
            "idle_in_transaction_session_timeout": "1h",
        }
        self.run("; ".join(f"SET {name} = '{value}'" for name, value in values.items()))
        try:
            self.run("SET client_connection_check_interval = '10s'")
        except DiscreetError:  # a server on a system where it cannot look
            return
        finally:
            self.commit()

    def run(self, statement: str) -> None:
        """Run statements that return nothing."""

        self._executed(statement, lambda _: None)

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self._executed(query, lambda cursor: cursor.fetchall())

    def described(self, query: str) -> list[psycopg.Column]:
        """The columns of a query, which is not run."""

        statement = f"SELECT * FROM ({query}) AS described LIMIT 0"
        return self._executed(statement, lambda cursor: list(cursor.description or ()))

    def within(self, action: Callable[[Cursor[Any]], T]) -> T:
        """What an action with a cursor gives; where it fails, the transaction goes on as it was before."""
        return self._executed("", action)

    def _executed(self, statements: str, found: Callable[[Cursor[Any]], T]) -> T:
        """What is found with a cursor behind the last of some statements, which are one message."""
        started = time.monotonic()
        try:
            with failures.interruptible(), self._connection.cursor() as cursor, self._undone_on_failure():
                # A statement that fails dooms its transaction, unless it can be undone alone.
                cursor.execute(f"{self._mark()}; {statements}".encode())
                self._marked = True
                while cursor.nextset():
                    pass
                return found(cursor)
        except self._psycopg.Error as error:
            raise self._translated(error, time.monotonic() - started) from None
        except MemoryError:
            raise failures.out_of_memory(self._memory_limit) from None

    def _mark(self) -> str:
        """What sets the savepoint, in place of that of the statement before."""
        return (f"RELEASE SAVEPOINT {_SAVEPOINT}; " if self._marked else "") + f"SAVEPOINT {_SAVEPOINT}"

    def commit(self) -> None:
        """End the transaction, so that everybody sees what it wrote; the next statement begins another."""
        self._marked = False
        try:
            self._connection.commit()
        except self._psycopg.Error as error:
            if self._connection.broken:
                raise LimitReached(
                    "the connection to the database was lost while the transaction was committed, which may "
                    "have succeeded or not",
                    advice="Look whether the published table is there, and try again where it is not.",
                ) from None
            raise self._translated(error, 0.0) from None

    def interrupt(self) -> None:
        """Ask the server to stop what another thread runs."""
        try:
            self._connection.cancel_safe(timeout=10.0)
        except self._psycopg.Error:
            return

    def close(self) -> None:
        """Close the connection; a transaction that was not committed is undone."""
        try:
            self._connection.close()
        except self._psycopg.Error:
            return

    @contextmanager
    def _undone_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._marked = False
            if not self._connection.closed:
                try:
                    self._connection.execute(
                        f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}; RELEASE SAVEPOINT {_SAVEPOINT}".encode()
                    )
                except self._psycopg.Error:
                    self.close()
            raise

    def _translated(self, error: psycopg.Error, seconds: float) -> DiscreetError:
        late = error.sqlstate == CANCELLED and self.limit is not None and seconds >= self.limit
        lost = self._connection.closed or self._connection.broken
        return from_statement(error.sqlstate, lost=lost, label=self.label, limit=self.limit if late else None)


def address_parts(url: str) -> dict[str, Any]:
    """The parts of an address (``host``, ``dbname``, …); ``InputError`` for one that is none."""
    psycopg = _psycopg()
    try:
        return dict(psycopg.conninfo.conninfo_to_dict(url))
    except psycopg.Error:
        raise InputError(
            "the database's address cannot be read", allowed="postgresql://USER@HOST:PORT/DATABASE"
        ) from None


def _place(parts: dict[str, Any]) -> str:
    """An address for messages: without user and password."""
    host = parts.get("host") or "this machine"
    port = f":{parts['port']}" if parts.get("port") and not str(host).startswith("/") else ""
    return f"the database {parts.get('dbname') or parts.get('user') or ''} on {host}{port}".replace("  ", " ")


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise InputError(
            "PostgreSQL needs the package psycopg, which is not installed",
            advice="Install it: pip install 'discreet[postgres]'.",
        ) from None
    return psycopg
