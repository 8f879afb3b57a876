"""Writing a small text file whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from discreet.errors import InputError, LimitReached
from discreet.places.address import path_of
from discreet.places.kept_files import KeptFile, TargetFile, check_apart

_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def check_new_file(
    path: Path, *, overwrite: bool, name: str = "an output", kept: Sequence[KeptFile] = ()
) -> None:
    """Raise ``InputError`` where no file may be written.

    That is in no folder, in the place of a folder or of an existing file, and in that of one of ``kept``;
    ``name`` is the file's in messages.
    """
    path_of(path, "the path of a file")
    check_apart((TargetFile(name, path),), kept)
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
    check_new_file(path, overwrite=overwrite)
    partial = path.with_name(f".{path.name}.{token_hex(4)}.partial")
    try:
        mode = 0o600 if owner_only else 0o666
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        partial.replace(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        if error.errno in _FULL:
            raise LimitReached(f"{path} does not fit: {reason}", advice="Free some space.") from error
        raise InputError(
            f"{path} cannot be written: {reason}", advice="Choose a folder that you may write to."
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
