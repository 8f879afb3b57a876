"""Temporary files of one run in the target's folder: owner-only, and told apart from those of dead runs.

A run holds a lock on a file of its own for as long as it lives, so a later run can tell a dead run's files
from a living one's, whatever happened to the process number. The folder itself is locked while files are
removed or put in place: two runs to one target never mix data and manifest. Where the system has no file
locks (Windows), a file that is open cannot be removed, which serves the same purpose.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.engines.files.folder import folder_digest
from discreet.errors import DiscreetError
from discreet.model.json_text import json_of
from discreet.places import file_lock
from discreet.places.regular_file import read_text
from discreet.release.target import Target, check_free, writing

PURPOSES = ("data", "manifest", "subjects", "help", "sensitive")
_LOCK = "lock"
_WRITE_AHEAD = ".wal"
_OWN: dict[str, TemporaryFiles] = {}
"""Those of this process that are in use, by their tokens."""


class TemporaryFiles:
    """The temporary files of one run, a context manager; at its end those not put in place are removed."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._lock: int | None = None

    def path(self, purpose: str) -> Path:
        """The name of this run's file for one of ``PURPOSES``; whoever writes it creates it owner-only."""
        return self._target.folder / f".{self._target.path.name}.{self._token}.{purpose}.partial"

    def write_text(self, purpose: str, text: str) -> None:
        """Create one of the files with a text, on the disk when this returns."""
        with writing(self._target.folder):
            descriptor = os.open(self.path(purpose), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())

    def put_in_place(self, *, overwrite: bool) -> None:
        """Rename manifest and data to the target, the manifest first, the data last, companions between them.

        At no moment does a manifest stand beside data that is not its own: data that is to be replaced is
        removed before its manifest and companions are. ``InputError`` where the target appeared meanwhile.
        """
        folder = self._target.folder
        with writing(folder), folder_lock(folder):
            check_free(self._target, overwrite=overwrite)
            replaced, placed = listed_companions(self._target), list[Path]()
            try:
                # Old data goes first: better none until the last rename than some beside a strange manifest.
                if os.path.lexists(self._target.path):
                    remove_path(self._target.path)
                    # On the disk before the next step, so that no crash keeps a later one and loses this.
                    sync_folder(folder)
                for path in replaced:
                    remove_path(path)
                self.path("manifest").replace(self._target.manifest_path)
                sync_folder(folder)
                for purpose, path in self._target.companions:
                    self.path(purpose).replace(path)
                    placed.append(path)
                if placed:
                    sync_folder(folder)
                # The data last: whoever finds it finds all that belongs to it.
                self.path("data").replace(self._target.path)
            except BaseException:
                # Without its data nothing of the release stays.
                if not os.path.lexists(self._target.path):
                    for path in (*placed, self._target.manifest_path):
                        remove_path(path)
                raise
            sync_folder(folder)

    def __enter__(self) -> TemporaryFiles:
        """Create and lock the run's lock file, which also proves that the folder can be written to."""
        with writing(self._target.folder), folder_lock(self._target.folder):
            _OWN[self._token] = self
            self._lock = os.open(self.path(_LOCK), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            with suppress(OSError):
                # Held until this run ends, in whatever way it does.
                file_lock.lock_at_once(self._lock)
        return self

    def __exit__(self, *_error: object) -> None:
        self.remove()
        _OWN.pop(self._token, None)

    def remove(self) -> None:
        """Remove the files that were not put in place, and the lock last."""
        for purpose in PURPOSES:
            remove_path(self.path(purpose))
        data = self.path("data")
        data.with_name(data.name + _WRITE_AHEAD).unlink(missing_ok=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        # Last, so that what a killed run leaves can be told from a living run's.
        self.path(_LOCK).unlink(missing_ok=True)


def remove_own() -> None:
    """Remove the temporary files of this process, for a process that ends at once."""
    for files in tuple(_OWN.values()):
        with suppress(OSError):
            files.remove()


def remove_leftovers(target: Target) -> None:
    """Remove what killed runs to the same target left.

    That is temporary files, and a manifest without its data, with the companions that it lists.
    """
    name, ending = re.escape(target.path.name), rf"\.partial({re.escape(_WRITE_AHEAD)})?"
    pattern = re.compile(rf"(\.{name}\.\d+-[0-9a-f]{{8}})\.({'|'.join(PURPOSES)}|{_LOCK}){ending}")
    with writing(target.folder), folder_lock(target.folder):
        found: dict[str, list[Path]] = {}
        for path in target.folder.iterdir():
            match = pattern.fullmatch(path.name)
            if match:
                found.setdefault(match.group(1), []).append(path)
        for run, paths in found.items():
            if _is_dead(target.folder / f"{run}.{_LOCK}.partial"):
                # The lock file last, so that a run that is killed here leaves what the next one can judge.
                for path in sorted(paths, key=lambda path: path.name.endswith(f".{_LOCK}.partial")):
                    remove_path(path)
        if not os.path.lexists(target.path):
            for path in (*listed_companions(target), target.manifest_path):
                remove_path(path)


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold a folder against other runs of discreet; where folders cannot be locked, do without."""
    if not file_lock.AVAILABLE:  # pragma: no cover - Windows
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            file_lock.wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def remove_path(path: Path) -> None:
    """Remove a file, or a folder of files, where there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Wait until a file's content, or that of a folder's files, is on the disk."""
    if path.is_dir():
        for part in path.iterdir():
            sync_file(part)
        sync_folder(path)
        return
    # Windows waits only for files that are open for writing.
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if not file_lock.AVAILABLE:  # pragma: no cover - Windows
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_dead(lock: Path) -> bool:
    """Whether the run that made a lock file no longer lives; a run removes its lock file last."""
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        file_lock.lock_at_once(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def listed_companions(target: Target) -> tuple[Path, ...]:
    """The files beside the data of the release whose manifest lies at a target; none where there is none.

    They are help tables, and tables of sensitive values. A file is a release's own where the manifest names
    it and its digest is the manifest's; a file that only has the name is somebody else's, and is left alone.
    """
    try:
        document = json_of(read_text(target.manifest_path, str(target.manifest_path)))
        entries = [(entry["file"], entry["sha256"]) for entry in document["permutation"]["files"].values()]
    except (DiscreetError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()
    return tuple(
        target.folder / name
        for name, sha256 in entries
        if isinstance(name, str) and _is_own(target, name, sha256)
    )


def _is_own(target: Target, name: str, sha256: object) -> bool:
    path = target.folder / name
    if not name or Path(name).name != name or name == target.path.name:
        return False
    if path.is_dir():
        return target.is_folder and folder_digest(path) == sha256
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False
