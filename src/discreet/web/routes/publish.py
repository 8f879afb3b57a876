"""Routes of screen 7, Publish: publish a release: its model, options, requirement and target."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.errors import DiscreetError
from discreet.model.class_recoding import RecodingModel
from discreet.model.release_address import ReleaseAddress
from discreet.places.address import without_password
from discreet.report.translation import language_of, languages
from discreet.screens.option_forms import ModelForm, model_form, model_forms
from discreet.verbs.engine_descriptions import database_kinds
from discreet.verbs.locations import is_qualified_table_name
from discreet.verbs.release_facts import ReleaseFacts, read_release_facts
from discreet.verbs.run_context import Reporter
from discreet.web.error_responses import RESPONSES, FieldError, NotFound
from discreet.web.job_queue import JobQueue, JobStarted
from discreet.web.negotiation_forms import (
    ChosenNode,
    CriteriaBody,
    criteria_json,
    last_request,
    read_chosen_node,
)
from discreet.web.negotiations import criteria_facts
from discreet.web.request_guard import CurrentJobs, CurrentWorkspace
from discreet.web.screen_messages import describe_request
from discreet.web.workspace import Workspace
from discreet.web.workspace_files import safe_name
from discreet.web.workspace_releases import (
    AuditedAnswer,
    ReleaseAnswer,
    ReleaseName,
    find_release,
    list_releases,
    register_table,
    source_database_url,
)

router = APIRouter(prefix="/api/publish", tags=["publish"], responses=RESPONSES)


class LanguageAnswer(BaseModel):
    """A language of reports, with its name in that language."""

    code: str
    name: str


class PublishAnswer(CriteriaBody):
    """Initial data of the screen; k, l, the limit and other criteria are those of the last request."""

    models: list[ModelForm]
    quasi_identifiers: list[str] = Field(default_factory=list)
    sensitive: list[str] = Field(default_factory=list)
    k: int | None = None
    l: int | dict[str, int] | None = None
    max_suppressed: str | None = None
    row_order: Literal["sorted", "random"] = Field(
        default="sorted", description="The order of rows in the spec."
    )
    requested_levels: str | None = Field(
        default=None, description="The last negotiated levels, in words; other models ignore them."
    )
    criterion_kinds: list[dict[str, Any]] = Field(description="The criteria in addition to k and l.")
    choice: ChosenNode | None = Field(default=None, description="The node chosen in Negotiate.")
    database: str | None = Field(description="The source's database, into which a release can be written.")
    releases: list[ReleaseAnswer]


class PublishBody(CriteriaBody):
    """A publication; missing values come from the spec's ``[request]``."""

    model: str = Field(max_length=80)
    name: str | None = Field(
        None, max_length=200, description="The file to write; its suffix sets the format. Or else table."
    )
    table: str | None = Field(
        None, max_length=260, description="SCHEMA.NAME: a new table in the source's database."
    )
    k: int | None = Field(None, ge=1, le=10**9)
    l: int | dict[str, int] | None = None
    max_suppressed: int | Annotated[str, Field(max_length=20)] | None = None
    levels: dict[str, int] | None = Field(
        None, description="The level of each column, for negotiated and full-domain."
    )
    suppressed_rows: Literal["drop", "star"] = "drop"
    row_order: Literal["sorted", "random"] | None = None
    overwrite: bool = False
    previous_releases: list[ReleaseName] = Field(
        default_factory=list,
        max_length=100,
        description="Earlier releases together with which it must be safe.",
    )
    options: dict[str, bool | str | int | float | list[str] | None] = Field(default_factory=dict)


@router.get("/languages", summary="The languages of reports")
def report_languages() -> list[LanguageAnswer]:
    """Return every language in which a report can be written, English first."""
    return [LanguageAnswer(code=code, name=language_of(code).name) for code in languages()]


@router.get("", summary="Models, the chosen node, and existing releases")
def overview(workspace: CurrentWorkspace) -> PublishAnswer:
    """Return the initial data of the screen; without a spec there are no columns yet."""
    spec = workspace.spec() if workspace.has_spec else None
    answer = PublishAnswer(
        models=list(model_forms()),
        criteria={},
        criterion_kinds=criteria_facts(spec),
        database=_database_label(workspace),
        releases=[ReleaseAnswer.of(facts) for facts in list_releases(workspace)],
    )
    if spec is None:
        return answer
    request = last_request(workspace)
    bounds = {"max_level": request.max_level, "min_level": request.min_level}
    return answer.model_copy(
        update={
            "quasi_identifiers": [a.name for a in spec.quasi_identifiers],
            "sensitive": [a.name for a in spec.sensitive],
            "k": request.k,
            "l": request.l,
            "max_suppressed": str(request.max_suppressed),
            "row_order": spec.request.row_order.value,
            "requested_levels": describe_request(bounds) if any(bounds.values()) else None,
            "criteria": criteria_json(request.further_criteria()),
            "choice": read_chosen_node(workspace),
        }
    )


@router.post("/jobs", summary="Publish: recode, write, audit", status_code=202)
def publish(body: PublishBody, workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start the job that publishes; its result is the release with its audit."""
    form = model_form(body.model)
    if not workspace.has_spec:
        raise NotFound("there is no spec yet", advice="Load a table first.")
    if body.table is not None:
        return _publish_table(body, body.table, form, workspace, jobs)
    name = _file_name(body.name or "", form)
    if not name.lower().endswith(form.formats):
        raise FieldError(f"'{name}' has no known suffix", field="name", allowed=", ".join(form.formats))
    target = workspace.release_path(name)
    if target.exists() and not body.overwrite:
        raise FieldError(
            f"{name} exists already",
            field="name",
            advice="Choose another name, or allow it to be replaced.",
        )
    answer = publish_arguments(body, form) | {"previous_releases": previous_releases(workspace, body)}

    def work(_reporter: Reporter) -> dict[str, Any]:
        table = workspace.table()
        if target.exists():
            _delete_report(find_release(workspace, name))
        with workspace.lock:
            table.publish(answer.pop("answer"), target, **answer)
        facts = read_release_facts(target)
        return AuditedAnswer.of(workspace, facts).model_dump(mode="json")

    return JobStarted(job=jobs.start(f"Publishing {name}", work))


def _file_name(text: str, form: ModelForm) -> str:
    """Return the typed file name; raise ``FieldError`` with a suggestion if a file cannot have it."""
    if text.strip().lower() in form.formats:
        raise FieldError(
            "the release has no name", field="name", allowed="letters, digits, dots, hyphens, blanks"
        )
    name = safe_name(text)
    if name != text.strip():
        raise FieldError(
            "a file cannot have this name",
            field="name",
            allowed="letters, digits, dots, hyphens, blanks",
            advice=f"Use a name such as “{name.rpartition('.')[0]}”.",
        )
    return name


def publish_arguments(body: PublishBody, form: ModelForm) -> dict[str, Any]:
    """Return the arguments of ``Table.publish``."""
    found: dict[str, Any] = {"k": body.k, "l": body.l, "max_suppressed": body.max_suppressed}
    found |= {
        "suppressed_rows": body.suppressed_rows,
        "row_order": body.row_order,
        "overwrite": body.overwrite,
    }
    found |= {"criteria": body.further_criteria()}
    if form.takes_levels or (body.model == RecodingModel.FULL_DOMAIN and body.levels is not None):
        if body.options:
            raise FieldError(f"{next(iter(body.options))}: levels have no options", field="options")
        if body.levels is None:
            raise FieldError(
                "no node is chosen", field="levels", advice="Choose one in Negotiate, or give its levels."
            )
        return found | {"answer": body.levels}
    if body.levels is not None:
        raise FieldError(f"the {form.name} model has no levels", field="levels")
    try:
        return found | {"answer": form.model(body.options)}
    except DiscreetError as error:
        raise FieldError(error.message, field="options", allowed=error.allowed) from None


def previous_releases(workspace: Workspace, body: PublishBody) -> list[Path]:
    """Return the files of the earlier releases.

    Raises ``FieldError`` for a table, and for a release that this one replaces.
    """
    result = []
    for name in body.previous_releases:
        path = find_release(workspace, name).address.path
        if path is None or name == body.name:
            why = "is replaced by this one" if path else "is a table"
            raise FieldError(f"{name} {why}", field="previous_releases", advice="Remove it from the list.")
        result.append(path)
    return result


def _publish_table(
    body: PublishBody, text: str, form: ModelForm, workspace: Workspace, jobs: JobQueue
) -> JobStarted:
    """Start the job that publishes into the source's database, after a check of the target."""
    url = source_database_url(workspace)
    if body.name is not None:
        raise FieldError("both a file and a table are given", field="table", allowed="one of them")
    if url is None:
        raise FieldError(
            f"the source is not a table of {database_kinds()}", field="table", advice="Publish to a file."
        )
    target = ReleaseAddress(table=_table_name(text), url=url)
    answer = publish_arguments(body, form) | {"previous_releases": previous_releases(workspace, body)}

    def work(_reporter: Reporter) -> dict[str, Any]:
        table = workspace.table()
        with workspace.lock:
            table.publish(answer.pop("answer"), table=target.table, **answer)
        facts = register_table(workspace, target)
        _delete_report(facts)
        return AuditedAnswer.of(workspace, find_release(workspace, facts.name)).model_dump(mode="json")

    return JobStarted(job=jobs.start(f"Publishing the table {target.table}", work))


def _table_name(text: str) -> str:
    """Return a table's qualified name as typed; raise ``FieldError`` if it is invalid."""
    name, allowed = text.strip(), 'schema and name, such as out.people or out."the people"'
    if not is_qualified_table_name(name) or any(sign in name for sign in "/\\") or not name.isprintable():
        raise FieldError("not a table name with a schema", field="table", allowed=allowed)
    return name


def _database_label(workspace: Workspace) -> str | None:
    """Return the source database's address as the spec has it, without a password."""
    url = source_database_url(workspace)
    return None if url is None else without_password(url)


def _delete_report(facts: ReleaseFacts) -> None:
    """Delete the report of a release that is replaced, because it describes another file."""
    if "report" in facts.files:
        facts.files["report"].unlink(missing_ok=True)
