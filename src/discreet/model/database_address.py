"""Addresses of databases: ``postgresql://USER@HOST:PORT/DATABASE``, and the password that one may hold."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode, urlsplit

SCHEMES = ("postgresql", "postgres")
_SECRETS = ("password", "sslpassword")


def is_database_address(text: str) -> bool:
    """Whether a text is the address of a database, not a path.

    >>> is_database_address("postgresql://localhost/clinic"), is_database_address("people.csv")
    (True, False)
    """
    return text.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def without_password(address: str) -> str:
    """An address without the passwords in it.

    >>> without_password("postgresql://ann:secret@localhost/clinic?password=secret&sslmode=require")
    'postgresql://ann@localhost/clinic?sslmode=require'
    """
    parts = urlsplit(address)
    user, at, hosts = parts.netloc.rpartition("@")
    options = [(name, value) for name, value in parse_qsl(parts.query, True) if name not in _SECRETS]
    query = urlencode(options, quote_via=quote)
    place = f"{parts.scheme}://{user.partition(':')[0]}{at}{hosts}{parts.path}"
    return f"{place}?{query}" if query else place


def has_password(address: str) -> bool:
    """Whether an address holds a password."""
    parts = urlsplit(address)
    user = parts.netloc.rpartition("@")[0]
    return ":" in user or any(name in _SECRETS for name, _ in parse_qsl(parts.query, True))
