"""A user's workspace: a folder that keeps the spec, uploads, requests and releases.

::

    discreet.toml     the spec, which the command line reads (or the spec that `discreet serve SPEC` names)
    hierarchies/      hierarchy files that the pages write
    uploads/          files that were dropped into the browser
    releases/         releases with their manifests and reports
    requests.jsonl    the history of requests
    versions/         what there was after each change, to be taken back (``timeline``)
    state/            what the pages show again: the request, the chosen node

Everything in it is its owner's alone. What is computed from the table (the frequency set, the lattice, what
routes remember) lives in memory, and goes when the spec (but for ``[request]``), the data or a hierarchy file
changes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from threading import Lock, RLock
from typing import Any, TypeVar

from discreet.errors import InputError
from discreet.model.json_text import json_of
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.screens.databases import is_named_database
from discreet.settings import Settings
from discreet.spec.load import load_spec
from discreet.verbs.table import Table
from discreet.web import spec_file
from discreet.web.history import History
from discreet.web.passwords import write_owner_only
from discreet.web.paths import below, is_below, safe_name
from discreet.web.problems import Conflict, FieldError, NotFound
from discreet.web.reporting import CurrentReporter
from discreet.web.timeline import State, Timeline

T = TypeVar("T")

SPEC_NAME = "discreet.toml"
_Stamps = tuple[tuple[str, tuple[int, int, int] | None], ...]


class _Remembered:
    """What is known of one version of the table."""

    def __init__(self, version: str, content: str, stamps: _Stamps, table: Table) -> None:
        self.version = version
        self.content = content
        self.stamps = stamps
        self.table = table
        self.values: dict[str, Any] = {}
        self.locks: dict[str, RLock] = {}


class Workspace:
    """The folder of one user, and the table that its spec describes. Safe for many threads."""

    def __init__(
        self,
        user: str,
        folder: Path,
        settings: Settings,
        *,
        spec: Path | None = None,
        root: Path | None = None,
        databases: bool = False,
    ) -> None:
        self.user = user
        self.folder = folder.resolve()
        self.settings = settings
        self.root = None if root is None else root.resolve()
        self.databases = databases
        self.lock = RLock()
        self._state = Lock()
        self.editing = RLock()
        self._remembered: _Remembered | None = None
        for path in (self.folder, self.uploads, self.releases, self.hierarchies, self._states):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        for leftover in self.uploads.glob(".*.partial"):
            leftover.unlink(missing_ok=True)
        self.spec_path = (self.folder / SPEC_NAME) if spec is None else spec.resolve()
        self._given = frozenset(self._paths_given())
        self._given_database = self._database_given()
        self.timeline.note()

    @property
    def uploads(self) -> Path:
        """The folder of uploaded files."""
        return self.folder / "uploads"

    @property
    def releases(self) -> Path:
        """The folder of releases."""
        return self.folder / "releases"

    @property
    def hierarchies(self) -> Path:
        """The folder of hierarchy files that the pages write."""
        return self.folder / "hierarchies"

    @cached_property
    def requests(self) -> History:
        """The history of requests."""
        return History(self.folder / "requests.jsonl")

    def state(self, name: str) -> Any:
        """What a page stored under a name, None where nothing is; it must be fit for JSON."""
        try:
            return json_of((self._states / f"{safe_name(name)}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def set_state(self, name: str, value: Any) -> None:
        """Store a value under a name; None removes it."""
        path = self._states / f"{safe_name(name)}.json"
        if value is None:
            path.unlink(missing_ok=True)
        else:
            write_owner_only(path, json.dumps(value, ensure_ascii=False, allow_nan=False))

    @property
    def _states(self) -> Path:
        return self.folder / "state"

    # --- the spec ---

    @property
    def has_spec(self) -> bool:
        """Whether there is a spec yet."""
        return self.spec_path.is_file()

    @property
    def spec_version(self) -> str:
        """A text that changes with the spec; empty where there is none."""
        return spec_file.version_of(self.spec_path)

    def document(self) -> dict[str, Any]:
        """The spec as the mapping that its TOML is; empty where there is none."""
        return spec_file.mapping_of(self.spec_path)

    def spec(self) -> TableSpec:
        """The spec, checked; ``NotFound`` where there is none."""
        if not self.has_spec:
            raise NotFound("there is no spec yet", advice="Load a table first.")
        return load_spec(self.spec_path)

    def save_spec(
        self,
        document: Mapping[str, Any],
        *,
        comments: Mapping[str, str] | None = None,
        expected: str | None = None,
        files: Mapping[Path, str] | None = None,
        states: Mapping[str, Any] | None = None,
    ) -> str:
        """Check a spec's mapping, write it, and return its version.

        Hold ``editing`` from reading the document to saving it, so that no other change is lost meanwhile.
        ``comments`` stand above attributes; None keeps those that are there. ``expected`` is the version that
        was edited: ``Conflict`` where the file has another by now. ``files`` are texts of hierarchy files
        that are written with it, and ``states`` what pages store, as one change.
        """
        text = self._text_of(document, comments)
        return self.save_spec_text(text, expected=expected, files=files, states=states)

    def checked_spec(self, document: Mapping[str, Any]) -> TableSpec:
        """The spec that a mapping would be, as ``save_spec`` checks it; nothing is written."""
        return self._checked(self._text_of(document, None))

    def _text_of(self, document: Mapping[str, Any], comments: Mapping[str, str] | None) -> str:
        before = self.spec_path.read_text(encoding="utf-8") if self.has_spec else ""
        kept, heading = spec_file.comments_in(before)
        return spec_file.text_of(document, kept if comments is None else comments, heading)

    def _checked(self, text: str) -> TableSpec:
        spec = spec_file.checked(text, self.spec_path, self._check_source)
        self._check_source(spec.source)
        self._check_paths(spec_file.paths_in(spec))
        return spec

    def save_spec_text(
        self,
        text: str,
        *,
        expected: str | None = None,
        files: Mapping[Path, str] | None = None,
        states: Mapping[str, Any] | None = None,
    ) -> str:
        """The same for a spec's TOML text."""
        with self.editing:
            if expected is not None and expected != self.spec_version:
                raise Conflict(
                    "the spec has changed meanwhile", advice="Load it again; another page or editor wrote it."
                )
            self.timeline.note("Changed outside of the workbench" if self.timeline.current else None)
            for path, content in (files or {}).items():
                write_owner_only(path, content)
            self._checked(text)
            write_owner_only(self.spec_path, text)
            for name, value in (states or {}).items():
                self.set_state(name, value)
            self.timeline.note()
            return self.spec_version

    # --- versions ---

    @cached_property
    def timeline(self) -> Timeline:
        """The versions of the work; hold ``editing`` around its calls."""
        return Timeline(self)

    def noted(self) -> None:
        """Keep what stands as a version, after a change of the request or of the chosen node."""
        with self.editing:
            self.timeline.note()

    def work(self) -> dict[str, Any]:
        """The spec's text, the request and the chosen node, as they stand."""
        spec = self.spec_path.read_text(encoding="utf-8", errors="replace") if self.has_spec else None
        return {"spec": spec, "request": self.state("request"), "choice": self.state("choice")}

    def restore_work(self, state: State) -> None:
        """The same, put back."""
        if state["spec"] is None:
            self.spec_path.unlink(missing_ok=True)
        else:
            write_owner_only(self.spec_path, state["spec"])
        for name in ("request", "choice"):
            self.set_state(name, state[name])

    # --- the table ---

    def table(self) -> Table:
        """The table of the spec as it stands; the same one until the spec or its files change."""
        return self._current().table

    def memory(self, key: str, make: Callable[[], T]) -> T:
        """What ``make`` gives, computed once for each version of the table and kept as long as that is.

        Whoever asks meanwhile waits. Nothing is kept of a failure.
        """
        remembered = self._current()
        with self._state:
            lock = remembered.locks.setdefault(key, RLock())
        with lock:
            if key not in remembered.values:
                remembered.values[key] = make()
            found: T = remembered.values[key]
            return found

    def table_digest(self) -> str:
        """A text that changes with the spec (but for its request) and with the files that it names."""
        stamps = [
            file.read_bytes() if field != "source.path" else repr(spec_file.stamp_of(file)).encode()
            for field, file in spec_file.paths_in(self.spec())
            if file.exists()
        ]
        content = json.dumps({**self.document(), "request": None}).encode()
        return sha256(b"\0".join([content, *stamps])).hexdigest()[:16]

    def forget(self) -> None:
        """Free what is remembered of the table."""
        with self._state:
            self._remembered = None

    def _current(self) -> _Remembered:
        """What is known of the spec as it stands; defaults of requests may change without its loss."""
        version = self.spec_version
        with self._state:
            found = self._remembered
            if found is not None and found.version == version and found.stamps == _stamps(found.table.spec):
                return found
            self._remembered = None
            spec = self.spec()
            content = json.dumps({**self.document(), "request": None})
            if found is not None and found.content == content and found.stamps == _stamps(spec):
                found.version, found.table.spec = version, spec
            else:
                table = Table(spec, self.settings, CurrentReporter())
                found = _Remembered(version, content, _stamps(spec), table)
            self._remembered = found
            return found

    # --- files ---

    def upload_path(self, name: str) -> Path:
        """An uploaded file; ``NotFound`` where there is none of that name."""
        path = self.uploads / safe_name(name)
        if not path.is_file() or path.is_symlink():
            raise NotFound("there is no upload of that name")
        return path

    def release_path(self, name: str) -> Path:
        """Where a release of a name lies, or would."""
        return self.releases / safe_name(name)

    def server_path(self, text: str, *, field: str = "path") -> Path:
        """The file that a user names, absolute or relative to the workspace; links are followed.

        ``FieldError`` unless it lies in the workspace or below the root.
        """
        found = below(text, base=self.folder, folders=self._folders(), field=field)
        if not os.path.exists(found):  # noqa: PTH110  (a path too long is no error here)
            raise FieldError("there is no such file", field=field)
        return found

    def spec_relative(self, path: Path) -> str:
        """How the spec names a path."""
        return spec_file.relative_to(path, self.spec_path.parent)

    def _folders(self) -> list[Path]:
        return [self.folder] if self.root is None else [self.folder, self.root]

    def _paths_given(self) -> list[Path]:
        """The files of the spec as the owner of the workspace started with it: these stay allowed."""
        try:
            spec = self.spec()
        except InputError:
            return []
        return [path.resolve() for _, path in spec_file.paths_in(spec)]

    def _database_given(self) -> tuple[str | None, str] | None:
        """The table of a database that the owner of the workspace started with: no other is asked."""
        try:
            return spec_file.database_of(self.spec().source)
        except InputError:
            return None

    def _check_source(self, source: SourceSpec) -> None:
        database = spec_file.database_of(source)
        named = self.databases and is_named_database(source.url)
        if database is not None and database != self._given_database and not named:
            raise FieldError(
                "the workspace's owner did not name this database and table",
                field="source.table",
                advice="Start discreet serve with a spec that names them.",
            )
        self._check_paths(spec_file.source_paths(source))

    def _check_paths(self, paths: Sequence[tuple[str, Path]]) -> None:
        for field, path in paths:
            found = path.resolve()
            if found not in self._given and not is_below(found, self._folders()):
                below(str(path), base=self.folder, folders=self._folders(), field=field)


def _stamps(spec: TableSpec) -> _Stamps:
    return tuple((field, spec_file.stamp_of(path)) for field, path in spec_file.paths_in(spec))
