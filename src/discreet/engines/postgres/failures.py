"""PostgreSQL's exceptions as the kinds of ``errors``, by their five-character codes.

A server's messages quote rows (their details always do), statements, and now and then the user: none is
passed on. Each code is said anew, and the exception itself is dropped from the chain that a traceback shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import DiscreetError, InputError, InternalError, LimitReached

CANCELLED = "57014"


class TooLarge(LimitReached):
    """A limit of the database's own, such as the width of a row or of an entry of an index."""


@dataclass(frozen=True)
class _Said:
    """What an error of a code says."""

    kind: type[DiscreetError]
    message: str
    advice: str | None = None

    def error(self) -> DiscreetError:
        return self.kind(self.message, advice=self.advice)


_LOST = _Said(
    LimitReached,
    "the connection to the database was lost; what was not committed is undone",
    "Check the server and the network, and try again.",
)
_STOPPED = _Said(
    LimitReached,
    "the database's server ended the session or shut down; what was not committed is undone",
    "Try again when it is there again; ask its administrator where this happens often.",
)
_MEMORY = _Said(
    LimitReached,
    "the database's server is out of memory",
    "Lower DISCREET_MEMORY_LIMIT or the threads, which bound its work memory, or free memory there.",
)
_DISK = _Said(
    LimitReached,
    "no space is left on the database server's disk",
    "Free space there, or let its administrator set temp_tablespaces to a larger disk.",
)
_TEMPORARY_LIMIT = _Said(
    LimitReached,
    "a limit that the database's administrator set was reached (temp_file_limit, say)",
    "Ask for a higher limit, or raise DISCREET_MEMORY_LIMIT so that less is put aside on disk.",
)
_LOCKED = _Said(
    LimitReached,
    "a table is locked by another session",
    "Try again when that session has ended.",
)
_CONFLICT = _Said(
    LimitReached,
    "the database changed under the transaction, which is undone",
    "Try again.",
)
_READ_ONLY = _Said(
    InputError,
    "the database takes no writes: it is a read-only replica, or the session is read-only",
    "Name the primary server in the address; even counting needs temporary tables.",
)
_TOO_LARGE = _Said(
    TooLarge,
    "a limit of the database's own was reached (width of a row, number of columns, length of a name)",
)

_BY_CODE: Mapping[str, _Said] = {
    "25P03": _STOPPED,
    "25006": _READ_ONLY,
    "40001": _CONFLICT,
    "40P01": _CONFLICT,
    "53000": _MEMORY,
    "53100": _DISK,
    "53200": _MEMORY,
    "53300": _Said(LimitReached, "the database takes no further sessions", "Try again later."),
    "53400": _TEMPORARY_LIMIT,
    "55P03": _LOCKED,
    "57P01": _STOPPED,
    "57P02": _STOPPED,
    "57P03": _Said(LimitReached, "the database's server is starting up or shutting down", "Try again later."),
    "57P04": _Said(InputError, "the database was dropped"),
    "57P05": _STOPPED,
    "58030": _Said(LimitReached, "the database's server cannot read or write its files", "Check its disk."),
    "22021": _Said(InputError, "a text cannot be stored in the database: it holds a NUL character"),
    "22P05": _Said(
        InputError,
        "a text cannot be stored in the encoding of the database",
        "Use a database in UTF-8.",
    ),
    "2BP01": _Said(
        InputError,
        "other views or tables depend on a table that would be replaced",
        "Drop them first, or choose another name.",
    ),
    "23505": _Said(
        InputError,
        "another session has just made a table or view of that name",
        "Choose another name, or replace it (--overwrite).",
    ),
    "42P07": _Said(InputError, "a table or view of that name is there already", "Choose another name."),
    "42P01": _Said(
        InputError, "a table is gone that was there before", "Check that nobody drops it meanwhile."
    ),
}
_BY_CLASS: Mapping[str, _Said] = {"08": _LOST, "54": _TOO_LARGE, "57": _STOPPED}


def from_statement(code: str | None, *, lost: bool, label: str, limit: float | None) -> DiscreetError:
    """The error of a statement that failed with a code; ``lost`` says that the connection is gone.

    ``limit`` is the statement time-out in seconds where it ran out; ``label`` names what was worked on.
    """
    if code == CANCELLED and limit is not None:
        return LimitReached(
            f"a statement took longer than the {limit:g} seconds of DISCREET_STATEMENT_TIMEOUT",
            advice="Raise it, or leave it out: without it statements take as long as they need.",
        )
    if code == CANCELLED:
        return LimitReached("the statement was cancelled")
    if code == "42501":
        return missing_right(label)
    said = _BY_CODE.get(code or "") or _BY_CLASS.get((code or "")[:2])
    if said is not None:
        return said.error()
    if lost or code is None:
        return _LOST.error()
    return InternalError(f"the database failed with SQLSTATE {code}", advice="Please report this.")


def missing_right(label: str) -> InputError:
    """The error for a right that is missing where it was not expected to."""
    return InputError(
        f"{label}: the role has no right to do this, or not any more",
        allowed="SELECT on the source's table (and all of its rows), CREATE and USAGE on the target's schema",
        advice="docs/postgres.md has the GRANT statements.",
    )


_NO_CONNECTION = (
    (
        ("password authentication failed", "no password supplied", "authentication failed"),
        "refuses the login",
    ),
    (("no pg_hba.conf entry",), "takes no login of this user from this machine"),
    (("could not translate host name", "failed to resolve host"), "has a host name that nothing resolves"),
    (("Connection refused", "No such file or directory"), "does not answer: nothing listens there"),
    (("timeout expired", "timed out"), "does not answer in time"),
    (("too many clients", "remaining connection slots", "too many connections"), "takes no further sessions"),
    (("starting up", "shutting down", "recovery mode"), "is starting up or shutting down"),
    (("certificate", "SSL"), "could not agree on an encrypted connection"),
)
_NO_DATABASE = 'database "{}" does not exist'
_LOGIN_ADVICE = "Give the password in the variable PGPASSWORD or in ~/.pgpass, and check the user's name."


def from_connecting(text: str, *, place: str, database: str) -> DiscreetError:
    """The error of a connection that did not come about; ``text`` is only searched, never passed on."""
    if _NO_DATABASE.format(database) in text:
        return InputError(f"{place}: there is no database of that name", advice="Check the address.")
    if "permission denied for database" in text:
        return InputError(
            f"{place}: the role may not connect to this database",
            advice="Ask for GRANT CONNECT ON DATABASE … TO the role.",
        )
    for signs, fact in _NO_CONNECTION:
        if any(sign in text for sign in signs):
            login = "login" in fact
            return InputError(
                f"{place}: the server {fact}",
                advice=_LOGIN_ADVICE if login else "Check the address, and that the server runs.",
            )
    return InputError(f"{place}: no connection", advice=f"Check the address. {_LOGIN_ADVICE}")
