"""Routes of screen 6, Attacker: disclosure risk of a release, and linkage with an uploaded file."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.results.attack_result import AttackResult, match_range_names
from discreet.screens.option_forms import AttackForm, attack_form, attack_forms
from discreet.verbs.release_attack import attack
from discreet.verbs.release_facts import ReleaseFacts, read_column_names
from discreet.verbs.run_context import Reporter
from discreet.web.error_responses import RESPONSES, FieldError
from discreet.web.job_queue import JobStarted
from discreet.web.request_guard import CurrentJobs, CurrentWorkspace
from discreet.web.workspace import Workspace
from discreet.web.workspace_releases import (
    ReleaseChoice,
    ReleaseName,
    choice_facts,
    find_release,
    list_releases,
    original_of,
)

router = APIRouter(prefix="/api/attacker", tags=["attacker"], responses=RESPONSES)


class AttackerAnswer(BaseModel):
    """Initial data of the screen."""

    releases: list[ReleaseChoice]
    columns: list[str] = Field(description="Columns of the original that may be the key.")
    attacks: list[AttackForm] = Field(description="Attacks that can be run by name.")


class OutsideAnswer(BaseModel):
    """The columns of an uploaded file used as the attacker's data."""

    name: str
    columns: list[str]
    match: dict[str, str] = Field(description="Quasi-identifiers by the column of the same name.")


class OutsideBody(BaseModel):
    """An upload and the release that it attacks."""

    release: ReleaseName
    outside: ReleaseName


class AttackBody(BaseModel):
    """An attack: the release, the attacker's files, and the options."""

    release: ReleaseName
    threshold: Annotated[str, Field(max_length=20)] = "0.05"
    dominance: Annotated[str, Field(max_length=20)] = "0.8"
    outside: ReleaseName | None = Field(None, description="An upload: the attacker's file.")
    population: ReleaseName | None = Field(None, description="An upload: a file of the whole population.")
    match: dict[str, str] | None = Field(None, description="Quasi-identifiers by columns of the file.")
    key: Annotated[str, Field(max_length=400)] | None = Field(None, description="OUTSIDE=ORIGINAL.")
    by: Annotated[str, Field(max_length=100)] | None = Field(None, description="A further attack.")
    options: dict[str, str | int | float | bool] = Field({}, description="The options of that attack.")
    files: dict[str, list[ReleaseName]] = Field({}, description="Its files: uploads, or releases.")
    persons: bool = Field(False, description="Include individual persons.")


@router.get("", summary="Releases that can be attacked")
def overview(workspace: CurrentWorkspace) -> AttackerAnswer:
    """Return the releases of the workspace, and columns of the original that may identify persons."""
    columns = [a.name for a in workspace.spec().attributes] if workspace.has_spec else []
    return AttackerAnswer(
        releases=[ReleaseChoice(**choice_facts(workspace, facts)) for facts in list_releases(workspace)],
        columns=columns,
        attacks=list(attack_forms()),
    )


@router.post("/outside", summary="The columns of an attacker's file")
def outside(body: OutsideBody, workspace: CurrentWorkspace) -> OutsideAnswer:
    """Return the columns of an uploaded file, and those that match a quasi-identifier by name."""
    facts = find_release(workspace, body.release)
    path = workspace.upload_path(body.outside)
    columns = read_column_names(path, workspace.settings)
    keys = facts.as_json()["quasi_identifiers"]
    folded = {name.casefold(): name for name in keys}
    match = {column: folded[column.casefold()] for column in columns if column.casefold() in folded}
    return OutsideAnswer(name=path.name, columns=list(columns), match=match)


@router.post("/jobs", summary="Attack a release", status_code=202)
def start(body: AttackBody, workspace: CurrentWorkspace, jobs: CurrentJobs) -> JobStarted:
    """Start the job that attacks; its result is like the document of ``discreet attack --json``."""
    facts, arguments = find_release(workspace, body.release), attack_arguments(workspace, body)
    if body.match is not None and not body.match:
        raise FieldError("no column is matched", field="match", advice="Match at least one column.")

    def work(reporter: Reporter) -> dict[str, Any]:
        original = original_of(workspace, facts)
        found = attack(
            facts.address, table=original, settings=workspace.settings, reporter=reporter, **arguments
        )
        return attack_document(found, facts)

    return JobStarted(job=jobs.start(f"Attacking {facts.name}", work))


def attack_arguments(workspace: Workspace, body: AttackBody) -> dict[str, Any]:
    """Return the arguments of ``attack`` that a body sets, with the paths of its files.

    Raises ``FieldError`` for a release that is a table, and ``InputError`` for an invalid option.
    """
    uploads = {
        field: None if name is None else workspace.upload_path(name)
        for field, name in (("outside", body.outside), ("population", body.population))
    }
    further = None
    if body.by is not None:
        form = attack_form(body.by)
        of_releases = {field.name for field in form.files if field.is_release}
        files = {
            option: [
                _release_path(workspace, name) if option in of_releases else str(workspace.upload_path(name))
                for name in names
            ]
            for option, names in body.files.items()
        }
        further = form.attack(body.options, files)
    return uploads | {
        "match": body.match,
        "key": body.key or None,
        "by": further,
        "persons": body.persons,
        "threshold": body.threshold,
        "dominance": body.dominance,
    }


def _release_path(workspace: Workspace, name: str) -> str:
    path = find_release(workspace, name).address.path
    if path is None:
        raise FieldError(f"{name} is a table", field="files", allowed="a release that is a file")
    return str(path)


def attack_document(result: AttackResult, facts: ReleaseFacts) -> dict[str, Any]:
    """Return an attack's JSON with the release's name, and the names of its histogram's ranges."""
    return result.as_json() | {
        "release": facts.name,
        "steps": list(match_range_names()),
        "cautions": list(facts.cautions),
    }
