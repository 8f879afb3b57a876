"""What is clicked as a script: the command and the program of the request, release, query and attack."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.screens.attack_forms import attack_of_form
from discreet.screens.model_forms import form_of
from discreet.verbs.models.base import Asked, Model
from discreet.verbs.scripts import (
    Script,
    script_of_attack,
    script_of_publication,
    script_of_query,
    script_of_request,
)
from discreet.web.dependencies import CurrentWorkspace
from discreet.web.negotiation_forms import RequestOnly
from discreet.web.negotiations import negotiation_of
from discreet.web.problems import RESPONSES, FieldError
from discreet.web.releases import found_release, is_comparable
from discreet.web.routes.analyst import QueryBody
from discreet.web.routes.attacker import AttackBody, attack_files
from discreet.web.routes.publish import PublishBody, asked_of, earlier_of

router = APIRouter(prefix="/api/scripts", tags=["scripts"], responses=RESPONSES)


class ScriptAnswer(BaseModel):
    """The same work for a shell and for Python."""

    command: str | None = Field(description="One line of a shell; null where no line says it.")
    python: str = Field(description="A program.")
    advice: str | None = Field(None, description="Why there is no line.")

    @classmethod
    def of(cls, script: Script) -> ScriptAnswer:
        """A script as it is sent."""
        return cls(command=script.command, python=script.python, advice=script.advice)


@router.post("/request", summary="A request as a script")
def request(body: RequestOnly, workspace: CurrentWorkspace) -> ScriptAnswer:
    """What negotiates this request, with the answer that the page shows."""
    asked = body.request.request()
    lattice = negotiation_of(workspace).shown(asked.requirement).current()[1].source.lattice
    tops = dict(zip(lattice.attributes, lattice.heights, strict=True))
    return ScriptAnswer.of(script_of_request(workspace.spec_path, workspace.spec(), asked, tops))


@router.post("/release", summary="A publication as a script")
def release(body: PublishBody, workspace: CurrentWorkspace) -> ScriptAnswer:
    """What publishes the same release, into a file of the folder that it is run in, or the same table."""
    if not body.name and not body.table:
        raise FieldError("the release has no name", field="name")
    found = asked_of(body, form_of(body.model))
    answer: dict[str, int] | Model = found["answer"]
    asked = Asked(body.k, body.l, body.max_suppressed, criteria=found["criteria"])
    script = script_of_publication(
        workspace.spec_path,
        answer,
        asked,
        output=body.name,
        table=body.table,
        suppressed=body.suppressed,
        order=body.order,
        overwrite=body.overwrite,
        after=[str(each) for each in earlier_of(workspace, body)],
    )
    return ScriptAnswer.of(script)


@router.post("/query", summary="A query as a script")
def query(body: QueryBody, workspace: CurrentWorkspace) -> ScriptAnswer:
    """What asks the same release the same."""
    facts = found_release(workspace, body.release)
    spec = workspace.spec_path if is_comparable(workspace, facts) else None
    return ScriptAnswer.of(script_of_query(facts.address, body.sql, spec))


@router.post("/attack", summary="An attack as a script")
def attack(body: AttackBody, workspace: CurrentWorkspace) -> ScriptAnswer:
    """What attacks the same release with the same files."""
    facts = found_release(workspace, body.release)
    spec = workspace.spec_path if is_comparable(workspace, facts) else None
    files = {
        name: None if upload is None else workspace.upload_path(upload)
        for name, upload in (("outside", body.outside), ("population", body.population))
    }
    script = script_of_attack(
        facts.address,
        spec,
        outside=files["outside"],
        population=files["population"],
        match=body.match,
        key=body.key or None,
        threshold=body.threshold,
        dominance=body.dominance,
        by=attack_of_form(body.by, body.options, attack_files(workspace, body)),
        persons=body.persons,
    )
    return ScriptAnswer.of(script)
