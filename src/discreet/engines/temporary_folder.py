"""Temporary folders of one run: owner-only, removed at its end, or by a later run where it was killed.

What lies in them are values of the input: rows that did not fit the memory, copies on their way. A run holds
a lock on a file of the folder for as long as it lives, and the system lets go of it however the process ends;
so whoever makes a folder can tell those of dead runs, which no process number could (they are used again).
Removed are folders of this user and of this machine alone, since a file system that machines share may know
the locks of one of them only. Where there are no locks, leftovers stay.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path

from discreet.places import file_lock

PREFIX = "discreet-"
_LOCK = "lock"
_NAME = re.compile(rf"{PREFIX}(spark-)?[a-z0-9_]{{8}}")
_LOCKED_WITHIN = 60.0
"""Seconds in which a run that made a folder has made its lock, too."""
_OWN: dict[str, Path] = {}
"""The folders of this process that live."""
_ATTEMPTS = 20


class TemporaryFolder:
    """A new folder that nobody else can enter, a context manager; ``OSError`` where none can be made.

    Files in it may be made readable for others, as DuckDB's are: nobody else reaches them.
    """

    def __init__(self, parent: str | None = None, *, prefix: str = PREFIX) -> None:
        place = Path(tempfile.gettempdir() if parent is None else parent).absolute()
        remove_dead(place)
        self.path, lock = _locked_folder(place, prefix)
        _OWN[str(self.path)] = self.path
        self._remove = weakref.finalize(self, _removed, self.path, lock)

    def remove(self) -> None:
        """Remove the folder and what is in it; a second call does nothing."""
        self._remove()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_error: object) -> None:
        self.remove()


def remove_own() -> None:
    """Remove every folder of this process, for a process that ends at once; whatever its threads still do.

    They may write new files meanwhile, so it is tried again for a moment.
    """
    for path in tuple(_OWN.values()):
        for _ in range(_ATTEMPTS):
            shutil.rmtree(path, ignore_errors=True)
            if not path.exists():
                break
            time.sleep(0.01)


def remove_dead(place: Path) -> None:
    """Remove the folders of this user whose runs live no more."""
    if not file_lock.AVAILABLE:  # pragma: no cover - Windows
        return
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) is not None:
                with suppress(OSError):
                    _remove_if_dead(Path(entry.path))


def _locked_folder(place: Path, prefix: str) -> tuple[Path, int | None]:
    """A new folder, and the descriptor that holds its lock.

    Where another run took it for dead between the two steps, another one is made.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        if not file_lock.AVAILABLE:  # pragma: no cover - Windows
            return path, None
        with suppress(FileNotFoundError):
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(lock, _machine())
            try:
                file_lock.lock_at_once(lock)
            except BlockingIOError:
                os.close(lock)
                continue
            except OSError:  # a file system without locks
                return path, lock
            # Still linked: no other run removed the folder before it was locked.
            if os.fstat(lock).st_nlink:
                return path, lock
            os.close(lock)


def _removed(path: Path, lock: int | None) -> None:
    """Remove a folder, and let go of its lock last."""
    shutil.rmtree(path, ignore_errors=True)
    _OWN.pop(str(path), None)
    if lock is not None:
        with suppress(OSError):
            os.close(lock)


def _remove_if_dead(path: Path) -> None:
    found = path.lstat()
    # A link is not followed: its own mode has other bits than a folder that only its owner enters.
    if found.st_uid != os.geteuid() or found.st_mode != 0o40700:
        return
    try:
        lock = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        if time.time() - found.st_mtime > _LOCKED_WITHIN:
            path.rmdir()  # nothing but an empty one: killed before it made its lock
        return
    try:
        if os.read(lock, 1024) == _machine():
            file_lock.lock_at_once(lock)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)


def _machine() -> bytes:
    return f"a run of discreet on {socket.gethostname()}\n".encode()
