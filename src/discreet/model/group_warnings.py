"""Warnings about the groups and values of a release: one wording for negotiations, audits and reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeVar

from discreet.model.coded_warning import FEW_PEOPLE, HOMOGENEOUS_CLASS, SINGLE_VALUES, CodedWarning
from discreet.model.single_values import SingleValues

_FIRST = (FEW_PEOPLE, HOMOGENEOUS_CLASS)


def few_people(column: str, k: int, few: int, groups: int, *, at_least: bool = False) -> CodedWarning:
    """Return that groups contain fewer than k values of a column that identifies people.

    ``at_least``: more groups may, since rows are drawn into them at random.
    """
    name = json.dumps(column, ensure_ascii=False)
    text = (
        f"{few:,} of {groups:,} groups contain fewer than {k} different {column}: k counts rows, and "
        f"several rows belong to one person. Set subject = {name} in [source] of the spec; or "
        "rows_are_people = true, where each row is a person."
    )
    if at_least:
        return CodedWarning(FEW_PEOPLE, f"At least {text}")
    return CodedWarning(FEW_PEOPLE, text)


def alike_groups(name: str, alike: int, groups: int) -> CodedWarning:
    """Return that everybody in some groups has the same value of a sensitive attribute."""
    return CodedWarning(
        HOMOGENEOUS_CLASS,
        f"In {alike:,} of {groups:,} groups everybody has the same {name}: whoever finds a person's group "
        "learns it. Require l = 2 or more.",
    )


def rows_singled_out(found: SingleValues) -> CodedWarning:
    """Return that values of a published column occur in one row only."""
    return CodedWarning(
        SINGLE_VALUES,
        f"{found.column}: {found.alone:,} of {found.rows:,} rows have a value that no other row has; anybody "
        f"who knows it finds the row. Within their group {found.in_class:,} are the only ones with theirs.",
    )


def source_rows_singled_out(name: str, alone: int, rows: int, unit: str = "rows") -> CodedWarning:
    """Return that values of a column that is published unchanged occur once in the source; and remedies."""
    return CodedWarning(
        SINGLE_VALUES,
        f"{name}: {alone:,} of {rows:,} {unit} have a value that no other has; anybody who knows it finds "
        "the row in a release, which shows it unchanged. Before: round it, or put its ends together. Or "
        'publish bands (role = "quasi-identifier" with intervals, and min_level = 1), or permute it (--model '
        "permutation).",
    )


_Text = TypeVar("_Text", bound=str)


def in_order(warnings: Sequence[_Text]) -> tuple[_Text, ...]:
    """Return the warnings with those about groups first: few people, then one sensitive value."""

    above, under, behind = by_place(warnings)
    return (*above, *under, *behind)


def by_place(warnings: Sequence[_Text]) -> tuple[tuple[_Text, ...], tuple[_Text, ...], tuple[_Text, ...]]:
    """Return the warnings above an answer's first line, those directly under it, and those behind it."""
    places: tuple[list[_Text], ...] = ([], [], [])
    for text in warnings:
        code = getattr(text, "code", None)
        places[_FIRST.index(code) if code in _FIRST else len(_FIRST)].append(text)
    above, under, behind = map(tuple, places)
    return above, under, behind
