"""The parts of a workspace's work, each with a tag that changes with its content.

A page remembers the tags of what it shows. A write of that page names them, so that the server refuses one
that rests on what another page, an editor or the command line has changed meanwhile. Tags are digests of
content: they need no clock and outlive a restart of the server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from discreet.errors import DiscreetError
from discreet.web.chosen_node import last_request
from discreet.web.workspace import Workspace

TABLE, REQUEST, CHOICE, SAVED = "table", "request", "choice", "saved"
PARTS = (TABLE, REQUEST, CHOICE, SAVED)
"""The table with its roles and hierarchies, the request, the chosen node, the saved answers."""

WORDS = {
    TABLE: "the table, a role or a hierarchy",
    REQUEST: "the request",
    CHOICE: "the chosen node",
    SAVED: "a saved answer",
}
_RESTS_ON = (
    ("/api/load/", (TABLE,)),
    ("/api/columns", (TABLE,)),
    ("/api/hierarchies", (TABLE,)),
    ("/api/negotiate/choice", (TABLE, REQUEST, CHOICE)),
    ("/api/negotiate/", (TABLE, REQUEST)),
    ("/api/compare/saved", (TABLE, SAVED)),
    ("/api/publish/jobs", (TABLE, REQUEST, CHOICE)),
    ("/api/publish/releases", ()),
    ("/api/workspace/spec", (TABLE,)),
    ("/api/workspace/", ()),
)

Tags = Mapping[str, str]


def tags_of(workspace: Workspace) -> dict[str, str]:
    """Return the tag of each part of a workspace's work as it is now."""
    with workspace.editing:
        return {
            TABLE: _table_tag(workspace),
            REQUEST: _request_tag(workspace),
            CHOICE: _tag(workspace.state("choice")),
            SAVED: _tag(workspace.state("saved")),
        }


def rests_on(path: str) -> tuple[str, ...]:
    """Return the parts that a write to an address rests on; all but saved answers for an unknown one."""
    return next((parts for begin, parts in _RESTS_ON if path.startswith(begin)), (TABLE, REQUEST, CHOICE))


def written(tags: Tags) -> str:
    """Write tags as the value of a header."""
    return ", ".join(f"{part}={tag}" for part, tag in tags.items())


def read(text: str) -> dict[str, str]:
    """Read tags from the value of a header; what has another form is passed over."""
    pairs = (each.strip().partition("=") for each in text.split(","))
    return {part: tag for part, equals, tag in pairs if equals and part in PARTS}


def _table_tag(workspace: Workspace) -> str:
    with suppress(DiscreetError, OSError):
        return workspace.table_digest() if workspace.has_spec else ""
    return workspace.spec_version


def _request_tag(workspace: Workspace) -> str:
    with suppress(DiscreetError, OSError):
        if workspace.has_spec:
            return _tag(last_request(workspace).model_dump())
    return _tag(workspace.state("request"))


def _tag(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
