"""The steps of a publication in their order, and how far each is."""

from __future__ import annotations

from math import prod
from typing import Literal

from pydantic import BaseModel, Field

from discreet.errors import DiscreetError
from discreet.hierarchy.flat import FlatHierarchy
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import Attribute, TableSpec
from discreet.printing.document import count
from discreet.verbs.table_study import TableStudy
from discreet.web.chosen_node import read_choice
from discreet.web.releases import all_releases
from discreet.web.studies import studies_of
from discreet.web.workspace import Workspace

StepState = Literal["done", "attention", "todo"]
TITLES = {
    "load": "Load",
    "columns": "Columns",
    "hierarchies": "Hierarchies",
    "negotiate": "Negotiate",
    "analyst": "Analyst",
    "attacker": "Attacker",
    "publish": "Publish",
}


class Step(BaseModel):
    """One step: how far it is, and why."""

    name: str
    title: str
    state: StepState = Field(description="done, attention (something is missing or wrong), todo.")
    note: str


def steps_of(workspace: Workspace) -> list[Step]:
    """The seven steps of a workspace."""
    if not workspace.has_spec:
        found: dict[str, tuple[StepState, str]] = {"load": ("todo", "No table yet")}
    else:
        try:
            found = _steps(workspace, workspace.spec())
        except DiscreetError as error:
            found = {"load": ("attention", error.message)}
    none: tuple[StepState, str] = ("todo", "")
    return [
        Step(name=name, title=title, state=found.get(name, none)[0], note=found.get(name, none)[1])
        for name, title in TITLES.items()
    ]


def build_attribute(attribute: Attribute, study: TableStudy) -> GeneralizationHierarchy:
    """A quasi-identifier's hierarchy over the values of a studied table; ``InputError`` where it has none."""
    source = attribute.hierarchy or FlatHierarchy()
    return source.build(attribute.name, *study.values(attribute.name))


def lattice_nodes(workspace: Workspace, spec: TableSpec, study: TableStudy | None) -> int | None:
    """The lattice's size where the columns have been studied and every hierarchy builds; else None."""
    heights = lattice_heights(workspace, spec, study)
    return None if heights is None else prod(height + 1 for height in heights)


def lattice_heights(workspace: Workspace, spec: TableSpec, study: TableStudy | None) -> list[int] | None:
    """The height of each quasi-identifier's hierarchy, where the same holds."""
    if study is None or not spec.quasi_identifiers:
        return None
    try:
        return workspace.memory(
            "web.heights", lambda: [build_attribute(a, study).height for a in spec.quasi_identifiers]
        )
    except DiscreetError:
        return None


def _steps(workspace: Workspace, spec: TableSpec) -> dict[str, tuple[StepState, str]]:
    path = spec.source.path
    if path is not None and not path.exists():
        return {"load": ("attention", "The table's file is missing")}
    found: dict[str, tuple[StepState, str]] = {"load": ("done", "")}
    number = len(spec.quasi_identifiers)
    if not number:
        return {**found, "columns": ("attention", "No column is a quasi-identifier")}
    found["columns"] = ("done", count(number, "quasi-identifier"))
    study = studies_of(workspace).known(spec.source)
    if study is None:
        found["hierarchies"] = ("todo", "")
    elif lattice_nodes(workspace, spec, study) is None:
        found["hierarchies"] = ("attention", "A hierarchy cannot be built")
    else:
        found["hierarchies"] = ("done", "")
    choice = read_choice(workspace)
    if choice is not None and choice.stale:
        found["negotiate"] = ("attention", "The hierarchies changed since a node was chosen")
    elif choice is not None:
        found["negotiate"] = ("done", "A node is chosen")
    if all_releases(workspace):
        found["publish"] = ("done", "A release is there")
    return found
