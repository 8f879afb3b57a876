"""A sentence that warns, with a short code for programs."""

from __future__ import annotations

from collections.abc import Iterable

INSENSITIVE_PUBLISHED = "insensitive-published"
"""Columns that a release shows as they are, outside every check."""

UNLISTED_PUBLISHED = "unlisted-published"
"""Such columns that the spec does not even list."""

MISSING_MARKS = "missing-marks"
"""Texts that may say that a value is missing, and count as values."""

STARRED_CELLS = "starred-cells"
"""Cells of stars, as a release has them, in a table."""

ROWS_WITHOUT_QUASI_IDENTIFIERS = "rows-without-quasi-identifiers"
"""Rows with a star or NULL in every quasi-identifier."""

HOMOGENEOUS_CLASS = "homogeneous-class"
"""A class in which every row has the same sensitive value."""

FEW_PEOPLE = "few-people"
"""Rows of one person that are counted as several people."""

SINGLE_VALUES = "single-values"
"""Values of a published column that one row has."""


class CodedWarning(str):
    """The sentence itself, and its ``code``: what prints, joins and records warnings takes it as a text.

    A ``private`` warning names values of single rows, so neither a manifest nor a report contains it.
    """

    __slots__ = ("code", "private")
    code: str
    private: bool

    def __new__(cls, code: str, text: str, *, private: bool = False) -> CodedWarning:
        """A sentence with its code."""
        found = super().__new__(cls, text)
        found.code = code
        found.private = private
        return found


def told_once(warnings: Iterable[CodedWarning]) -> tuple[CodedWarning, ...]:
    """Return the warnings in their order, each text once."""
    return tuple(dict.fromkeys(warnings))


def public(warnings: Iterable[CodedWarning]) -> tuple[CodedWarning, ...]:
    """Return the warnings that a manifest may contain."""
    return tuple(warning for warning in warnings if not warning.private)


def not_told(warnings: Iterable[str], told: Iterable[str]) -> tuple[str, ...]:
    """The warnings whose text is not among those told, and none of the same code: each is told once."""
    texts = tuple(told)
    codes = {text.code for text in texts if isinstance(text, CodedWarning)}
    if UNLISTED_PUBLISHED in codes:  # an audit, which has no spec, calls these columns like the others
        codes.add(INSENSITIVE_PUBLISHED)
    return tuple(w for w in warnings if w not in texts and getattr(w, "code", None) not in codes)
