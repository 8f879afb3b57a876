"""The password file: a line per user, each password hashed with scrypt.

::

    anna:scrypt$32768$8$1$<salt>$<hash>

The file is its owner's alone. A user who is not in it costs as much time as one who is.
"""

from __future__ import annotations

import hmac
import os
import re
from base64 import b64decode, b64encode
from contextlib import suppress
from functools import cache
from hashlib import scrypt
from pathlib import Path
from secrets import token_bytes, token_hex
from threading import Lock

from discreet.errors import InputError
from discreet.web.proxy import check_owner_only

SHORTEST_PASSWORD = 10
_N, _R, _P = 2**15, 8, 1
_MEMORY = 64 * 2**20
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


def check_user_name(name: str) -> str:
    """The name, which also names a folder; ``InputError`` where it may not."""
    if not _NAME.fullmatch(name) or name.startswith("."):
        raise InputError(
            "that is no user name",
            allowed="1 to 32 of a-z, 0-9, dot, hyphen and underscore, beginning with a letter or digit",
        )
    return name


def hashed(password: str, *, salt: bytes | None = None) -> str:
    """``scrypt$N$r$p$salt$hash`` of a password."""
    used = salt or token_bytes(16)
    found = _scrypt(password, used, _N, _R, _P)
    return f"scrypt${_N}${_R}${_P}${b64encode(used).decode()}${b64encode(found).decode()}"


def matches(password: str, text: str) -> bool:
    """Whether a password has this hash; compared in constant time."""
    try:
        _, n, r, p, salt, expected = text.split("$")
        found = _scrypt(password, b64decode(salt), int(n), int(r), int(p))
        return hmac.compare_digest(found, b64decode(expected))
    except ValueError:
        return False


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return scrypt(password.encode("utf-8", "replace"), salt=salt, n=n, r=r, p=p, maxmem=_MEMORY, dklen=32)


@cache
def _of_nobody() -> str:
    return hashed("", salt=b"nobody has this.")


class PasswordFile:
    """The users of a password file, read again when it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._read: tuple[tuple[int, int], dict[str, str]] | None = None
        self.users()

    def users(self) -> dict[str, str]:
        """Hashes by user; ``InputError`` where the file is not the owner's alone, or has another form."""
        check_owner_only(self.path)
        found = self.path.stat()
        stamp = (found.st_mtime_ns, found.st_ino)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, _users(self.path))
        return self._read[1]

    def verify(self, user: str, password: str) -> bool:
        """Whether this is the user's password; one check at a time, each of equal length."""
        with self._lock:
            text = self.users().get(user)
            fits = matches(password, _of_nobody() if text is None else text)
            return fits and text is not None


def add_user(path: Path, user: str, password: str) -> None:
    """Add a user to the file, or give them another password; the file is made where there is none."""
    check_user_name(user)
    if len(password) < SHORTEST_PASSWORD:
        raise InputError("the password is short", allowed=f"at least {SHORTEST_PASSWORD} characters")
    users = PasswordFile(path).users() if path.exists() else {}
    lines = [f"{name}:{text}" for name, text in {**users, user: hashed(password)}.items()]
    write_owner_only(path, "\n".join(lines) + "\n")


def write_owner_only(path: Path, text: str) -> None:
    """Write a text whole or not at all, into a file that is its owner's alone."""
    partial = path.with_name(f".{path.name}.{token_hex(4)}.partial")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {(error.strerror or 'error').lower()}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _users(path: Path) -> dict[str, str]:
    users: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        name, colon, text = line.partition(":")
        if not line.strip() or line.startswith("#"):
            continue
        if not colon or not _NAME.fullmatch(name) or text.count("$") != 5 or name in users:
            raise InputError(
                f"{path}, line {number}: no user and hash",
                advice="Lines are made by discreet serve --add-user NAME --password-file FILE.",
            )
        users[name] = text
    return users
