"""MariaDB's exceptions as the kinds of ``errors``, by their numbers.

A server's messages quote rows and statements: none is passed on.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.engines.mariadb.address import PASSWORD_VARIABLE
from discreet.errors import DiscreetError, InputError, InternalError, LimitReached

TOO_LATE, INTERRUPTED = 1969, 1317
_LOST = (2006, 2013, 1053, 1927)
_LIMITS: Mapping[int, tuple[str, str | None]] = {
    1021: ("no space is left on the database server's disk", "Free space there."),
    1037: ("the database's server is out of memory", None),
    1038: ("the database's server is out of memory for sorting", None),
    1041: ("the database's server is out of memory", None),
    1114: ("a table of the database is full: its disk, or a limit of its administrator's", None),
    1118: ("a row is too long for a table of the database", "Name fewer columns."),
    1153: ("a statement is longer than the server's max_allowed_packet", "Ask for a larger one (64M)."),
    1203: ("the database takes no further sessions of this user", "Try again later."),
    1040: ("the database takes no further sessions", "Try again later."),
    1205: ("a table is locked by another session", "Try again when that session has ended."),
    1213: ("the database gave up the statement for another session's", "Try again."),
}
_RIGHTS = (1044, 1142, 1143, 1227)
_NO_WORDS = (1064, 1305, 1370)
"""Faults of syntax, and functions that there are none of, or none that the user may call."""
_TABLES: Mapping[int, str] = {
    1050: "a table or view of that name is there already",
    1146: "a table is gone that was there before",
    1290: "the database takes no writes: it is a read-only replica",
    1792: "the database takes no writes: the session is read-only",
    1059: "a name is longer than MariaDB's 64 letters",
    1060: "two columns of the table would have one name",
    1166: "a column of MariaDB cannot have such a name",
}


def from_statement(number: int, *, label: str, limit: float | None) -> DiscreetError:
    """The error of a statement that failed with a number; ``limit`` is the statement time-out in seconds."""
    if number == TOO_LATE:
        return LimitReached(
            f"a statement took longer than the {limit or 0:g} seconds of DISCREET_STATEMENT_TIMEOUT",
            advice="Raise it, or leave it out: without it statements take as long as they need.",
        )
    if number == INTERRUPTED:
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
    if number in _NO_WORDS:
        return no_words()
    if number in _TABLES:
        return InputError(_TABLES[number], advice="Check the names, and that nobody changes them meanwhile.")
    return InternalError(f"the database failed with error {number}", advice="Please report this.")


def no_words() -> InputError:
    """The error for a statement in words that MariaDB has not."""
    return InputError(
        "MariaDB has no words for what a statement asks (numbered copies of rows, full joins, functions)",
        allowed="counting, full-domain recodings and their audit",
        advice="Read the table by a driver's cursor or export it, and work on it from here.",
    )


def from_connecting(number: int, *, place: str) -> DiscreetError:
    """The error of a connection that did not come about."""
    if number in (1045, 1698):
        return InputError(
            f"{place}: the server refuses the login",
            advice=f"Give the password in the variable {PASSWORD_VARIABLE}, and check the user's name.",
        )
    if number in (1044, 1049):
        return InputError(
            f"{place}: there is no database of that name, or it is closed to this user",
            advice="Check the address, and ask for GRANT USAGE ON the database.",
        )
    if number in (1040, 1203):
        return LimitReached(f"{place}: the server takes no further sessions", advice="Try again later.")
    return InputError(
        f"{place}: no connection: nothing answers there",
        advice="Check the address, and that the server runs.",
    )
