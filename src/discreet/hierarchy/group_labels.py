"""Names of groups of values that have no name of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

GroupLabel = Literal["range", "set"]
_MOST_MEMBERS = 8
_SHOWN_MEMBERS = 3


def range_label(members: Sequence[str]) -> str:
    """``first … last`` of neighbouring values; one value keeps its name."""
    return members[0] if len(members) == 1 else f"{members[0]} … {members[-1]}"


def set_label(members: Sequence[str]) -> str:
    """``{a, b, c}``; of over eight values ``{a, b, c, … (14 values)}``; one value keeps its name."""
    if len(members) == 1:
        return members[0]
    if len(members) <= _MOST_MEMBERS:
        return "{" + ", ".join(members) + "}"
    return "{" + ", ".join(members[:_SHOWN_MEMBERS]) + f", … ({len(members)} values)}}"


LABELS: dict[str, Callable[[Sequence[str]], str]] = {"range": range_label, "set": set_label}


def group_column(ordered: Sequence[str], sizes: Sequence[int], label: GroupLabel) -> list[str]:
    """The label of each value's group, for groups of neighbours of the given sizes.

    Groups have different labels: one that is taken gets a number behind it.
    """
    column: list[str] = []
    taken: set[str] = set()
    start = 0
    for size in sizes:
        text = wanted = LABELS[label](ordered[start : start + size])
        number = 2
        while text in taken:
            text, number = f"{wanted} ({number})", number + 1
        taken.add(text)
        column += [text] * size
        start += size
    return column
