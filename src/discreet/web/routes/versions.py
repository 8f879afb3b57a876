"""The versions of the work: taking a change back, doing it again, going back to any version."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.web.dependencies import CurrentWorkspace
from discreet.web.problems import RESPONSES, Conflict
from discreet.web.timeline import Version, changed_parts
from discreet.web.workspace import Workspace

router = APIRouter(prefix="/api/versions", tags=["versions"], responses=RESPONSES)


class VersionFacts(BaseModel):
    """One version."""

    number: int
    at: str = Field(description="When it was made, in ISO form.")
    words: str = Field(description="What was changed.")
    current: bool = Field(description="Whether it is the one that stands.")


class Steps(BaseModel):
    """What can be taken back, and done again; null where there is nothing."""

    undo: str | None
    redo: str | None


class VersionsAnswer(BaseModel):
    """The versions that are kept, the latest first."""

    versions: list[VersionFacts]
    steps: Steps


class Travelled(BaseModel):
    """Where a step led."""

    words: str = Field(description="The change that was taken back or done again.")
    changed: list[str] = Field(description="Of spec, hierarchies, request and choice those that differ now.")
    request: dict[str, Any] | None
    choice: dict[str, Any] | None
    steps: Steps


@router.get("", summary="The timeline")
def versions(workspace: CurrentWorkspace) -> VersionsAnswer:
    """Every version that is kept, and what undo and redo would do."""
    with workspace.editing:
        current = workspace.timeline.current
        facts = [
            VersionFacts(
                number=each.number,
                at=each.at,
                words=each.words,
                current=current is not None and each.number == current.number,
            )
            for each in workspace.timeline.versions
        ]
        return VersionsAnswer(versions=facts, steps=_steps(workspace))


@router.get("/steps", summary="What undo and redo would do")
def steps(workspace: CurrentWorkspace) -> Steps:
    """The changes that would be taken back and done again."""
    with workspace.editing:
        return _steps(workspace)


@router.post("/undo", summary="Take the last change back")
def undo(workspace: CurrentWorkspace) -> Travelled:
    """The work as it was before the last change; ``conflict`` where there is none."""
    with workspace.editing:
        workspace.timeline.note("Changed outside of the workbench")
        current, earlier = workspace.timeline.current, workspace.timeline.earlier
        if current is None or earlier is None:
            raise Conflict("there is nothing to take back")
        return _go(workspace, earlier.number, current.words)


@router.post("/redo", summary="Do it again")
def redo(workspace: CurrentWorkspace) -> Travelled:
    """The work as it was after the change that was taken back; ``conflict`` where there is none."""
    with workspace.editing:
        later = workspace.timeline.later
        if later is None:
            raise Conflict("there is nothing to do again")
        return _go(workspace, later.number, later.words)


@router.post("/{number}", summary="Go back to a version")
def go(number: int, workspace: CurrentWorkspace) -> Travelled:
    """The work as one of its versions has it; the others stay in the timeline."""
    with workspace.editing:
        return _go(workspace, number, None)


def _go(workspace: Workspace, number: int, words: str | None) -> Travelled:
    timeline = workspace.timeline
    before = timeline.current
    version: Version = timeline.go(number)
    return Travelled(
        words=words or version.words,
        changed=[] if before is None else changed_parts(before.state, version.state),
        request=version.state["request"],
        choice=version.state["choice"],
        steps=_steps(workspace),
    )


def _steps(workspace: Workspace) -> Steps:
    timeline = workspace.timeline
    current, earlier, later = timeline.current, timeline.earlier, timeline.later
    return Steps(
        undo=None if current is None or earlier is None else current.words,
        redo=None if later is None else later.words,
    )
