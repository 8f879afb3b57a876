"""Publisher's private log of publications, readable by the owner only.

It has one JSON document per line, written after the audit passed and before the release is published: no
release exists without its line, and a line whose file never appeared is an aborted run.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.errors import InputError, LimitReached
from discreet.model.json_documents import parse_json
from discreet.release.release_target import DISK_FULL_ERRORS


def compute_file_digest(path: Path) -> str:
    """Compute the SHA-256 of a file's bytes; raise ``InputError`` where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def open_descriptor(path: Path) -> int:
    """Open the log for appending and return its descriptor; create it with folder 0700 and file 0600.

    Raise ``InputError`` where it cannot be written; then nothing is published.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        if hasattr(os, "fchmod") and _is_file(descriptor):
            os.fchmod(descriptor, 0o600)
    except OSError as error:
        raise InputError(
            f"the private log {path} cannot be written: {error.strerror}",
            advice="Set DISCREET_LOG to a file in a folder of your own.",
        ) from None
    return descriptor


def append(descriptor: int, entry: Mapping[str, Any]) -> None:
    """Append a line with the time and sync it to disk; raise ``LimitReached`` where the disk is full."""
    document = {"time": datetime.now(UTC).isoformat(timespec="seconds"), **entry}
    line = (_json(document) + "\n").encode()
    try:
        # One write to a file opened with O_APPEND, so that lines of two runs never mix.
        written = os.write(descriptor, line)
        if _is_file(descriptor):
            os.fsync(descriptor)
    except OSError as error:
        if error.errno in DISK_FULL_ERRORS:
            raise _full_error(error.strerror or str(error)) from None
        raise InputError(f"the private log cannot be written: {error.strerror}") from None
    if written != len(line):
        raise _full_error("only a part was written")


def find_publication(path: Path, sha256: str) -> Mapping[str, Any] | None:
    """Return the latest entry of a release with this digest; None without one, or without a log."""
    found = [entry for entry in read_publications(path, (sha256,)) if entry.get("output_sha256") == sha256]
    return found[-1] if found else None


def read_publications(path: Path, naming: Sequence[str] | None = None) -> Iterator[Mapping[str, Any]]:
    """Yield the log's entries, the latest last; none where the log is missing or cannot be read.

    With ``naming``, only lines that contain one of these texts are parsed as JSON, as parsing takes most of
    the time of a long log. A line that is no entry, such as one that a full disk cut short, is skipped.
    """
    written = None if naming is None else [_json(text)[1:-1] for text in naming]
    if not has_entries(path):
        return
    # splitlines() also ends lines at characters that JSON stores unescaped in names.
    with suppress(OSError), path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            if written is None or any(name in line for name in written):
                with suppress(ValueError):
                    entry = parse_json(line)
                    if isinstance(entry, dict):
                        yield entry


def has_entries(path: Path) -> bool:
    """Return true if the log is a non-empty file."""
    try:
        return path.is_file() and path.stat().st_size > 0
    except OSError:
        return False


def _json(document: object) -> str:
    return json.dumps(document, ensure_ascii=False)


def _is_file(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _full_error(reason: str) -> LimitReached:
    return LimitReached(
        f"the private log cannot grow: {reason}", advice="Nothing was published. Free space there."
    )
