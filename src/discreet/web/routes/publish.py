"""Screen 7: releases are made, audited, shown with their evidence, handed over, and removed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field

from discreet.errors import DiscreetError
from discreet.model.class_recoding import RecodingModel
from discreet.model.criteria.base import Criterion
from discreet.model.option import OptionKind
from discreet.model.release_address import ReleaseAddress
from discreet.places.address import without_password
from discreet.report.report import report
from discreet.web.chosen_node import ChosenNode, read_choice
from discreet.web.dependencies import CurrentJobs, CurrentWorkspace
from discreet.web.downloads import attached_text, attachment, offline_page
from discreet.web.jobs import Jobs, JobStarted
from discreet.web.negotiations import criteria_facts
from discreet.web.paths import safe_name
from discreet.web.problems import RESPONSES, FieldError, NotFound
from discreet.web.releases import (
    all_releases,
    audit_of,
    database_of,
    found_release,
    original_of,
    remember_table,
    remove,
    require_passed,
)
from discreet.web.requests import Asking, values_of
from discreet.web.workspace import Workspace
from discreet.workbench.addresses import names_schema_and_table
from discreet.workbench.engine_words import databases
from discreet.workbench.model_forms import ModelForm, form_of, model_forms
from discreet.workbench.releases import ReleaseFacts, read_table_manifest, release_facts, report_path
from discreet.workbench.reporting import Reporter

router = APIRouter(prefix="/api/publish", tags=["publish"], responses=RESPONSES)

Name = Annotated[str, Path(max_length=200, description="A release's file name.")]
ShortText = Annotated[str, Field(max_length=4000)]


class FieldAnswer(BaseModel):
    """One option of a model."""

    name: str
    label: str
    kind: OptionKind
    choices: tuple[str, ...]
    default: str | None
    hint: str
    repeatable: bool = Field(description="Whether several are taken: a list, or a text of one per line.")


class ModelAnswer(BaseModel):
    """A model with its options."""

    name: str
    title: str
    text: str
    fields: tuple[FieldAnswer, ...]
    main: bool = Field(description="Whether it is listed before the others.")
    permuted: bool = Field(description="Whether sensitive values change places within groups.")
    takes_levels: bool
    takes_suppression: bool
    takes_l: bool
    formats: tuple[str, ...]


class ReleaseAnswer(BaseModel):
    """A release as its manifest describes it."""

    name: str
    model: str
    date: str
    format: str
    rows: int
    suppressed: int
    k: int | None = None
    classes: int | None = None
    permuted: bool
    permuted_attribute: str | None = None
    levels: dict[str, int]
    quasi_identifiers: list[str]
    sensitive: list[str]
    files: dict[str, str] = Field(description="What can be downloaded, by what it is.")
    tables: dict[str, str] = Field(description="Of a release in a database: its tables and views.")
    warnings: list[str]
    cautions: list[str] = Field(description="What must stand beside a permuted release.")


class PublishAnswer(Asking):
    """What the screen begins with; k, l and other criteria are those that the spec asks."""

    models: list[ModelAnswer]
    quasi_identifiers: list[str]
    sensitive: list[str]
    k: int | None
    l: int | dict[str, int] | None
    max_suppressed: str | None
    criterion_kinds: list[dict[str, Any]] = Field(
        description="The criteria that may be asked beside k and l."
    )
    choice: ChosenNode | None = Field(description="The node chosen in Negotiate.")
    database: str | None = Field(description="The database that has the source, where a release may go too.")
    releases: list[ReleaseAnswer]


class PublishBody(Asking):
    """What to publish; what is left out comes from the spec's ``[request]``."""

    model: str = Field(max_length=80)
    name: str | None = Field(
        None, max_length=200, description="The file to write, its ending says the format; or else table."
    )
    table: str | None = Field(
        None, max_length=260, description="SCHEMA.NAME: a new table of the database that has the source."
    )
    k: int | None = Field(None, ge=1, le=10**9)
    l: int | dict[str, int] | None = None
    max_suppressed: int | Annotated[str, Field(max_length=20)] | None = None
    levels: dict[str, int] | None = Field(
        None, description="The level of each column: negotiated, full-domain."
    )
    suppressed: Literal["drop", "star"] = "drop"
    overwrite: bool = False
    options: dict[str, bool | str | int | float | list[str] | None] = Field(default_factory=dict)


class ReportBody(BaseModel):
    """The publisher's own words; what is left out stays blank in the report."""

    title: ShortText | None = None
    purpose: ShortText | None = None
    recipient: ShortText | None = None
    threat_model: ShortText | None = None
    population: ShortText | None = None
    controls: ShortText | None = None
    prepared_by: ShortText | None = None
    valid_until: ShortText | None = None


class AuditAnswer(BaseModel):
    """What the audit counted in the written file."""

    passed: bool
    rows: int
    classes: int
    k: int
    l: dict[str, int]
    starred: int
    suppressed: int
    failing_classes: int
    class_sizes: dict[str, int]
    warnings: list[str]
    metrics: dict[str, Any]


class AuditedAnswer(BaseModel):
    """A release with its audit."""

    release: ReleaseAnswer
    audit: AuditAnswer


class Removed(BaseModel):
    """What was removed."""

    removed: list[str]


@router.get("", summary="Models, the chosen node, and the releases there are")
def overview(workspace: CurrentWorkspace) -> PublishAnswer:
    """What the screen begins with; without a spec there are no columns yet."""
    keys: list[str] = []
    values: list[str] = []
    further: tuple[Criterion, ...] = ()
    k = l = limit = None
    if workspace.has_spec:
        spec = workspace.spec()
        keys = [a.name for a in spec.quasi_identifiers]
        values = [a.name for a in spec.sensitive]
        asked = workspace.document().get("request", {})
        k, l = asked.get("k"), asked.get("l")
        limit = None if asked.get("max_suppressed") is None else str(asked["max_suppressed"])
        further = spec.request.criteria
    return PublishAnswer(
        models=[ModelAnswer.model_validate(form, from_attributes=True) for form in model_forms()],
        quasi_identifiers=keys,
        sensitive=values,
        k=k,
        l=l,
        max_suppressed=limit,
        criteria=values_of(further),
        criterion_kinds=criteria_facts(),
        choice=read_choice(workspace) if workspace.has_spec else None,
        database=_database(workspace),
        releases=[_release(facts) for facts in all_releases(workspace)],
    )


@router.post("/jobs", summary="Publish: recode, write, audit", status_code=202)
def publish(body: PublishBody, workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start the job that publishes; its result is the release with its audit."""
    form = form_of(body.model)
    if not workspace.has_spec:
        raise NotFound("there is no spec yet", advice="Load a table first.")
    if body.table is not None:
        return _publish_table(body, body.table, form, workspace, jobs)
    name = safe_name(body.name or "")
    if not name.lower().endswith(form.formats):
        raise FieldError(f"'{name}' names no format to write", field="name", allowed=", ".join(form.formats))
    target = workspace.release_path(name)
    if target.exists() and not body.overwrite:
        raise FieldError(
            f"{name} is there already",
            field="name",
            advice="Choose another name, or allow it to be replaced.",
        )
    answer = _asked(body, form)

    def work(_reporter: Reporter) -> dict[str, Any]:
        table = workspace.table()
        if target.exists():
            _forget_report(found_release(workspace, name))
        with workspace.lock:
            table.publish(answer.pop("answer"), target, **answer)
        facts = release_facts(target)
        return _audited(workspace, facts).model_dump(mode="json")

    return JobStarted(job=jobs.start(f"Publishing {name}", work))


@router.get("/releases", summary="The releases there are")
def releases(workspace: CurrentWorkspace) -> list[ReleaseAnswer]:
    """Every release of the workspace, the latest first."""
    return [_release(facts) for facts in all_releases(workspace)]


@router.get("/releases/{name}", summary="A release and its audit")
def release(name: Name, workspace: CurrentWorkspace) -> AuditedAnswer:
    """The facts of a release, and what an audit counts in its file now."""
    facts = found_release(workspace, name)
    if facts.address.in_database:
        facts = remember_table(workspace, facts.address)
    return _audited(workspace, facts)


@router.post("/releases/{name}/report", summary="Write the report of a release", status_code=202)
def write_report(name: Name, body: ReportBody, workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start the job that writes the report; the original's table, where there is one, tells utility."""
    facts = found_release(workspace, name)
    texts = body.model_dump()

    def work(reporter: Reporter) -> dict[str, Any]:
        made = report(
            facts.address,
            output=report_path(facts.address, workspace.releases) if facts.address.in_database else None,
            table=original_of(workspace, facts),
            overwrite=True,
            settings=workspace.settings,
            reporter=reporter,
            **texts,
        )
        made.path.chmod(0o600)
        return {"name": made.path.name, "passed": made.passed}

    return JobStarted(job=jobs.start(f"Writing the report of {facts.name}", work))


@router.get("/releases/{name}/report", summary="The report, to be read here", response_class=FileResponse)
def read_report(name: Name, workspace: CurrentWorkspace) -> FileResponse:
    """The report as a page; ``not-found`` where none was written yet."""
    facts = found_release(workspace, name)
    if "report" not in facts.files:
        raise NotFound("this release has no report yet", advice="Write it first.")
    return offline_page(facts.files["report"])


@router.get(
    "/releases/{name}/files/{what}", summary="Download a file of a release", response_class=FileResponse
)
def download(
    name: Name,
    what: Annotated[str, Path(max_length=40, description="data, manifest, report, help or sensitive.")],
    workspace: CurrentWorkspace,
) -> Response:
    """A file of a release, handed over only where the audit of the release passes.

    Of a table of a database it is the manifest, as its companion table has it, and the report.
    """
    facts = found_release(workspace, name)
    if what == "manifest" and facts.address.in_database:
        require_passed(workspace, facts)
        return attached_text(read_table_manifest(facts.address, workspace.settings), "manifest.json")
    if what not in facts.files:
        raise NotFound(f"this release has no such file: {', '.join(facts.files)}")
    require_passed(workspace, facts)
    return attachment(facts.files[what])


@router.delete("/releases/{name}", summary="Delete a release")
def delete(name: Name, workspace: CurrentWorkspace) -> Removed:
    """Remove a release with its manifest, its report, and its further files.

    A table of a database stays there with its companions: it is only taken from the list.
    """
    facts = found_release(workspace, name)
    remove(workspace, facts)
    return Removed(removed=[path.name for path in facts.files.values()])


def _asked(body: PublishBody, form: ModelForm) -> dict[str, Any]:
    """The arguments of ``Table.publish``."""
    found: dict[str, Any] = {"k": body.k, "l": body.l, "max_suppressed": body.max_suppressed}
    found |= {"suppressed": body.suppressed, "overwrite": body.overwrite, "criteria": body.further()}
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


def _publish_table(
    body: PublishBody, text: str, form: ModelForm, workspace: Workspace, jobs: Jobs
) -> JobStarted:
    """Start the job that publishes into the source's database; a missing right is said before it counts."""
    url = database_of(workspace)
    if body.name is not None:
        raise FieldError("both a file and a table are named", field="table", allowed="one of them")
    if url is None:
        raise FieldError(
            f"the source is no table of {databases()}", field="table", advice="Publish to a file."
        )
    target = ReleaseAddress(table=_table_name(text), url=url)
    answer = _asked(body, form)

    def work(_reporter: Reporter) -> dict[str, Any]:
        table = workspace.table()
        with workspace.lock:
            table.publish(answer.pop("answer"), table=target.table, **answer)
        facts = remember_table(workspace, target)
        _forget_report(facts)
        return _audited(workspace, found_release(workspace, facts.name)).model_dump(mode="json")

    return JobStarted(job=jobs.start(f"Publishing the table {target.table}", work))


def _table_name(text: str) -> str:
    """A table's name with its schema, as it was written; ``FieldError`` where it is none."""
    name, allowed = text.strip(), 'SCHEMA.NAME, as in out.people or out."the people"'
    if not names_schema_and_table(name) or any(sign in name for sign in "/\\") or not name.isprintable():
        raise FieldError("that is no table's name with its schema", field="table", allowed=allowed)
    return name


def _database(workspace: Workspace) -> str | None:
    """What the page calls the database of the source: the address as the spec has it, without a password."""
    url = database_of(workspace)
    return None if url is None else without_password(url)


def _forget_report(facts: ReleaseFacts) -> None:
    """A release that is replaced takes its report with it, which speaks of another file."""
    if "report" in facts.files:
        facts.files["report"].unlink(missing_ok=True)


def _audited(workspace: Workspace, facts: ReleaseFacts) -> AuditedAnswer:
    found = audit_of(workspace, facts).as_json()
    return AuditedAnswer(release=_release(facts), audit=AuditAnswer.model_validate(found))


def _release(facts: ReleaseFacts) -> ReleaseAnswer:
    told = facts.as_json()
    if facts.address.in_database:
        told["files"] = {"manifest": "manifest.json", **told["files"]}
    return ReleaseAnswer.model_validate(told)
