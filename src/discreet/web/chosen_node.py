"""The node that a negotiation chose: kept in the workspace, read where a release is made."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from discreet.web.requests import Asking, RequestBody
from discreet.web.workspace import Workspace

_NAME = "choice.json"


class RequirementBody(Asking):
    """k, l, and further criteria."""

    k: int | None = None
    l: int | dict[str, int] | None = None


class ChosenNode(BaseModel):
    """Levels to publish, and what they were chosen for."""

    levels: dict[str, int] = Field(description="The level of each quasi-identifier.")
    requirement: RequirementBody = Field(description="What the release must meet.")
    max_suppressed: int | str = Field(description="The limit of suppressed rows.")
    height: int
    loss: float = Field(description="Loss with no row suppressed.")
    suppressed: int = Field(description="Rows that are suppressed.")
    rows: int = Field(description="Rows of the table.")
    request: RequestBody = Field(description="The request that was asked.")


def read_choice(workspace: Workspace) -> ChosenNode | None:
    """The chosen node; None where none is chosen, or where the spec has other quasi-identifiers by now."""
    with suppress(OSError, ValueError, ValidationError):
        choice = ChosenNode.model_validate_json(_path(workspace).read_text(encoding="utf-8"))
        if workspace.has_spec and set(choice.levels) == {a.name for a in workspace.spec().quasi_identifiers}:
            return choice
    return None


def write_choice(workspace: Workspace, choice: ChosenNode) -> None:
    """Keep a choice, in one step."""
    path = _path(workspace)
    temporary = path.with_suffix(".partial")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(choice.model_dump(), file, ensure_ascii=False)
    temporary.replace(path)


def forget_choice(workspace: Workspace) -> None:
    """Choose nothing."""
    _path(workspace).unlink(missing_ok=True)


def _path(workspace: Workspace) -> Path:
    return workspace.folder / _NAME
