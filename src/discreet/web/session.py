"""Who is signed in: start links that work once, and sessions held by the server.

A token is 32 random bytes. The server keeps only its SHA-256 digest, so that nothing which it could leak
signs anybody in, and finds it by that digest, so that no comparison of tokens can be timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe
from threading import Lock
from typing import Literal

LOCAL_USER = "local"
IDLE_SECONDS = 12 * 3600.0
LONGEST_SECONDS = 7 * 24 * 3600.0
_MOST_SESSIONS = 1000

Login = Literal["token", "password", "proxy"]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Session:
    """A user who is signed in, and how."""

    user: str
    login: Login


@dataclass
class _Open:
    session: Session
    since: float
    seen: float


class StartTokens:
    """Tokens of start links: each works once."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()
        self._lock = Lock()

    def issue(self) -> str:
        """A new token."""
        token = token_urlsafe(32)
        with self._lock:
            self._digests.add(_digest(token))
        return token

    def redeem(self, token: str) -> bool:
        """Whether a token is valid; from now on it is not."""
        with self._lock:
            try:
                self._digests.remove(_digest(token))
            except KeyError:
                return False
        return True


class Sessions:
    """Sessions by their token; one ends after 12 idle hours, after 7 days, or when the server does."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[bytes, _Open] = {}
        self._lock = Lock()

    def open(self, user: str, login: Login) -> str:
        """The token of a new session; the longest idle one makes room where there are too many."""
        token, now = token_urlsafe(32), self._clock()
        with self._lock:
            self._forget_ended(now)
            if len(self._open) >= _MOST_SESSIONS:
                del self._open[min(self._open, key=lambda digest: self._open[digest].seen)]
            self._open[_digest(token)] = _Open(Session(user, login), now, now)
        return token

    def find(self, token: str) -> Session | None:
        """The session of a token, None where it has ended or never was."""
        now = self._clock()
        with self._lock:
            found = self._open.get(_digest(token))
            if found is None or self._has_ended(found, now):
                return None
            found.seen = now
            return found.session

    def close(self, token: str) -> None:
        """End a session."""
        with self._lock:
            self._open.pop(_digest(token), None)

    def close_all(self, user: str) -> None:
        """End every session of a user."""
        with self._lock:
            self._open = {d: o for d, o in self._open.items() if o.session.user != user}

    def _forget_ended(self, now: float) -> None:
        self._open = {d: o for d, o in self._open.items() if not self._has_ended(o, now)}

    @staticmethod
    def _has_ended(found: _Open, now: float) -> bool:
        return now - found.seen > IDLE_SECONDS or now - found.since > LONGEST_SECONDS


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()
