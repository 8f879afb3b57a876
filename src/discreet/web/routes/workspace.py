"""Routes of the workspace: spec, uploads, request log, server files; versions (undo, redo, restore); jobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from discreet.errors import InputError
from discreet.screens.source_view import folder_kind
from discreet.web.error_responses import RESPONSES, Conflict, FieldError, NotFound
from discreet.web.job_queue import JobAnswer, JobQueue, QueuedJob
from discreet.web.request_guard import CurrentJobs, CurrentServer, CurrentWorkspace
from discreet.web.server_state import ServerState
from discreet.web.work_history import WorkVersion, changed_parts
from discreet.web.workspace import Workspace
from discreet.web.workspace_files import attachment, receive_upload, safe_name
from discreet.web.write_order import part_tags

router = APIRouter(prefix="/api/workspace", tags=["workspace"], responses=RESPONSES)

_DATA_SUFFIXES = {
    f".{suffix}"
    for suffix in (
        *(
            "csv",
            "tsv",
            "txt",
            "tab",
            "parquet",
            "pq",
            "json",
            "jsonl",
            "ndjson",
            "xlsx",
            "sav",
            "zsav",
            "dta",
        ),
        *("sas7bdat", "xpt", "sqlite", "sqlite3", "db3", "db", "toml", "sql"),
    )
}
_MAX_ENTRIES = 1000
_RAW_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class SpecFacts(BaseModel):
    """The spec's file."""

    path: str
    version: str = Field(description="Changes with the file; empty if there is none.")
    exists: bool


class WorkspaceAttribute(BaseModel):
    """One attribute of the spec."""

    name: str
    role: str


class FileFacts(BaseModel):
    """One file."""

    name: str
    size: int = Field(description="In bytes.")
    modified: datetime
    path: str = Field(description="The path in the spec.")


class Limits(BaseModel):
    """Limits of the server."""

    max_upload: int = Field(description="Bytes of an upload.")


class WorkspaceAnswer(BaseModel):
    """Summary of the workspace."""

    user: str
    folder: str
    root: str | None = Field(description="Files of the server below this folder can be opened; null: none.")
    spec: SpecFacts
    source: str | None = Field(description="The data file of the spec.")
    attributes: list[WorkspaceAttribute]
    uploads: list[FileFacts]
    releases: list[str]
    requests: int = Field(description="Entries of the history.")
    limits: Limits


class UploadAnswer(BaseModel):
    """A stored upload."""

    name: str
    path: str = Field(description="The path in the spec.")
    size: int


class SpecAnswer(BaseModel):
    """The spec's text, its version, and its content as JSON."""

    text: str
    version: str
    document: dict[str, Any]


class PartsAnswer(BaseModel):
    """The tags of the parts of the work; a tag changes with the part's content."""

    table: str = Field(description="The table, its roles and hierarchies; not the spec's request.")
    request: str = Field(description="The last request in Negotiate.")
    choice: str = Field(description="The chosen node.")
    saved: str = Field(description="The saved answers.")


class SpecBody(BaseModel):
    """A spec's text; ``expected`` is the version that was edited."""

    text: str = Field(max_length=2**21)
    expected: str | None = None


class Entry(BaseModel):
    """A folder or a data file."""

    name: str
    path: str
    kind: Literal["folder", "file"]
    size: int | None


class Folder(BaseModel):
    """A folder that the server may read, and its entries."""

    folder: str
    parent: str | None
    table: str | None = Field(description="The kind of table that the folder is; null if it is none.")
    entries: list[Entry]


class History(BaseModel):
    """Requests, the oldest first."""

    requests: list[dict[str, Any]]


@router.get("", summary="Summary of the workspace")
def workspace(user_workspace: CurrentWorkspace, server: CurrentServer) -> WorkspaceAnswer:
    """Return spec, attributes, uploads and releases of the user's folder; no value of the data."""
    attributes, source = _attributes(user_workspace)
    return WorkspaceAnswer(
        user=user_workspace.user,
        folder=str(user_workspace.folder),
        root=None if user_workspace.root is None else str(user_workspace.root),
        spec=SpecFacts(
            path=str(user_workspace.spec_path),
            version=user_workspace.spec_version,
            exists=user_workspace.has_spec,
        ),
        source=source,
        attributes=attributes,
        uploads=[_file_facts(path, user_workspace) for path in _files(user_workspace.uploads)],
        releases=sorted(p.name for p in user_workspace.releases.iterdir() if not p.name.startswith(".")),
        requests=len(user_workspace.requests),
        limits=Limits(max_upload=server.config.max_upload),
    )


@router.get("/parts", summary="Tags of the parts")
def parts(user_workspace: CurrentWorkspace) -> PartsAnswer:
    """Return the tag of each part of the work, by which a page notices changes of another page.

    With ``Discreet-Tab`` and ``Discreet-Number`` the page starts again: writes that the tab sent before and
    that arrive later are refused.
    """
    return PartsAnswer(**part_tags(user_workspace))


@router.get("/spec", summary="The spec")
def spec(user_workspace: CurrentWorkspace) -> SpecAnswer:
    """Return the spec as text and as JSON; 404 if there is none."""
    if not user_workspace.has_spec:
        raise NotFound("there is no spec yet", advice="Load a table first.")
    text = user_workspace.spec_path.read_text(encoding="utf-8", errors="replace")
    return SpecAnswer(text=text, version=user_workspace.spec_version, document=user_workspace.document())


@router.put("/spec", summary="Write the spec")
def write_spec(body: SpecBody, user_workspace: CurrentWorkspace) -> SpecAnswer:
    """Check a spec's text and write it; the previous one is kept as a version."""
    user_workspace.save_spec_text(body.text, expected=body.expected)
    return spec(user_workspace)


@router.get("/spec/file", summary="Download the spec", response_class=Response)
def spec_file(user_workspace: CurrentWorkspace) -> Response:
    """Return the spec as the file that the command line reads."""
    return attachment(user_workspace.spec_path)


@router.put("/uploads/{name}", summary="Upload a file", status_code=201, openapi_extra=_RAW_BODY)
async def upload(
    name: str,
    request: Request,
    user_workspace: CurrentWorkspace,
    server: CurrentServer,
    replace: Annotated[bool, Query(description="Replace a file of the same name.")] = False,
) -> UploadAnswer:
    """Store the body under a name made safe for files; only the workspace's owner may read it."""
    target = user_workspace.uploads / safe_name(name)
    size = await receive_upload(request, target, limit=server.config.max_upload, replace=replace)
    return UploadAnswer(name=target.name, path=user_workspace.spec_relative(target), size=size)


@router.delete("/uploads/{name}", summary="Remove an upload", status_code=204)
def remove_upload(name: str, user_workspace: CurrentWorkspace) -> Response:
    """Delete an uploaded file; a spec that names it no longer works."""
    user_workspace.upload_path(name).unlink()
    return Response(status_code=204)


@router.get("/files", summary="Files of the server")
def files(
    user_workspace: CurrentWorkspace,
    folder: Annotated[str, Query(description="A folder below the root, by default the root.")] = "",
) -> Folder:
    """Return folders and data files below the root that the server was started with, without hidden ones."""
    if user_workspace.root is None:
        raise NotFound("this server opens no local files", advice="Upload the file instead.")
    here = user_workspace.server_path(folder or str(user_workspace.root), field="folder")
    if not here.is_dir():
        raise FieldError("this is not a folder", field="folder")
    entries = [
        entry for path in sorted(here.iterdir(), key=_entry_order) if (entry := _entry(path, user_workspace))
    ]
    inside = here != user_workspace.root and here.is_relative_to(user_workspace.root)
    return Folder(
        folder=str(here),
        parent=str(here.parent) if inside else None,
        table=folder_kind(here),
        entries=entries[:_MAX_ENTRIES],
    )


@router.get("/requests", summary="The history of requests")
def requests(
    user_workspace: CurrentWorkspace,
    last: Annotated[int, Query(ge=1, le=10_000, description="Number of entries, from the end.")] = 200,
) -> History:
    """Return the last requests with their results."""
    return History(requests=user_workspace.requests.entries(last))


@router.delete("/requests", summary="Clear the history", status_code=204)
def forget_requests(user_workspace: CurrentWorkspace) -> Response:
    """Delete every entry of the history."""
    user_workspace.requests.clear()
    return Response(status_code=204)


def _attributes(user_workspace: Workspace) -> tuple[list[WorkspaceAttribute], str | None]:
    try:
        table_spec = user_workspace.spec()
    except InputError:
        return [], None
    attributes = [WorkspaceAttribute(name=a.name, role=str(a.role)) for a in table_spec.attributes]
    path = table_spec.source.path
    return attributes, None if path is None else user_workspace.spec_relative(path)


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))


def _file_facts(path: Path, user_workspace: Workspace) -> FileFacts:
    facts = path.stat()
    modified = datetime.fromtimestamp(facts.st_mtime, UTC)
    return FileFacts(
        name=path.name, size=facts.st_size, modified=modified, path=user_workspace.spec_relative(path)
    )


def _entry_order(path: Path) -> tuple[bool, str]:
    return not path.is_dir(), path.name.casefold()


def _entry(path: Path, user_workspace: Workspace) -> Entry | None:
    """Return a folder or data file, None if it is hidden, of another type, or outside the root."""
    try:
        target = path.resolve()
        is_open = user_workspace.root is not None and target.is_relative_to(user_workspace.root)
        if path.name.startswith(".") or not is_open:
            return None
        if target.is_dir():
            return Entry(name=path.name, path=str(target), kind="folder", size=None)
        if target.suffix.lower() in _DATA_SUFFIXES and target.is_file():
            return Entry(name=path.name, path=str(target), kind="file", size=target.stat().st_size)
    except OSError:
        pass
    return None


versions_router = APIRouter(prefix="/api/versions", tags=["versions"], responses=RESPONSES)


class VersionFacts(BaseModel):
    """One version."""

    number: int
    at: str = Field(description="Time in ISO format.")
    words: str = Field(description="The change in words.")
    current: bool = Field(description="True for the current version.")


class Steps(BaseModel):
    """The changes that undo and redo would apply; null if there are none."""

    undo: str | None
    redo: str | None


class VersionsAnswer(BaseModel):
    """The stored versions, the latest first."""

    versions: list[VersionFacts]
    steps: Steps


class Travelled(BaseModel):
    """The state after undo, redo or restoring a version."""

    words: str = Field(description="The change that was undone or redone.")
    changed: list[str] = Field(description="The changed parts: spec, hierarchies, request, choice.")
    request: dict[str, Any] | None
    choice: dict[str, Any] | None
    steps: Steps


@versions_router.get("", summary="All versions")
def versions(workspace: CurrentWorkspace) -> VersionsAnswer:
    """Return every stored version, and the changes that undo and redo would apply."""
    with workspace.edit_lock:
        current = workspace.history.current
        facts = [
            VersionFacts(
                number=each.number,
                at=each.at,
                words=each.words,
                current=current is not None and each.number == current.number,
            )
            for each in workspace.history.versions
        ]
        return VersionsAnswer(versions=facts, steps=_undo_steps(workspace))


@versions_router.get("/steps", summary="Changes that undo and redo apply")
def steps(workspace: CurrentWorkspace) -> Steps:
    """Return the changes that undo and redo would apply."""
    with workspace.edit_lock:
        return _undo_steps(workspace)


@versions_router.post("/undo", summary="Undo the last change")
def undo(workspace: CurrentWorkspace) -> Travelled:
    """Restore the work before the last change; ``conflict`` if there is none."""
    with workspace.edit_lock:
        workspace.history.record("Changed outside the workbench")
        current, earlier = workspace.history.current, workspace.history.previous
        if current is None or earlier is None:
            raise Conflict("there is nothing to undo")
        return _restore(workspace, earlier.number, current.words)


@versions_router.post("/redo", summary="Redo the undone change")
def redo(workspace: CurrentWorkspace) -> Travelled:
    """Restore the work after the change that was undone; ``conflict`` if there is none."""
    with workspace.edit_lock:
        later = workspace.history.next
        if later is None:
            raise Conflict("there is nothing to redo")
        return _restore(workspace, later.number, later.words)


@versions_router.post("/{number}", summary="Restore a version")
def go(number: int, workspace: CurrentWorkspace) -> Travelled:
    """Restore a version of the work; the other versions are kept."""
    with workspace.edit_lock:
        return _restore(workspace, number, None)


def _restore(workspace: Workspace, number: int, words: str | None) -> Travelled:
    history = workspace.history
    before = history.current
    version: WorkVersion = history.restore(number)
    return Travelled(
        words=words or version.words,
        changed=[] if before is None else changed_parts(before.state, version.state),
        request=version.state["request"],
        choice=version.state["choice"],
        steps=_undo_steps(workspace),
    )


def _undo_steps(workspace: Workspace) -> Steps:
    history = workspace.history
    current, earlier, later = history.current, history.previous, history.next
    return Steps(
        undo=None if current is None or earlier is None else current.words,
        redo=None if later is None else later.words,
    )


_POLL_SECONDS = 0.1
_POLLS_PER_HEARTBEAT = 150

jobs_router = APIRouter(prefix="/api/jobs", tags=["jobs"], responses=RESPONSES)


class JobsAnswer(BaseModel):
    """The user's jobs, the latest first."""

    jobs: list[JobAnswer]


@jobs_router.get("", summary="All jobs")
def jobs(queue: CurrentJobs) -> JobsAnswer:
    """Return jobs that run or wait, and the last 50 that have ended."""
    return JobsAnswer(jobs=[queue.answer(job) for job in queue.all()])


@jobs_router.get("/{job_id}", summary="One job")
def job(job_id: str, queue: CurrentJobs) -> JobAnswer:
    """Return the state of a job: its progress, and its result or error once it has ended."""
    return queue.answer(queue.find(job_id))


@jobs_router.delete("/{job_id}", summary="Cancel a job, or remove one that has ended")
def cancel(job_id: str, queue: CurrentJobs) -> JobAnswer:
    """Cancel a job where it next reports progress; partly written output is removed."""
    return queue.answer(queue.cancel(job_id))


@jobs_router.get(
    "/{job_id}/events",
    summary="Events of a job's progress",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Events named `job`."}},
)
def events(job_id: str, queue: CurrentJobs, server: CurrentServer) -> StreamingResponse:
    """Stream Server-Sent Events named `job`, each with the job as JSON; the last one has a final state."""
    return StreamingResponse(
        _stream_events(queue, queue.find(job_id), server),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


async def _stream_events(jobs_of_user: JobQueue, job: QueuedJob, server: ServerState) -> AsyncIterator[str]:
    seen, looks = -1, 0
    while not server.closing:
        changes, has_ended = job.changes, job.has_ended
        if changes != seen:
            seen, looks = changes, 0
            yield f"event: job\ndata: {jobs_of_user.answer(job).model_dump_json()}\n\n"
        if has_ended:
            return
        looks += 1
        if looks % _POLLS_PER_HEARTBEAT == 0:
            yield ": heartbeat\n\n"
        await asyncio.sleep(_POLL_SECONDS)
