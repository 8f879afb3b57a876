"""MariaDB addresses: ``mariadb://USER@HOST:PORT/DATABASE``, or a Unix socket. Loaded at every start."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from discreet.errors import InputError

MARIADB_FORM = "mariadb://USER@HOST:PORT/DATABASE"
MARIADB_EXAMPLE = "mariadb://ann@localhost/clinic"
PASSWORD_VARIABLE = "MYSQL_PWD"
_SCHEME = re.compile(r"mariadb(?:\+\w+)?://", re.IGNORECASE)
_OPTIONS = ("unix_socket", "ssl_ca", "password")
_PORT = 3306


@dataclass(frozen=True)
class MariadbAddress:
    """Parsed address of a database with the user and password; the password is never shown."""

    user: str
    host: str
    port: int
    database: str
    socket: str | None
    certificates: str | None
    password: str = field(repr=False)

    @property
    def label(self) -> str:
        """Database and host for messages, without user and password."""
        return f"the database {self.database} on {self.socket or f'{self.host}:{self.port}'}"


def is_mariadb_address(text: str) -> bool:
    """Return True if a text is the address of a MariaDB database.

    >>> is_mariadb_address("MariaDB://localhost/clinic"), is_mariadb_address("mysql://localhost/clinic")
    (True, False)
    """
    return _SCHEME.match(text) is not None


def normalize_address(text: str) -> str:
    """Normalize the scheme of an address; raises ``InputError``, without the address, for an invalid one.

    >>> normalize_address("MARIADB+pymysql://localhost/clinic")
    'mariadb://localhost/clinic'
    """
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme is not None else ""
    before, _, options = rest.partition("?")
    authority, _, database = before.partition("/")
    names = [name for name, _ in parse_qsl(options, keep_blank_values=True)]
    host = authority.rpartition("@")[2]
    host_match = re.fullmatch(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::\d*)?", host, re.ASCII)
    plain = not any(sign in before for sign in "#") and "@" not in database and "/" not in database
    if scheme is None or not database or not host_match or not plain or any(n not in _OPTIONS for n in names):
        raise InputError(
            "the database's address cannot be read",
            allowed=f"{MARIADB_FORM}, with unix_socket=PATH or ssl_ca=PATH after ? if needed",
            advice="Percent-encode / ? # and @ in its user and password, or give the password in "
            f"{PASSWORD_VARIABLE}.",
        )
    return f"mariadb://{rest}"


def parse_address(url: str) -> MariadbAddress:
    """Parse an address; a password outside the address is read from ``MYSQL_PWD``."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    password = unquote(parts.password or "") or options.get("password") or os.environ.get(PASSWORD_VARIABLE)
    return MariadbAddress(
        user=unquote(parts.username or ""),
        host=parts.hostname or "localhost",
        port=parts.port or _PORT,
        database=unquote(parts.path.lstrip("/")),
        socket=options.get("unix_socket"),
        certificates=options.get("ssl_ca"),
        password=password or "",
    )
