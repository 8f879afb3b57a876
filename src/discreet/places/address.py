"""Addresses of databases: distinguished from paths, and without their passwords in messages.

Engines decide which addresses are accepted (``engines.registry``); any other is refused and never shown. The
command line imports this module at each start, so it is separate from ``file_access``.
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
"""Form of a database address, as messages show it."""
_SECRETS = ("password", "sslpassword")
ENVIRONMENT_PREFIX = "env:"
"""Prefix of the name of an environment variable that contains the address."""
_VARIABLE = re.compile(r"\w+", re.ASCII)


def parse_path(text: str | os.PathLike[str], label: str = "a path") -> Path:
    """Return a user's text as a path; raise ``InputError``, without the text, for an address."""
    found = os.fspath(text)
    if looks_like_address(found):
        raise InputError(
            f"an address was given instead of {label}; it is not shown because it may contain a password",
            allowed=f"a path of this machine; for a table of PostgreSQL {ADDRESS_FORM} and the table's name",
            advice="Export the table to Parquet or CSV, or copy the file here; from Python pass a table "
            "of Arrow, pandas, polars or Spark.",
        )
    if isinstance(found, str) and not _is_valid_unicode(found):
        name = found.encode("utf-8", "backslashreplace").decode()
        raise InputError(
            f"'{name}', {label}, is not UTF-8", allowed="a path of Unicode text", advice="Rename the file."
        )
    return Path(found)


def _is_valid_unicode(text: str) -> bool:
    """Return whether all bytes of a text were UTF-8; Python keeps other bytes as lone surrogates."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def is_variable(address: str) -> bool:
    """Return whether a text names an environment variable instead of an address.

    >>> is_variable("env:CLINIC"), is_variable("postgresql://localhost/clinic")
    (True, False)
    """
    return address.startswith(ENVIRONMENT_PREFIX)


def resolve_address(address: str) -> str:
    """Return the address, read from the environment variable if it has the form ``env:NAME``.

    Raises ``InputError``, without the text, if the name is malformed or the variable is not set.
    """
    if not is_variable(address):
        return address
    name = address.removeprefix(ENVIRONMENT_PREFIX)
    if not _VARIABLE.fullmatch(name):
        raise InputError("env: without the name of a variable", allowed="env:NAME, such as env:CLINIC")
    result = os.environ.get(name)
    if not result:
        raise InputError(
            f"the environment variable {name} is not set",
            allowed="the address of a database",
            advice=f"Set {name} before the program is started, as in export {name}={ADDRESS_FORM}.",
        )
    return result


def without_password(address: str) -> str:
    """Return an address without its passwords; the name of a variable is returned unchanged.

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
    shortened = f"{parts.scheme}://{user.partition(':')[0]}{at}{hosts}{parts.path}"
    return f"{shortened}?{query}" if query else shortened


def has_password(address: str) -> bool:
    """Return whether an address contains a password."""
    parts = urlsplit(address)
    user = parts.netloc.rpartition("@")[0]
    return ":" in user or any(name in _SECRETS for name, _ in parse_qsl(parts.query, True))
