"""Paths and names that users give: where they may lead, and what they may be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from discreet.errors import InputError
from discreet.places.address import path_of
from discreet.web.problems import FieldError

_UNSAFE = re.compile(r"[^\w.\-+ ()]+")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10))}
_LONGEST = 120


def safe_name(text: str, *, field: str = "name") -> str:
    """A file's name in a form that is harmless everywhere: no folders, no control characters, no leading dot.

    ``FieldError`` where nothing is left of it.
    """
    _check_no_address(text, field)
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", text))[-1]
    name = re.sub(r"\s+", " ", _UNSAFE.sub("_", last)).strip(" .")
    stem, dot, suffix = name.rpartition(".")
    if len(name) > _LONGEST:
        keep = _LONGEST - len(suffix) - 1
        name = f"{stem[:keep]}.{suffix}" if dot and 0 < keep < len(stem) else name[:_LONGEST]
    while len(name.encode()) > 200:
        name = name[1:]
    if not name.strip("_ .-") or name.split(".")[0].lower() in _RESERVED:
        raise FieldError(
            "that is no name for a file", field=field, allowed="letters, digits, dots, hyphens, blanks"
        )
    return name


def below(text: str, *, base: Path, folders: Iterable[Path], field: str = "path") -> Path:
    """The file or folder that a path leads to, symbolic links followed; relative ones start at ``base``.

    ``FieldError`` unless it lies in one of the ``folders``. Whether it exists is not told of others.
    """
    _check_no_address(text, field)
    try:
        found = (base / text).resolve()
    except (OSError, ValueError, RuntimeError):
        found = None
    if not text or found is None or not is_below(found, folders):
        raise FieldError(
            "this path is not open to the workbench",
            field=field,
            allowed="a path below the folder given by --root, or in the workspace",
            advice="Upload the file, or start discreet serve with another --root.",
        )
    return found


def _check_no_address(text: str, field: str) -> None:
    """Raise ``FieldError``, without the text, for an address: it may hold a password."""
    try:
        path_of(text)
    except InputError as error:
        raise FieldError(error.message, field=field, allowed=error.allowed, advice=error.advice) from None


def is_below(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a resolved path lies in one of some folders, links followed."""
    return any(path.is_relative_to(folder.resolve()) for folder in folders)
