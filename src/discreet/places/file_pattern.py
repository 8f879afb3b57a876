"""Several files named at once, ``data/*.csv``: which files of a folder a pattern names.

In the name of the file, not of its folders, ``*`` stands for any characters or none. A file whose own name
has a ``*`` is that file. Read is every file whose name fits, in the order of their names, and none is left
out without a word: what a writer marks (names that begin with ``_`` or ``.``), what is no regular file, and a
release that lies among its input are refused.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from discreet.errors import InputError
from discreet.places.regular_file import check_regular

WILDCARD = "*"
_MARKS = ("_", ".")


def is_pattern(path: Path) -> bool:
    """Whether a path names files by a pattern."""
    return WILDCARD in path.name and not path.exists()


def files_of(path: Path) -> tuple[Path, ...]:
    """The files that a pattern names, or the path itself; ``InputError`` for none, and for a wrong one."""
    if not is_pattern(path):
        return (path,)
    name = re.compile(".*".join(re.escape(part) for part in path.name.split(WILDCARD)), re.DOTALL)
    try:
        found = sorted(each for each in path.parent.iterdir() if name.fullmatch(each.name))
    except OSError as error:
        raise InputError(f"{path.parent} cannot be read: {error.strerror or 'no folder'}") from None
    if not found:
        raise InputError(
            f"no file fits {path}", allowed="a path, or a pattern such as 'data/*.csv' that files fit"
        )
    for each in found:
        _check(each, path)
    return tuple(found)


def _check(file: Path, pattern: Path) -> None:
    if file.name.startswith(_MARKS):
        raise InputError(
            f"{file} fits {pattern} and begins with '{file.name[0]}', as what is no data does",
            advice="Rename it, move it out of the folder, or write a narrower pattern.",
        )
    check_regular(file, str(file))
    if not file.is_file():
        raise InputError(
            f"{file} fits {pattern} and is no file", allowed="files", advice="Move it elsewhere."
        )
    if file.with_name(f"{file.name}.manifest.json").exists():
        raise InputError(
            f"{file} fits {pattern} and is a release: its manifest lies beside it",
            advice="Keep releases in another folder than the data, or write a narrower pattern.",
        )


def files_digest(path: Path) -> str:
    """SHA-256 of the files of a pattern, of their digests and names; ``InputError`` as ``files_of``."""
    whole = hashlib.sha256()
    for file in files_of(path):
        try:
            with file.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror}") from None
        whole.update(f"{digest}  {file.name}\n".encode())
    return whole.hexdigest()
