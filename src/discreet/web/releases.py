"""Releases of a workspace: their originals, and their audits, remembered until a file changes.

Nothing of a release is handed over before its audit has passed: the routes that download ask here.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from discreet.web.problems import Conflict, NotFound
from discreet.web.workspace import Workspace
from discreet.workbench.auditing import AuditResult, audit
from discreet.workbench.releases import ReleaseFacts, release_facts
from discreet.workbench.table import Table

_KEPT = 64
_Stamp = tuple[tuple[str, int, int], ...]
_remembered: OrderedDict[_Stamp, AuditResult] = OrderedDict()
_lock = Lock()


def found_release(workspace: Workspace, name: str) -> ReleaseFacts:
    """A release of the workspace; ``NotFound`` where there is none of that name."""
    path = workspace.release_path(name)
    if not path.is_file() or path.is_symlink():
        raise NotFound("there is no release of that name", advice="Publish one first.")
    return release_facts(path)


def audit_of(workspace: Workspace, facts: ReleaseFacts) -> AuditResult:
    """The audit of a release, made anew where a file of it has changed."""
    stamp = tuple(_stamp(path) for what, path in sorted(facts.files.items()) if what != "report")
    with _lock:
        if stamp in _remembered:
            _remembered.move_to_end(stamp)
            return _remembered[stamp]
    found = audit(facts.path, settings=workspace.settings)
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
        raise Conflict(
            f"the audit of {facts.path.name} fails: nothing of it is handed over",
            advice="The file was changed after it was published. Delete it, and publish again.",
        )


def _stamp(path: Path) -> tuple[str, int, int]:
    found = path.stat()
    return str(path), found.st_mtime_ns, found.st_size
