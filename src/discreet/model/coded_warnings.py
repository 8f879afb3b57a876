"""Warnings with a code for programs, and the wording of those about groups and single values.

Negotiations, audits and reports share one wording. A private warning names values of single rows and is never
written into a manifest or report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

INSENSITIVE_PUBLISHED = "insensitive-published"
"""Columns that a release shows unchanged, without any check."""

UNLISTED_PUBLISHED = "unlisted-published"
"""Such columns that the spec does not list."""

MISSING_MARKS = "missing-marks"
"""Texts that may be codes for missing values, but count as values."""

STARRED_CELLS = "starred-cells"
"""Cells of stars in a table, as in a release."""

ROWS_WITHOUT_QUASI_IDENTIFIERS = "rows-without-quasi-identifiers"
"""Rows with a star or NULL in every quasi-identifier."""

HOMOGENEOUS_CLASS = "homogeneous-class"
"""A class in which every row has the same sensitive value."""

FEW_PEOPLE = "few-people"
"""Rows of one person that are counted as several people."""

SINGLE_VALUES = "single-values"
"""Values of a published column that occur in one row."""


class CodedWarning(str):
    """A sentence with a ``code``; a text for code that prints, joins or records warnings.

    A ``private`` warning names values of single rows, so neither a manifest nor a report contains it.
    """

    __slots__ = ("code", "private")
    code: str
    private: bool

    def __new__(cls, code: str, text: str, *, private: bool = False) -> CodedWarning:
        """Create a sentence with its code."""
        result = super().__new__(cls, text)
        result.code = code
        result.private = private
        return result


def unique_warnings(warnings: Iterable[CodedWarning]) -> tuple[CodedWarning, ...]:
    """Return the warnings in order, each text once."""
    return tuple(dict.fromkeys(warnings))


def public_warnings(warnings: Iterable[CodedWarning]) -> tuple[CodedWarning, ...]:
    """Return the warnings that a manifest may contain."""
    return tuple(warning for warning in warnings if not warning.private)


def unreported_warnings(warnings: Iterable[str], reported: Iterable[str]) -> tuple[str, ...]:
    """Return the warnings whose text and code are not among the reported ones."""
    texts = tuple(reported)
    codes = {text.code for text in texts if isinstance(text, CodedWarning)}
    if UNLISTED_PUBLISHED in codes:  # an audit has no spec and gives these columns the general code
        codes.add(INSENSITIVE_PUBLISHED)
    return tuple(w for w in warnings if w not in texts and getattr(w, "code", None) not in codes)


@dataclass(frozen=True)
class SingleValues:
    """Rows whose value of a column occurs in no other row.

    ``unique_rows`` are the only ones of the table with their value, ``in_class`` rows the only ones with it
    among the rows with the same published quasi-identifiers; of ``rows`` rows, without starred ones.
    """

    column: str
    rows: int
    unique_rows: int
    in_class: int

    def as_json(self) -> dict[str, Any]:
        """Return the entry in a JSON document."""
        return {
            "column": self.column,
            "rows": self.rows,
            "unique_rows": self.unique_rows,
            "in_class": self.in_class,
        }


_LEADING_CODES = (FEW_PEOPLE, HOMOGENEOUS_CLASS)


def few_people_warning(column: str, k: int, few: int, groups: int, *, at_least: bool = False) -> CodedWarning:
    """Return a warning that groups contain fewer than k values of a column that identifies people.

    ``at_least``: rows are assigned to groups at random, so more groups may be affected.
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


def homogeneous_groups_warning(name: str, alike: int, groups: int) -> CodedWarning:
    """Return a warning that all rows of some groups have the same value of a sensitive attribute."""
    return CodedWarning(
        HOMOGENEOUS_CLASS,
        f"In {alike:,} of {groups:,} groups all people have the same {name}: anyone who finds a person's "
        "group learns it. Require l = 2 or more.",
    )


def single_values_warning(found: SingleValues) -> CodedWarning:
    """Return a warning that values of a published column occur in only one row."""
    return CodedWarning(
        SINGLE_VALUES,
        f"{found.column}: {found.unique_rows:,} of {found.rows:,} rows have a value that no other row has; "
        f"anyone who knows it finds the row. Within their group {found.in_class:,} are the only ones with "
        "theirs.",
    )


def source_single_values_warning(name: str, unique: int, rows: int, unit: str = "rows") -> CodedWarning:
    """Return a warning, with remedies, that values of a column published unchanged occur once."""
    return CodedWarning(
        SINGLE_VALUES,
        f"{name}: {unique:,} of {rows:,} {unit} have a value that no other has; anyone who knows it finds "
        "the row in a release, which shows it unchanged. Before publishing, round it or combine its extreme "
        'values. Or publish bands (role = "quasi-identifier" with intervals, and min_level = 1), or permute '
        "it (--model permutation).",
    )


_Text = TypeVar("_Text", bound=str)


def order_warnings(warnings: Sequence[_Text]) -> tuple[_Text, ...]:
    """Return the warnings with those about groups first: few people, then one sensitive value."""

    above, under, behind = partition_warnings(warnings)
    return (*above, *under, *behind)


def partition_warnings(
    warnings: Sequence[_Text],
) -> tuple[tuple[_Text, ...], tuple[_Text, ...], tuple[_Text, ...]]:
    """Return the warnings above an answer's first line, directly below it, and after the answer."""
    places: tuple[list[_Text], ...] = ([], [], [])
    for text in warnings:
        code = getattr(text, "code", None)
        places[_LEADING_CODES.index(code) if code in _LEADING_CODES else len(_LEADING_CODES)].append(text)
    above, under, behind = map(tuple, places)
    return above, under, behind
