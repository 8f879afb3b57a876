"""Quoting of values in messages: escaped, shortened, and counted if there are many."""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST = 60
OTHERS_ALLOWED = 'a list of texts in quotes, such as ["unknown"]'
"""Allowed values of a builder's ``others``."""


def quote_value(value: object) -> str:
    """Quote a value, with control characters escaped and long texts cut.

    >>> print(quote_value("a\\tb"), quote_value("x" * 70))
    'a\\tb' 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(value))
    return f"'{text[:_LONGEST]}…'" if len(text) > _LONGEST else f"'{text}'"


def quote_values(values: Sequence[object], most: int = 5) -> str:
    """Quote the first values, and count the others.

    >>> quote_values(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    text = ", ".join(quote_value(value) for value in values[:most])
    return f"{text} and {len(values) - most} more" if len(values) > most else text
