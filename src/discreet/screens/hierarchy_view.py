"""A hierarchy as an editor shows it: its tree with the rows of each value, and changes of it by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.hierarchy.csv_file import hierarchy_csv_text, hierarchy_rows
from discreet.hierarchy.editing import HierarchyDraft
from discreet.hierarchy.messages import shown
from discreet.hierarchy.rows_check import RowProblem, problems_of
from discreet.hierarchy.table import hierarchy_from_rows
from discreet.model.hierarchy import GeneralizationHierarchy

EDITED = "edited by hand"
"""The origin of a hierarchy that was edited."""


def tree_of(
    hierarchy: GeneralizationHierarchy, values: Sequence[str], counts: Sequence[int]
) -> list[dict[str, Any]]:
    """A hierarchy level by level, leaves first, as plain lists.

    Of each value of a level: ``labels`` its text, ``parents`` the place of its parent in the next level
    (empty at the top), ``rows`` the rows below it, ``leaves`` the leaves below it. Leaves
    without a row have 0 rows.
    """
    rows_of = dict(zip(values, counts, strict=True))
    rows = np.array([rows_of.get(leaf, 0) for leaf in hierarchy.leaves], dtype=np.int64)
    found = []
    for level, labels in enumerate(hierarchy.labels):
        places = hierarchy.ancestors[level]
        parents: list[int] = []
        if level < hierarchy.height:
            above = np.zeros(len(labels), dtype=np.int64)
            above[places] = hierarchy.ancestors[level + 1]
            parents = [int(place) for place in above]
        found.append(
            {
                "labels": list(labels),
                "parents": parents,
                "rows": [int(n) for n in np.bincount(places, rows, minlength=len(labels))],
                "leaves": [int(n) for n in np.bincount(places, minlength=len(labels))],
            }
        )
    return found


def hierarchy_of_text(
    attribute: str, text: str, values: Sequence[str]
) -> tuple[GeneralizationHierarchy | None, tuple[RowProblem, ...]]:
    """A hierarchy in ARX's form, checked whole: itself where it is sound, else what is wrong with it."""
    try:
        rows = hierarchy_rows(text, "the table")
    except InputError as error:
        return None, (RowProblem(None, None, error.message, error.advice or error.allowed or ""),)
    problems = problems_of(rows, values)
    if problems:
        return None, problems
    return hierarchy_from_rows(attribute, rows, origin=EDITED), ()


def text_of_hierarchy(hierarchy: GeneralizationHierarchy) -> str:
    """A hierarchy in ARX's form."""
    return hierarchy_csv_text(hierarchy)


def edited(
    hierarchy: GeneralizationHierarchy, change: Mapping[str, Any], missing: Sequence[str] = ()
) -> GeneralizationHierarchy:
    """A hierarchy after one change: ``{"change": "group", "level": 0, "labels": […], "name": …}``.

    Changes: group, move (``target``), rename (``label``, ``name``), ungroup (``label``), add_level,
    remove_level, add_values (those in ``missing``). ``InputError`` where it cannot be done.
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
        raise InputError(f"there is no change {shown(wanted)}", allowed=", ".join(changes))
    rows = changes[wanted]().rows
    return hierarchy_from_rows(hierarchy.attribute, rows, origin=EDITED)
