"""Data from standard input: ``-`` where the path of a file is asked.

A table is read more than once (its header, its rows, a second count), so what comes is kept in a temporary
folder that its owner alone can enter, for as long as the process lives.
"""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path

from discreet.engines.temporary_folder import TemporaryFolder
from discreet.errors import InputError

STANDARD_INPUT = "-"
"""What a user writes for it."""

_PARQUET = b"PAR1"
_KEPT: list[TemporaryFolder] = []
"""What holds the folder: it is removed with the last reference, at the end of the process."""


@cache
def standard_input() -> Path:
    """The file with what standard input had, a CSV file unless it is Parquet; the same at each call.

    ``InputError`` where nobody sends anything: a terminal is not waited for.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(
            "nothing comes from standard input",
            allowed="a file sent to it",
            advice="Write discreet … - < people.csv, or name the file.",
        )
    folder = TemporaryFolder()
    _KEPT.append(folder)
    path = folder.path / "standard-input.csv"
    stream = sys.stdin.buffer
    start = stream.read(len(_PARQUET))
    if start == _PARQUET:
        path = path.with_suffix(".parquet")
    with path.open("xb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return path


def is_standard_input(path: Path | None) -> bool:
    """Whether a path is that file."""
    return path is not None and any(path.parent == folder.path for folder in _KEPT)
