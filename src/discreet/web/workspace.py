"""A user's workspace: a folder with the spec, uploads, requests and releases.

::

    discreet.toml     the spec, which the command line reads (or the spec that `discreet serve SPEC` names)
    hierarchies/      hierarchy files written by the pages
    uploads/          files dropped into the browser
    releases/         releases with their manifests and reports
    requests.jsonl    the log of requests
    versions/         versions for undo (``work_history``)
    state/            state of the pages: the request, the chosen node

All files are readable by their owner only. Data computed from the table (frequency set, lattice, caches of
routes) are in memory, and are dropped when the spec (except ``[request]``), the data or a hierarchy file
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
from discreet.model.json_documents import parse_json
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.screens.source_view import named_databases
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec
from discreet.spec.toml_writer import format_spec
from discreet.verbs.table import Table
from discreet.web import workspace_files
from discreet.web.error_responses import Conflict, FieldError, NotFound
from discreet.web.job_queue import ContextReporter
from discreet.web.server_config import write_owner_only
from discreet.web.work_history import RequestLog, VersionHistory, WorkState
from discreet.web.workspace_files import is_below, resolve_below, safe_name

T = TypeVar("T")

SPEC_NAME = "discreet.toml"
_Stamps = tuple[tuple[str, tuple[int, int, int] | None], ...]


class _CachedTable:
    """The cached data of one version of the table."""

    def __init__(self, version: str, content: str, stamps: _Stamps, table: Table) -> None:
        self.version = version
        self.content = content
        self.stamps = stamps
        self.table = table
        self.values: dict[str, Any] = {}
        self.locks: dict[str, RLock] = {}


class Workspace:
    """The folder of one user, and the table that its spec describes. Safe for threads."""

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
        self.edit_lock = RLock()
        self._cached_table: _CachedTable | None = None
        for path in (self.folder, self.uploads, self.releases, self.hierarchies, self._states):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        for leftover in self.uploads.glob(".*.partial"):
            leftover.unlink(missing_ok=True)
        self.spec_path = (self.folder / SPEC_NAME) if spec is None else spec.resolve()
        self._initial_paths = frozenset(self._read_initial_paths())
        self._initial_database = self._read_initial_database()
        self.history.record()

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
    def requests(self) -> RequestLog:
        """The log of requests."""
        return RequestLog(self.folder / "requests.jsonl")

    def state(self, name: str) -> Any:
        """Return the JSON value that a page stored under a name, None if there is none."""
        try:
            return parse_json((self._states / f"{safe_name(name)}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def set_state(self, name: str, value: Any) -> None:
        """Store a JSON value under a name; None removes it."""
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
        """True if there is a spec."""
        return self.spec_path.is_file()

    @property
    def spec_version(self) -> str:
        """A digest that changes with the spec; empty if there is none."""
        return workspace_files.file_version(self.spec_path)

    def document(self) -> dict[str, Any]:
        """Return the spec's TOML as a mapping; empty if there is none."""
        return workspace_files.read_document(self.spec_path)

    def spec(self) -> TableSpec:
        """Return the checked spec; raise ``NotFound`` if there is none."""
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

        Callers hold ``edit_lock`` from reading the document to saving it, so that no concurrent change is
        lost. ``comments`` are written above attributes; None keeps the existing ones. ``expected`` is the
        version that was edited: raises ``Conflict`` if the file has another version. ``files`` are texts of
        hierarchy files that are written with it, and ``states`` values that pages store, as one change.
        """
        text = self._text_of(document, comments)
        return self.save_spec_text(text, expected=expected, files=files, states=states)

    def checked_spec(self, document: Mapping[str, Any]) -> TableSpec:
        """Return the spec of a mapping, checked as in ``save_spec``; write nothing."""
        return self._checked(self._text_of(document, None))

    def _text_of(self, document: Mapping[str, Any], comments: Mapping[str, str] | None) -> str:
        before = self.spec_path.read_text(encoding="utf-8") if self.has_spec else ""
        old_comments, heading = workspace_files.parse_comments(before)
        kept = old_comments if comments is None else comments
        return format_spec(document, kept, heading=heading or workspace_files.HEADING)

    def _checked(self, text: str) -> TableSpec:
        spec = workspace_files.check_text(text, self.spec_path, self._check_source)
        self._check_source(spec.source)
        self._check_paths(workspace_files.spec_paths(spec))
        return spec

    def save_spec_text(
        self,
        text: str,
        *,
        expected: str | None = None,
        files: Mapping[Path, str] | None = None,
        states: Mapping[str, Any] | None = None,
    ) -> str:
        """Check a spec's TOML text, write it, and return its version; parameters as in ``save_spec``."""
        with self.edit_lock:
            if expected is not None and expected != self.spec_version:
                raise Conflict("another page or editor has changed the spec", advice="Load it again.")
            self.history.record("Changed outside the workbench" if self.history.current else None)
            for path, content in (files or {}).items():
                write_owner_only(path, content)
            self._checked(text)
            write_owner_only(self.spec_path, text)
            for name, value in (states or {}).items():
                self.set_state(name, value)
            self.history.record()
            return self.spec_version

    # --- versions ---

    @cached_property
    def history(self) -> VersionHistory:
        """The versions of the work; callers hold ``edit_lock`` around its methods."""
        return VersionHistory(self.folder / "versions", self.hierarchies, self.work_state, self.restore_work)

    def record_version(self) -> None:
        """Record the current state as a version, after a change of the request or of the chosen node."""
        with self.edit_lock:
            self.history.record()

    def work_state(self) -> dict[str, Any]:
        """Return the current spec text, request and chosen node."""
        spec = self.spec_path.read_text(encoding="utf-8", errors="replace") if self.has_spec else None
        return {"spec": spec, "request": self.state("request"), "choice": self.state("choice")}

    def restore_work(self, state: WorkState) -> None:
        """Restore a spec text, a request and a chosen node."""
        if state["spec"] is None:
            self.spec_path.unlink(missing_ok=True)
        else:
            write_owner_only(self.spec_path, state["spec"])
        for name in ("request", "choice"):
            self.set_state(name, state[name])

    # --- the table ---

    def table(self) -> Table:
        """Return the table of the current spec; it is the same object until the spec or its files change."""
        return self._current().table

    def compute_once(self, key: str, make: Callable[[], T]) -> T:
        """Return the result of ``make``, computed once per version of the table and cached with it.

        Concurrent callers of one key wait. The result of a call that raises is not cached.
        """
        remembered = self._current()
        with self._state:
            lock = remembered.locks.setdefault(key, RLock())
        with lock:
            if key not in remembered.values:
                remembered.values[key] = make()
            result: T = remembered.values[key]
            return result

    def table_digest(self) -> str:
        """Return a digest of the spec (except its request) and of the files that it names."""
        stamps = [
            file.read_bytes() if field != "source.path" else repr(workspace_files.file_stamp(file)).encode()
            for field, file in workspace_files.spec_paths(self.spec())
            if file.exists()
        ]
        content = json.dumps({**self.document(), "request": None}).encode()
        return sha256(b"\0".join([content, *stamps])).hexdigest()[:16]

    def clear_cache(self) -> None:
        """Free the cached data of the table."""
        with self._state:
            self._cached_table = None

    def _current(self) -> _CachedTable:
        """Return the cached table of the current spec; a change of ``[request]`` keeps the cache."""
        version = self.spec_version
        with self._state:
            result = self._cached_table
            if (
                result is not None
                and result.version == version
                and result.stamps == _stamps(result.table.spec)
            ):
                return result
            self._cached_table = None
            spec = self.spec()
            content = json.dumps({**self.document(), "request": None})
            if result is not None and result.content == content and result.stamps == _stamps(spec):
                result.version, result.table.spec = version, spec
            else:
                table = Table(spec, self.settings, ContextReporter())
                result = _CachedTable(version, content, _stamps(spec), table)
            self._cached_table = result
            return result

    # --- files ---

    def upload_path(self, name: str) -> Path:
        """Return an uploaded file; raise ``NotFound`` if there is none of the name."""
        path = self.uploads / safe_name(name)
        if not path.is_file() or path.is_symlink():
            raise NotFound("no upload has this name")
        return path

    def release_path(self, name: str) -> Path:
        """Return the path of the release of a name, which need not exist."""
        return self.releases / safe_name(name)

    def server_path(self, text: str, *, field: str = "path") -> Path:
        """Resolve a file that a user names, absolute or relative to the workspace; links are followed.

        Raises ``FieldError`` unless it is in the workspace or below the root.
        """
        result = resolve_below(text, base=self.folder, folders=self._folders(), field=field)
        if not os.path.exists(result):  # noqa: PTH110  (a path too long is no error here)
            raise FieldError("the file does not exist", field=field)
        return result

    def spec_relative(self, path: Path) -> str:
        """Return a path in the form in which the spec names it."""
        return workspace_files.relative_path(path, self.spec_path.parent)

    def _folders(self) -> list[Path]:
        return [self.folder] if self.root is None else [self.folder, self.root]

    def _read_initial_paths(self) -> list[Path]:
        """Return the files of the spec with which the workspace was opened: these remain allowed."""
        try:
            spec = self.spec()
        except InputError:
            return []
        return [path.resolve() for _, path in workspace_files.spec_paths(spec)]

    def _read_initial_database(self) -> tuple[str | None, str] | None:
        """Return the database table with which the workspace was opened: no other is queried."""
        try:
            return workspace_files.source_database(self.spec().source)
        except InputError:
            return None

    def _check_source(self, source: SourceSpec) -> None:
        database = workspace_files.source_database(source)
        named = self.databases and any(each.url == source.url for each in named_databases())
        if database is not None and database != self._initial_database and not named:
            raise FieldError(
                "the owner of the workspace did not choose this database and table",
                field="source.table",
                advice="Start the server with a spec that contains them.",
            )
        self._check_paths(workspace_files.source_paths(source))

    def _check_paths(self, paths: Sequence[tuple[str, Path]]) -> None:
        for field, path in paths:
            found = path.resolve()
            if found not in self._initial_paths and not is_below(found, self._folders()):
                resolve_below(str(path), base=self.folder, folders=self._folders(), field=field)


def _stamps(spec: TableSpec) -> _Stamps:
    return tuple(
        (field, workspace_files.file_stamp(path)) for field, path in workspace_files.spec_paths(spec)
    )
