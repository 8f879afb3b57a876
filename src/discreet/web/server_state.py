"""The state of a running server: start tokens, sessions, login throttle, and each user's workspace and jobs.

A token is 32 random bytes. The server keeps only its SHA-256 digest and finds a session by that digest, so
that comparisons of tokens leak no timing. After five failed logins each attempt waits twice as long as the
previous one.
"""

from __future__ import annotations

import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock
from typing import Literal

from discreet.errors import InputError
from discreet.places import file_access
from discreet.web.error_responses import TooMany
from discreet.web.job_queue import JobQueue
from discreet.web.server_config import PasswordFile, ServerConfig, check_user_name
from discreet.web.workspace import Workspace

LOCAL_USER = "local"
IDLE_SECONDS = 12 * 3600.0
MAX_SESSION_SECONDS = 7 * 24 * 3600.0
_MAX_SESSIONS = 1000

LoginMethod = Literal["token", "password", "proxy"]
Clock = Callable[[], float]


@dataclass(frozen=True)
class UserSession:
    """A signed-in user and the login method."""

    user: str
    login: LoginMethod


@dataclass
class _OpenSession:
    session: UserSession
    since: float
    seen: float


class StartTokens:
    """Tokens of start links: each works once."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()
        self._lock = Lock()

    def issue(self) -> str:
        """Return a new token."""
        token = token_urlsafe(32)
        with self._lock:
            self._digests.add(_token_digest(token))
        return token

    def redeem(self, token: str) -> bool:
        """Return True if a token is valid, and invalidate it."""
        with self._lock:
            try:
                self._digests.remove(_token_digest(token))
            except KeyError:
                return False
        return True


class SessionStore:
    """Sessions by token; one ends after 12 idle hours, after 7 days, or when the server ends."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[bytes, _OpenSession] = {}
        self._lock = Lock()

    def open(self, user: str, login: LoginMethod) -> str:
        """Open a session and return its token; close the longest idle one if there are too many."""
        token, now = token_urlsafe(32), self._clock()
        with self._lock:
            self._forget_ended(now)
            if len(self._open) >= _MAX_SESSIONS:
                del self._open[min(self._open, key=lambda digest: self._open[digest].seen)]
            self._open[_token_digest(token)] = _OpenSession(UserSession(user, login), now, now)
        return token

    def find(self, token: str) -> UserSession | None:
        """Return the session of a token, None if it has ended or never existed."""
        now = self._clock()
        with self._lock:
            found = self._open.get(_token_digest(token))
            if found is None or self._has_ended(found, now):
                return None
            found.seen = now
            return found.session

    def close(self, token: str) -> None:
        """Close a session."""
        with self._lock:
            self._open.pop(_token_digest(token), None)

    def close_all(self, user: str) -> None:
        """Close every session of a user."""
        with self._lock:
            self._open = {d: o for d, o in self._open.items() if o.session.user != user}

    def _forget_ended(self, now: float) -> None:
        self._open = {d: o for d, o in self._open.items() if not self._has_ended(o, now)}

    @staticmethod
    def _has_ended(session: _OpenSession, now: float) -> bool:
        return now - session.seen > IDLE_SECONDS or now - session.since > MAX_SESSION_SECONDS


def _token_digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()


FREE_FAILURES = 5
MAX_WAIT = 900.0
_MAX_KEYS = 10_000


@dataclass
class _Failures:
    number: int = 0
    until: float = 0.0


class LoginThrottle:
    """Counter of failed logins by address and by user name, in memory; the oldest are dropped first."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[tuple[str, str], _Failures] = OrderedDict()
        self._lock = Lock()

    def check(self, address: str, user: str) -> None:
        """Raise ``TooMany`` while the address or the user name has to wait."""
        now = self._clock()
        with self._lock:
            waits = [
                found.until - now
                for key in _throttle_keys(address, user)
                if (found := self._failures.get(key))
            ]
        wait = max(waits, default=0.0)
        if wait > 0:
            seconds = math.ceil(wait)
            raise TooMany("too many failed attempts", seconds=seconds, advice=f"Try again in {seconds} s.")

    def failed(self, address: str, user: str) -> None:
        """Count a failure."""
        now = self._clock()
        with self._lock:
            for key in _throttle_keys(address, user):
                found = self._failures.setdefault(key, _Failures())
                self._failures.move_to_end(key)
                found.number += 1
                beyond = found.number - FREE_FAILURES
                if beyond >= 0:
                    found.until = now + min(MAX_WAIT, 2.0 ** min(beyond, 20))
            while len(self._failures) > _MAX_KEYS:
                self._failures.popitem(last=False)

    def succeeded(self, address: str, user: str) -> None:
        """Reset the failures of an address and a user name."""
        with self._lock:
            for key in _throttle_keys(address, user):
                self._failures.pop(key, None)


def _throttle_keys(address: str, user: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("address", address), ("user", user)


_LOCK_NAME = ".lock"
JOB_SHUTDOWN_SECONDS = 3.0


class ServerState:
    """Sessions, start links, workspaces and jobs of one server; ``close`` ends them."""

    def __init__(self, config: ServerConfig) -> None:
        config.check()
        self.config = config
        self.sessions = SessionStore()
        self.start_tokens = StartTokens()
        self.login_throttle = LoginThrottle()
        self.passwords = None if config.password_file is None else PasswordFile(config.password_file)
        self.closing = False
        self._lock = Lock()
        self._workspaces: dict[str, Workspace] = {}
        self._jobs: dict[str, JobQueue] = {}
        self._folder_lock = lock_folder(config.workspace)
        if not config.uses_passwords:
            self.workspace_of(LOCAL_USER)

    def workspace_of(self, user: str) -> Workspace:
        """Return a user's workspace; without a password file there is one user with the whole folder."""
        with self._lock:
            if user not in self._workspaces:
                folder = self.config.workspace
                if self.config.uses_passwords:
                    folder = folder / "users" / check_user_name(user)
                self._workspaces[user] = Workspace(
                    user,
                    folder,
                    self.config.settings,
                    spec=self.config.spec,
                    root=self.config.root,
                    # Databases are opened with the server's rights, which password users must not share.
                    databases=not self.config.uses_passwords,
                )
            return self._workspaces[user]

    def jobs_of(self, user: str) -> JobQueue:
        """Return a user's jobs."""
        with self._lock:
            return self._jobs.setdefault(user, JobQueue())

    def close(self) -> None:
        """Cancel every job and release the folder to other servers."""
        self.closing = True
        # Cancel the jobs of all users before waiting for those of one.
        for jobs in self._jobs.values():
            jobs.close()
        for jobs in self._jobs.values():
            jobs.close(JOB_SHUTDOWN_SECONDS)
        for workspace in self._workspaces.values():
            workspace.clear_cache()
        if self._folder_lock is not None:
            os.close(self._folder_lock)
            self._folder_lock = None


def lock_folder(folder: Path) -> int | None:
    """Lock a workspace's folder for this server; raise ``InputError`` if another server uses it.

    The lock ends with the process, even after a crash. On systems without such locks (Windows) there is no
    protection and None is returned.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        descriptor = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(
            f"the workspace {folder} cannot be used: {(error.strerror or 'error').lower()}",
            advice="Give --workspace another folder.",
        ) from None
    if not file_access.LOCKS_AVAILABLE:  # pragma: no cover - Windows
        os.close(descriptor)
        return None
    try:
        file_access.try_lock(descriptor)
    except OSError:
        os.close(descriptor)
        raise InputError(
            f"another server uses the workspace {folder}",
            advice="Use that one, or give --workspace another folder.",
        ) from None
    return descriptor
