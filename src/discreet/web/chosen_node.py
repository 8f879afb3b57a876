"""The node that a negotiation chose: kept in the workspace, read where a release is made."""

from __future__ import annotations

from contextlib import suppress

from pydantic import BaseModel, Field, ValidationError

from discreet.errors import InputError
from discreet.web.requests import Asking, RequestBody
from discreet.web.workspace import Workspace

_NAME = "choice"


class RequirementBody(Asking):
    """k, l, and further criteria."""

    k: int | None = None
    l: int | dict[str, int] | None = None


class ChosenNode(BaseModel):
    """Levels to publish, and what they were chosen for."""

    levels: dict[str, int] = Field(description="The level of each quasi-identifier.")
    heights: dict[str, int] = Field(default_factory=dict, description="The top level of each.")
    requirement: RequirementBody = Field(description="What the release must meet.")
    max_suppressed: int | str = Field(description="The limit of suppressed rows.")
    height: int
    loss: float = Field(description="Loss with no row suppressed.")
    suppressed: int = Field(description="Rows that are suppressed.")
    rows: int = Field(description="Rows of the table.")
    unit: str = Field("rows", description="What groups are counted in: rows, or subjects.")
    request: RequestBody = Field(description="The request that was asked.")
    of: str = Field("", description="What the table and its hierarchies were then.")
    stale: bool = Field(False, description="They have changed since: its figures hold no more.")


def read_choice(workspace: Workspace) -> ChosenNode | None:
    """The chosen node; None where none is chosen, or where the spec has other quasi-identifiers by now."""
    with suppress(InputError, ValidationError):
        choice = ChosenNode.model_validate(workspace.state(_NAME))
        if workspace.has_spec and set(choice.levels) == {a.name for a in workspace.spec().quasi_identifiers}:
            return choice.model_copy(update={"stale": choice.of != workspace.table_digest()})
    return None


def write_choice(workspace: Workspace, choice: ChosenNode | None) -> None:
    """Keep a choice; None: nothing is chosen."""
    workspace.set_state(_NAME, None if choice is None else choice.model_dump())
    workspace.noted()


def last_request(workspace: Workspace) -> RequestBody:
    """The request asked last, where it fits the spec, from the spec's least levels on; else the spec's."""
    spec = workspace.spec()
    names = {a.name for a in spec.quasi_identifiers}
    with suppress(ValidationError, InputError):
        found = RequestBody.model_validate(workspace.state("request"))
        # It may have a criterion of another package, or of a column of another role by now.
        found.request().requirement.bound([a.name for a in spec.sensitive])
        if {*found.max_level, *found.min_level} <= names:
            return found.model_copy(update={"min_level": {**spec.request.min_level, **found.min_level}})
    return RequestBody.of_defaults(spec.request)
