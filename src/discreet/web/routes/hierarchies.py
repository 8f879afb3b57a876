"""Routes of screen 3, Hierarchies: trees with counts, builders, edits, ARX CSV, matched files."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from discreet.errors import InputError
from discreet.hierarchy.csv_file import format_hierarchy_csv
from discreet.hierarchy.draft import least_level_after
from discreet.hierarchy.messages import quote_value
from discreet.model.hierarchy import GeneralizationHierarchy, least_level
from discreet.model.table_spec import Attribute
from discreet.screens.hierarchy_builders import BUILDERS, build_from_table, parse_builder_form
from discreet.screens.hierarchy_editor import (
    edit_hierarchy,
    match_hierarchy_texts,
    parse_hierarchy_text,
)
from discreet.verbs.spec_editor import TableStudy
from discreet.web.error_responses import RESPONSES, FieldError
from discreet.web.hierarchy_forms import (
    BuildBody,
    EditBody,
    FilesBody,
    HierarchiesAnswer,
    HierarchyAnswer,
    MatchesAnswer,
    MatchFacts,
    TextBody,
    current_hierarchy_answer,
    editable_hierarchy,
    find_quasi_identifier,
    hierarchy_answer,
    hierarchy_facts,
    save_hierarchy,
    write_hierarchies,
    write_hierarchy,
)
from discreet.web.request_guard import CurrentJobs, CurrentWorkspace
from discreet.web.step_progress import build_attribute_hierarchy, find_profile, get_profile, start_profile_job
from discreet.web.workspace import Workspace
from discreet.web.workspace_files import safe_name

router = APIRouter(prefix="/api/hierarchies", tags=["hierarchies"], responses=RESPONSES)


@router.get("", summary="All hierarchies")
def hierarchies(workspace: CurrentWorkspace, jobs: CurrentJobs) -> HierarchiesAnswer:
    """Return a summary of each quasi-identifier's hierarchy.

    The first call starts a job that profiles the columns.
    """
    spec = workspace.spec()
    study = find_profile(workspace)
    if study is None:
        return HierarchiesAnswer(job=start_profile_job(workspace, jobs))
    facts = [hierarchy_facts(workspace, attribute, study) for attribute in spec.quasi_identifiers]
    return HierarchiesAnswer(rows=study.rows, hierarchies=facts, builders=list(BUILDERS))


@router.get("/one", summary="One hierarchy")
def hierarchy(workspace: CurrentWorkspace, attribute: Annotated[str, Query()]) -> HierarchyAnswer:
    """Return a quasi-identifier's hierarchy with the rows of each value, or its errors."""
    return current_hierarchy_answer(workspace, attribute)


@router.post("/preview", summary="Build without saving")
def preview(body: BuildBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """Build a hierarchy from a builder's form without saving it; an error names its parameter."""
    study = get_profile(workspace)
    find_quasi_identifier(workspace, body.attribute)
    table = _builder_table(body)
    built = _build_preview(workspace, body.attribute, table, study)
    return hierarchy_answer(body.attribute, study, body.kind, built, typed=body.typed)


@router.put("", summary="Build and save")
def build(body: BuildBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """Build a hierarchy from a builder's form and save the builder in the spec."""
    study = get_profile(workspace)
    table = _builder_table(body)
    _build_preview(workspace, body.attribute, table, study)
    save_hierarchy(workspace, body.attribute, table)
    return current_hierarchy_answer(workspace, body.attribute)


@router.post("/edit", summary="Edit manually")
def edit(body: EditBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """Group, move, rename, ungroup, add or remove a level. The result is saved as a file of the workspace."""
    study = get_profile(workspace)
    values = study.values(body.attribute)[0] if body.attribute in study.names else ()
    attribute, found = editable_hierarchy(workspace, body.attribute, study)
    missing = [value for value in values if value not in found.code_of_leaf]
    try:
        changed = edit_hierarchy(found, body.model_dump(), missing)
    except InputError as error:
        field = "name" if "name" in error.message or "already" in error.message else None
        raise FieldError.of(error, field or "labels") from None
    removed = body.level if body.change == "remove_level" else None
    least = least_level_after(found, least_level(attribute.hierarchy), changed, removed)
    write_hierarchy(workspace, attribute.name, format_hierarchy_csv(changed), least)
    return current_hierarchy_answer(workspace, attribute.name)


@router.post("/check", summary="Check a table")
def check(body: TextBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """Return all errors of a hierarchy in ARX's form, or its tree if it has none.

    Nothing is saved.
    """
    study = get_profile(workspace)
    find_quasi_identifier(workspace, body.attribute)
    built, problems = parse_hierarchy_text(body.attribute, body.text, study.values(body.attribute)[0])
    answer = hierarchy_answer(body.attribute, study, "file", built)
    answer.problems = list(problems)
    return answer


@router.put("/file", summary="Import ARX CSV")
def import_file(body: TextBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """Save a hierarchy in ARX's form as the attribute's hierarchy, in a file of the workspace.

    A hierarchy with errors is refused.
    """
    study = get_profile(workspace)
    built, problems = parse_hierarchy_text(body.attribute, body.text, study.values(body.attribute)[0])
    if built is None:
        first = problems[0]
        prefix = "" if first.row is None else f"row {first.row + 1}: "
        raise FieldError(f"{prefix}{first.message}", field="text", advice=first.advice or None)
    least = _least_level_of_import(workspace, body.attribute, study, built)
    write_hierarchy(workspace, body.attribute, format_hierarchy_csv(built), least)
    return current_hierarchy_answer(workspace, body.attribute)


@router.get("/file", summary="Export ARX CSV", response_class=Response)
def export_file(workspace: CurrentWorkspace, attribute: Annotated[str, Query()]) -> Response:
    """Return a quasi-identifier's hierarchy in ARX's form."""
    found = build_attribute_hierarchy(find_quasi_identifier(workspace, attribute), get_profile(workspace))
    return Response(
        format_hierarchy_csv(found),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="hierarchy.csv"', "Cache-Control": "no-store"},
    )


def _builder_table(body: BuildBody) -> dict[str, Any] | None:
    return None if body.kind == "flat" else parse_builder_form(body.kind, body.typed)


def _build_preview(
    workspace: Workspace, name: str, table: dict[str, Any] | None, study: TableStudy
) -> GeneralizationHierarchy:
    values, counts = study.values(name)
    if table is None:
        return build_attribute_hierarchy(Attribute(name, find_quasi_identifier(workspace, name).role), study)
    return build_from_table(name, table, values, counts, workspace.spec_path.parent)


def _least_level_of_import(
    workspace: Workspace, name: str, study: TableStudy, built: GeneralizationHierarchy
) -> int:
    """Return the least level of an imported hierarchy, so that it publishes no value finer than before."""
    least = least_level(find_quasi_identifier(workspace, name).hierarchy)
    if not least:
        return 0
    try:
        before = editable_hierarchy(workspace, name, study)[1]
    except InputError:  # no hierarchy to compare with: the import may repair it
        return min(least, built.height)
    return least_level_after(before, least, built)


@router.post("/files", summary="Match files")
def match(body: FilesBody, workspace: CurrentWorkspace) -> MatchesAnswer:
    """Return the quasi-identifiers that each file fits by name or values, or why it fits none."""
    study, spec = get_profile(workspace), workspace.spec()
    generalized = [attribute.name for attribute in spec.quasi_identifiers]
    others = {a.name: str(a.role) for a in spec.attributes if a.name not in generalized}
    matches = match_hierarchy_texts(_texts_by_name(body), study, others, generalized)
    facts = [
        MatchFacts(name=each.path.name, columns=list(each.columns), reason=each.reason, levels=each.height)
        for each in matches
    ]
    return MatchesAnswer(matches=facts)


@router.put("/files", summary="Use files")
def use(body: FilesBody, workspace: CurrentWorkspace) -> MatchesAnswer:
    """Save files as the hierarchies of quasi-identifiers, all of them as one change."""
    study, texts, written = get_profile(workspace), _texts_by_name(body), {}
    for name, file in body.use.items():
        find_quasi_identifier(workspace, name)
        built, problems = parse_hierarchy_text(name, texts.get(safe_name(file), ""), study.values(name)[0])
        if built is None:
            first = problems[0]
            raise FieldError(
                f"{quote_value(file)}: {first.message}", field="files", advice=first.advice or None
            )
        written[name] = format_hierarchy_csv(built)
    write_hierarchies(workspace, written)
    return MatchesAnswer(matches=[])


def _texts_by_name(body: FilesBody) -> dict[str, str]:
    """Return the texts by safe file names; raise ``FieldError`` if two files have the same name."""
    result: dict[str, str] = {}
    for each in body.files:
        name = safe_name(each.name, field="files")
        if name in result:
            raise FieldError(f"two files have the name {quote_value(name)}", field="files")
        result[name] = each.text
    return result
