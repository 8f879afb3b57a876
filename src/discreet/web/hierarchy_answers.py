"""What the Hierarchies screen is told: every hierarchy at a glance, and one with its tree and its faults."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from discreet.errors import InputError
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import Attribute
from discreet.screens.hierarchy_builders import BUILDERS, typed_values
from discreet.screens.hierarchy_view import tree_of
from discreet.screens.ready_hierarchies import offers_for
from discreet.verbs.table_study import TableStudy
from discreet.web.hierarchy_forms import (
    MOST_LEAVES,
    BuilderFacts,
    HierarchyAnswer,
    HierarchyFacts,
    LevelFacts,
    LevelFigures,
    OfferFacts,
    ProblemFacts,
)
from discreet.web.hierarchy_saving import attribute_of, given_hierarchy
from discreet.web.problems import FieldError
from discreet.web.steps import build_attribute
from discreet.web.studies import study_of
from discreet.web.workspace import Workspace


def builder_facts() -> list[BuilderFacts]:
    """The builders that a hierarchy can be made by."""
    return [BuilderFacts.model_validate(each, from_attributes=True) for each in BUILDERS]


def hierarchy_facts(workspace: Workspace, attribute: Attribute, study: TableStudy) -> HierarchyFacts:
    """A quasi-identifier's hierarchy at a glance: how tall it is, or why it cannot be built."""
    given = given_hierarchy(workspace, attribute.name)
    height, error = None, None
    values = study.values(attribute.name)[0] if attribute.name in study.names else ()
    try:
        height = build_attribute(attribute, study).height
    except InputError as problem:
        error = problem.message
    return HierarchyFacts(
        name=attribute.name,
        kind=_kind(given),
        origin="value → *" if attribute.hierarchy is None else attribute.hierarchy.origin,
        values=len(values),
        height=height,
        error=error,
        from_data=attribute.hierarchy is not None and attribute.hierarchy.from_data,
    )


def current_answer(workspace: Workspace, name: str) -> HierarchyAnswer:
    """The hierarchy that a quasi-identifier has now, or what is wrong with it."""
    attribute = attribute_of(workspace, name)
    study = study_of(workspace)
    given = given_hierarchy(workspace, name)
    kind = _kind(given)
    builder = next((b for b in BUILDERS if b.kind == kind), None)
    typed = typed_values(given) if builder is not None else {}
    try:
        found = hierarchy_answer(name, study, kind, build_attribute(attribute, study), typed=typed)
        return found.model_copy(update={"offers": _offers(workspace, name, study)})
    except InputError as error:
        built = None
        with suppress(InputError):
            built = hierarchy_to_edit(workspace, name, study)[1]
        answer = hierarchy_answer(name, study, kind, built, typed=typed)
        advice = error.advice or error.allowed or ""
        answer.problems = [ProblemFacts(row=None, level=None, message=error.message, advice=advice)]
        answer.offers = _offers(workspace, name, study)
        return answer


def _offers(workspace: Workspace, name: str, study: TableStudy) -> list[OfferFacts]:
    """The built-in hierarchies for a column, found once for each version of the table."""
    offers = workspace.memory(f"web.offers {name}", lambda: offers_for(name, study))
    return [OfferFacts.model_validate(each, from_attributes=True) for each in offers]


def hierarchy_answer(
    name: str,
    study: TableStudy,
    kind: str,
    built: GeneralizationHierarchy | None,
    *,
    typed: dict[str, str | bool] | None = None,
) -> HierarchyAnswer:
    """A hierarchy with the rows of each value; None for one that cannot be built."""
    values, counts = study.values(name) if name in study.names else ((), ())
    levels = [] if built is None else tree_of(built, values, counts)
    leaves = built.code_of_leaf if built is not None else {}
    few = len(levels[0]["labels"]) <= MOST_LEAVES if levels else True
    return HierarchyAnswer(
        attribute=name,
        kind=kind,
        origin="" if built is None else built.origin,
        typed=typed or {},
        rows=study.rows,
        null_rows=study.null_rows(name) if name in study.names else 0,
        values=len(values),
        height=None if built is None else built.height,
        levels=[LevelFacts(**level) for level in levels] if few else [],
        figures=_figures(built, levels),
        notes=[] if built is None else list(built.notes),
        problems=[],
        missing=[value for value in values if value not in leaves][:1000] if built is not None else [],
    )


def hierarchy_to_edit(
    workspace: Workspace, name: str, study: TableStudy
) -> tuple[Attribute, GeneralizationHierarchy]:
    """The hierarchy to change: over its own leaves, so that one that misses values can be mended.

    ``FieldError`` where it cannot be built at all.
    """
    attribute = attribute_of(workspace, name)
    try:
        return attribute, build_attribute(attribute, study)
    except InputError as error:
        source = attribute.hierarchy
        try:
            if source is None:
                raise error
            return attribute, source.build(name, (), ())
        except InputError:
            raise FieldError(
                error.message, field="attribute", allowed=error.allowed, advice=error.advice
            ) from None


def _kind(given: Any) -> str:
    if given is None:
        return "flat"
    return str(given.get("kind")) if isinstance(given, dict) else "file"


def _figures(built: GeneralizationHierarchy | None, levels: list[dict[str, Any]]) -> list[LevelFigures]:
    if built is None or not levels or not levels[0]["labels"]:
        return []
    rows = levels[0]["rows"]
    path = built.path(max(range(len(rows)), key=lambda place: int(rows[place])))
    return [
        LevelFigures(
            level=number,
            values=len(level["labels"]),
            smallest=min((n for n in level["rows"] if n), default=0),
            example=path[number],
        )
        for number, level in enumerate(levels)
    ]
