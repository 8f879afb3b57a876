"""Regular files, told from what is none: a device, a pipe or a socket may never end, or never begin."""

from __future__ import annotations

import stat
from pathlib import Path

from discreet.errors import InputError
from discreet.places.address import path_of

_KINDS = {
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}


def check_regular(path: Path, label: str) -> None:
    """Raise ``InputError`` for an address, and for anything but a regular file or a folder.

    A path that leads nowhere passes, as does one that may not be looked at: opening it says so. Whoever takes
    no folder says that too.
    """
    path_of(path, "the path of a file")
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):
        return
    if kind in _KINDS:
        raise InputError(
            f"{label} is {_KINDS[kind]}, which may never end",
            allowed="a regular file",
            advice="Write what it yields to a file first.",
        )


def read_bytes(path: Path, label: str) -> bytes:
    """A small file's bytes; ``InputError`` for what is no regular file, otherwise what opening raises."""
    check_regular(path, label)
    return path.read_bytes()


def read_text(path: Path, label: str) -> str:
    """The same as text in UTF-8, with or without a byte-order mark."""
    return read_bytes(path, label).decode("utf-8-sig")
