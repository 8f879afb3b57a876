"""A folder of Parquet files, as Spark writes it: what it holds, and its digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

from discreet.errors import InputError


def parquet_files(folder: Path) -> tuple[Path, ...]:
    """The Parquet files of a folder by their names; ``InputError`` where there are none."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == ".parquet" and path.is_file())
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}") from None
    if not found:
        raise InputError(f"{folder} is a folder without Parquet files", allowed="a file, or such a folder")
    return tuple(found)


def folder_digest(folder: Path) -> str:
    """SHA-256 of a folder: of its files' names and digests, in the order of their names."""
    whole = hashlib.sha256()
    for path in parquet_files(folder):
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        whole.update(f"{digest}  {path.name}\n".encode())
    return whole.hexdigest()
