"""What the SQL of written forms is made of: named expressions, each of which may use those before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BLANKS = " \t\n\r\f\v\u00a0\u202f\ufeff"
"""What is taken off around a cell."""

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
