"""Screen 3, Hierarchies: trees with counts, builders with preview, changes by hand, ARX CSV in and out."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import Attribute
from discreet.web.dependencies import CurrentJobs, CurrentWorkspace
from discreet.web.edit_history import Version, history_of
from discreet.web.hierarchy_forms import (
    MOST_LEAVES,
    AttributeBody,
    BuildBody,
    BuilderFacts,
    EditBody,
    HierarchiesAnswer,
    HierarchyAnswer,
    HierarchyFacts,
    LevelFacts,
    LevelFigures,
    ParameterFacts,
    ProblemFacts,
    TextBody,
)
from discreet.web.passwords import write_owner_only
from discreet.web.paths import safe_name
from discreet.web.problems import RESPONSES, FieldError
from discreet.web.steps import build_attribute
from discreet.web.studies import known_study, profile_job, study_of
from discreet.web.workspace import Workspace
from discreet.workbench.hierarchy_builders import (
    BUILDERS,
    build_hierarchy,
    hierarchy_table,
    typed_values,
)
from discreet.workbench.hierarchy_view import edited, hierarchy_of_text, text_of_hierarchy, tree_of
from discreet.workbench.spec_edits import with_hierarchy
from discreet.workbench.table_study import TableStudy

router = APIRouter(prefix="/api/hierarchies", tags=["hierarchies"], responses=RESPONSES)


@router.get("", summary="Every hierarchy")
def hierarchies(workspace: CurrentWorkspace, jobs: CurrentJobs) -> HierarchiesAnswer:
    """The hierarchy of each quasi-identifier at a glance. The first time a job profiles the columns."""
    spec = workspace.spec()
    study = known_study(workspace)
    if study is None:
        return HierarchiesAnswer(job=profile_job(workspace, jobs))
    builders = [
        BuilderFacts(
            kind=b.kind,
            title=b.title,
            words=b.words,
            parameters=[
                ParameterFacts(
                    name=p.name,
                    label=p.label,
                    form=p.form,
                    hint=p.hint,
                    choices=list(p.choices),
                    initial=p.initial,
                )
                for p in b.parameters
            ],
        )
        for b in BUILDERS
    ]
    facts = [_facts(workspace, attribute, study) for attribute in spec.quasi_identifiers]
    return HierarchiesAnswer(rows=study.rows, hierarchies=facts, builders=builders)


@router.get("/one", summary="One hierarchy")
def hierarchy(workspace: CurrentWorkspace, attribute: Annotated[str, Query()]) -> HierarchyAnswer:
    """A quasi-identifier's hierarchy with the rows of each value, or what is wrong with it."""
    return _current(workspace, attribute)


@router.post("/preview", summary="Build without saving")
def preview(body: BuildBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """What a builder makes of the values; an error names the parameter it is about."""
    study = study_of(workspace)
    _attribute(workspace, body.attribute)
    table = _table_of(body)
    built = _built(workspace, body.attribute, table, study)
    return _answer(workspace, body.attribute, study, body.kind, built, typed=body.typed)


@router.put("", summary="Build and save")
def build(body: BuildBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """The same, and the builder goes into the spec."""
    study = study_of(workspace)
    before = _version(workspace, body.attribute)
    table = _table_of(body)
    _built(workspace, body.attribute, table, study)
    _save(workspace, body.attribute, table)
    history_of(workspace, body.attribute).add("the builder", before, Version(table))
    return _current(workspace, body.attribute)


@router.post("/edit", summary="Change by hand")
def edit(body: EditBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """Group, move, rename, ungroup, add or remove a level. Saved at once as a file of the workspace."""
    study = study_of(workspace)
    values = study.values(body.attribute)[0] if body.attribute in study.names else ()
    attribute, found = _for_edit(workspace, body.attribute, study)
    missing = [value for value in values if value not in found.code_of_leaf]
    try:
        changed = edited(found, body.model_dump(), missing)
    except InputError as error:
        field = "name" if "name" in error.message or "already" in error.message else None
        raise FieldError(
            error.message, field=field or "labels", allowed=error.allowed, advice=error.advice
        ) from None
    before = _version(workspace, attribute.name)
    _write(workspace, attribute.name, text_of_hierarchy(changed))
    after = _version(workspace, attribute.name)
    history_of(workspace, attribute.name).add(body.change.replace("_", " "), before, after)
    return _current(workspace, attribute.name)


@router.post("/undo", summary="Take the last change back")
def undo(body: AttributeBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """The hierarchy as it was before the last change in this visit."""
    return _go(workspace, body.attribute, forward=False)


@router.post("/redo", summary="Do it again")
def redo(body: AttributeBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """The change that was taken back."""
    return _go(workspace, body.attribute, forward=True)


@router.post("/check", summary="Check a table")
def check(body: TextBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """Everything that is wrong with a hierarchy in ARX's form; its tree where it is sound.

    Nothing is saved.
    """
    study = study_of(workspace)
    _attribute(workspace, body.attribute)
    built, problems = hierarchy_of_text(body.attribute, body.text, study.values(body.attribute)[0])
    answer = _answer(workspace, body.attribute, study, "file", built)
    answer.problems = [ProblemFacts(**vars(problem)) for problem in problems]
    return answer


@router.put("/file", summary="Import ARX CSV")
def import_file(body: TextBody, workspace: CurrentWorkspace) -> HierarchyAnswer:
    """A hierarchy in ARX's form becomes the attribute's, as a file of the workspace.

    Unsound ones are refused.
    """
    study = study_of(workspace)
    before = _version(workspace, body.attribute)
    built, problems = hierarchy_of_text(body.attribute, body.text, study.values(body.attribute)[0])
    if built is None:
        first = problems[0]
        place = "" if first.row is None else f"row {first.row + 1}: "
        raise FieldError(f"{place}{first.message}", field="text", advice=first.advice or None)
    _write(workspace, body.attribute, text_of_hierarchy(built))
    history_of(workspace, body.attribute).add("the import", before, _version(workspace, body.attribute))
    return _current(workspace, body.attribute)


@router.get("/file", summary="Export ARX CSV", response_class=Response)
def export_file(workspace: CurrentWorkspace, attribute: Annotated[str, Query()]) -> Response:
    """A quasi-identifier's hierarchy in ARX's form."""
    found = build_attribute(_attribute(workspace, attribute), study_of(workspace))
    return Response(
        text_of_hierarchy(found),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="hierarchy.csv"', "Cache-Control": "no-store"},
    )


def _attribute(workspace: Workspace, name: str) -> Attribute:
    for attribute in workspace.spec().quasi_identifiers:
        if attribute.name == name:
            return attribute
    raise FieldError(
        f"{shown(name)} is no quasi-identifier",
        field="attribute",
        advice="Give it that role on Columns first.",
    )


def _given(workspace: Workspace, name: str) -> Any:
    """The hierarchy as the spec writes it; None for value → ``*``."""
    _attribute(workspace, name)
    entry: dict[str, Any] = workspace.document()["attributes"][name]
    return entry.get("hierarchy")


def _kind(given: Any) -> str:
    if given is None:
        return "flat"
    return str(given.get("kind")) if isinstance(given, dict) else "file"


def _facts(workspace: Workspace, attribute: Attribute, study: TableStudy) -> HierarchyFacts:
    given = _given(workspace, attribute.name)
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


def _table_of(body: BuildBody) -> dict[str, Any] | None:
    return None if body.kind == "flat" else hierarchy_table(body.kind, body.typed)


def _built(
    workspace: Workspace, name: str, table: dict[str, Any] | None, study: TableStudy
) -> GeneralizationHierarchy:
    values, counts = study.values(name)
    if table is None:
        return build_attribute(Attribute(name, _attribute(workspace, name).role), study)
    return build_hierarchy(name, table, values, counts, workspace.spec_path.parent)


def _save(workspace: Workspace, name: str, given: Any) -> None:
    with workspace.editing:
        workspace.save_spec(with_hierarchy(workspace.document(), name, given))


def _file_of(workspace: Workspace, name: str) -> Path:
    """The workspace's file for an attribute's hierarchy; names that are not plain get a digest."""
    plain = f"{name}.csv"
    if safe_name(plain, field="attribute") == plain and name == name.casefold():
        return workspace.hierarchies / plain
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return workspace.hierarchies / safe_name(f"{name[:60]}-{digest}.csv", field="attribute")


def _write(workspace: Workspace, name: str, text: str) -> None:
    """Write the workspace's file for an attribute's hierarchy, whole, and name it in the spec."""
    path = _file_of(workspace, name)
    write_owner_only(path, text)
    _save(workspace, name, workspace.spec_relative(path))


def _version(workspace: Workspace, name: str) -> Version:
    """The hierarchy as it stands."""
    given, path = _given(workspace, name), _file_of(workspace, name)
    own = given == workspace.spec_relative(path) and path.is_file()
    return Version(given, path.read_text(encoding="utf-8") if own else None)


def _for_edit(
    workspace: Workspace, name: str, study: TableStudy
) -> tuple[Attribute, GeneralizationHierarchy]:
    """The hierarchy to change: over its own leaves, so that one that misses values can be mended."""
    attribute = _attribute(workspace, name)
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


def _go(workspace: Workspace, name: str, *, forward: bool) -> HierarchyAnswer:
    _attribute(workspace, name)
    history = history_of(workspace, name)
    found = history.forward() if forward else history.back()
    if found is not None and found.text is not None:
        _write(workspace, name, found.text)
    elif found is not None:
        _save(workspace, name, found.given)
    return _current(workspace, name)


def _current(workspace: Workspace, name: str) -> HierarchyAnswer:
    attribute = _attribute(workspace, name)
    study = study_of(workspace)
    given = _given(workspace, name)
    kind = _kind(given)
    builder = next((b for b in BUILDERS if b.kind == kind), None)
    typed = typed_values(given) if builder is not None else {}
    try:
        return _answer(workspace, name, study, kind, build_attribute(attribute, study), typed=typed)
    except InputError as error:
        built = None
        with suppress(InputError):
            built = _for_edit(workspace, name, study)[1]
        answer = _answer(workspace, name, study, kind, built, typed=typed)
        advice = error.advice or error.allowed or ""
        answer.problems = [ProblemFacts(row=None, level=None, message=error.message, advice=advice)]
        return answer


def _answer(
    workspace: Workspace,
    name: str,
    study: TableStudy,
    kind: str,
    built: GeneralizationHierarchy | None,
    *,
    typed: dict[str, str | bool] | None = None,
) -> HierarchyAnswer:
    values, counts = study.values(name) if name in study.names else ((), ())
    levels = [] if built is None else tree_of(built, values, counts)
    leaves = built.code_of_leaf if built is not None else {}
    few = len(levels[0]["labels"]) <= MOST_LEAVES if levels else True
    history = history_of(workspace, name)
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
        can_undo=history.last,
        can_redo=history.next,
    )


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
