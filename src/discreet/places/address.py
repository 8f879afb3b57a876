"""Addresses of databases, distinguished from paths, and without their passwords in messages.

Engines decide which addresses are accepted (``engines.registry``); any other is refused and never shown.
It is imported by the command line at each start, so it stays apart from the files.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from discreet.errors import InputError
from discreet.errors import looks_like_address as looks_like_address
from discreet.errors import redact_address as redact_address

ADDRESS_FORM = "postgresql://USER@HOST:PORT/DATABASE"
"""What a database's address consists of, where a message shows one."""
_SECRETS = ("password", "sslpassword")
ENVIRONMENT_PREFIX = "env:"
"""Before the name of a variable that holds an address, where one stands in place of the address."""
_VARIABLE = re.compile(r"\w+", re.ASCII)


def parse_path(text: str | os.PathLike[str], label: str = "a path") -> Path:
    """A user's text as the path that it is; ``InputError``, without the text, for an address."""
    found = os.fspath(text)
    if looks_like_address(found):
        raise InputError(
            f"an address where {label} belongs; it is not shown, since it may hold a password",
            allowed=f"a path of this machine; for a table of PostgreSQL {ADDRESS_FORM} and the table's name",
            advice="Export the table to Parquet or CSV, or copy the file here; from Python hand over a table "
            "of Arrow, pandas, polars or Spark.",
        )
    if isinstance(found, str) and not _is_valid_unicode(found):
        name = found.encode("utf-8", "backslashreplace").decode()
        raise InputError(
            f"'{name}', {label}, is not UTF-8", allowed="a path of Unicode text", advice="Rename the file."
        )
    return Path(found)


def _is_valid_unicode(text: str) -> bool:
    """Whether a text has no byte that was no UTF-8, which Python keeps as half of a surrogate pair."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def is_variable(address: str) -> bool:
    """Whether a text names a variable in place of an address.

    >>> is_variable("env:CLINIC"), is_variable("postgresql://localhost/clinic")
    (True, False)
    """
    return address.startswith(ENVIRONMENT_PREFIX)


def resolve_address(address: str) -> str:
    """The address itself, where ``env:NAME`` names the variable that holds it.

    ``InputError``, without what it holds, where there is no such variable.
    """
    if not is_variable(address):
        return address
    name = address.removeprefix(ENVIRONMENT_PREFIX)
    if not _VARIABLE.fullmatch(name):
        raise InputError("env: without the name of a variable", allowed="env:NAME, such as env:CLINIC")
    found = os.environ.get(name)
    if not found:
        raise InputError(
            f"the environment variable {name} is not set",
            allowed="the address of a database",
            advice=f"Set {name} before the program is started, as in export {name}={ADDRESS_FORM}.",
        )
    return found


def without_password(address: str) -> str:
    """An address without the passwords in it; the name of a variable as it is.

    >>> without_password("postgresql://ann:secret@localhost/clinic?password=secret&sslmode=require")
    'postgresql://ann@localhost/clinic?sslmode=require'
    >>> without_password("env:CLINIC")
    'env:CLINIC'
    """
    if is_variable(address):
        return address
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
