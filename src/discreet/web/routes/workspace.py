"""The workspace: its spec, uploads, history, and the files that the server may read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from discreet.errors import InputError
from discreet.screens.source_view import table_kind
from discreet.web.dependencies import CurrentServer, CurrentWorkspace
from discreet.web.downloads import attachment
from discreet.web.parts import tags_of
from discreet.web.paths import safe_name
from discreet.web.problems import RESPONSES, FieldError, NotFound
from discreet.web.uploads import receive_file
from discreet.web.workspace import Workspace

router = APIRouter(prefix="/api/workspace", tags=["workspace"], responses=RESPONSES)

_DATA = {
    ".csv",
    ".tsv",
    ".txt",
    ".tab",
    ".parquet",
    ".pq",
    ".json",
    ".jsonl",
    ".ndjson",
    ".xlsx",
    ".sav",
    ".zsav",
    ".dta",
    ".sas7bdat",
    ".xpt",
    ".sqlite",
    ".sqlite3",
    ".db3",
    ".db",
    ".toml",
    ".sql",
}
_MOST_ENTRIES = 1000
_RAW_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class SpecFacts(BaseModel):
    """The spec's file."""

    path: str
    version: str = Field(description="Changes with the file; empty where there is none yet.")
    exists: bool


class AttributeFacts(BaseModel):
    """One attribute of the spec."""

    name: str
    role: str


class FileFacts(BaseModel):
    """One file."""

    name: str
    size: int = Field(description="In bytes.")
    modified: datetime
    path: str = Field(description="As the spec names it.")


class Limits(BaseModel):
    """What the server takes."""

    max_upload: int = Field(description="Bytes of an upload.")


class WorkspaceAnswer(BaseModel):
    """The workspace at a glance."""

    user: str
    folder: str
    root: str | None = Field(description="Files of the server below this folder may be used; null: none.")
    spec: SpecFacts
    source: str | None = Field(description="The data file that the spec names.")
    attributes: list[AttributeFacts]
    uploads: list[FileFacts]
    releases: list[str]
    requests: int = Field(description="Entries of the history.")
    limits: Limits


class UploadAnswer(BaseModel):
    """A file as it was stored."""

    name: str
    path: str = Field(description="As the spec names it.")
    size: int


class SpecAnswer(BaseModel):
    """The spec's text, its version, and the same as JSON."""

    text: str
    version: str
    document: dict[str, Any]


class PartsAnswer(BaseModel):
    """The tags of the parts of the work; one changes with its content."""

    table: str = Field(description="The table, its roles and hierarchies; not the spec's request.")
    request: str = Field(description="The request that Negotiate asked last.")
    choice: str = Field(description="The chosen node.")
    saved: str = Field(description="The saved answers.")


class SpecBody(BaseModel):
    """A spec's text; ``expected`` is the version that was edited."""

    text: str = Field(max_length=2**21)
    expected: str | None = None


class Entry(BaseModel):
    """A folder, or a file of data."""

    name: str
    path: str
    kind: Literal["folder", "file"]
    size: int | None


class Folder(BaseModel):
    """A folder that the server may read, and what lies in it."""

    folder: str
    parent: str | None
    table: str | None = Field(description="What the folder is as one table; null where it is none.")
    entries: list[Entry]


class History(BaseModel):
    """Requests, the oldest first."""

    requests: list[dict[str, Any]]


@router.get("", summary="The workspace at a glance")
def workspace(found: CurrentWorkspace, server: CurrentServer) -> WorkspaceAnswer:
    """The user's folder: spec, attributes, uploads, releases; no value of the data."""
    attributes, source = _attributes(found)
    return WorkspaceAnswer(
        user=found.user,
        folder=str(found.folder),
        root=None if found.root is None else str(found.root),
        spec=SpecFacts(path=str(found.spec_path), version=found.spec_version, exists=found.has_spec),
        source=source,
        attributes=attributes,
        uploads=[_facts(path, found) for path in _files(found.uploads)],
        releases=sorted(p.name for p in found.releases.iterdir() if not p.name.startswith(".")),
        requests=len(found.requests),
        limits=Limits(max_upload=server.config.max_upload),
    )


@router.get("/parts", summary="What the work is now")
def parts(found: CurrentWorkspace) -> PartsAnswer:
    """The tag of each part of the work, by which a page notices what another one changed.

    With ``Discreet-Tab`` and ``Discreet-Number`` the page begins anew: what the tab sent before, and arrives
    later, is refused.
    """
    return PartsAnswer(**tags_of(found))


@router.get("/spec", summary="The spec")
def spec(found: CurrentWorkspace) -> SpecAnswer:
    """The spec as text and as JSON; 404 where there is none yet."""
    if not found.has_spec:
        raise NotFound("there is no spec yet", advice="Load a table first.")
    text = found.spec_path.read_text(encoding="utf-8", errors="replace")
    return SpecAnswer(text=text, version=found.spec_version, document=found.document())


@router.put("/spec", summary="Write the spec")
def write_spec(body: SpecBody, found: CurrentWorkspace) -> SpecAnswer:
    """Check a spec's text and write it whole; the one before is kept in the workspace's `specs` folder."""
    found.save_spec_text(body.text, expected=body.expected)
    return spec(found)


@router.get("/spec/file", summary="Download the spec", response_class=Response)
def spec_file(found: CurrentWorkspace) -> Response:
    """The spec as the file that the command line reads."""
    return attachment(found.spec_path)


@router.put("/uploads/{name}", summary="Upload a file", status_code=201, openapi_extra=_RAW_BODY)
async def upload(
    name: str,
    request: Request,
    found: CurrentWorkspace,
    server: CurrentServer,
    replace: Annotated[bool, Query(description="Replace a file of that name.")] = False,
) -> UploadAnswer:
    """Store the body under a name, which is made harmless first; only the workspace's owner may read it."""
    target = found.uploads / safe_name(name)
    size = await receive_file(request, target, limit=server.config.max_upload, replace=replace)
    return UploadAnswer(name=target.name, path=found.spec_relative(target), size=size)


@router.delete("/uploads/{name}", summary="Remove an upload", status_code=204)
def remove_upload(name: str, found: CurrentWorkspace) -> Response:
    """Remove an uploaded file; a spec that names it no longer works."""
    found.upload_path(name).unlink()
    return Response(status_code=204)


@router.get("/files", summary="Files of the server")
def files(
    found: CurrentWorkspace,
    folder: Annotated[str, Query(description="A folder below the root; the root itself where empty.")] = "",
) -> Folder:
    """Folders and data files below the root that the server was started with; hidden ones are left out."""
    if found.root is None:
        raise NotFound("this server opens no files of its own", advice="Upload the file instead.")
    here = found.server_path(folder or str(found.root), field="folder")
    if not here.is_dir():
        raise FieldError("that is no folder", field="folder")
    entries = [entry for path in sorted(here.iterdir(), key=_order) if (entry := _entry(path, found))]
    inside = here != found.root and here.is_relative_to(found.root)
    return Folder(
        folder=str(here),
        parent=str(here.parent) if inside else None,
        table=table_kind(here),
        entries=entries[:_MOST_ENTRIES],
    )


@router.get("/requests", summary="The history of requests")
def requests(
    found: CurrentWorkspace,
    last: Annotated[int, Query(ge=1, le=10_000, description="How many, from the end.")] = 200,
) -> History:
    """What was asked, and what came of it."""
    return History(requests=found.requests.entries(last))


@router.delete("/requests", summary="Forget the history", status_code=204)
def forget_requests(found: CurrentWorkspace) -> Response:
    """Forget every entry of the history."""
    found.requests.clear()
    return Response(status_code=204)


def _attributes(found: Workspace) -> tuple[list[AttributeFacts], str | None]:
    try:
        table_spec = found.spec()
    except InputError:
        return [], None
    attributes = [AttributeFacts(name=a.name, role=str(a.role)) for a in table_spec.attributes]
    path = table_spec.source.path
    return attributes, None if path is None else found.spec_relative(path)


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))


def _facts(path: Path, found: Workspace) -> FileFacts:
    facts = path.stat()
    modified = datetime.fromtimestamp(facts.st_mtime, UTC)
    return FileFacts(name=path.name, size=facts.st_size, modified=modified, path=found.spec_relative(path))


def _order(path: Path) -> tuple[bool, str]:
    return not path.is_dir(), path.name.casefold()


def _entry(path: Path, found: Workspace) -> Entry | None:
    """A folder or data file, None for anything hidden, of another type, or outside the root."""
    try:
        target = path.resolve()
        is_open = found.root is not None and target.is_relative_to(found.root)
        if path.name.startswith(".") or not is_open:
            return None
        if target.is_dir():
            return Entry(name=path.name, path=str(target), kind="folder", size=None)
        if target.suffix.lower() in _DATA and target.is_file():
            return Entry(name=path.name, path=str(target), kind="file", size=target.stat().st_size)
    except OSError:
        pass
    return None
