"""The hierarchy of a quasi-identifier as the workspace keeps it: in its spec, or in a file of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.hierarchy.messages import shown
from discreet.model.table_spec import Attribute
from discreet.verbs.spec_edits import with_hierarchy
from discreet.web.paths import safe_name
from discreet.web.problems import FieldError
from discreet.web.workspace import Workspace


def attribute_of(workspace: Workspace, name: str) -> Attribute:
    """The quasi-identifier of that name; ``FieldError`` where there is none."""
    for attribute in workspace.spec().quasi_identifiers:
        if attribute.name == name:
            return attribute
    raise FieldError(
        f"{shown(name)} is no quasi-identifier",
        field="attribute",
        advice="Give it that role on Columns first.",
    )


def given_hierarchy(workspace: Workspace, name: str) -> Any:
    """The hierarchy as the spec writes it; None for value → ``*``."""
    attribute_of(workspace, name)
    entry: dict[str, Any] = workspace.document()["attributes"][name]
    return entry.get("hierarchy")


def save_hierarchy(
    workspace: Workspace, name: str, given: Any, files: Mapping[Path, str] | None = None
) -> None:
    """Put into the spec what gives a hierarchy, and its file beside it; None for value → ``*``."""
    with workspace.editing:
        workspace.save_spec(with_hierarchy(workspace.document(), name, given), files=files)


def write_hierarchy(workspace: Workspace, name: str, text: str, least_level: int) -> None:
    """Write the workspace's file for an attribute's hierarchy, whole, and name it in the spec.

    With a ``least_level`` above 0 the spec says so, too: lower levels stay kept back.
    """
    path = _file_of(workspace, name)
    place = workspace.spec_relative(path)
    given = {"kind": "file", "path": place, "least_level": least_level} if least_level else place
    save_hierarchy(workspace, name, given, {path: text})


def write_hierarchies(workspace: Workspace, texts: Mapping[str, str]) -> None:
    """The same for several attributes at once, as one change; none keeps a level back."""
    with workspace.editing:
        document, files = workspace.document(), {}
        for name, text in texts.items():
            path = _file_of(workspace, name)
            files[path] = text
            document = with_hierarchy(document, name, workspace.spec_relative(path))
        workspace.save_spec(document, files=files)


def _file_of(workspace: Workspace, name: str) -> Path:
    """The workspace's file for an attribute's hierarchy; names that are not plain get a digest."""
    plain = f"{name}.csv"
    if safe_name(plain, field="attribute") == plain and name == name.casefold():
        return workspace.hierarchies / plain
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return workspace.hierarchies / safe_name(f"{name[:60]}-{digest}.csv", field="attribute")
