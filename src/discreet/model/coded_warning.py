"""A sentence that warns, with a short code for programs."""

from __future__ import annotations

from collections.abc import Iterable

INSENSITIVE_PUBLISHED = "insensitive-published"
"""Columns that a release shows as they are, outside every check."""

UNLISTED_PUBLISHED = "unlisted-published"
"""Such columns that the spec does not even list."""

HOMOGENEOUS_CLASS = "homogeneous-class"
"""A class in which every row has the same sensitive value."""


class CodedWarning(str):
    """The sentence itself, and its ``code``: what prints, joins and records warnings takes it as a text."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, text: str) -> CodedWarning:
        """A sentence with its code."""
        found = super().__new__(cls, text)
        found.code = code
        return found


def not_told(warnings: Iterable[str], told: Iterable[str]) -> tuple[str, ...]:
    """The warnings whose text is not among those told, and none of the same code: each is told once."""
    texts = tuple(told)
    codes = {text.code for text in texts if isinstance(text, CodedWarning)}
    if UNLISTED_PUBLISHED in codes:  # an audit, which has no spec, calls these columns like the others
        codes.add(INSENSITIVE_PUBLISHED)
    return tuple(w for w in warnings if w not in texts and getattr(w, "code", None) not in codes)
