"""Releases of a workspace: facts for pages, originals, and audits that are cached until a file changes.

A release can be downloaded only after its audit has passed. Releases are files of the workspace, and tables
published from it into the source's database; names and manifests of these tables are stored, so that a list
of releases queries no database.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from contextlib import suppress
from threading import Lock
from typing import Annotated, Any

from pydantic import BaseModel, Field

from discreet.errors import DiscreetError, InputError
from discreet.model.release_address import ReleaseAddress
from discreet.results.audit_result import AuditResult
from discreet.verbs.audits import audit
from discreet.verbs.models.model_registry import model_title
from discreet.verbs.release_facts import (
    ReleaseFacts,
    list_folder_releases,
    read_release_facts,
    read_table_facts,
    read_table_manifest,
    remove_release,
    sort_latest_first,
)
from discreet.verbs.table import Table
from discreet.web.error_responses import Conflict, NotFound
from discreet.web.workspace import Workspace

_MAX_AUDITS = 64
_STATE_KEY = "tables"
_Stamp = tuple[tuple[str, int, int], ...]
_audits: OrderedDict[_Stamp, AuditResult] = OrderedDict()
_lock = Lock()


def list_releases(workspace: Workspace) -> tuple[ReleaseFacts, ...]:
    """Return the releases of a workspace, the latest first: files, and tables of the source's database."""
    return sort_latest_first([*list_folder_releases(workspace.releases), *_table_releases(workspace)])


def find_release(workspace: Workspace, name: str) -> ReleaseFacts:
    """Return a release by name; raise ``NotFound`` if there is none."""
    for facts in _table_releases(workspace):
        if facts.name == name:
            return facts
    path = workspace.release_path(name)
    if not path.is_file() or path.is_symlink():
        raise NotFound("no release has this name", advice="Publish one first.")
    return read_release_facts(path)


def source_database_url(workspace: Workspace) -> str | None:
    """Return the address of the database that contains the source, or None for a source elsewhere."""
    if workspace.has_spec:
        with suppress(InputError):
            return workspace.spec().source.url
    return None


def register_table(workspace: Workspace, address: ReleaseAddress) -> ReleaseFacts:
    """Read a table's manifest from the database and store it; raise ``InputError`` if there is none."""
    text = read_table_manifest(address, workspace.settings)
    with workspace.lock:
        others = [each for each in _table_records(workspace) if not _is_record_of(each, address)]
        same = next((each for each in _table_records(workspace) if _is_record_of(each, address)), None)
        unchanged = same is not None and same["manifest"] == text
        written = int(same["written"]) if same is not None and unchanged else time.time_ns()
        record = {"url": address.url, "table": address.table, "manifest": text, "written": written}
        workspace.set_state(_STATE_KEY, [*others, record])
    return read_table_facts(address, text, workspace.releases, written)


def delete_release(workspace: Workspace, facts: ReleaseFacts) -> None:
    """Delete a release's files; a published table is removed from the list and remains in its database."""
    remove_release(facts)
    if facts.address.in_database:
        with workspace.lock:
            others = [each for each in _table_records(workspace) if not _is_record_of(each, facts.address)]
            workspace.set_state(_STATE_KEY, others)


def cached_audit(workspace: Workspace, facts: ReleaseFacts) -> AuditResult:
    """Return the audit of a release: cached until one of its files changes; not cached for a table."""
    if facts.address.in_database:
        return audit(facts.address, settings=workspace.settings)
    stamp = tuple(
        (str(path), path.stat().st_mtime_ns, path.stat().st_size)
        for kind, path in sorted(facts.files.items())
        if kind != "report"
    )
    with _lock:
        if stamp in _audits:
            _audits.move_to_end(stamp)
            return _audits[stamp]
    spec = workspace.spec() if is_comparable(workspace, facts) else None
    result = audit(facts.address, spec=spec, settings=workspace.settings)
    with _lock:
        _audits[stamp] = result
        while len(_audits) > _MAX_AUDITS:
            _audits.popitem(last=False)
    return result


def is_comparable(workspace: Workspace, facts: ReleaseFacts) -> bool:
    """Return True if the workspace's table can be a release's original: it has the same quasi-identifiers."""
    if not workspace.has_spec:
        return False
    names = {a.name for a in workspace.spec().quasi_identifiers}
    return set(facts.as_json()["quasi_identifiers"]) == names


def original_of(workspace: Workspace, facts: ReleaseFacts) -> Table | None:
    """Return the workspace's table if it can be the original of a release, else None."""
    return workspace.table() if is_comparable(workspace, facts) else None


def require_passed_audit(workspace: Workspace, facts: ReleaseFacts) -> None:
    """Raise ``Conflict`` unless the audit of a release passes."""
    if not cached_audit(workspace, facts).passed:
        kind = "table" if facts.address.in_database else "file"
        raise Conflict(
            f"the audit of {facts.name} fails: it cannot be downloaded",
            advice=f"The {kind} was changed after it was published. Delete it, and publish again.",
        )


def _table_releases(workspace: Workspace) -> list[ReleaseFacts]:
    """Return the tables published into the source's database, from their stored records."""
    url, result = source_database_url(workspace), []
    for each in _table_records(workspace):
        if each["url"] == url:
            address = ReleaseAddress(table=each["table"], url=url)
            with suppress(DiscreetError):
                result.append(
                    read_table_facts(address, each["manifest"], workspace.releases, each["written"])
                )
    return result


def _table_records(workspace: Workspace) -> list[dict[str, Any]]:
    return list(workspace.state(_STATE_KEY) or [])


def _is_record_of(record: dict[str, Any], address: ReleaseAddress) -> bool:
    return (record["url"], record["table"]) == (address.url, address.table)


ReleaseName = Annotated[str, Field(max_length=200)]
"""The name of a release or of an uploaded file in a request body."""


class ReleaseAnswer(BaseModel):
    """A release as its manifest describes it."""

    name: str
    model: str
    title: str = Field(description="The model's title.")
    date: str
    format: str
    rows: int
    suppressed: int
    k: int | None = None
    classes: int | None = None
    permuted: bool
    permuted_attribute: str | None = None
    levels: dict[str, int]
    quasi_identifiers: list[str]
    sensitive: list[str]
    files: dict[str, str] = Field(description="Downloads, by kind.")
    tables: dict[str, str] = Field(description="Tables and views of a release in a database.")
    warnings: list[str]
    cautions: list[str] = Field(description="Cautions for a permuted release.")

    @classmethod
    def of(cls, facts: ReleaseFacts) -> ReleaseAnswer:
        """Build the answer from the facts of a release; for a table it lists the manifest as a download."""
        release_json = {"title": model_title(facts.manifest.model), **facts.as_json()}
        if facts.address.in_database:
            release_json["files"] = {"manifest": "manifest.json", **release_json["files"]}
        return cls.model_validate(release_json)


class AuditAnswer(BaseModel):
    """The counts of an audit of the written file."""

    passed: bool
    rows: int
    classes: int
    k: int
    l: dict[str, int]
    starred: int
    suppressed: int
    failing_classes: int
    class_sizes: dict[str, int]
    warnings: list[str]
    metrics: dict[str, Any]


class AuditedAnswer(BaseModel):
    """A release with its audit."""

    release: ReleaseAnswer
    audit: AuditAnswer

    @classmethod
    def of(cls, workspace: Workspace, facts: ReleaseFacts) -> AuditedAnswer:
        """Build the answer from a release and its current audit."""
        audit = AuditAnswer.model_validate(cached_audit(workspace, facts).as_json())
        return cls(release=ReleaseAnswer.of(facts), audit=audit)


class ReleaseChoice(BaseModel):
    """A release that can be selected on the Analyst or Attacker screen."""

    name: str
    model: str
    quasi_identifiers: list[str]
    sensitive: list[str]
    cautions: list[str]
    is_file: bool = Field(description="True for a file, false for a table of a database.")
    comparable: bool = Field(
        description="True if the workspace's table can be its original, so that true values are known."
    )


def choice_facts(workspace: Workspace, facts: ReleaseFacts) -> dict[str, Any]:
    """Return the fields of a ``ReleaseChoice``, among others."""
    return facts.as_json() | {
        "is_file": not facts.address.in_database,
        "comparable": is_comparable(workspace, facts),
    }
