"""The history of a workspace: the log of requests, and versions for undo, redo and restoring.

::

    requests.jsonl         one JSON document per request, appended
    versions/000001.json   the state of a version, and the number of its parent
    versions/texts/        the texts of hierarchy files, each once, by their digest
    versions/current       the number of the current version

A version is recorded after each change, and before a change if an editor or the command line modified the
spec since the last version; no version is rewritten. Data files and releases are not part of a version.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from discreet.model.json_documents import parse_json
from discreet.web.error_responses import NotFound
from discreet.web.screen_messages import describe_request
from discreet.web.server_config import write_owner_only
from discreet.web.workspace_files import parse_document


class RequestLog:
    """The log of requests in the order in which they were made, in an owner-only file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def append(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Append an entry with the time under ``at``, and return it."""
        full = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **entry}
        line = json.dumps(full, ensure_ascii=False, allow_nan=False) + "\n"
        with self._lock:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(line)
        return full

    def entries(self, last: int = 200) -> list[dict[str, Any]]:
        """Return the last entries, the oldest first; skip a line that a crash cut off."""
        with self._lock:
            try:
                with self.path.open(encoding="utf-8", errors="replace") as file:
                    lines = deque(file, maxlen=last)
            except FileNotFoundError:
                return []
        result = []
        for line in lines:
            with suppress(ValueError):
                entry = parse_json(line)
                if isinstance(entry, dict):
                    result.append(entry)
        return result

    def __len__(self) -> int:
        try:
            with self._lock, self.path.open("rb") as file:
                return sum(1 for _ in file)
        except FileNotFoundError:
            return 0

    def clear(self) -> None:
        """Delete every entry."""
        with self._lock:
            self.path.unlink(missing_ok=True)


MAX_VERSIONS = 500
"""Maximum number of versions; the oldest are deleted first."""

WorkState = Mapping[str, Any]
"""``spec`` (text or None), ``hierarchies`` (digests of texts by file name), ``request``, ``choice``."""


@dataclass(frozen=True)
class WorkVersion:
    """One version: its number, the number of its parent, its time, its change in words, and its state."""

    number: int
    parent: int | None
    at: str
    words: str
    state: WorkState


class VersionHistory:
    """The versions of one workspace. Callers hold the workspace's ``edit_lock`` around each call.

    ``work_state`` returns the current spec text, request and chosen node, and ``restore_work`` restores them.
    """

    def __init__(
        self,
        folder: Path,
        hierarchies: Path,
        work_state: Callable[[], dict[str, Any]],
        restore_work: Callable[[WorkState], None],
    ) -> None:
        self.folder = folder
        self._hierarchies = hierarchies
        self._work_state = work_state
        self._restore_work = restore_work
        self._texts = self.folder / "texts"
        self._texts.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def current(self) -> WorkVersion | None:
        """The current version, None before the first."""
        try:
            return self._read(int((self.folder / "current").read_text(encoding="ascii")))
        except (OSError, ValueError, NotFound):
            return None

    @property
    def versions(self) -> list[WorkVersion]:
        """All stored versions, the latest first."""
        result = []
        for number in sorted(self._numbers(), reverse=True):
            with suppress(NotFound):
                result.append(self._read(number))
        return result

    @property
    def previous(self) -> WorkVersion | None:
        """The version that undo restores."""
        current = self.current
        with suppress(NotFound):
            if current is not None and current.parent is not None:
                return self._read(current.parent)
        return None

    @property
    def next(self) -> WorkVersion | None:
        """The version that redo restores: the latest child of the current one."""
        current = self.current
        for number in sorted(self._numbers(), reverse=True):
            if current is None or number <= current.number:
                break
            with suppress(NotFound):
                if (version := self._read(number)).parent == current.number:
                    return version
        return None

    def record(self, words: str | None = None) -> WorkVersion | None:
        """Store the current state as a version if it differs from the last; ``words`` describe the change."""
        state, current = self._state(), self.current
        if current is None and state["spec"] is None:
            return None
        if current is not None and current.state == state:
            return current
        number = max(self._numbers(), default=0) + 1
        change = words or ("The first table" if current is None else describe_change(current.state, state))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        version = WorkVersion(number, None if current is None else current.number, now, change, state)
        # Texts first, then the version, then ``current``: a crash leaves no version that lacks a text.
        for name, digest in state["hierarchies"].items():
            if not (text_path := self._texts / digest).exists():
                write_owner_only(text_path, (self._hierarchies / name).read_text(encoding="utf-8"))
        stored = {"parent": version.parent, "at": now, "words": change, "state": state}
        write_owner_only(self._file(number), json.dumps(stored, ensure_ascii=False))
        self._set_current(number)
        for old in sorted(self._numbers())[:-MAX_VERSIONS]:
            self._file(old).unlink(missing_ok=True)
        return version

    def restore(self, number: int) -> WorkVersion:
        """Restore a version; first record the current state if it is not stored yet."""
        self.record("Changed outside the workbench")
        version = self._read(number)
        named = version.state["hierarchies"]
        for file in self._hierarchies.glob("*.csv"):
            if file.name not in named:
                file.unlink()
        for name, digest in named.items():
            with suppress(OSError):
                text = (self._texts / digest).read_text(encoding="utf-8")
                write_owner_only(self._hierarchies / name, text)
        self._restore_work(version.state)
        self._set_current(number)
        return version

    def _state(self) -> dict[str, Any]:
        files = sorted(self._hierarchies.glob("*.csv"))
        return {
            **self._work_state(),
            "hierarchies": {file.name: _file_digest(file) for file in files},
        }

    def _set_current(self, number: int) -> None:
        write_owner_only(self.folder / "current", str(number))

    def _numbers(self) -> list[int]:
        return [int(file.stem) for file in self.folder.glob("*.json") if file.stem.isdecimal()]

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:06d}.json"

    def _read(self, number: int) -> WorkVersion:
        try:
            found = parse_json(self._file(number).read_text(encoding="utf-8"))
            return WorkVersion(number, found["parent"], found["at"], found["words"], found["state"])
        except (OSError, ValueError, KeyError, TypeError):
            raise NotFound(f"version {number} is not stored") from None


def changed_parts(before: WorkState, after: WorkState) -> list[str]:
    """Return the names of the parts in which two states differ."""
    return [part for part in ("spec", "hierarchies", "request", "choice") if before[part] != after[part]]


def describe_change(before: WorkState, after: WorkState) -> str:
    """Describe the change between two states in a few words."""
    parts = changed_parts(before, after)
    if "spec" in parts:
        return _describe_spec_change(before["spec"], after["spec"])
    if "hierarchies" in parts:
        return f"Hierarchy of {_changed_names(before['hierarchies'], after['hierarchies'])}"
    if "request" in parts:
        return "Request" if after["request"] is None else f"Request: {describe_request(after['request'])}"
    return "A node is chosen" if after["choice"] else "No node is chosen"


def _describe_spec_change(before: str | None, after: str | None) -> str:
    old, new = parse_document(before or ""), parse_document(after or "")
    if before is None or _source_name(old) != _source_name(new):
        return f"Table: {_source_name(new) or 'another one'}"
    were, are = old.get("attributes", {}), new.get("attributes", {})
    texts: list[str] = []
    for part, words in (
        ("role", "Role"),
        ("hierarchy", "Hierarchy"),
        ("format", "Cell format"),
        ("weight", "Weight"),
    ):
        differ = [
            n
            for n in {**were, **are}
            if _attribute_entry(were, n).get(part) != _attribute_entry(are, n).get(part)
        ]
        if differ and not (part == "hierarchy" and texts):
            value = (
                _attribute_entry(are, differ[0]).get(part, 1)
                if part == "weight" and len(differ) == 1
                else None
            )
            texts.append(f"{words} of {abbreviate_names(differ)}" + ("" if value is None else f": {value}"))
    if old.get("source") != new.get("source"):
        texts.append("How the table is read")
    if old.get("request") != new.get("request"):
        texts.append(f"The command line's request: {describe_request(new.get('request') or {})}")
    return "; ".join(texts) or "The text of the spec"


def _source_name(document: Mapping[str, Any]) -> str:
    source = document.get("source", {})
    return str(source.get("path") or source.get("table") or "").rpartition("/")[2]


def _attribute_entry(attributes: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = attributes.get(name, {})
    return found if isinstance(found, Mapping) else {}


def _changed_names(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    differ = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return abbreviate_names([name.removesuffix(".csv") for name in differ])


def abbreviate_names(names: Sequence[str]) -> str:
    """Return at most three names, with the number of the others."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _file_digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()
