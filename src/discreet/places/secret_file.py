"""Files of secrets: read and written by their owner alone, one run at a time."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import InputError, LimitReached
from discreet.places.file_lock import wait_for_lock

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class SecretFile:
    """A secret's file while this run holds its lock: what it holds, None where it is new."""

    def __init__(self, path: Path, content: bytes | None) -> None:
        self.path = path
        self.content = content

    def write(self, content: bytes) -> None:
        """Put another content in its place, whole or not at all; nothing where it is the same."""
        if content == self.content:
            return
        beside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise LimitReached(f"the key file {self.path} cannot be written: {error.strerror}") from None
        self.content = content


@contextmanager
def secret_file(path: Path) -> Iterator[SecretFile]:
    """A file of a secret, locked until the context ends; it need not be there yet.

    ``InputError`` where it cannot be read, is no file, or others than its owner may read it.
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
        yield SecretFile(path, _content(path))
    except OSError as error:
        raise InputError(f"the key file {path} cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _content(path: Path) -> bytes | None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise InputError(f"the key file {path} is no file")
    if os.name == "posix" and mode & _OTHERS:
        raise InputError(
            f"the key file {path} may be read by others",
            allowed="a file that only its owner may read and write",
            advice=f"Take the others' rights away: chmod 600 {path}",
        )
    return path.read_bytes()
