"""PostgreSQL's addresses: ``postgresql://USER@HOST:PORT/DATABASE``, in every spelling of the scheme.

(``POSTGRES://``, or ``postgresql+psycopg://`` as SQLAlchemy writes it.)
"""

from __future__ import annotations

import re

from discreet.errors import InputError
from discreet.places.address import FORM

SCHEME = "postgresql://"
EXAMPLE = f"{SCHEME}ann@localhost/clinic"
_POSTGRES = re.compile(r"postgres(?:ql)?(?:\+\w+)?://", re.IGNORECASE)
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::\d*)?", re.ASCII)


def is_database_address(text: str) -> bool:
    """Whether a text is the address of a PostgreSQL database, however its scheme is spelled.

    >>> is_database_address("Postgres://localhost/clinic"), is_database_address("people.csv")
    (True, False)
    """
    return _POSTGRES.match(text) is not None


def database_address(text: str) -> str:
    """The address of a database, its scheme spelled as its library reads it.

    ``InputError``, without the address, for any other text, and for one in which user and host cannot be
    told apart: a password with ``/``, ``?`` or ``#`` in it that are not percent-encoded would end up in what
    looks like the database's name.

    >>> database_address("POSTGRESQL+psycopg://localhost/clinic")
    'postgresql://localhost/clinic'
    """
    scheme = _POSTGRES.match(text)
    if scheme is None:
        raise InputError(
            "this is no address of a PostgreSQL database",
            allowed=f"{FORM}, as in {EXAMPLE}",
        )
    rest = text[scheme.end() :]
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    place, _, options = rest.removeprefix(authority).partition("?")
    told = all(map(_HOST.fullmatch, authority.rpartition("@")[2].split(",")))
    if not told or "#" in rest or "@" in place or not all("=" in o for o in options.split("&") if o):
        raise InputError(
            "the database's address cannot be read",
            allowed=FORM,
            advice="Percent-encode / ? # and @ in its user and password, or give the password in PGPASSWORD.",
        )
    return SCHEME + rest
