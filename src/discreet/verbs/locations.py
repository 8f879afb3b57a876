"""Locations of releases, targets and output files, and tables in memory by the spec written for them.

``address_of`` and ``parse_target`` read what a user writes. Small text files are written under a temporary
name and renamed. Tables in memory are held by weak references, since a spec file cannot name them.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit
from weakref import WeakValueDictionary

from discreet.engines.engine_addresses import engine_place, is_database_address, is_table_name
from discreet.engines.process_resources import STANDARD_INPUT, standard_input
from discreet.engines.registry import engine_of
from discreet.errors import InputError, LimitReached
from discreet.model.release_address import ReleaseAddress
from discreet.model.search_result import SuppressionPolicy
from discreet.model.table_spec import SourceSpec
from discreet.places.address import (
    ENVIRONMENT_PREFIX,
    is_variable,
    parse_path,
    resolve_address,
    without_password,
)
from discreet.places.protected_files import ProtectedFile, TargetFile, check_outputs
from discreet.verbs.engine_descriptions import database_addresses, release_addresses

_FRAMES: WeakValueDictionary[Path, object] = WeakValueDictionary()


def remember_frame(spec: Path, data: object) -> None:
    """Remember the table in memory that a spec file was written for, where Python can refer to it weakly."""
    try:
        _FRAMES[spec.resolve()] = data
    except TypeError:
        _FRAMES.pop(spec.resolve(), None)


def forget_frame(spec: Path) -> None:
    """Forget the table of a spec file that was written for another source."""
    _FRAMES.pop(spec.resolve(), None)


def recall_frame(spec: Path) -> object | None:
    """Return the table in memory that a spec file was written for; None where there is none any more."""
    return _FRAMES.get(spec.resolve())


_DISK_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def check_output_file(
    path: Path, *, overwrite: bool, name: str = "an output", protected: Sequence[ProtectedFile] = ()
) -> None:
    """Raise ``InputError`` where no file may be written.

    That is in no folder, in the place of a folder or of an existing file, and in that of one of ``kept``;
    ``name`` is the file's in messages.
    """
    parse_path(path, "the path of a file")
    check_outputs((TargetFile(name, path),), protected)
    if not path.parent.is_dir():
        raise InputError(f"the output folder {path.parent} does not exist", advice="Create it first.")
    if path.is_dir():
        raise InputError(f"{path} is a folder", allowed="the path of a file")
    if os.path.lexists(path) and not overwrite:
        raise InputError(
            f"{path} exists", advice="Choose another path, or ask for it to be replaced (--overwrite)."
        )


def write_text(path: Path, text: str, *, overwrite: bool, owner_only: bool = False) -> None:
    """Write UTF-8 under a temporary name beside ``path``, then rename it; nothing is left of a failure.

    ``owner_only``: nobody else may read the file, until its owner decides otherwise.
    """
    check_output_file(path, overwrite=overwrite)
    partial = path.with_name(f".{path.name}.{token_hex(4)}.partial")
    try:
        mode = 0o600 if owner_only else 0o666
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        partial.replace(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        if error.errno in _DISK_FULL:
            raise LimitReached(f"{path} does not fit: {reason}", advice="Free some space.") from error
        raise InputError(
            f"{path} cannot be written: {reason}", advice="Choose a folder that you may write to."
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


ReleaseLocation: TypeAlias = str | Path | ReleaseAddress
"""A release's path, or the address of the database that has it, or both in one value."""


@dataclass(frozen=True)
class PublishTarget:
    """Where a release goes, what becomes of suppressed rows there, and whether it may replace another.

    ``order`` is that of its rows (``model.request``), None for what the spec says. ``after``
    are earlier releases beside which it must be safe. ``kept`` are further files of the publisher that the
    release must not replace.
    """

    output: Path | ReleaseAddress
    suppressed: str = SuppressionPolicy.DROP
    overwrite: bool = False
    order: str | None = None
    after: tuple[ReleaseLocation, ...] = ()
    protected: tuple[ProtectedFile, ...] = ()


def address_of(release: ReleaseLocation, table: str | None = None) -> ReleaseAddress:
    """Where a release lies: a path, or a ``table`` of the database at an address.

    Addresses are those of the engines (``postgresql://…``, ``spark:`` for its catalog, ``spark:FOLDER``), and
    ``env:NAME``, so that no password is in a shell's history. ``InputError`` where an address and a table do
    not go together; it never shows the address.
    """
    if isinstance(release, ReleaseAddress):
        return release
    text = os.fspath(_path_text(release))
    if is_variable(text):
        text = _read_variable(text)
    found = engine_place(text, table)
    if found is not None:
        return found
    if table is not None:
        raise InputError(f"the table {table} without the address of a database", allowed=release_addresses())
    return ReleaseAddress(path=standard_input() if text == STANDARD_INPUT else parse_path(text))


def _path_text(release: object) -> str | os.PathLike[str]:
    """The path of a release; of what ``publish`` gave the path that it has, which one in memory has not."""
    found = getattr(release, "path", release)
    if isinstance(found, str | os.PathLike):
        return found
    kind = type(release).__name__
    raise InputError(
        f"a {kind} where the path of a release belongs",
        allowed=release_addresses(),
        advice="Write it to a file, and name that.",
    )


def parse_target(output: str | Path | None, table: str | None) -> Path | ReleaseAddress:
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
    return parse_path(output, "the path of the output")


def database_label(source: SourceSpec) -> str:
    """What has a source's table: the address of a database, without a password, or an engine's catalog."""
    if source.url is not None and is_variable(source.url):
        return f"the address in the variable {source.url.removeprefix(ENVIRONMENT_PREFIX)}"
    if source.url is not None:
        service = dict(parse_qsl(urlsplit(source.url).query)).get("service")
        named = f"the service {service} of the service file"
        return without_password(source.url) if service is None else named
    return engine_of(source).catalog or "a database"


def is_qualified_table_name(text: str) -> bool:
    """Whether a text names a schema and a table of it.

    >>> is_qualified_table_name('out."the people"'), is_qualified_table_name("people")
    (True, False)
    """
    return is_table_name(text)


def _read_variable(text: str) -> str:
    found = resolve_address(text)
    if not is_database_address(found):
        name = text.removeprefix(ENVIRONMENT_PREFIX)
        raise InputError(f"the environment variable {name} holds no address", allowed=database_addresses())
    return found
