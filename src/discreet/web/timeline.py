"""Versions of a workspace's work: its spec, the hierarchy files it writes, the request, the chosen node.

::

    versions/000001.json   what there was then, and of which version it was made
    versions/texts/        the texts of hierarchy files, each once, by their digest
    versions/current       the number of the version that stands

A version is kept after each change, and before one where an editor or the command line changed the spec
meanwhile; none is ever rewritten. Taking back and going back write what a version holds to where it was, so
that relative paths still lead where they led. Data files and releases are no part of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from discreet.model.json_text import json_of
from discreet.web.passwords import write_owner_only
from discreet.web.problems import NotFound
from discreet.web.request_words import request_words
from discreet.web.spec_file import document_of

KEPT = 500
"""Versions that are kept; the oldest go first."""

State = Mapping[str, Any]
"""``spec`` (text or None), ``hierarchies`` (digests of texts by file name), ``request``, ``choice``."""


class Kept(Protocol):
    """What a timeline asks of a workspace."""

    folder: Path

    @property
    def hierarchies(self) -> Path:
        """The folder of hierarchy files."""

    def work(self) -> dict[str, Any]:
        """The spec's text, the request and the chosen node, as they stand."""

    def restore_work(self, state: State) -> None:
        """Put these back."""


@dataclass(frozen=True)
class Version:
    """One version: its number, the one that it was made of, when, what was changed, and the state."""

    number: int
    parent: int | None
    at: str
    words: str
    state: State

    def as_json(self) -> dict[str, Any]:
        """The version as its file has it."""
        return {"parent": self.parent, "at": self.at, "words": self.words, "state": dict(self.state)}


class Timeline:
    """The versions of one workspace. Hold the workspace's ``editing`` around each call."""

    def __init__(self, workspace: Kept) -> None:
        self.workspace = workspace
        self.folder = workspace.folder / "versions"
        self._texts = self.folder / "texts"
        self._texts.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def current(self) -> Version | None:
        """The version that stands, None before the first."""
        try:
            return self._read(int((self.folder / "current").read_text(encoding="ascii")))
        except (OSError, ValueError, NotFound):
            return None

    @property
    def versions(self) -> list[Version]:
        """Every version that is kept, the latest first."""
        found = []
        for number in sorted(self._numbers(), reverse=True):
            with suppress(NotFound):
                found.append(self._read(number))
        return found

    @property
    def earlier(self) -> Version | None:
        """The version that taking back leads to."""
        current = self.current
        with suppress(NotFound):
            if current is not None and current.parent is not None:
                return self._read(current.parent)
        return None

    @property
    def later(self) -> Version | None:
        """The version that doing again leads to: the latest that was made of this one."""
        current = self.current
        for number in sorted(self._numbers(), reverse=True):
            if current is None or number <= current.number:
                break
            with suppress(NotFound):
                if (version := self._read(number)).parent == current.number:
                    return version
        return None

    def note(self, words: str | None = None) -> Version | None:
        """Keep what stands as a version, where it differs from the last; ``words`` say what was changed."""
        state, current = self._state(), self.current
        if current is None and state["spec"] is None:
            return None
        if current is not None and current.state == state:
            return current
        number = max(self._numbers(), default=0) + 1
        said = words or ("The first table" if current is None else words_of(current.state, state))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        version = Version(number, None if current is None else current.number, now, said, state)
        for name, digest in state["hierarchies"].items():
            if not (kept := self._texts / digest).exists():
                write_owner_only(kept, (self.workspace.hierarchies / name).read_text(encoding="utf-8"))
        write_owner_only(self._file(number), json.dumps(version.as_json(), ensure_ascii=False))
        self._stand_at(number)
        for old in sorted(self._numbers())[:-KEPT]:
            self._file(old).unlink(missing_ok=True)
        return version

    def go(self, number: int) -> Version:
        """Put back what a version holds; what stands and is not kept yet is kept first."""
        self.note("Changed outside of the workbench")
        version = self._read(number)
        named = version.state["hierarchies"]
        for file in self.workspace.hierarchies.glob("*.csv"):
            if file.name not in named:
                file.unlink()
        for name, digest in named.items():
            with suppress(OSError):
                text = (self._texts / digest).read_text(encoding="utf-8")
                write_owner_only(self.workspace.hierarchies / name, text)
        self.workspace.restore_work(version.state)
        self._stand_at(number)
        return version

    def _state(self) -> dict[str, Any]:
        files = sorted(self.workspace.hierarchies.glob("*.csv"))
        return {**self.workspace.work(), "hierarchies": {file.name: _digest(file) for file in files}}

    def _stand_at(self, number: int) -> None:
        write_owner_only(self.folder / "current", str(number))

    def _numbers(self) -> list[int]:
        return [int(file.stem) for file in self.folder.glob("*.json") if file.stem.isdecimal()]

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:06d}.json"

    def _read(self, number: int) -> Version:
        try:
            found = json_of(self._file(number).read_text(encoding="utf-8"))
            return Version(number, found["parent"], found["at"], found["words"], found["state"])
        except (OSError, ValueError, KeyError, TypeError):
            raise NotFound(f"version {number} is not kept") from None


def changed_parts(before: State, after: State) -> list[str]:
    """Which parts of two states differ."""
    return [part for part in ("spec", "hierarchies", "request", "choice") if before[part] != after[part]]


def words_of(before: State, after: State) -> str:
    """What was changed between two states, in a few words."""
    parts = changed_parts(before, after)
    if "spec" in parts:
        return _words_of_specs(before["spec"], after["spec"])
    if "hierarchies" in parts:
        return f"Hierarchy of {_names(before['hierarchies'], after['hierarchies'])}"
    if "request" in parts:
        return "Request" if after["request"] is None else f"Request: {request_words(after['request'])}"
    return "A node is chosen" if after["choice"] else "No node is chosen"


def _words_of_specs(before: str | None, after: str | None) -> str:
    old, new = document_of(before or ""), document_of(after or "")
    if before is None or _place(old) != _place(new):
        return f"Table: {_place(new) or 'another'}"
    were, are = old.get("attributes", {}), new.get("attributes", {})
    said: list[str] = []
    for part, words in (
        ("role", "Role"),
        ("hierarchy", "Hierarchy"),
        ("written", "Form of the cells"),
        ("weight", "Weight"),
    ):
        differ = [n for n in {**were, **are} if _entry(were, n).get(part) != _entry(are, n).get(part)]
        if differ and not (part == "hierarchy" and said):
            value = _entry(are, differ[0]).get(part, 1) if part == "weight" and len(differ) == 1 else None
            said.append(f"{words} of {listed(differ)}" + ("" if value is None else f": {value}"))
    if old.get("source") != new.get("source"):
        said.append("How the table is read")
    if old.get("request") != new.get("request"):
        said.append(f"The command line's request: {request_words(new.get('request') or {})}")
    return "; ".join(said) or "The spec's text"


def _place(document: Mapping[str, Any]) -> str:
    source = document.get("source", {})
    return str(source.get("path") or source.get("table") or "").rpartition("/")[2]


def _entry(attributes: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = attributes.get(name, {})
    return found if isinstance(found, Mapping) else {}


def _names(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    differ = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return listed([name.removesuffix(".csv") for name in differ])


def listed(names: Sequence[str]) -> str:
    """A few names."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()
