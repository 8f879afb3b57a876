"""Hierarchies in the editor: the tree with row counts, edits by name, ARX text, and matching hierarchies.

Existing hierarchies are files that match columns by name and value, and built-in ones that know nearly all
values of a column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.hierarchy.builtin.builder import BUILTINS
from discreet.hierarchy.csv_file import parse_hierarchy_rows
from discreet.hierarchy.draft import HierarchyDraft, RowProblem, find_row_problems
from discreet.hierarchy.level_table import hierarchy_from_rows
from discreet.hierarchy.messages import quote_value
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.profile.heading_words import split_name
from discreet.profile.hierarchy_proposal import FileMatch as FileMatch
from discreet.profile.hierarchy_proposal import fit_builtin, is_named_like, match_hierarchy_files
from discreet.screens.hierarchy_builders import build_from_table, builder_form_values
from discreet.verbs.spec_editor import TableStudy

EDITED_ORIGIN = "edited by hand"
"""The origin of a hierarchy that was edited."""


def hierarchy_tree(
    hierarchy: GeneralizationHierarchy, values: Sequence[str], counts: Sequence[int]
) -> list[dict[str, Any]]:
    """Return a hierarchy level by level, leaves first, as plain lists.

    For each value of a level: ``labels`` its text, ``parents`` the index of its parent in the next level
    (empty at the top), ``rows`` the rows below it, ``leaves`` the leaves below it. Leaves without a row have
    0 rows.
    """
    rows_of = dict(zip(values, counts, strict=True))
    rows = np.array([rows_of.get(leaf, 0) for leaf in hierarchy.leaves], dtype=np.int64)
    result = []
    for level, labels in enumerate(hierarchy.labels):
        places = hierarchy.ancestors[level]
        parents: list[int] = []
        if level < hierarchy.height:
            above = np.zeros(len(labels), dtype=np.int64)
            above[places] = hierarchy.ancestors[level + 1]
            parents = [int(index) for index in above]
        result.append(
            {
                "labels": list(labels),
                "parents": parents,
                "rows": [int(n) for n in np.bincount(places, rows, minlength=len(labels))],
                "leaves": [int(n) for n in np.bincount(places, minlength=len(labels))],
            }
        )
    return result


def parse_hierarchy_text(
    attribute: str, text: str, values: Sequence[str]
) -> tuple[GeneralizationHierarchy | None, tuple[RowProblem, ...]]:
    """Parse a hierarchy in ARX's form and check it: return it if it is correct, else all its errors."""
    try:
        rows = parse_hierarchy_rows(text, "the table")
    except InputError as error:
        return None, (RowProblem(None, None, error.message, error.advice or error.allowed or ""),)
    problems = find_row_problems(rows, values)
    if problems:
        return None, problems
    return hierarchy_from_rows(attribute, rows, origin=EDITED_ORIGIN), ()


def edit_hierarchy(
    hierarchy: GeneralizationHierarchy, change: Mapping[str, Any], missing: Sequence[str] = ()
) -> GeneralizationHierarchy:
    """Return a hierarchy after one change: ``{"change": "group", "level": 0, "labels": […], "name": …}``.

    Changes: group, move (``target``), rename (``labels``, ``name``), ungroup (``labels``), add_level,
    remove_level, add_values (those in ``missing``). Raises ``InputError`` if the change is not possible.
    """
    draft = HierarchyDraft.of(hierarchy)
    level = int(change.get("level") or 0)
    labels = [str(label) for label in change.get("labels") or ()]
    name, target = str(change.get("name") or ""), str(change.get("target") or "")
    first = labels[0] if labels else ""
    changes: dict[str, Callable[[], HierarchyDraft]] = {
        "group": lambda: draft.group(level, labels, name),
        "move": lambda: draft.move(level, labels, target),
        "rename": lambda: draft.rename(level, first, name),
        "ungroup": lambda: draft.ungroup(level, first),
        "add_level": lambda: draft.add_level(level),
        "remove_level": lambda: draft.remove_level(level),
        "add_values": lambda: draft.add_values(missing),
    }
    wanted = str(change.get("change"))
    if wanted not in changes:
        raise InputError(f"unknown change {quote_value(wanted)}", allowed=", ".join(changes))
    rows = changes[wanted]().rows
    return hierarchy_from_rows(hierarchy.attribute, rows, origin=EDITED_ORIGIN)


_MAX_VALUES = 20_000


@dataclass(frozen=True)
class BuiltinMatch:
    """A built-in hierarchy that fits a column: its source, its builder's form, and an example.

    ``path`` are the generalizations of the most frequent value, level by level; ``is_named`` is True if the
    column's name also matches.
    """

    name: str
    title: str
    source: str
    is_named: bool
    typed: dict[str, str | bool]
    path: tuple[str, ...]


def find_builtin_matches(name: str, study: TableStudy) -> tuple[BuiltinMatch, ...]:
    """Find built-in hierarchies that know nearly all values of a column; those that match its name first.

    Plain numbers fit many codes by chance: for these only hierarchies that match the column's name are
    returned.
    """
    values, counts = study.values(name) if name in study.names else ((), ())
    if not 1 < len(values) <= _MAX_VALUES:
        return ()
    found = []
    most = values[max(range(len(values)), key=lambda index: counts[index])]
    by_name = study.study.proposed[name].column.numbers
    for builtin in BUILTINS.values():
        named = is_named_like(name, builtin) or builtin.name in split_name(name)
        if by_name and not named:
            continue
        proposal = fit_builtin(name, builtin, values)
        if proposal is None or not isinstance(proposal.table, dict):
            continue
        built = build_from_table(name, proposal.table, values, counts, Path())
        path = tuple(built.path(built.code_of_leaf[most]))
        typed = builder_form_values(proposal.table)
        found.append(BuiltinMatch(builtin.name, builtin.title, builtin.source, named, typed, path))
    return tuple(sorted(found, key=lambda offer: not offer.is_named))


def match_hierarchy_texts(
    files: Mapping[str, str], study: TableStudy, roles: Mapping[str, str], generalized: Sequence[str]
) -> tuple[FileMatch, ...]:
    """Match hierarchy files (texts by name) with columns, as ``init`` does for a folder.

    ``generalized`` are the quasi-identifiers, ``roles`` those of the other columns. Raises ``InputError`` if
    none of the files is a hierarchy.
    """
    known = [name for name in generalized if name in study.names]
    columns = [study.study.proposed[name].column for name in known]
    with TemporaryDirectory(prefix="discreet-") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
        return match_hierarchy_files(
            Path(folder), columns, roles, lambda names: {n: study.values(n)[0] for n in names}
        )
