"""Access to files: locks, regular files, files matched by a pattern, and secret files of their owner.

Devices, pipes and sockets are refused because they may never end. The system releases locks however the
process ends; on systems without ``fcntl`` (Windows), locking does nothing. A secret file is readable only by
its owner and is locked during a run.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import InputError, LimitReached
from discreet.places.address import parse_path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

LOCKS_AVAILABLE = fcntl is not None


def try_lock(descriptor: int) -> None:
    """Lock an open file until it is closed.

    Raises ``BlockingIOError`` if another process holds the lock, and another ``OSError`` on a file system
    without locks.
    """
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def wait_for_lock(descriptor: int) -> None:
    """Wait for the lock of an open file and hold it until the file is closed; errors as in ``try_lock``."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


_KINDS = {
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}


def check_regular(path: Path, label: str) -> None:
    """Raise ``InputError`` for an address, and for anything except a regular file or a folder.

    A nonexistent path passes, as does one without permission to inspect it: opening it reports the error.
    Callers that accept no folder check that themselves.
    """
    parse_path(path, "the path of a file")
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):
        return
    if kind in _KINDS:
        raise InputError(
            f"{label} is {_KINDS[kind]}, which may never end",
            allowed="a regular file",
            advice="Write its content to a file first.",
        )


def read_bytes(path: Path, label: str) -> bytes:
    """Return a small file's bytes.

    Raises ``InputError`` for a device, pipe or socket, otherwise the errors of opening the file.
    """
    check_regular(path, label)
    return path.read_bytes()


def read_text(path: Path, label: str) -> str:
    """Return a small file's text, decoded from UTF-8 with or without a byte-order mark.

    Errors are those of ``read_bytes``.
    """
    return read_bytes(path, label).decode("utf-8-sig")


WILDCARD = "*"
_HIDDEN_PREFIXES = ("_", ".")


def is_pattern(path: Path) -> bool:
    """Return whether a path is a pattern of file names."""
    return WILDCARD in path.name and not path.exists()


def matching_files(path: Path) -> tuple[Path, ...]:
    """Return the files that match a pattern, or the path itself.

    Raises ``InputError`` if no file matches, and for a match that is hidden, not a regular file, or a
    release.
    """
    if not is_pattern(path):
        return (path,)
    name = re.compile(".*".join(re.escape(part) for part in path.name.split(WILDCARD)), re.DOTALL)
    try:
        found = sorted(each for each in path.parent.iterdir() if name.fullmatch(each.name))
    except OSError as error:
        raise InputError(f"{path.parent} cannot be read: {error.strerror or 'no folder'}") from None
    if not found:
        raise InputError(
            f"no file matches {path}", allowed="a path, or a pattern such as 'data/*.csv' that matches files"
        )
    for each in found:
        _check_match(each, path)
    return tuple(found)


def _check_match(file: Path, pattern: Path) -> None:
    if file.name.startswith(_HIDDEN_PREFIXES):
        raise InputError(
            f"{file} matches {pattern} and begins with '{file.name[0]}', like files that contain no data",
            advice="Rename it, move it out of the folder, or write a narrower pattern.",
        )
    check_regular(file, str(file))
    if not file.is_file():
        raise InputError(
            f"{file} matches {pattern} and is not a file", allowed="files", advice="Move it elsewhere."
        )
    if file.with_name(f"{file.name}.manifest.json").exists():
        raise InputError(
            f"{file} matches {pattern} and is a release: it has a manifest",
            advice="Keep releases in another folder than the data, or write a narrower pattern.",
        )


def files_digest(path: Path) -> str:
    """Return the SHA-256 of the digests and names of all files of a pattern; errors as ``matching_files``."""
    total = hashlib.sha256()
    for file in matching_files(path):
        try:
            with file.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror}") from None
        total.update(f"{digest}  {file.name}\n".encode())
    return total.hexdigest()


_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class SecretFile:
    """A secret file, locked by this run; ``content`` is None if the file is new."""

    def __init__(self, path: Path, content: bytes | None) -> None:
        self.path = path
        self.content = content

    def write(self, content: bytes) -> None:
        """Replace the content atomically; do nothing if it is unchanged."""
        if content == self.content:
            return
        temporary = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        # The new content is on disk before it replaces the old one: a crash leaves either, never a part.
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise LimitReached(f"the key file {self.path} cannot be written: {error.strerror}") from None
        self.content = content


@contextmanager
def open_secret_file(path: Path) -> Iterator[SecretFile]:
    """Open a secret file and lock it until the context ends; it need not exist.

    Raises ``InputError`` if it cannot be read, is not a regular file, or is accessible to users other than
    its owner. The lock is a separate file, because ``SecretFile.write`` replaces the secret file.
    """
    lock = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(
            f"the key file {path} cannot be written: {error.strerror}",
            advice="Name a file in a folder of your own.",
        ) from None
    try:
        wait_for_lock(descriptor)
        yield SecretFile(path, _read_secret(path))
    except OSError as error:
        raise InputError(f"the key file {path} cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _read_secret(path: Path) -> bytes | None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise InputError(f"the key file {path} is not a file")
    if os.name == "posix" and mode & _OTHERS:
        raise InputError(
            f"the key file {path} may be read by others",
            allowed="a file that only its owner may read and write",
            advice=f"Remove other users' permissions: chmod 600 {path}",
        )
    return path.read_bytes()
