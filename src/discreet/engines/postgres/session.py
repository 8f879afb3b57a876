"""PostgreSQL sessions: settings, one transaction with a savepoint per statement, and errors by SQLSTATE.

The transaction sees one snapshot. Only a failing statement is rolled back; its savepoint is sent in the same
message as the statement. Server messages quote rows, so they are never passed on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from discreet.engines import failures
from discreet.errors import DiscreetError, InputError, InternalError, LimitReached
from discreet.settings import Settings, statement_timeout

if TYPE_CHECKING:
    import psycopg
    from psycopg import Connection, Cursor


CANCELLED = "57014"


class DatabaseLimitReached(LimitReached):
    """Limit of the database itself, such as the width of a row or of an index entry."""


_ErrorText = tuple[type[DiscreetError], str, str | None]
"""Kind, message and advice of the error for an SQLSTATE."""

_LOST: _ErrorText = (
    LimitReached,
    "the connection to the database was lost; uncommitted changes are rolled back",
    "Check the server and the network, and try again.",
)
_STOPPED: _ErrorText = (
    LimitReached,
    "the database's server ended the session or shut down; uncommitted changes are rolled back",
    "Try again when it is running; ask its administrator if this happens often.",
)
_MEMORY: _ErrorText = (
    LimitReached,
    "the database's server is out of memory",
    "Lower DISCREET_MEMORY_LIMIT or the threads, which bound its work memory, or free memory there.",
)
_CONFLICT: _ErrorText = (
    LimitReached,
    "the database changed during the transaction, which is rolled back",
    "Try again.",
)
_BY_CODE: Mapping[str, _ErrorText] = {
    "25P03": _STOPPED,
    "25006": (
        InputError,
        "the database is read-only: it is a replica, or the session is read-only",
        "Name the primary server in the address; even counting needs temporary tables.",
    ),
    "40001": _CONFLICT,
    "40P01": _CONFLICT,
    "53000": _MEMORY,
    "53100": (
        LimitReached,
        "no space is left on the database server's disk",
        "Free space there, or let its administrator set temp_tablespaces to a larger disk.",
    ),
    "53200": _MEMORY,
    "53300": (LimitReached, "the database has too many connections", "Try again later."),
    "53400": (
        LimitReached,
        "a limit that the database's administrator set was reached, such as temp_file_limit",
        "Request a higher limit, or raise DISCREET_MEMORY_LIMIT so that less is written to disk.",
    ),
    "55P03": (
        LimitReached,
        "a table is locked by another session",
        "Try again when that session has ended.",
    ),
    "57P01": _STOPPED,
    "57P02": _STOPPED,
    "57P03": (LimitReached, "the database's server is starting up or shutting down", "Try again later."),
    "57P04": (InputError, "the database was dropped", None),
    "57P05": _STOPPED,
    "58030": (LimitReached, "the database's server cannot read or write its files", "Check its disk."),
    "22021": (InputError, "a text cannot be stored in the database: it contains a NUL character", None),
    "22P05": (
        InputError,
        "a text cannot be stored in the encoding of the database",
        "Use a database in UTF-8.",
    ),
    "2BP01": (
        InputError,
        "other views or tables depend on a table that would be replaced",
        "Drop them first, or choose another name.",
    ),
    "23505": (
        InputError,
        "another session has just made a table or view of that name",
        "Choose another name, or replace it (--overwrite).",
    ),
    "42P07": (InputError, "a table or view of that name already exists", "Choose another name."),
    "42P01": (InputError, "a table was dropped during the run", "Make sure that no other session drops it."),
}
_BY_CLASS: Mapping[str, _ErrorText] = {
    "08": _LOST,
    "54": (
        DatabaseLimitReached,
        "a limit of the database's own was reached (width of a row, number of columns, length of a name)",
        None,
    ),
    "57": _STOPPED,
}


def from_statement_error(code: str | None, *, lost: bool, label: str, limit: float | None) -> DiscreetError:
    """Return the error of a failed statement by its SQLSTATE; ``lost`` means that the connection is lost.

    ``limit`` is the statement time-out in seconds if it expired; ``label`` names the source in messages.
    """
    if code == CANCELLED and limit is not None:
        return LimitReached(
            f"a statement took longer than the {limit:g} seconds of DISCREET_STATEMENT_TIMEOUT",
            advice="Raise it, or unset it: without it the time of a statement is not limited.",
        )
    if code == CANCELLED:
        return LimitReached("the statement was cancelled")
    if code == "42501":
        return missing_right(label)
    known = _BY_CODE.get(code or "") or _BY_CLASS.get((code or "")[:2])
    if known is None and (lost or code is None):
        known = _LOST
    if known is None:
        return InternalError(f"the database failed with SQLSTATE {code}", advice="Please report this.")
    kind, message, advice = known
    return kind(message, advice=advice)


def missing_right(label: str) -> InputError:
    """Return the error for a right that is missing where none was expected to be."""
    return InputError(
        f"{label}: the role has no right to do this",
        allowed="SELECT on the source's table (and all of its rows), CREATE and USAGE on the target's schema",
        advice="docs/postgres.md has the GRANT statements.",
    )


_NO_CONNECTION = (
    (
        ("password authentication failed", "no password supplied", "authentication failed"),
        "refuses the login",
    ),
    (("no pg_hba.conf entry",), "does not accept logins of this user from this machine"),
    (("could not translate host name", "failed to resolve host"), "has an unknown host name"),
    (("Connection refused", "No such file or directory"), "refuses connections"),
    (("timeout expired", "timed out"), "does not answer in time"),
    (("too many clients", "remaining connection slots", "too many connections"), "has too many connections"),
    (("starting up", "shutting down", "recovery mode"), "is starting up or shutting down"),
    (("certificate", "SSL"), "could not agree on an encrypted connection"),
)
_NO_DATABASE = 'database "{}" does not exist'
_LOGIN_ADVICE = "Give the password in the variable PGPASSWORD or in ~/.pgpass, and check the user's name."


def from_connection_error(text: str, *, label: str, database: str) -> DiscreetError:
    """Return the error of a failed connection; ``text`` is only searched, never passed on."""
    if _NO_DATABASE.format(database) in text:
        return InputError(f"{label}: the database does not exist", advice="Check the address.")
    if "permission denied for database" in text:
        return InputError(
            f"{label}: the role may not connect to this database",
            advice="Request GRANT CONNECT ON DATABASE … TO the role.",
        )
    for signs, fact in _NO_CONNECTION:
        if any(sign in text for sign in signs):
            login = "login" in fact
            return InputError(
                f"{label}: the server {fact}",
                advice=_LOGIN_ADVICE if login else "Check the address, and that the server runs.",
            )
    return InputError(f"{label}: no connection", advice=f"Check the address. {_LOGIN_ADVICE}")


T = TypeVar("T")
_LEAST_MEMORY, _MOST_MEMORY = 4 << 20, 1 << 30
_CONNECT_SECONDS = "10"
_SAVEPOINT = "discreet_statement"


class PostgresSession:
    """Connection with one transaction at a time."""

    def __init__(self, settings: Settings, url: str) -> None:
        self._psycopg = _psycopg()
        self.limit = statement_timeout()
        self.label = "the database"
        self._memory_limit = settings.memory_limit
        self._marked = False
        parameters = parse_address(url)
        self.label = _place(parameters)
        try:
            self._connection: Connection[Any] = self._psycopg.connect(
                **{"connect_timeout": _CONNECT_SECONDS, **parameters},
                application_name="discreet",
                client_encoding="UTF8",
                prepare_threshold=None,
            )
        except self._psycopg.Error as error:
            raise from_connection_error(
                str(error), label=self.label, database=parameters.get("dbname", "")
            ) from None
        try:
            # All statements see one snapshot, so that the counted rows are the recoded rows.
            self._connection.isolation_level = self._psycopg.IsolationLevel.REPEATABLE_READ
            if self._connection.info.server_version < 150000:
                raise InputError(
                    f"{self.label}: PostgreSQL {self._connection.info.server_version // 10000}",
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
            # Doubles are sent as the shortest text that parses to the same number.
            "extra_float_digits": "1",
            "bytea_output": "hex",
            "standard_conforming_strings": "on",
            "client_min_messages": "error",
            # A row-security policy raises an error instead of hiding rows: the visible rows are not the whole
            # table.
            "row_security": "off",
            # The planner misjudges joins that treat NULLs as equal; merge and nested-loop joins then take
            # minutes.
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
        except DiscreetError:  # the server's operating system does not support the setting
            return
        finally:
            self.commit()

    def run(self, statement: str) -> None:
        """Run statements that return no rows."""

        self._executed(statement, lambda _: None)

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self._executed(query, lambda cursor: cursor.fetchall())

    def described(self, query: str) -> list[psycopg.Column]:
        """Return the columns of a query without running it."""

        statement = f"SELECT * FROM ({query}) AS described LIMIT 0"
        return self._executed(statement, lambda cursor: list(cursor.description or ()))

    def within(self, action: Callable[[Cursor[Any]], T]) -> T:
        """Return an action's result with a cursor; if it fails, the transaction continues from before it."""
        return self._executed("", action)

    def _executed(self, statements: str, read_cursor: Callable[[Cursor[Any]], T]) -> T:
        """Run statements as one message; return the result of ``read_cursor`` on the last one's cursor."""
        started = time.monotonic()
        try:
            with (
                failures.translate_interrupt(),
                self._connection.cursor() as cursor,
                self._undone_on_failure(),
            ):
                # A failing statement aborts its transaction, unless it is rolled back to a savepoint.
                cursor.execute(f"{self._mark()}; {statements}".encode())
                self._marked = True
                while cursor.nextset():
                    pass
                return read_cursor(cursor)
        except self._psycopg.Error as error:
            raise self._translated(error, time.monotonic() - started) from None
        except MemoryError:
            raise failures.out_of_memory(self._memory_limit) from None

    def _mark(self) -> str:
        """Return the statements that replace the previous savepoint by a new one."""
        return (f"RELEASE SAVEPOINT {_SAVEPOINT}; " if self._marked else "") + f"SAVEPOINT {_SAVEPOINT}"

    def commit(self) -> None:
        """Commit the transaction; the next statement begins a new one."""
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
        """Cancel on the server the statement that another thread runs."""
        try:
            self._connection.cancel_safe(timeout=10.0)
        except self._psycopg.Error:
            return

    def close(self) -> None:
        """Close the connection; an uncommitted transaction is rolled back."""
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
        return from_statement_error(
            error.sqlstate, lost=lost, label=self.label, limit=self.limit if late else None
        )


def parse_address(url: str) -> dict[str, Any]:
    """Return the parts of an address (``host``, ``dbname``, …); raises ``InputError`` for an invalid one."""
    psycopg = _psycopg()
    try:
        return dict(psycopg.conninfo.conninfo_to_dict(url))
    except psycopg.Error:
        raise InputError(
            "the database's address cannot be read", allowed="postgresql://USER@HOST:PORT/DATABASE"
        ) from None


def _place(parts: dict[str, Any]) -> str:
    """Return an address for messages, without user and password."""
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
