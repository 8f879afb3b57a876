"""Changes of hierarchies in this visit, to be taken back and done again.

The spec and the hierarchy files on disk are the work itself; this remembers, in memory, what stood there
before each change.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from discreet.web.workspace import Workspace

MOST_CHANGES = 200


@dataclass(frozen=True)
class Version:
    """A hierarchy as the spec writes it (None: value → ``*``), and the text of its file in the workspace."""

    given: Any
    text: str | None = None


@dataclass(frozen=True)
class _Change:
    words: str
    before: Version
    after: Version


class EditHistory:
    """The changes of one attribute's hierarchy, and how many of them hold."""

    def __init__(self) -> None:
        self._changes: list[_Change] = []
        self._done = 0
        self._lock = Lock()

    @property
    def last(self) -> str | None:
        """The change that ``back`` takes back."""
        with self._lock:
            return self._changes[self._done - 1].words if self._done else None

    @property
    def next(self) -> str | None:
        """The change that ``forward`` does again."""
        with self._lock:
            return self._changes[self._done].words if self._done < len(self._changes) else None

    def add(self, words: str, before: Version, after: Version) -> None:
        """A change was made; what had been taken back is forgotten."""
        with self._lock:
            if before == after:
                return
            self._changes = [*self._changes[: self._done], _Change(words, before, after)]
            self._changes = self._changes[-MOST_CHANGES:]
            self._done = len(self._changes)

    def back(self) -> Version | None:
        """The version before the last change; None where there is none."""
        with self._lock:
            if not self._done:
                return None
            self._done -= 1
            return self._changes[self._done].before

    def forward(self) -> Version | None:
        """The version after the change that was taken back last; None where there is none."""
        with self._lock:
            if self._done == len(self._changes):
                return None
            self._done += 1
            return self._changes[self._done - 1].after


_HISTORIES: WeakKeyDictionary[Workspace, dict[str, EditHistory]] = WeakKeyDictionary()
_LOCK = Lock()


def history_of(workspace: Workspace, attribute: str) -> EditHistory:
    """The changes of an attribute's hierarchy."""
    with _LOCK:
        return _HISTORIES.setdefault(workspace, {}).setdefault(attribute, EditHistory())
