"""Quoting of values in messages: escaped, shortened, and counted where there are many."""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST = 60


def quote_value(value: object) -> str:
    """A value between quotes, control characters escaped, long ones cut.

    >>> print(quote_value("a\\tb"), quote_value("x" * 70))
    'a\\tb' 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(value))
    return f"'{text[:_LONGEST]}…'" if len(text) > _LONGEST else f"'{text}'"


def quote_values(values: Sequence[object], most: int = 5) -> str:
    """A few values, and how many more there are.

    >>> quote_values(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    text = ", ".join(quote_value(value) for value in values[:most])
    return f"{text} and {len(values) - most} more" if len(values) > most else text
