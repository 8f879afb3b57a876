"""Request and answer bodies of the Hierarchies screen; saving hierarchies in the spec or in files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from discreet.errors import InputError
from discreet.hierarchy.draft import RowProblem
from discreet.hierarchy.messages import quote_value
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import Attribute
from discreet.screens.hierarchy_builders import BUILDERS, HierarchyBuilder, builder_form_values
from discreet.screens.hierarchy_editor import BuiltinMatch, find_builtin_matches, hierarchy_tree
from discreet.verbs.spec_editor import TableStudy, with_hierarchy
from discreet.web.error_responses import FieldError
from discreet.web.step_progress import build_attribute_hierarchy, get_profile
from discreet.web.workspace import Workspace
from discreet.web.workspace_files import safe_name

MAX_LEAVES = 20_000
"""A tree with more leaves is described only by figures per level."""


class HierarchyFacts(BaseModel):
    """Summary of one quasi-identifier's hierarchy."""

    name: str
    kind: str = Field(description="file, levels, flat, or a builder's kind.")
    origin: str
    values: int = Field(description="Distinct values in the data.")
    height: int | None
    error: str | None = Field(description="The error if it cannot be built.")
    from_data: bool = Field(
        description="True if it was made from the data, about which a release then discloses facts."
    )


class HierarchiesAnswer(BaseModel):
    """The hierarchies of all quasi-identifiers, or the job that profiles the columns first."""

    job: str | None = None
    rows: int = 0
    hierarchies: list[HierarchyFacts] = Field(default_factory=list)
    builders: list[HierarchyBuilder] = Field(default_factory=list)


class LevelFacts(BaseModel):
    """One level: its values, the parent of each in the next level, and the rows and leaves below each."""

    labels: list[str]
    parents: list[int]
    rows: list[int]
    leaves: list[int]


class LevelFigures(BaseModel):
    """Figures of one level, sent for trees of any size."""

    level: int
    values: int
    smallest: int = Field(description="Rows of its rarest value that occurs.")
    example: str = Field(description="The generalized form of the most frequent value.")


class HierarchyAnswer(BaseModel):
    """A hierarchy: its tree if it can be built, otherwise its errors."""

    attribute: str
    kind: str
    origin: str
    typed: dict[str, str | bool] = Field(description="The builder's form.")
    rows: int
    null_rows: int
    values: int
    height: int | None
    levels: list[LevelFacts] = Field(description="Leaves first; empty for very many leaves.")
    figures: list[LevelFigures]
    notes: list[str]
    problems: list[RowProblem]
    missing: list[str] = Field(description="Values of the data without a leaf.")
    offers: list[BuiltinMatch] = Field(
        default_factory=list, description="Built-in hierarchies that fit the values, those of its name first."
    )


class BuildBody(BaseModel):
    """A completed form of a builder."""

    attribute: str
    kind: str = Field(description='A builder\'s kind; "flat" for value → *.')
    typed: dict[str, str | bool] = Field(default_factory=dict)


class EditBody(BaseModel):
    """One manual edit."""

    attribute: str
    change: Literal["group", "move", "rename", "ungroup", "add_level", "remove_level", "add_values"]
    level: int = Field(0, ge=0, le=1000)
    labels: list[str] = Field(default_factory=list, max_length=MAX_LEAVES)
    name: str = Field("", max_length=500)
    target: str = Field("", max_length=500)


class FileBody(BaseModel):
    """A file's name and text."""

    name: str = Field(min_length=1, max_length=300)
    text: str = Field(max_length=3_000_000)


class FilesBody(BaseModel):
    """Files that may contain hierarchies; ``use`` assigns files to quasi-identifiers."""

    files: list[FileBody] = Field(min_length=1, max_length=500)
    use: dict[str, str] = Field(default_factory=dict, description="Names of files by quasi-identifier.")


class MatchFacts(BaseModel):
    """The result of matching one file."""

    name: str
    columns: list[str] = Field(description="The quasi-identifiers that it fits.")
    reason: str
    levels: int


class MatchesAnswer(BaseModel):
    """The result of matching each file. Nothing is saved."""

    matches: list[MatchFacts]


class TextBody(BaseModel):
    """A hierarchy in ARX's form: one line per leaf, ``leaf;level 1;…;*``."""

    attribute: str
    text: str = Field(max_length=3_000_000)


def find_quasi_identifier(workspace: Workspace, name: str) -> Attribute:
    """Return a quasi-identifier by name; raise ``FieldError`` if there is none."""
    for attribute in workspace.spec().quasi_identifiers:
        if attribute.name == name:
            return attribute
    raise FieldError(
        f"{quote_value(name)} is not a quasi-identifier",
        field="attribute",
        advice="Give it that role on Columns first.",
    )


def hierarchy_entry(workspace: Workspace, name: str) -> Any:
    """Return the hierarchy as the spec writes it; None for value → ``*``."""
    find_quasi_identifier(workspace, name)
    entry: dict[str, Any] = workspace.document()["attributes"][name]
    return entry.get("hierarchy")


def save_hierarchy(
    workspace: Workspace, name: str, entry: Any, files: Mapping[Path, str] | None = None
) -> None:
    """Store a hierarchy's entry in the spec, and write its files; None means value → ``*``."""
    with workspace.edit_lock:
        workspace.save_spec(with_hierarchy(workspace.document(), name, entry), files=files)


def write_hierarchy(workspace: Workspace, name: str, text: str, least_level: int) -> None:
    """Write an attribute's hierarchy to a file of the workspace and name it in the spec.

    With a ``least_level`` above 0 the spec also sets it, so that no lower level is published.
    """
    path = _hierarchy_path(workspace, name)
    spec_path = workspace.spec_relative(path)
    entry = {"kind": "file", "path": spec_path, "least_level": least_level} if least_level else spec_path
    save_hierarchy(workspace, name, entry, {path: text})


def write_hierarchies(workspace: Workspace, texts: Mapping[str, str]) -> None:
    """Write the hierarchies of several attributes as one change; none of them gets a least level."""
    with workspace.edit_lock:
        document, files = workspace.document(), {}
        for name, text in texts.items():
            path = _hierarchy_path(workspace, name)
            files[path] = text
            document = with_hierarchy(document, name, workspace.spec_relative(path))
        workspace.save_spec(document, files=files)


def _hierarchy_path(workspace: Workspace, name: str) -> Path:
    """Return the workspace's file for an attribute's hierarchy.

    Names that are not plain get a digest; so do names that differ from their case-folded form, because a file
    system may ignore case.
    """
    plain = f"{name}.csv"
    if safe_name(plain, field="attribute") == plain and name == name.casefold():
        return workspace.hierarchies / plain
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return workspace.hierarchies / safe_name(f"{name[:60]}-{digest}.csv", field="attribute")


def hierarchy_facts(workspace: Workspace, attribute: Attribute, study: TableStudy) -> HierarchyFacts:
    """Return the summary of a quasi-identifier's hierarchy: its height, or why it cannot be built."""
    entry = hierarchy_entry(workspace, attribute.name)
    height, error = None, None
    values = study.values(attribute.name)[0] if attribute.name in study.names else ()
    try:
        height = build_attribute_hierarchy(attribute, study).height
    except InputError as problem:
        error = problem.message
    return HierarchyFacts(
        name=attribute.name,
        kind=_entry_kind(entry),
        origin="value → *" if attribute.hierarchy is None else attribute.hierarchy.origin,
        values=len(values),
        height=height,
        error=error,
        from_data=attribute.hierarchy is not None and attribute.hierarchy.from_data,
    )


def current_hierarchy_answer(workspace: Workspace, name: str) -> HierarchyAnswer:
    """Return the current hierarchy of a quasi-identifier, or its errors."""
    attribute = find_quasi_identifier(workspace, name)
    study = get_profile(workspace)
    entry = hierarchy_entry(workspace, name)
    kind = _entry_kind(entry)
    builder = next((b for b in BUILDERS if b.kind == kind), None)
    typed = builder_form_values(entry) if builder is not None else {}
    try:
        found = hierarchy_answer(name, study, kind, build_attribute_hierarchy(attribute, study), typed=typed)
        return found.model_copy(update={"offers": _builtin_offers(workspace, name, study)})
    except InputError as error:
        built = None
        with suppress(InputError):
            built = editable_hierarchy(workspace, name, study)[1]
        answer = hierarchy_answer(name, study, kind, built, typed=typed)
        advice = error.advice or error.allowed or ""
        answer.problems = [RowProblem(row=None, level=None, message=error.message, advice=advice)]
        answer.offers = _builtin_offers(workspace, name, study)
        return answer


def _builtin_offers(workspace: Workspace, name: str, study: TableStudy) -> list[BuiltinMatch]:
    """Return the built-in hierarchies that fit a column, computed once per version of the table."""
    return list(workspace.compute_once(f"web.offers {name}", lambda: find_builtin_matches(name, study)))


def hierarchy_answer(
    name: str,
    study: TableStudy,
    kind: str,
    built: GeneralizationHierarchy | None,
    *,
    typed: dict[str, str | bool] | None = None,
) -> HierarchyAnswer:
    """Build the answer for a hierarchy with the rows of each value; None for one that cannot be built."""
    values, counts = study.values(name) if name in study.names else ((), ())
    levels = [] if built is None else hierarchy_tree(built, values, counts)
    leaves = built.code_of_leaf if built is not None else {}
    few = len(levels[0]["labels"]) <= MAX_LEAVES if levels else True
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
        figures=_level_figures(built, levels),
        notes=[] if built is None else list(built.notes),
        problems=[],
        missing=[value for value in values if value not in leaves][:1000] if built is not None else [],
    )


def editable_hierarchy(
    workspace: Workspace, name: str, study: TableStudy
) -> tuple[Attribute, GeneralizationHierarchy]:
    """Return a quasi-identifier and its hierarchy for editing.

    A hierarchy that lacks values of the data is built over its own leaves, so that the values can be added.
    Raises ``FieldError`` if it cannot be built at all.
    """
    attribute = find_quasi_identifier(workspace, name)
    try:
        return attribute, build_attribute_hierarchy(attribute, study)
    except InputError as error:
        source = attribute.hierarchy
        try:
            if source is None:
                raise error
            return attribute, source.build(name, (), ())
        except InputError:
            raise FieldError.of(error, "attribute") from None


def _entry_kind(entry: Any) -> str:
    if entry is None:
        return "flat"
    return str(entry.get("kind")) if isinstance(entry, dict) else "file"


def _level_figures(built: GeneralizationHierarchy | None, levels: list[dict[str, Any]]) -> list[LevelFigures]:
    if built is None or not levels or not levels[0]["labels"]:
        return []
    rows = levels[0]["rows"]
    path = built.path(max(range(len(rows)), key=lambda index: int(rows[index])))
    return [
        LevelFigures(
            level=number,
            values=len(level["labels"]),
            smallest=min((n for n in level["rows"] if n), default=0),
            example=path[number],
        )
        for number, level in enumerate(levels)
    ]
