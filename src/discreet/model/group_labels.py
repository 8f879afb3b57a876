"""Names of groups of values that have no name of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

_ELLIPSIS = " … "
_SPECIAL = set(',{}"')
_SHOWN_MEMBERS = 3


def range_label(members: Sequence[str]) -> str:
    """``first … last`` of neighbouring values; one value keeps its name.

    An end with that sign, or with a quote at its start, stands as a JSON string, so that two ranges never
    print alike.

    >>> range_label(["a", "b … c"]), range_label(["a … b", "c"])
    ('a … "b … c"', '"a … b" … c')
    """
    return members[0] if len(members) == 1 else f"{_end(members[0])}{_ELLIPSIS}{_end(members[-1])}"


def range_ends(label: str) -> Iterator[tuple[str, str]]:
    """Each reading of a label as ``first … last``; of what ``range_label`` makes one names values alone."""
    start = label.find(_ELLIPSIS)
    while start >= 0:
        yield _read_end(label[:start]), _read_end(label[start + len(_ELLIPSIS) :])
        start = label.find(_ELLIPSIS, start + 1)


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


def _end(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if "…" in value or value.startswith('"') else value


def _read_end(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except json.JSONDecodeError:
        return text


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if _SPECIAL & set(value) else value
