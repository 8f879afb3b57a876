"""Locations of releases, targets and output files, and tables in memory by the spec written for them.

``address_of`` and ``parse_target`` parse the arguments of users. Small text files are written under a
temporary name and renamed. Tables in memory are held by weak references, since a spec file cannot name them.
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
    """Remember the table in memory that a spec file was written for, if weak references allow it."""
    try:
        _FRAMES[spec.resolve()] = data
    except TypeError:
        _FRAMES.pop(spec.resolve(), None)


def forget_frame(spec: Path) -> None:
    """Forget the table of a spec file that was written for another source."""
    _FRAMES.pop(spec.resolve(), None)


def recall_frame(spec: Path) -> object | None:
    """Return the table in memory that a spec file was written for; None if it no longer exists."""
    return _FRAMES.get(spec.resolve())


_DISK_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def check_output_file(
    path: Path, *, overwrite: bool, name: str = "an output", protected: Sequence[ProtectedFile] = ()
) -> None:
    """Raise ``InputError`` if ``path`` may not be written.

    The folder must exist, ``path`` must be neither a folder nor, without ``overwrite``, an existing file, and
    it must not replace one of ``protected``. ``name`` is the name of the file in messages.
    """
    parse_path(path, "the path of a file")
    check_outputs((TargetFile(name, path),), protected)
    if not path.parent.is_dir():
        raise InputError(f"the output folder {path.parent} does not exist", advice="Create it first.")
    if path.is_dir():
        raise InputError(f"{path} is a folder", allowed="the path of a file")
    if os.path.lexists(path) and not overwrite:
        raise InputError(f"{path} exists", advice="Choose another path, or use --overwrite to replace it.")


def write_text(path: Path, text: str, *, overwrite: bool, owner_only: bool = False) -> None:
    """Write UTF-8 under a temporary name in the folder of ``path``, then rename it; failures leave no file.

    With ``owner_only`` only the owner may read the file.
    """
    check_output_file(path, overwrite=overwrite)
    partial = path.with_name(f".{path.name}.{token_hex(4)}.partial")
    try:
        mode = 0o600 if owner_only else 0o666
        # O_EXCL with a random name never follows a link, and the mode applies before any byte is written.
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        partial.replace(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        if error.errno in _DISK_FULL:
            raise LimitReached(f"{path} does not fit: {reason}", advice="Free some space.") from error
        raise InputError(
            f"{path} cannot be written: {reason}", advice="Choose a folder with write permission."
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


ReleaseLocation: TypeAlias = str | Path | ReleaseAddress
"""Path of a release, the address of its database, or both in one value."""


@dataclass(frozen=True)
class PublishTarget:
    """Target of a publication: location, treatment of suppressed rows, and whether it may replace a release.

    ``order`` is the row order (``model.request``); None means that of the spec. ``after`` are earlier
    releases that the new one must be safe together with. ``protected`` are files of the publisher that the
    release must not replace.
    """

    output: Path | ReleaseAddress
    suppressed_rows: str = SuppressionPolicy.DROP
    overwrite: bool = False
    row_order: str | None = None
    previous_releases: tuple[ReleaseLocation, ...] = ()
    protected: tuple[ProtectedFile, ...] = ()


def address_of(release: ReleaseLocation, table: str | None = None) -> ReleaseAddress:
    """Return the location of a release: a path, or a ``table`` of the database at an address.

    Addresses are those of the engines (``postgresql://…``, ``spark:`` for its catalog, ``spark:FOLDER``), and
    ``env:NAME``, which keeps passwords out of a shell's history. Raises ``InputError`` if an address and a
    table do not fit together; the message never shows the address.
    """
    if isinstance(release, ReleaseAddress):
        return release
    text = os.fspath(_path_text(release))
    if is_variable(text):
        text = _read_variable(text)
    result = engine_place(text, table)
    if result is not None:
        return result
    if table is not None:
        raise InputError(f"the table {table} without the address of a database", allowed=release_addresses())
    return ReleaseAddress(path=standard_input() if text == STANDARD_INPUT else parse_path(text))


def _path_text(release: object) -> str | os.PathLike[str]:
    """Return the path of a release or of the result of ``publish``; a release in memory has none."""
    result = getattr(release, "path", release)
    if isinstance(result, str | os.PathLike):
        return result
    kind = type(release).__name__
    raise InputError(
        f"expected the path of a release, not a {kind}",
        allowed=release_addresses(),
        advice="Write it to a file and give its path.",
    )


def parse_target(output: str | Path | None, table: str | None) -> Path | ReleaseAddress:
    """Return the target of a publication: a path, or a table in the database of the source.

    Raises ``InputError`` unless exactly one is given.
    """
    if (output is None) == (table is None):
        raise InputError(
            "no target was given" if output is None else "a file and a table were both given as the target",
            allowed="--output PATH, or --table SCHEMA.NAME if the source is in a database",
        )
    if table is not None:
        return ReleaseAddress(table=table)
    assert output is not None
    return parse_path(output, "the path of the output")


def database_label(source: SourceSpec) -> str:
    """Return a label of a source's database: its address without a password, or the engine's catalog."""
    if source.url is not None and is_variable(source.url):
        return f"the address in the variable {source.url.removeprefix(ENVIRONMENT_PREFIX)}"
    if source.url is not None:
        service = dict(parse_qsl(urlsplit(source.url).query)).get("service")
        named = f"the service {service} of the service file"
        return without_password(source.url) if service is None else named
    return engine_of(source).catalog or "a database"


def is_qualified_table_name(text: str) -> bool:
    """Return True if a text is a schema and a table name.

    >>> is_qualified_table_name('out."the people"'), is_qualified_table_name("people")
    (True, False)
    """
    return is_table_name(text)


def _read_variable(text: str) -> str:
    result = resolve_address(text)
    if not is_database_address(result):
        name = text.removeprefix(ENVIRONMENT_PREFIX)
        raise InputError(
            f"the environment variable {name} does not contain an address", allowed=database_addresses()
        )
    return result


def relative_path(path: Path, folder: Path) -> str:
    """Return a path relative to a folder; the absolute path if they are on different drives."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return path.absolute().as_posix()
