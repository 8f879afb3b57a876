"""Routes of screen 2, Columns: the role of each column with its proposal; uniqueness of column sets."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.errors import InputError
from discreet.hierarchy.messages import quote_value
from discreet.model.table_spec import AttributeRole
from discreet.verbs.spec_editor import TableStudy, with_roles, with_weight
from discreet.web.error_responses import RESPONSES, FieldError
from discreet.web.negotiation_forms import request_with_default_l
from discreet.web.request_guard import CurrentJobs, CurrentWorkspace
from discreet.web.screen_messages import Advice, hints_of_warnings
from discreet.web.step_progress import find_profile, get_profile, start_profile_job
from discreet.web.workspace import Workspace

router = APIRouter(prefix="/api/columns", tags=["columns"], responses=RESPONSES)

_STATE_KEY = "left-out"  # columns that the user, not only the proposal, left out

ColumnRole = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]


class Kind(BaseModel):
    """One of the eighteen kinds of identifiers of the HIPAA safe-harbour rule."""

    letter: str
    title: str
    is_direct: bool = Field(
        description="True if a column of the kind identifies a person without other columns."
    )


class ColumnFacts(BaseModel):
    """One column."""

    name: str
    role: ColumnRole | None = Field(description="The spec's; null: not listed.")
    weight: float
    has_hierarchy: bool
    subject: bool
    proposed: ColumnRole
    reason: str
    form: str | None = Field(description="The possible pseudonym of an identifier, in words.")
    kind: Kind | None
    values: int = Field(description="Distinct values without NULL.")
    null_rows: int
    unique_rows: int = Field(description="Rows whose value no other row has.")
    most: int = Field(description="Rows of the most frequent value.")
    examples: list[str] = Field(description="Frequent values, only for the publisher.")


class Threshold(BaseModel):
    """Rows in classes of fewer than ``size`` rows."""

    size: int
    rows: int


class SetFacts(BaseModel):
    """Uniqueness of the rows in a set of columns."""

    columns: list[str]
    rows: int
    distinct: int = Field(description="Distinct combinations of values.")
    unique_rows: int
    smallest: int = Field(description="Rows of the smallest class.")
    mean: float = Field(description="Rows of a class on average.")
    below: list[Threshold]


class ColumnsAnswer(BaseModel):
    """Every column; or, if they have not been profiled yet, the job that profiles them."""

    job: str | None = None
    rows: int = 0
    columns: list[ColumnFacts] = Field(default_factory=list)
    unreadable: list[str] = Field(default_factory=list, description="Columns of nested values or bytes.")
    missing: list[str] = Field(default_factory=list, description="Attributes that the source does not have.")
    unlisted: str = Field("drop", description="The policy for columns that are not listed.")
    warnings: list[Advice] = Field(default_factory=list)
    given_up: list[str] = Field(
        default_factory=list,
        description="Columns left out until the publisher decides, because there are too many.",
    )


class Change(BaseModel):
    """Another role or weight for one column."""

    name: str
    role: ColumnRole | None = None
    unlist: bool = Field(False, description="Remove the column from the spec.")
    weight: float | None = Field(None, gt=0, le=1e6)


class Changes(BaseModel):
    """Changes that are saved together."""

    changes: list[Change] = Field(min_length=1, max_length=5000)


class SetBody(BaseModel):
    """A set of columns."""

    columns: list[str] = Field(max_length=5000)


class WorstBody(SetBody):
    """A search for the column sets of a size with most unique rows."""

    size: int = Field(2, ge=1, le=4)


class WorstAnswer(BaseModel):
    """The sets with most unique rows; ``looked_at`` of the ``possible`` ones were counted."""

    size: int
    best: list[SetFacts]
    examined: int
    possible: int


@router.get("", summary="All columns")
def columns(workspace: CurrentWorkspace, jobs: CurrentJobs) -> ColumnsAnswer:
    """Return role, proposal and counts of every column; the first call returns the job that profiles them."""
    study = find_profile(workspace)
    if study is None:
        return ColumnsAnswer(job=start_profile_job(workspace, jobs), unlisted="drop")
    return _columns_answer(workspace, study)


@router.put("", summary="Change roles or weights")
def change_columns(body: Changes, workspace: CurrentWorkspace) -> ColumnsAnswer:
    """Change roles and weights and save the spec; a new quasi-identifier gets the proposed hierarchy."""
    study = get_profile(workspace)
    names = {*study.names, *study.unreadable, *(a.name for a in workspace.spec().attributes)}
    for change in body.changes:
        if change.name not in names:
            raise FieldError(f"there is no column {quote_value(change.name)}", field="name")
    roles = {c.name: _changed_role(c) for c in body.changes if c.role is not None or c.unlist}
    new = [n for n, role in roles.items() if role is AttributeRole.QUASI_IDENTIFIER and n in study.names]
    proposed = {name: study.proposed_hierarchy(name) for name in new}
    with workspace.edit_lock:
        document, before = workspace.document(), _sensitive_names(workspace)
        try:
            document = with_roles(document, roles, hierarchies=proposed)
            for change in body.changes:
                if change.weight is not None:
                    document = with_weight(document, change.name, change.weight)
        except InputError as error:
            raise FieldError.of(error, "role") from None
        new_values = [name for name, role in roles.items() if role is AttributeRole.SENSITIVE]
        request = request_with_default_l(
            workspace, [name for name in new_values if name not in before], before
        )
        workspace.save_spec(document, states={} if request is None else {"request": request})
        decided = {name for name, role in roles.items() if role is AttributeRole.IDENTIFIER}
        workspace.set_state(_STATE_KEY, sorted({*(workspace.state(_STATE_KEY) or ()), *decided}))
    return _columns_answer(workspace, study)


def _sensitive_names(workspace: Workspace) -> list[str]:
    return [a.name for a in workspace.spec().sensitive]


@router.post("/uniqueness", summary="Uniqueness of a set of columns")
def uniqueness(body: SetBody, workspace: CurrentWorkspace) -> SetFacts:
    """Count distinct combinations, unique rows and rows in small classes of a set; NULL counts as a value."""
    return SetFacts(**get_profile(workspace).uniqueness(body.columns))


@router.post("/worst", summary="The most identifying sets of columns")
def worst(body: WorstBody, workspace: CurrentWorkspace) -> WorstAnswer:
    """Return the pairs or triples of columns that make most rows unique."""
    study = get_profile(workspace)
    names = list(dict.fromkeys(body.columns))
    if len(names) < body.size:
        return WorstAnswer(size=body.size, best=[], examined=0, possible=0)
    return WorstAnswer(**study.worst(names, body.size))


def _changed_role(change: Change) -> AttributeRole | None:
    return None if change.unlist or change.role is None else AttributeRole(change.role)


def _columns_answer(workspace: Workspace, study: TableStudy) -> ColumnsAnswer:
    spec = workspace.spec()
    listed = {a.name: a for a in spec.attributes}
    found = []
    for name in study.names:
        attribute = listed.get(name)
        found.append(
            ColumnFacts(
                role=None if attribute is None else str(attribute.role),  # type: ignore[arg-type]
                weight=1.0 if attribute is None else attribute.weight,
                has_hierarchy=attribute is not None and attribute.hierarchy is not None,
                subject=name == spec.source.subject,
                **study.column_json(name),
            )
        )
    known, decided = {*study.names, *study.unreadable}, set(workspace.state(_STATE_KEY) or ())
    return ColumnsAnswer(
        rows=study.rows,
        columns=found,
        unreadable=list(study.unreadable),
        missing=[name for name in listed if name not in known],
        unlisted=str(spec.source.unlisted_columns),
        warnings=hints_of_warnings(study.warnings),
        given_up=[
            name
            for name in study.given_up
            if name in listed and listed[name].role is AttributeRole.IDENTIFIER and name not in decided
        ],
    )
