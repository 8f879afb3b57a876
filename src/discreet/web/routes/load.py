"""Routes of screen 1, Load: the table, how it is read, available sheets and databases, and the summary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.errors import DiscreetError, InputError
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.screens.source_view import (
    SAMPLE_NAME,
    available_sheets,
    list_tables,
    named_databases,
    view_source,
    write_sample_table,
)
from discreet.spec.spec_reader import read_spec_mapping
from discreet.verbs.run_context import Reporter
from discreet.verbs.spec_editor import with_source
from discreet.web.error_responses import RESPONSES, FieldError
from discreet.web.job_queue import JobStarted
from discreet.web.load_forms import (
    CellFormatBody,
    DatabaseBody,
    SourceBody,
    SourceLocation,
    body_from_source,
    document_with_format,
    format_field,
    named_database_address,
    relocate_spec,
    source_from_body,
    source_location,
    spec_source_table,
)
from discreet.web.request_guard import CurrentJobs, CurrentWorkspace
from discreet.web.screen_messages import Advice, hints_of_warnings, screen_message
from discreet.web.step_progress import (
    Step,
    count_lattice_nodes,
    get_profile,
    profile_cache_of,
    publication_steps,
)
from discreet.web.workspace import Workspace
from discreet.web.workspace_files import spec_paths
from discreet.web.workspace_releases import list_releases

router = APIRouter(prefix="/api/load", tags=["load"], responses=RESPONSES)

LOAD_FORMATS = ("csv", "tsv", "parquet", "jsonl", "xlsx", "sqlite")
_UNCHANGED_NOTE = "The open table is unchanged."


class OpenSpecBody(BaseModel):
    """An existing spec: the path of a TOML file below the root or in the workspace."""

    path: str = Field(min_length=1, max_length=4096)


class RequestFacts(BaseModel):
    """The defaults of a request."""

    k: int | None
    l: int | dict[str, int] | None
    max_suppressed: int | str | None


class AttributeFacts(BaseModel):
    """One attribute."""

    name: str
    role: str
    hierarchy: str | None = Field(description="The origin of its hierarchy; null: value → *.")
    weight: float


class SourceName(BaseModel):
    """The source's file."""

    name: str
    label: str


class Summary(BaseModel):
    """The facts of the workspace that every screen shows."""

    source: SourceName | None = None
    rows: int | None = Field(default=None, description="Null until the columns have been profiled.")
    columns: int = 0
    attributes: list[AttributeFacts] = Field(default_factory=list)
    quasi_identifiers: list[str] = Field(default_factory=list)
    sensitive: list[str] = Field(default_factory=list)
    nodes: int | None = Field(
        default=None, description="The size of the lattice, if all hierarchies can be built."
    )
    request: RequestFacts | None = None
    releases: int
    steps: list[Step]


class LoadAnswer(BaseModel):
    """The source as the spec has it, and as it is read."""

    place: SourceLocation | None = Field(
        description="The location of the rows of a source that is not a file."
    )
    source: SourceBody | None
    view: dict[str, Any] | None = Field(description="The inferred format, the columns, and the first rows.")
    error: dict[str, Any] | None = Field(description="The error if the source cannot be read.")
    rows: int | None
    null_texts: list[str] = Field(description="Texts that look like NULL.")
    warnings: list[Advice]
    attributes: int = Field(description="Attributes that the spec lists.")
    formats: list[str]
    sheets: list[str] = Field(description="The sheets of a spreadsheet that has several with cells.")
    version: str = Field(description="The spec's version.")


class ViewAnswer(BaseModel):
    """A source as it would be read; nothing is saved."""

    source: SourceBody
    view: dict[str, Any]


@router.get("/summary", summary="Summary of the workspace")
def summary(workspace: CurrentWorkspace) -> Summary:
    """Return the facts that every screen shows: the source, counts, attributes, and the steps."""
    if not workspace.has_spec:
        return Summary(releases=len(list_releases(workspace)), steps=publication_steps(workspace))
    spec = workspace.spec()
    study = profile_cache_of(workspace).find(spec.source)
    request = spec.request
    path = spec.source.path
    return Summary(
        source=SourceName(
            name=path.name if path else spec.source.label,
            label=str(path.resolve()) if path else spec.source.label,
        ),
        rows=None if study is None else study.rows,
        columns=len(spec.attributes) if study is None else len(study.names),
        attributes=[
            AttributeFacts(
                name=a.name,
                role=str(a.role),
                hierarchy=None if a.hierarchy is None else a.hierarchy.origin,
                weight=a.weight,
            )
            for a in spec.attributes
        ],
        quasi_identifiers=[a.name for a in spec.quasi_identifiers],
        sensitive=[a.name for a in spec.sensitive],
        nodes=count_lattice_nodes(workspace, spec, study),
        request=RequestFacts(
            k=request.k,
            l=dict(request.l) if isinstance(request.l, dict) else request.l,  # type: ignore[arg-type]
            max_suppressed=request.max_suppressed,
        ),
        releases=len(list_releases(workspace)),
        steps=publication_steps(workspace),
    )


@router.get("", summary="The source")
def load(workspace: CurrentWorkspace) -> LoadAnswer:
    """Return the spec's source, its inferred format, its columns and first rows; or the reading error."""
    source, view, error, study, attributes, location = None, None, None, None, 0, None
    others: tuple[str, ...] = ()
    if workspace.has_spec:
        spec = workspace.spec()
        location = source_location(spec.source)
        source, attributes = body_from_source(spec.source, workspace), len(spec.attributes)
        study = profile_cache_of(workspace).find(spec.source)
        try:
            others = available_sheets(spec.source)
            view = _source_view(spec.source, workspace)
        except DiscreetError as problem:
            error = dict(problem.as_json()["error"])
    return LoadAnswer(
        place=location,
        source=source,
        view=view,
        error=error,
        rows=None if study is None else study.rows,
        null_texts=[] if study is None else list(study.null_texts),
        warnings=[] if study is None else hints_of_warnings(study.warnings),
        attributes=attributes,
        formats=list(LOAD_FORMATS),
        sheets=list(others),
        version=workspace.spec_version,
    )


@router.post("/view", summary="Preview a source")
def view(body: SourceBody, workspace: CurrentWorkspace) -> ViewAnswer:
    """Return how a file would be read, with inferred values for omitted ones. Nothing is saved."""
    source = source_from_body(body, workspace)
    return ViewAnswer(source=body_from_source(source, workspace), view=_source_view(source, workspace))


@router.post("/open", summary="Open a table", status_code=202)
def open_table(body: SourceBody, workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start a job that profiles a file's columns, proposes roles, and writes a spec.

    The job's result is the summary.
    """
    source = source_from_body(body, workspace)
    if source.path is None:
        view_source(source, workspace.settings, rows=1)

    def work(reporter: Reporter) -> dict[str, Any]:
        if source.path is not None:  # slow for a file of very many columns; in the job it can be cancelled
            with reporter.stage("Detecting the format"):
                view_source(source, workspace.settings, rows=1)
        study = profile_cache_of(workspace).study(source, workspace, reporter)
        texts = tuple(dict.fromkeys((*source.null_values, *study.null_texts)))
        if texts != source.null_values:
            study = profile_cache_of(workspace).study(replace(source, null_values=texts), workspace, reporter)
        document, read = study.document(None), study.applied(replace(source, null_values=texts))
        path = workspace.spec_relative(source.path) if source.path else ""
        table = spec_source_table(read, path)
        workspace.save_spec(with_source(document, table), comments=study.reasons())
        return summary(workspace).model_dump()

    return JobStarted(job=jobs.start(f"Opening {Path(body.path).name or source.label}", work))


@router.put("/source", summary="Change how the source is read")
def change_source(body: SourceBody, workspace: CurrentWorkspace) -> LoadAnswer:
    """Change how the source is read (format, encoding, NULL policy, subject) and save the spec.

    Roles are kept. For a table of a database only the NULL policy, the subject, and the policy for unlisted
    columns can change.
    """
    if not body.path and workspace.has_spec and workspace.spec().source.path is None:
        return _change_database(body, workspace)
    source = source_from_body(body, workspace)
    found = view_source(source, workspace.settings, rows=1)
    if source.subject is not None and source.subject not in found.columns:
        raise FieldError("the source has no such column", field="subject")
    path = workspace.spec_relative(source.path) if source.path else ""
    with workspace.edit_lock:
        changed = with_source(workspace.document(), spec_source_table(source, path))
        changed["attributes"] = {
            name: entry for name, entry in changed["attributes"].items() if name in found.columns
        }
        workspace.save_spec(changed)
    return load(workspace)


@router.put("/format", summary="Set a column's cell format")
def change_written(body: CellFormatBody, workspace: CurrentWorkspace) -> LoadAnswer:
    """Set a column's cell format in the spec; without one its cells are read unchanged."""
    with workspace.edit_lock:
        try:
            workspace.save_spec(document_with_format(body, workspace))
        except FieldError:
            raise
        except InputError as error:
            raise FieldError.of(error, format_field(error)) from None
    return load(workspace)


@router.post("/study", summary="Profile the columns", status_code=202)
def profile(workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start a job that profiles the source's columns unless that is done; its result is the summary."""
    workspace.spec()

    def work(reporter: Reporter) -> dict[str, Any]:
        get_profile(workspace, reporter)
        return summary(workspace).model_dump()

    return JobStarted(job=jobs.start("Profiling columns", work))


@router.post("/spec", summary="Open a spec")
def open_spec(body: OpenSpecBody, workspace: CurrentWorkspace) -> LoadAnswer:
    """Copy an existing spec into the workspace, with its paths rewritten for the new location."""
    path = workspace.server_path(body.path)
    if path.suffix.lower() != ".toml":
        raise FieldError("this is not a spec", field="path", allowed="a TOML file such as discreet.toml")
    copies = workspace.folder / "specs"  # earlier versions, whose paths are relative to the workspace's spec
    folder = workspace.spec_path.parent if path.parent == copies else path.parent
    with workspace.edit_lock:
        document = relocate_spec(read_spec_mapping(path), folder, workspace)
        _check_readable(workspace.checked_spec(document), workspace)
        workspace.save_spec(document, comments={})
    return load(workspace)


@router.post("/sample", summary="Open a generated table", status_code=202)
def open_sample(workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start a job that writes a census of 30,000 invented people into the uploads, with its spec."""

    def work(reporter: Reporter) -> dict[str, Any]:
        path = workspace.uploads / SAMPLE_NAME
        document = write_sample_table(workspace.uploads, path=workspace.spec_relative(path))
        workspace.save_spec(document, comments={})
        get_profile(workspace, reporter)
        return summary(workspace).model_dump()

    return JobStarted(job=jobs.start("Making the sample", work))


def _source_view(source: SourceSpec, workspace: Workspace) -> dict[str, Any]:
    """Return how a source is read, with the reasons of inferred values in the words of the screens."""
    view = view_source(source, workspace.settings).as_json()
    if view["form"] is not None:
        reasons = view["form"]["reasons"]
        view["form"]["reasons"] = {part: screen_message(why) for part, why in reasons.items()}
    return view


def _check_readable(spec: TableSpec, workspace: Workspace) -> None:
    """Raise ``FieldError`` if a table or the file of a hierarchy cannot be read."""
    try:
        found = view_source(spec.source, workspace.settings, rows=1)
    except DiscreetError as error:
        raise FieldError(
            f"its table cannot be read: {error.message}",
            field="path",
            allowed=error.allowed,
            advice=_UNCHANGED_NOTE,
        ) from None
    for field, file in spec_paths(spec):
        if not file.exists():
            raise FieldError(
                f"{field} names {file.name}, which is missing", field="path", advice=_UNCHANGED_NOTE
            )
    for attribute in spec.attributes:
        if attribute.name not in found.columns:
            raise FieldError(
                f"its table has no column '{attribute.name}'", field="path", advice=_UNCHANGED_NOTE
            )


def _change_database(body: SourceBody, workspace: Workspace) -> LoadAnswer:
    """Change how the spec's own database table is read; the table itself cannot change."""
    with workspace.edit_lock:
        document = workspace.document()
        settings: dict[str, Any] = {
            "null_values": list(dict.fromkeys(body.null_values)),
            "null_policy": body.null_policy,
            "subject": body.subject or None,
            "rows_are_people": body.rows_are_people and not body.subject,
            "unlisted_columns": body.unlisted_columns,
            "decimal": body.decimal,
            "strip": body.strip,
        }
        if settings["subject"] is not None:
            columns = view_source(workspace.spec().source, workspace.settings, rows=1).columns
            if settings["subject"] not in columns:
                raise FieldError("the source has no such column", field="subject")
        workspace.save_spec(with_source(document, {**document["source"], **settings}))
    return load(workspace)


class DatabasesAnswer(BaseModel):
    """Databases by name; ``allowed`` is false if this server opens none."""

    allowed: bool
    databases: list[DatabaseBody]


class TablesAnswer(BaseModel):
    """The names of tables, with their schemas."""

    tables: list[str]


class SheetsAnswer(BaseModel):
    """The selectable sheets; empty if there is no choice."""

    sheets: list[str]


@router.post("/sheets", summary="The sheets of a spreadsheet")
def sheets(body: SourceBody, workspace: CurrentWorkspace) -> SheetsAnswer:
    """Return the selectable sheets of a spreadsheet that has several with cells."""
    return SheetsAnswer(sheets=list(available_sheets(source_from_body(body, workspace))))


@router.get("/databases", summary="Available databases")
def databases(workspace: CurrentWorkspace) -> DatabasesAnswer:
    """Return the databases named in the server's environment and service file, by name."""
    found = named_databases() if workspace.databases else ()
    return DatabasesAnswer(
        allowed=workspace.databases,
        databases=[DatabaseBody(name=each.name, service=each.is_service) for each in found],
    )


@router.post("/tables", summary="The tables of a database")
def tables(body: DatabaseBody, workspace: CurrentWorkspace) -> TablesAnswer:
    """Return the names of tables and views that the server's user may read. No row is read."""
    url = named_database_address(body, workspace)
    return TablesAnswer(tables=list(list_tables(url, workspace.settings)))
