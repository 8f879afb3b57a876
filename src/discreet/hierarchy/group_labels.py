"""The labels of groups of neighbouring values, as a column of a hierarchy's table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from discreet.model.group_labels import range_label, set_label

GroupLabel = Literal["range", "set"]
MOST_MEMBERS = 8
"""Values that a set's label names; of a larger one it names the first."""


LABELS: dict[str, Callable[[Sequence[str]], str]] = {
    "range": range_label,
    "set": partial(set_label, most=MOST_MEMBERS),
}


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
