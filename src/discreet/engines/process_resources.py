"""Process-wide resources: temporary folders, running statements, and the copy of standard input.

Folders are owner-only and locked; a later run removes the folders of killed runs on the same machine. Running
statements are registered so that another thread can interrupt them. Standard input is copied to a file,
because a table is read twice.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import tempfile
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from discreet.errors import InputError
from discreet.places import file_access

FOLDER_PREFIX = "discreet-"
_LOCK = "lock"
_NAME = re.compile(rf"{FOLDER_PREFIX}(spark-)?[a-z0-9_]{{8}}")
_LOCKED_WITHIN = 60.0
"""Seconds within which a run that created a folder has also created its lock."""
_LIVING_FOLDERS: dict[str, Path] = {}
"""Existing folders of this process."""
_ATTEMPTS = 20


class TemporaryFolder:
    """New owner-only folder, as a context manager; ``OSError`` if none can be created.

    Files in it may have permissions for other users, as DuckDB's do: the folder keeps them unreachable.
    """

    def __init__(self, parent: str | None = None, *, prefix: str = FOLDER_PREFIX) -> None:
        parent_folder = Path(tempfile.gettempdir() if parent is None else parent).absolute()
        remove_dead_folders(parent_folder)
        self.path, lock = _locked_folder(parent_folder, prefix)
        _LIVING_FOLDERS[str(self.path)] = self.path
        self._remove = weakref.finalize(self, _remove_folder, self.path, lock)

    def remove(self) -> None:
        """Remove the folder with its contents; a second call does nothing."""
        self._remove()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_error: object) -> None:
        self.remove()


def remove_temporary_folders() -> None:
    """Remove every folder of this process before it ends at once, even while its threads still run.

    Threads may still write new files, so removal is retried for a short time.
    """
    for path in tuple(_LIVING_FOLDERS.values()):
        for _ in range(_ATTEMPTS):
            shutil.rmtree(path, ignore_errors=True)
            if not path.exists():
                break
            time.sleep(0.01)


def remove_dead_folders(folder: Path) -> None:
    """Remove this user's folders whose runs have ended."""
    if not file_access.LOCKS_AVAILABLE:  # pragma: no cover - Windows
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) is not None:
                with suppress(OSError):
                    _remove_if_dead(Path(entry.path))


def _locked_folder(folder: Path, prefix: str) -> tuple[Path, int | None]:
    """Create a folder and return it with the descriptor of its lock.

    If another run took the folder for dead between creation and locking, a new one is created.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
        if not file_access.LOCKS_AVAILABLE:  # pragma: no cover - Windows
            return path, None
        with suppress(FileNotFoundError):
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(lock, _machine_mark())
            try:
                file_access.try_lock(lock)
            except BlockingIOError:
                os.close(lock)
                continue
            except OSError:  # a file system without locks
                return path, lock
            # A lock file that is still linked proves that no other run removed the folder before it was
            # locked.
            if os.fstat(lock).st_nlink:
                return path, lock
            os.close(lock)


def _remove_folder(path: Path, lock: int | None) -> None:
    """Remove a folder and release its lock last, so that no other run takes a half-removed folder."""
    shutil.rmtree(path, ignore_errors=True)
    _LIVING_FOLDERS.pop(str(path), None)
    if lock is not None:
        with suppress(OSError):
            os.close(lock)


def _remove_if_dead(path: Path) -> None:
    found = path.lstat()
    # Links are not followed: the mode of a link differs from that of an owner-only folder.
    if found.st_uid != os.geteuid() or found.st_mode != 0o40700:
        return
    try:
        lock = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        if time.time() - found.st_mtime > _LOCKED_WITHIN:
            path.rmdir()  # removes only an empty folder: the run was killed before it created its lock
        return
    try:
        if os.read(lock, 1024) == _machine_mark():
            file_access.try_lock(lock)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)


def _machine_mark() -> bytes:
    return f"a run of discreet on {socket.gethostname()}\n".encode()


_RUNNING: dict[int, RunningStatement] = {}


class RunningStatement:
    """Running statement, as a context manager; ``interrupt`` stops the statement that its engine runs."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt

    def interrupt(self) -> None:
        """Stop the statement if it still runs."""
        if id(self) in _RUNNING:
            with suppress(Exception):
                self._interrupt()

    def __enter__(self) -> None:
        _RUNNING[id(self)] = self

    def __exit__(self, *_error: object) -> None:
        del _RUNNING[id(self)]


def running_statements() -> tuple[RunningStatement, ...]:
    """Return the statements that run at this moment."""
    return tuple(_RUNNING.values())


STANDARD_INPUT = "-"
"""Path by which users name standard input."""

_PARQUET = b"PAR1"
_FOLDERS: list[TemporaryFolder] = []
"""References that keep the folder until the end of the process, when it is removed."""


@cache
def standard_input() -> Path:
    """Return the file that contains standard input: CSV, or Parquet if it begins so; the same at each call.

    Raises ``InputError`` for a terminal, because nothing is sent there.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(
            "standard input is empty or a terminal",
            allowed="a file sent to it",
            advice="Write discreet … - < people.csv, or name the file.",
        )
    folder = TemporaryFolder()
    _FOLDERS.append(folder)
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
    """Return True if a path is the copy of standard input."""
    return path is not None and any(path.parent == folder.path for folder in _FOLDERS)
