"""From what a user writes of a release to where it lies."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TypeAlias

from discreet.errors import InputError
from discreet.model.release_address import SPARK_SCHEME, ReleaseAddress
from discreet.places.address import database_address, is_database_address, path_of
from discreet.release.deliveries import is_table_name

ReleasePlace: TypeAlias = str | Path | ReleaseAddress
"""A release's path, or the address of the database that has it, or both in one value."""

FROM_ENVIRONMENT = "env:"
_VARIABLE = re.compile(r"\w+")
ALLOWED = "a path, postgresql://…, env:NAME (a variable that holds such an address), or spark:"


def address_of(release: ReleasePlace, table: str | None = None) -> ReleaseAddress:
    """Where a release lies: a path, or a ``table`` of the database at an address.

    Addresses are ``postgresql://…``, ``env:NAME`` (so that no password is in a shell's history), ``spark:``
    (Spark's catalog), and ``spark:FOLDER``, which Spark reads. ``InputError`` where an address and a table
    do not go together; it never shows the address.
    """
    if isinstance(release, ReleaseAddress):
        return release
    text = str(release)
    if text.startswith(FROM_ENVIRONMENT):
        text = _of_environment(text.removeprefix(FROM_ENVIRONMENT))
    if is_database_address(text):
        return ReleaseAddress(table=_table(table, "a PostgreSQL database"), url=database_address(text))
    if text == SPARK_SCHEME:
        return ReleaseAddress(table=_table(table, "Spark's catalog"), spark=True)
    if table is not None:
        raise InputError(f"the table {table} without the address of a database", allowed=ALLOWED)
    if text.startswith(SPARK_SCHEME):
        return ReleaseAddress(path=path_of(text.removeprefix(SPARK_SCHEME)), spark=True)
    return ReleaseAddress(path=path_of(text))


def target_of(output: str | Path | None, table: str | None) -> Path | ReleaseAddress:
    """Where a publication goes: a path, or a table of the database that has the source.

    ``InputError`` unless exactly one is given.
    """
    if (output is None) == (table is None):
        raise InputError(
            "no target was named" if output is None else "both a file and a table were named as the target",
            allowed="--output PATH, or --table SCHEMA.NAME where the source is a database's",
        )
    if table is not None:
        return ReleaseAddress(table=table)
    assert output is not None
    return path_of(output, "the path of the output")


def names_schema_and_table(text: str) -> bool:
    """Whether a text names a schema and a table of it.

    >>> names_schema_and_table('out."the people"'), names_schema_and_table("people")
    (True, False)
    """
    return is_table_name(text)


def _of_environment(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise InputError("env: without the name of a variable", allowed=ALLOWED)
    found = os.environ.get(name)
    if not found:
        raise InputError(f"the environment variable {name} is not set", allowed="the address of a database")
    if not is_database_address(found):
        raise InputError(f"the environment variable {name} holds no address", allowed="postgresql://…")
    return found


def _table(table: str | None, where: str) -> str:
    if table is None:
        raise InputError(f"{where} without a table", allowed="--table SCHEMA.NAME")
    return table
