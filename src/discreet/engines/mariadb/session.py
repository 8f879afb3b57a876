"""MariaDB sessions: settings, statements rewritten to MariaDB's SQL, warnings, and errors by number.

Six constructs are rewritten by token (FILTER, cast types, length, NULLS FIRST, names of derived columns,
``rows``); other unsupported constructs are syntax errors, so no statement changes its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from discreet.engines import failures
from discreet.engines.mariadb.address import PASSWORD_VARIABLE, parse_address
from discreet.engines.mariadb.dialect import ABSENT, MARIADB
from discreet.errors import DiscreetError, InputError, InternalError, LimitReached
from discreet.settings import Settings, statement_timeout

STATEMENT_TIMED_OUT, QUERY_INTERRUPTED = 1969, 1317
_LOST = (2006, 2013, 1053, 1927)
_LIMITS: Mapping[int, tuple[str, str | None]] = {
    1021: ("no space is left on the database server's disk", "Free space there."),
    1037: ("the database's server is out of memory", None),
    1038: ("the database's server is out of memory for sorting", None),
    1041: ("the database's server is out of memory", None),
    1114: ("a table of the database is full: its disk, or a limit of its administrator's", None),
    1118: ("a row is too long for a table of the database", "Name fewer columns."),
    1153: ("a statement is longer than the server's max_allowed_packet", "Request a larger one (64M)."),
    1203: ("the database has too many connections of this user", "Try again later."),
    1040: ("the database has too many connections", "Try again later."),
    1205: ("a table is locked by another session", "Try again when that session has ended."),
    1213: ("the database aborted the statement in favor of another session's", "Try again."),
}
_RIGHTS = (1044, 1142, 1143, 1227)
_UNSUPPORTED = (1064, 1305, 1370)
"""Syntax errors, missing functions, and functions that the user may not call."""
_TABLES: Mapping[int, str] = {
    1050: "a table or view of that name already exists",
    1146: "a table was dropped during the run",
    1290: "the database is read-only: it is a replica",
    1792: "the database is read-only in this session",
    1059: "a name is longer than MariaDB's 64 letters",
    1060: "two columns of the table would have one name",
    1166: "a column of MariaDB cannot have such a name",
}


def from_statement_error(number: int, *, label: str, limit: float | None) -> DiscreetError:
    """Return the error of a failed statement by its number; ``limit`` is the time-out in seconds."""
    if number == STATEMENT_TIMED_OUT:
        return LimitReached(
            f"a statement took longer than the {limit or 0:g} seconds of DISCREET_STATEMENT_TIMEOUT",
            advice="Raise it, or unset it: without it the time of a statement is not limited.",
        )
    if number == QUERY_INTERRUPTED:
        return LimitReached("the statement was cancelled")
    if number in _LOST or not number:
        return LimitReached(
            "the connection to the database was lost",
            advice="Check the server and the network, and try again.",
        )
    if number in _LIMITS:
        fact, advice = _LIMITS[number]
        return LimitReached(fact, advice=advice)
    if number in _RIGHTS:
        return InputError(
            f"{label}: the user has no right to do this",
            allowed="SELECT on the source's table, CREATE TEMPORARY TABLES, and to publish a table CREATE, "
            "INSERT, ALTER and DROP in the target's database",
            advice="docs/mariadb.md has the GRANT statements.",
        )
    if number in _UNSUPPORTED:
        return unsupported_statement_error()
    if number in _TABLES:
        return InputError(
            _TABLES[number], advice="Check the names, and make sure that no other session changes them."
        )
    return InternalError(f"the database failed with error {number}", advice="Please report this.")


def unsupported_statement_error() -> InputError:
    """Return the error for a statement that MariaDB's SQL cannot express."""
    return InputError(
        "MariaDB's SQL cannot express a statement (numbered copies of rows, full joins, functions)",
        allowed="counting, full-domain recodings and their audit",
        advice="Read the table by a driver's cursor or export it, and work on it from here.",
    )


def from_connection_error(number: int, *, label: str) -> DiscreetError:
    """Return the error of a failed connection."""
    if number in (1045, 1698):
        return InputError(
            f"{label}: the server refuses the login",
            advice=f"Give the password in the variable {PASSWORD_VARIABLE}, and check the user's name.",
        )
    if number in (1044, 1049):
        return InputError(
            f"{label}: the database does not exist, or this user may not use it",
            advice="Check the address, and request GRANT USAGE ON the database.",
        )
    if number in (1040, 1203):
        return LimitReached(f"{label}: the server has too many connections", advice="Try again later.")
    return InputError(
        f"{label}: no connection: the server does not answer",
        advice="Check the address, and that the server runs.",
    )


_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[A-Za-z_][A-Za-z_0-9$]*|\s+|.", re.DOTALL)


def rewrite_statement(statement: str) -> str:
    """Rewrite a statement for MariaDB; raises ``InputError`` if MariaDB cannot express it.

    >>> rewrite_statement("SELECT min(a) FILTER (WHERE b), CAST(length(c) AS BIGINT) FROM t")
    'SELECT min(CASE WHEN b THEN a END), CAST(char_length(c) AS SIGNED) FROM t'
    """
    return "".join(_rewrite_tokens(_TOKEN.findall(statement)))


def _rewrite_tokens(tokens: Sequence[str]) -> list[str]:
    out: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        word = token.upper()
        if token == ABSENT or (word == "FULL" and _next_word(tokens, index) == "JOIN"):
            raise unsupported_statement_error()
        if word == "FILTER" and "".join(out).rstrip().endswith(")"):
            opened = _find_token(tokens, index, "(")
            closed = _closing_parenthesis(tokens, opened)
            condition = _rewrite_tokens(tokens[_find_token(tokens, opened, "WHERE") + 1 : closed])
            _apply_filter(out, "".join(condition).strip())
            index = closed
        elif word == "AS" and _next_word(tokens, index) in MARIADB.types and _ends_cast(tokens, index):
            named = index + 2
            out += [token, " ", MARIADB.types[tokens[named].upper()]]
            index = named
        elif word == "LENGTH" and _next_word(tokens, index) == "(":
            out.append("char_length")
        elif token == "rows":
            out.append('"rows"')
        elif word == "AS" and (end := _names_end(tokens, index)) is not None:
            opened = _find_token(tokens, index, "(")
            _name_columns(out, "".join(tokens[opened : end + 1]))
            out += tokens[index:opened]
            index = end
        elif word == "NULLS" and _next_word(tokens, index) == "FIRST":
            index = _find_token(tokens, index, "FIRST")
        else:
            out.append(token)
        index += 1
    return out


def _apply_filter(out: list[str], condition: str) -> None:
    """Move a FILTER condition into the aggregate at the end of the output, as a CASE expression."""
    while out[-1].isspace():
        out.pop()
    start = _opening_parenthesis(out)
    argument = "".join(out[start + 1 : -1]).strip()
    distinct = "DISTINCT " if argument.upper().startswith("DISTINCT ") else ""
    argument = argument[len(distinct) :]
    counted = "1" if argument == "*" else argument
    out[start + 1 :] = [f"{distinct}CASE WHEN {condition} THEN {counted} END", ")"]


def _names_end(tokens: Sequence[str], index: int) -> int | None:
    """Return the end of the column names after an alias, ``AS t(c0, c1)``; None without names."""
    after = [i for i in range(index + 1, len(tokens)) if not tokens[i].isspace()][:2]
    if len(after) < 2 or tokens[after[1]] != "(" or not re.match(r"[\w\"]", tokens[after[0]]):
        return None
    before = "".join(tokens[:index]).rstrip()
    if (
        not before.endswith(")")
        or tokens[after[0]].upper() in MARIADB.types
        or "DECIMAL" in tokens[after[0]].upper()
    ):
        return None
    return _closing_parenthesis(tokens, after[1])


def _name_columns(out: list[str], names: str) -> None:
    """Name the columns of the query at the end of the output; MariaDB can do so only in a WITH clause."""
    while out[-1].isspace():
        out.pop()
    start = _opening_parenthesis(out)
    out[start] = f"(WITH named {names} AS ("
    out[-1] = ") SELECT * FROM named) "


def _opening_parenthesis(out: Sequence[str]) -> int:
    """Return the position of the parenthesis that the last token closes."""
    depth, start = 0, len(out)
    while True:
        start -= 1
        depth += {")": 1, "(": -1}.get(out[start], 0)
        if depth == 0:
            return start


def _next_word(tokens: Sequence[str], index: int) -> str:
    return next((t.upper() for t in tokens[index + 1 : index + 3] if not t.isspace()), "")


def _find_token(tokens: Sequence[str], index: int, wanted: str) -> int:
    """Return the position of the next token with a given text."""
    return next(i for i in range(index + 1, len(tokens)) if tokens[i].upper() == wanted)


def _closing_parenthesis(tokens: Sequence[str], opened: int) -> int:
    depth = 0
    for i in range(opened, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i], 0)
        if depth == 0:
            return i
    raise ValueError("a parenthesis that is never closed")


def _ends_cast(tokens: Sequence[str], index: int) -> bool:
    """Return True if the type after AS ends a cast: an alias is followed by other tokens."""
    return len(tokens) > index + 3 and tokens[index + 1].isspace() and tokens[index + 3] == ")"


T = TypeVar("T")
_CONNECT_SECONDS = 10
_LEAST_VERSION = (10, 11)
_LEAST_PACKET = 16 << 20
_BATCH = 10_000
_MODES = "ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,NO_UNSIGNED_SUBTRACTION"
_CUT_SHORT = {1260: "a text was truncated", 1265: "a text was truncated", 1406: "a text was truncated"}
"""Warnings about truncated results, by number."""


class MariadbSession:
    """Connection; not thread-safe except for ``interrupt``."""

    def __init__(self, settings: Settings, url: str) -> None:
        self._pymysql = _pymysql()
        self._address = parse_address(url)
        self.label, self.database = self._address.label, self._address.database
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
        """Run a statement that returns no rows."""
        self._within(statement, self._pymysql.cursors.Cursor, lambda _: None)

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self._within(query, self._pymysql.cursors.Cursor, lambda cursor: list(cursor.fetchall()))

    def described(self, query: str) -> list[Any]:
        """Return the columns of a query without fetching rows."""
        return self._within(
            f"SELECT * FROM ({query}) AS described LIMIT 0",
            self._pymysql.cursors.Cursor,
            lambda cursor: list(cursor._result.fields),
        )

    def stream(self, query: str, consume: Callable[[Iterator[Sequence[Any]]], T]) -> T:
        """Return the result of ``consume`` on a query's rows, read in batches, with cells as texts."""

        def read(cursor: Any) -> T:
            return consume(_rows_of(cursor))

        # Without decoders cells stay the texts that the server sent.
        before = self._connection.decoders
        self._connection.decoders = {}
        try:
            return self._within(query, self._pymysql.cursors.SSCursor, read)
        finally:
            self._connection.decoders = before

    def interrupt(self) -> None:
        """Stop the running statement on the server through another session."""
        try:
            with self._connect() as other, other.cursor() as cursor:
                cursor.execute(f"KILL QUERY {self._connection.thread_id()}")
        except (self._pymysql.Error, InputError, LimitReached):
            return

    def close(self) -> None:
        """Close the connection, which drops its temporary tables and locks."""
        try:
            self._connection.close()
        except self._pymysql.Error:
            return

    def _connect(self) -> Any:
        address = self._address
        options = {} if address.certificates is None else {"ssl_ca": address.certificates}
        try:
            return self._pymysql.connect(
                user=address.user or None,
                password=address.password,
                host=address.host,
                port=address.port,
                unix_socket=address.socket,
                database=address.database,
                charset="utf8mb4",
                connect_timeout=_CONNECT_SECONDS,
                autocommit=True,
                local_infile=False,
                **options,
            )
        except self._pymysql.Error as error:
            raise from_connection_error(_number(error), label=address.label) from None
        except (OSError, RuntimeError) as error:
            raise InputError(f"{address.label}: no connection ({type(error).__name__})") from None

    def _check_server(self) -> None:
        version, packet = self.fetch("SELECT version(), @@max_allowed_packet")[0]
        numbers = tuple(int(part) for part in str(version).split("-")[0].split(".")[:2])
        if "mariadb" not in str(version).lower() or numbers < _LEAST_VERSION:
            raise InputError(
                f"{self.label}: a server of version {version}", allowed="MariaDB 10.11 and later"
            )
        if packet < _LEAST_PACKET:
            raise InputError(
                f"{self.label}: max_allowed_packet is {packet:,} bytes, which would truncate results",
                allowed=f"{_LEAST_PACKET:,} bytes and more",
            )

    def _within(self, statement: str, kind: Any, action: Callable[[Any], T]) -> T:
        """Run a statement and return the result of ``action`` with its cursor."""
        try:
            with failures.translate_interrupt(), self._connection.cursor(kind) as cursor:
                cursor.execute(rewrite_statement(statement))
                result = action(cursor)
                if cursor.warning_count:
                    self._check_warnings(cursor)
                return result
        except self._pymysql.Error as error:
            raise from_statement_error(_number(error), label=self.label, limit=self.limit) from None
        except MemoryError:
            raise failures.out_of_memory(self._memory_limit) from None

    def _check_warnings(self, cursor: Any) -> None:
        """Raise ``InternalError`` if the server warns that it truncated a result."""
        cursor.execute("SHOW WARNINGS")
        for row in cursor.fetchall():
            if int(row[1]) in _CUT_SHORT:
                raise InternalError(
                    f"the database reports that {_CUT_SHORT[int(row[1])]}",
                    advice="Request a larger max_allowed_packet, and report this if that does not help.",
                )


def _settings(settings: Settings, limit: float | None) -> Iterator[str]:
    # The server rejects sizes that are not multiples of a block, so a power of two is used.
    buffers = 1 << max(20, min(settings.memory_limit // 8, 1 << 29).bit_length() - 1)
    yield f"SET SESSION sql_mode = '{_MODES}'"
    yield "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin"
    yield "SET SESSION time_zone = '+00:00'"
    yield "SET SESSION group_concat_max_len = 1073741824"
    # Hash joins (level 3 and higher) lose rows where NULL is compared with NULL by <=>, as of 10.11.18.
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
