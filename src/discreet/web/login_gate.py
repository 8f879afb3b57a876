"""How often somebody may try passwords: after some failures each try waits twice as long as the last."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from discreet.web.problems import TooMany
from discreet.web.session import Clock

FREE_FAILURES = 5
LONGEST_WAIT = 900.0
_MOST_KEYS = 10_000


@dataclass
class _Failures:
    number: int = 0
    until: float = 0.0


class LoginGate:
    """Failures by address and by user name, in memory, the oldest forgotten first."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[tuple[str, str], _Failures] = OrderedDict()
        self._lock = Lock()

    def check(self, address: str, user: str) -> None:
        """Raise ``TooMany`` while the address or the user name has to wait."""
        now = self._clock()
        with self._lock:
            waits = [found.until - now for key in _keys(address, user) if (found := self._failures.get(key))]
        wait = max(waits, default=0.0)
        if wait > 0:
            seconds = math.ceil(wait)
            raise TooMany("too many failed attempts", seconds=seconds, advice=f"Try again in {seconds} s.")

    def failed(self, address: str, user: str) -> None:
        """Count a failure."""
        now = self._clock()
        with self._lock:
            for key in _keys(address, user):
                found = self._failures.setdefault(key, _Failures())
                self._failures.move_to_end(key)
                found.number += 1
                beyond = found.number - FREE_FAILURES
                if beyond >= 0:
                    found.until = now + min(LONGEST_WAIT, 2.0 ** min(beyond, 20))
            while len(self._failures) > _MOST_KEYS:
                self._failures.popitem(last=False)

    def succeeded(self, address: str, user: str) -> None:
        """Forget the failures of an address and a user name."""
        with self._lock:
            for key in _keys(address, user):
                self._failures.pop(key, None)


def _keys(address: str, user: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("address", address), ("user", user)
