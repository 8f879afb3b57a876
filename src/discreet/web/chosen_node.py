"""The node that a negotiation chose: kept in the workspace, read where a release is made."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from discreet.errors import InputError
from discreet.model.criteria.registry import criteria_from
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.web.requests import FIRST_L, Asking, RequestBody
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
    homogeneous: dict[str, int] = Field(
        default_factory=dict,
        description="Published groups in which everyone has the same value, by sensitive attribute.",
    )
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
    """Return the request asked last, from the spec's least levels on; the spec's where none was asked.

    Parts of columns that have another role by now are left out; k and the limit stay as they were asked.
    """
    spec = workspace.spec()
    with suppress(ValidationError):
        found = _fitting(RequestBody.model_validate(workspace.state("request")), spec)
        with suppress(InputError):
            found.request()
            return found.model_copy(update={"min_level": {**spec.request.min_level, **found.min_level}})
    return RequestBody.of_spec(spec)


def _fitting(request: RequestBody, spec: TableSpec) -> RequestBody:
    """A request without the parts of columns that are not quasi-identifiers, or not sensitive, any more."""
    keys, values = ({a.name for a in each} for each in (spec.quasi_identifiers, spec.sensitive))
    l: Any = request.l
    if isinstance(l, dict):
        l = {name: least for name, least in l.items() if name in values} or None
    elif not values:
        l = None
    return request.model_copy(
        update={
            "l": l,
            "criteria": _known(_criteria_of(request.criteria, values), values),
            "max_level": {name: level for name, level in request.max_level.items() if name in keys},
            "min_level": {name: level for name, level in request.min_level.items() if name in keys},
        }
    )


def _criteria_of(criteria: dict[str, Any], values: set[str]) -> dict[str, Any]:
    """Criteria without those of attributes that are not among ``values``."""
    found: dict[str, Any] = {}
    for name, asked in criteria.items():
        if isinstance(asked, list):
            kept: Any = [each for each in asked if each.get("attribute", None) in (None, *values)]
        elif isinstance(asked, dict):
            kept = {attribute: value for attribute, value in asked.items() if attribute in values}
        else:
            kept = asked
        if kept or not isinstance(kept, dict | list):
            found[name] = kept
    return found


def _known(criteria: dict[str, Any], values: set[str]) -> dict[str, Any]:
    """Criteria without those of a package that is not installed, and of values where none is sensitive."""
    found = {}
    for name, asked in criteria.items():
        with suppress(InputError):
            Requirement.of(criteria=criteria_from({name: asked})).bound(sorted(values))
            found[name] = asked
    return found


def with_first_l(workspace: Workspace, names: list[str], before: list[str]) -> dict[str, Any] | None:
    """Return the request asked last with ``FIRST_L`` of columns that become sensitive; None where it stays.

    ``before`` are the columns that are sensitive already; what is asked of them stays.
    """
    asked = workspace.state("request")
    if not names or not isinstance(asked, dict):
        return None
    least = asked.get("l")
    if isinstance(least, int) and least >= FIRST_L:
        return None  # a number is asked of every sensitive column
    old = dict(least) if isinstance(least, dict) else {}
    l = {**old, **{name: FIRST_L for name in names if name not in old}} if before or old else FIRST_L
    return {**asked, "l": l}
