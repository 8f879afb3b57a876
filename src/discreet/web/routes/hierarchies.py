"""Screen 3, Hierarchies: trees with counts, builders with preview, changes by hand, ARX CSV in and out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from discreet.errors import InputError
from discreet.hierarchy.editing import least_level_after
from discreet.model.hierarchy import GeneralizationHierarchy, least_level
from discreet.model.table_spec import Attribute
from discreet.screens.hierarchy_builders import (
    build_hierarchy,
    hierarchy_table,
)
from discreet.screens.hierarchy_view import edited, hierarchy_of_text, text_of_hierarchy
from discreet.verbs.table_study import TableStudy
from discreet.web.dependencies import CurrentJobs, CurrentWorkspace
from discreet.web.hierarchy_answers import (
    builder_facts,
    current_answer,
    hierarchy_answer,
    hierarchy_facts,
    hierarchy_to_edit,
)
from discreet.web.hierarchy_forms import (
    BuildBody,
    EditBody,
    HierarchiesAnswer,
    HierarchyAnswer,
    ProblemFacts,
    TextBody,
)
from discreet.web.hierarchy_saving import (
    attribute_of,
    save_hierarchy,
    write_hierarchy,
)
from discreet.web.problems import RESPONSES, FieldError
from discreet.web.steps import build_attribute
from discreet.web.studies import known_study, profile_job, study_of
from discreet.web.workspace import Workspace

router = APIRouter(prefix="/api/hierarchies", tags=["hierarchies"], responses=RESPONSES)


@router.get("", summary="Every hierarchy")
def hierarchies(workspace: CurrentWorkspace, jobs: CurrentJobs) -> HierarchiesAnswer:
    """The hierarchy of each quasi-identifier at a glance. The first time a job profiles the columns."""
    spec = workspace.spec()
    study = known_study(workspace)
    if study is None:
        return HierarchiesAnswer(job=profile_job(workspace, jobs))
    facts = [hierarchy_facts(workspace, attribute, study) for attribute in spec.quasi_identifiers]
    return HierarchiesAnswer(rows=study.rows, hierarchies=facts, builders=builder_facts())


@router.get("/one", summary="One hierarchy")
def hierarchy(workspace: CurrentWorkspace, attribute: Annotated[str, Query()]) -> HierarchyAnswer:
    """A quasi-identifier's hierarchy with the rows of each value, or what is wrong with it."""
    return current_answer(workspace, attribute)


@router.post("/preview", summary="Build without saving")
def preview(body: BuildBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """What a builder makes of the values; an error names the parameter it is about."""
    study = study_of(workspace)
    attribute_of(workspace, body.attribute)
    table = _table_of(body)
    built = _built(workspace, body.attribute, table, study)
    return hierarchy_answer(body.attribute, study, body.kind, built, typed=body.typed)


@router.put("", summary="Build and save")
def build(body: BuildBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """The same, and the builder goes into the spec."""
    study = study_of(workspace)
    table = _table_of(body)
    _built(workspace, body.attribute, table, study)
    save_hierarchy(workspace, body.attribute, table)
    return current_answer(workspace, body.attribute)


@router.post("/edit", summary="Change by hand")
def edit(body: EditBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """Group, move, rename, ungroup, add or remove a level. Saved at once as a file of the workspace."""
    study = study_of(workspace)
    values = study.values(body.attribute)[0] if body.attribute in study.names else ()
    attribute, found = hierarchy_to_edit(workspace, body.attribute, study)
    missing = [value for value in values if value not in found.code_of_leaf]
    try:
        changed = edited(found, body.model_dump(), missing)
    except InputError as error:
        field = "name" if "name" in error.message or "already" in error.message else None
        raise FieldError(
            error.message, field=field or "labels", allowed=error.allowed, advice=error.advice
        ) from None
    removed = body.level if body.change == "remove_level" else None
    least = least_level_after(found, least_level(attribute.hierarchy), changed, removed)
    write_hierarchy(workspace, attribute.name, text_of_hierarchy(changed), least)
    return current_answer(workspace, attribute.name)


@router.post("/check", summary="Check a table")
def check(body: TextBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """Everything that is wrong with a hierarchy in ARX's form; its tree where it is sound.

    Nothing is saved.
    """
    study = study_of(workspace)
    attribute_of(workspace, body.attribute)
    built, problems = hierarchy_of_text(body.attribute, body.text, study.values(body.attribute)[0])
    answer = hierarchy_answer(body.attribute, study, "file", built)
    answer.problems = [ProblemFacts(**vars(problem)) for problem in problems]
    return answer


@router.put("/file", summary="Import ARX CSV")
def import_file(body: TextBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """A hierarchy in ARX's form becomes the attribute's, as a file of the workspace.

    Unsound ones are refused.
    """
    study = study_of(workspace)
    built, problems = hierarchy_of_text(body.attribute, body.text, study.values(body.attribute)[0])
    if built is None:
        first = problems[0]
        place = "" if first.row is None else f"row {first.row + 1}: "
        raise FieldError(f"{place}{first.message}", field="text", advice=first.advice or None)
    least = _least_level_of_import(workspace, body.attribute, study, built)
    write_hierarchy(workspace, body.attribute, text_of_hierarchy(built), least)
    return current_answer(workspace, body.attribute)


@router.get("/file", summary="Export ARX CSV", response_class=Response)
def export_file(workspace: CurrentWorkspace, attribute: Annotated[str, Query()]) -> Response:
    """A quasi-identifier's hierarchy in ARX's form."""
    found = build_attribute(attribute_of(workspace, attribute), study_of(workspace))
    return Response(
        text_of_hierarchy(found),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="hierarchy.csv"', "Cache-Control": "no-store"},
    )


def _table_of(body: BuildBody) -> dict[str, Any] | None:
    return None if body.kind == "flat" else hierarchy_table(body.kind, body.typed)


def _built(
    workspace: Workspace, name: str, table: dict[str, Any] | None, study: TableStudy
) -> GeneralizationHierarchy:
    values, counts = study.values(name)
    if table is None:
        return build_attribute(Attribute(name, attribute_of(workspace, name).role), study)
    return build_hierarchy(name, table, values, counts, workspace.spec_path.parent)


def _least_level_of_import(
    workspace: Workspace, name: str, study: TableStudy, built: GeneralizationHierarchy
) -> int:
    """What the hierarchy that was there keeps back is kept back by that in its place, too."""
    least = least_level(attribute_of(workspace, name).hierarchy)
    if not least:
        return 0
    try:
        before = hierarchy_to_edit(workspace, name, study)[1]
    except InputError:  # there is none to compare with: the import may be what mends it
        return min(least, built.height)
    return least_level_after(before, least, built)
