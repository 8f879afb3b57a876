"""Routes that return a request, release, query or attack as a shell command and as a Python program."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.screens.option_forms import model_form
from discreet.verbs.models.recoding_model import Model, RequestOptions
from discreet.verbs.scripts import (
    Script,
    make_attack_script,
    make_negotiate_script,
    make_publish_script,
    make_query_script,
)
from discreet.web.error_responses import RESPONSES, FieldError
from discreet.web.negotiation_forms import RequestOnly
from discreet.web.negotiations import negotiation_of
from discreet.web.request_guard import CurrentWorkspace
from discreet.web.routes.analyst import QueryBody
from discreet.web.routes.attacker import AttackBody, attack_arguments
from discreet.web.routes.publish import PublishBody, previous_releases, publish_arguments
from discreet.web.workspace_releases import find_release, is_comparable

router = APIRouter(prefix="/api/scripts", tags=["scripts"], responses=RESPONSES)


class ScriptAnswer(BaseModel):
    """The same operation as a shell command and as a Python program."""

    command: str | None = Field(description="One line of a shell; null if the operation needs Python.")
    python: str = Field(description="A program.")
    advice: str | None = Field(None, description="The reason if there is no line.")

    @classmethod
    def of(cls, script: Script) -> ScriptAnswer:
        """Build the answer from a script."""
        return cls.model_validate(script, from_attributes=True)


@router.post("/request", summary="A request as a script")
def request(body: RequestOnly, workspace: CurrentWorkspace) -> ScriptAnswer:
    """Return a script that negotiates this request, with the answer that the page shows."""
    options = body.request.request()
    lattice = negotiation_of(workspace).negotiable_view(options.requirement).current()[1].source.lattice
    tops = dict(zip(lattice.attributes, lattice.heights, strict=True))
    return ScriptAnswer.of(make_negotiate_script(workspace.spec_path, workspace.spec(), options, tops))


@router.post("/release", summary="A publication as a script")
def release(body: PublishBody, workspace: CurrentWorkspace) -> ScriptAnswer:
    """Return a script that publishes the same release, to a file in its folder or to the same table."""
    if not body.name and not body.table:
        raise FieldError("the release has no name", field="name")
    found = publish_arguments(body, model_form(body.model))
    answer: dict[str, int] | Model = found["answer"]
    options = RequestOptions(body.k, body.l, body.max_suppressed, criteria=found["criteria"])
    script = make_publish_script(
        workspace.spec_path,
        answer,
        options,
        output=body.name,
        table=body.table,
        suppressed_rows=body.suppressed_rows,
        row_order=body.row_order,
        overwrite=body.overwrite,
        previous_releases=[str(each) for each in previous_releases(workspace, body)],
    )
    return ScriptAnswer.of(script)


@router.post("/query", summary="A query as a script")
def query(body: QueryBody, workspace: CurrentWorkspace) -> ScriptAnswer:
    """Return a script that runs the same query on the same release."""
    facts = find_release(workspace, body.release)
    spec = workspace.spec_path if is_comparable(workspace, facts) else None
    return ScriptAnswer.of(make_query_script(facts.address, body.sql, spec))


@router.post("/attack", summary="An attack as a script")
def attack(body: AttackBody, workspace: CurrentWorkspace) -> ScriptAnswer:
    """Return a script that attacks the same release with the same files."""
    facts = find_release(workspace, body.release)
    spec = workspace.spec_path if is_comparable(workspace, facts) else None
    return ScriptAnswer.of(make_attack_script(facts.address, spec, **attack_arguments(workspace, body)))
