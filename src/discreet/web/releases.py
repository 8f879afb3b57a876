"""Releases of a workspace: their originals, and their audits, remembered until a file changes.

Nothing of a release is handed over before its audit has passed: the routes that download ask here. Releases
are files of the workspace, and tables that were published from it into the database that has the source;
of these the workspace remembers names and manifests, so that a list of them asks no database.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from contextlib import suppress
from threading import Lock
from typing import Any

from discreet.errors import DiscreetError, InputError
from discreet.model.release_address import ReleaseAddress
from discreet.results.audit_result import AuditResult
from discreet.verbs.auditing import audit
from discreet.verbs.releases import (
    ReleaseFacts,
    latest_first,
    read_table_manifest,
    release_facts,
    releases_in,
    remove_release,
    table_facts,
)
from discreet.verbs.table import Table
from discreet.web.problems import Conflict, NotFound
from discreet.web.workspace import Workspace

_KEPT = 64
_TABLES = "tables"
_Stamp = tuple[tuple[str, int, int], ...]
_remembered: OrderedDict[_Stamp, AuditResult] = OrderedDict()
_lock = Lock()


def all_releases(workspace: Workspace) -> tuple[ReleaseFacts, ...]:
    """The releases of a workspace, the latest first: its files, and tables of the source's database."""
    return latest_first([*releases_in(workspace.releases), *_tables(workspace)])


def found_release(workspace: Workspace, name: str) -> ReleaseFacts:
    """A release of the workspace; ``NotFound`` where there is none of that name."""
    for facts in _tables(workspace):
        if facts.name == name:
            return facts
    path = workspace.release_path(name)
    if not path.is_file() or path.is_symlink():
        raise NotFound("there is no release of that name", advice="Publish one first.")
    return release_facts(path)


def database_of(workspace: Workspace) -> str | None:
    """The address of the database that has the source, None where the source is elsewhere."""
    if workspace.has_spec:
        with suppress(InputError):
            return workspace.spec().source.url
    return None


def remember_table(workspace: Workspace, address: ReleaseAddress) -> ReleaseFacts:
    """Read a table's manifest from the database, and keep it; ``InputError`` where there is none."""
    text = read_table_manifest(address, workspace.settings)
    with workspace.lock:
        others = [each for each in _records(workspace) if not _is(each, address)]
        same = next((each for each in _records(workspace) if _is(each, address)), None)
        unchanged = same is not None and same["manifest"] == text
        written = int(same["written"]) if same is not None and unchanged else time.time_ns()
        record = {"url": address.url, "table": address.table, "manifest": text, "written": written}
        workspace.set_state(_TABLES, [*others, record])
    return table_facts(address, text, workspace.releases, written)


def remove(workspace: Workspace, facts: ReleaseFacts) -> None:
    """Remove a release's files; a table is forgotten here, and stays in its database."""
    remove_release(facts)
    if facts.address.in_database:
        with workspace.lock:
            others = [each for each in _records(workspace) if not _is(each, facts.address)]
            workspace.set_state(_TABLES, others)


def audit_of(workspace: Workspace, facts: ReleaseFacts) -> AuditResult:
    """The audit of a release, made anew where a file of it has changed; of a table, each time."""
    if facts.address.in_database:
        return audit(facts.address, settings=workspace.settings)
    stamp = tuple(
        (str(path), path.stat().st_mtime_ns, path.stat().st_size)
        for what, path in sorted(facts.files.items())
        if what != "report"
    )
    with _lock:
        if stamp in _remembered:
            _remembered.move_to_end(stamp)
            return _remembered[stamp]
    spec = workspace.spec() if is_comparable(workspace, facts) else None
    found = audit(facts.address, spec=spec, settings=workspace.settings)
    with _lock:
        _remembered[stamp] = found
        while len(_remembered) > _KEPT:
            _remembered.popitem(last=False)
    return found


def is_comparable(workspace: Workspace, facts: ReleaseFacts) -> bool:
    """Whether the workspace's table can be the original of a release: it has the same quasi-identifiers."""
    if not workspace.has_spec:
        return False
    names = {a.name for a in workspace.spec().quasi_identifiers}
    return set(facts.as_json()["quasi_identifiers"]) == names


def original_of(workspace: Workspace, facts: ReleaseFacts) -> Table | None:
    """The workspace's table where it can be the original of a release."""
    return workspace.table() if is_comparable(workspace, facts) else None


def require_passed(workspace: Workspace, facts: ReleaseFacts) -> None:
    """Raise ``Conflict`` unless the audit of a release passes."""
    if not audit_of(workspace, facts).passed:
        what = "table" if facts.address.in_database else "file"
        raise Conflict(
            f"the audit of {facts.name} fails: nothing of it is handed over",
            advice=f"The {what} was changed after it was published. Delete it, and publish again.",
        )


def _tables(workspace: Workspace) -> list[ReleaseFacts]:
    """The tables that were published into the source's database, by what is remembered of them."""
    url, found = database_of(workspace), []
    for each in _records(workspace):
        if each["url"] == url:
            address = ReleaseAddress(table=each["table"], url=url)
            with suppress(DiscreetError):
                found.append(table_facts(address, each["manifest"], workspace.releases, each["written"]))
    return found


def _records(workspace: Workspace) -> list[dict[str, Any]]:
    return list(workspace.state(_TABLES) or [])


def _is(record: dict[str, Any], address: ReleaseAddress) -> bool:
    return (record["url"], record["table"]) == (address.url, address.table)
