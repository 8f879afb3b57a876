"""A spec file that pages edit: read as a mapping, checked, written whole, with its comments kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places.file_pattern import files_of
from discreet.spec.load import load_spec, spec_mapping, text_mapping
from discreet.spec.stanza_patterns import WILDCARD, columns_read, expanded
from discreet.spec.text import spec_text
from discreet.web.passwords import write_owner_only
from discreet.web.problems import FieldError

_HEADER = re.compile(r'\[attributes\.(?:"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_-]+))\]\s*')
_HEADING = ("Written by the workbench (discreet serve); the command line reads it too.",)


def version_of(path: Path) -> str:
    """A text that changes with the file's bytes; empty where there is none."""
    try:
        return sha256(path.read_bytes()).hexdigest()[:16]
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {(error.strerror or 'error').lower()}") from None


def mapping_of(path: Path) -> dict[str, Any]:
    """The spec as a mapping fit for JSON; empty where there is no file.

    Pages edit column by column: a stanza that is a pattern is repeated for each of its columns, where the
    source can be read.
    """
    found: dict[str, Any] = _plain(spec_mapping(path)) if path.exists() else {}
    stanzas = found.get("attributes")
    if isinstance(stanzas, dict) and any(WILDCARD in name for name in stanzas):
        with suppress(InputError):
            found["attributes"] = expanded(stanzas, load_spec(path).patterns)
    return found


def text_of(document: Mapping[str, Any], comments: Mapping[str, str], heading: tuple[str, ...]) -> str:
    """The spec's TOML text, with comments above its attributes."""
    return spec_text(document, comments, heading=heading or _HEADING)


def comments_in(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The comments directly above ``[attributes.NAME]`` by name, and those at the top of a spec's text."""
    comments: dict[str, str] = {}
    heading: list[str] = []
    block: list[str] = []
    at_top = True
    for line in text.splitlines():
        if line.startswith("#"):
            block.append(line.removeprefix("#").removeprefix(" "))
            continue
        match = _HEADER.fullmatch(line)
        if match and block:
            comments[_name(match)] = "\n".join(block)
        elif at_top and block:
            heading = list(block)
        at_top = at_top and not line.strip() and not heading
        block = []
    return comments, tuple(heading)


def checked(text: str, path: Path, may_read: Callable[[SourceSpec], None]) -> TableSpec:
    """The spec of a text, as if it stood at ``path``; ``InputError`` names that file.

    ``may_read`` raises for a source that is not to be read: it is asked before its columns are.
    """
    partial = path.with_name(f".{path.name}.{token_hex(4)}.check")

    def columns_of(source: SourceSpec) -> Sequence[str]:
        may_read(source)
        return columns_read(None)(source)

    try:
        write_owner_only(partial, text)
        return load_spec(partial, columns_of=columns_of)
    except FieldError:
        raise
    except InputError as error:
        message, allowed, advice = (
            said and said.replace(str(partial), path.name).replace(partial.name, path.name)
            for said in (error.message, error.allowed, error.advice)
        )
        raise InputError(message or "", allowed=allowed, advice=advice) from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def document_of(text: str) -> dict[str, Any]:
    """A spec's text as a mapping, empty where it cannot be read."""
    found: dict[str, Any] = {}
    with suppress(InputError):
        found = _plain(text_mapping(text))
    return found


def paths_in(spec: TableSpec) -> list[tuple[str, Path]]:
    """Every file that a spec names, with the field that names it."""
    found = source_paths(spec.source)
    for attribute in spec.attributes:
        if isinstance(attribute.hierarchy, FileHierarchy):
            found.append((f"attributes.{attribute.name}.hierarchy", attribute.hierarchy.path))
    return found


def source_paths(source: SourceSpec) -> list[tuple[str, Path]]:
    """The file of a source, or the files of its pattern, with the field that names them.

    Of a folder, beside itself, whatever in it leads elsewhere.
    """
    if source.path is None:
        return []
    files = [*files_of(source.path), *(_links_in(source.path) if source.path.is_dir() else ())]
    return [("source.path", file) for file in files]


def _links_in(folder: Path) -> list[Path]:
    found = []
    for place, folders, names in os.walk(folder):
        found += [path for name in (*folders, *names) if (path := Path(place, name)).is_symlink()]
    return found


def database_of(source: SourceSpec) -> tuple[str | None, str] | None:
    """The address and the table of a source that no path names, None for one of a file."""
    return None if source.path is not None or source.table is None else (source.url, source.table)


def stamp_of(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file does: its time, size and inode; None where there is none.

    Of a folder the latest time and the sizes of all that lies in it.
    """
    try:
        found = path.stat()
        if not path.is_dir():
            return found.st_mtime_ns, found.st_size, found.st_ino
        inside = [each.stat() for each in path.rglob("*")]
    except OSError:
        return None
    latest = max((each.st_mtime_ns for each in inside), default=0)
    return max(latest, found.st_mtime_ns), sum(each.st_size for each in inside), len(inside)


def relative_to(path: Path, folder: Path) -> str:
    """A path as a spec in ``folder`` names it."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return path.absolute().as_posix()


def _name(match: re.Match[str]) -> str:
    quoted, bare = match.groups()
    return bare if quoted is None else quoted.replace('\\"', '"').replace("\\\\", "\\")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
