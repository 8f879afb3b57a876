"""Names of groups of values that have no name of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence

_SPECIAL = set(',{}"')
_SHOWN_MEMBERS = 3


def range_label(members: Sequence[str]) -> str:
    """``first … last`` of neighbouring values; one value keeps its name."""
    return members[0] if len(members) == 1 else f"{members[0]} … {members[-1]}"


def set_label(members: Sequence[str], most: int | None = None) -> str:
    """``{a, b, c}``; of over ``most`` values ``{a, b, c, … (14 values)}``; one value keeps its name.

    A value with a comma, brace or quote stands as a JSON string, so that two sets never print alike.

    >>> set_label(["a, b", "c"]), set_label(["a", "b, c"])
    ('{"a, b", c}', '{a, "b, c"}')
    """
    if len(members) == 1:
        return members[0]
    if most is None or len(members) <= most:
        return "{" + ", ".join(map(_quoted, members)) + "}"
    first = ", ".join(map(_quoted, members[:_SHOWN_MEMBERS]))
    return f"{{{first}, … ({len(members)} values)}}"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if _SPECIAL & set(value) else value
