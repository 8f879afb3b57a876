"""What the SQL of written forms is made of: named expressions, each of which may use those before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.model.starred_cells import BLANKS
from discreet.sql.names import literal

_BLANK_LITERALS = ", ".join(literal(blank) for blank in BLANKS)


def is_padded(text: str) -> str:
    """Whether a text has blanks around it. Its ends are looked at, which takes a sixth of what TRIM takes."""
    return f"(left({text}, 1) IN ({_BLANK_LITERALS}) OR right({text}, 1) IN ({_BLANK_LITERALS}))"


def stripped(text: str) -> str:
    """A text without the blanks around it."""
    return f"CASE WHEN {is_padded(text)} THEN TRIM(BOTH {literal(BLANKS)} FROM {text}) ELSE {text} END"


INNER_BLANKS = "[ \u00a0\u202f]*"
"""Blanks within a cell, in a pattern."""

_SPECIAL = frozenset(".$*?{}|+()[]/")


@dataclass(frozen=True)
class Steps:
    """Expressions by name, step after step, and the name of the last: the canonical text, or NULL."""

    named: tuple[Mapping[str, str], ...]
    value: str


def plain(text: str) -> str:
    """A text in a pattern of any engine.

    >>> plain("Fr."), plain("US$")
    ('Fr[.]', 'US[$]')
    """
    return "".join(f"[{c}]" if c in _SPECIAL else "\\" + c if c in "^\\" else c for c in text)
