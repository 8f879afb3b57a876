"""From what a user writes of a release to where it lies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from discreet.engines.addresses import engine_place, is_database_address, is_table_name
from discreet.engines.registry import engine_of
from discreet.engines.standard_input import STANDARD_INPUT, standard_input
from discreet.errors import InputError
from discreet.model.recoding import SuppressionPolicy
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.places.address import ENVIRONMENT, address_said, is_variable, path_of, without_password
from discreet.places.kept_files import KeptFile
from discreet.verbs.engine_words import database_places, release_places

ReleasePlace: TypeAlias = str | Path | ReleaseAddress
"""A release's path, or the address of the database that has it, or both in one value."""


@dataclass(frozen=True)
class Place:
    """Where a release goes, what becomes of suppressed rows there, and whether it may replace another.

    ``order`` is that of its rows (``model.row_order``), None for what the spec says. ``after``
    are earlier releases beside which it must be safe. ``kept`` are further files of the publisher that the
    release must not replace.
    """

    output: Path | ReleaseAddress
    suppressed: str = SuppressionPolicy.DROP
    overwrite: bool = False
    order: str | None = None
    after: tuple[ReleasePlace, ...] = ()
    kept: tuple[KeptFile, ...] = ()


def address_of(release: ReleasePlace, table: str | None = None) -> ReleaseAddress:
    """Where a release lies: a path, or a ``table`` of the database at an address.

    Addresses are those of the engines (``postgresql://…``, ``spark:`` for its catalog, ``spark:FOLDER``), and
    ``env:NAME``, so that no password is in a shell's history. ``InputError`` where an address and a table do
    not go together; it never shows the address.
    """
    if isinstance(release, ReleaseAddress):
        return release
    text = os.fspath(_place_of(release))
    if is_variable(text):
        text = _of_environment(text)
    found = engine_place(text, table)
    if found is not None:
        return found
    if table is not None:
        raise InputError(f"the table {table} without the address of a database", allowed=release_places())
    return ReleaseAddress(path=standard_input() if text == STANDARD_INPUT else path_of(text))


def _place_of(release: object) -> str | os.PathLike[str]:
    """The path of a release; of what ``publish`` gave the path that it has, which one in memory has not."""
    found = getattr(release, "path", release)
    if isinstance(found, str | os.PathLike):
        return found
    kind = type(release).__name__
    raise InputError(
        f"a {kind} where the path of a release belongs",
        allowed=release_places(),
        advice="Write it to a file, and name that.",
    )


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


def database_label(source: SourceSpec) -> str:
    """What has a source's table: the address of a database, without a password, or an engine's catalog."""
    if source.url is not None and is_variable(source.url):
        return f"the address in the variable {source.url.removeprefix(ENVIRONMENT)}"
    if source.url is not None:
        service = dict(parse_qsl(urlsplit(source.url).query)).get("service")
        named = f"the service {service} of the service file"
        return without_password(source.url) if service is None else named
    return engine_of(source).catalog or "a database"


def names_schema_and_table(text: str) -> bool:
    """Whether a text names a schema and a table of it.

    >>> names_schema_and_table('out."the people"'), names_schema_and_table("people")
    (True, False)
    """
    return is_table_name(text)


def _of_environment(text: str) -> str:
    found = address_said(text)
    if not is_database_address(found):
        name = text.removeprefix(ENVIRONMENT)
        raise InputError(f"the environment variable {name} holds no address", allowed=database_places())
    return found
