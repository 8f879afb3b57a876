"""What one everyday hierarchy declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Labels = tuple[str, ...]


@dataclass(frozen=True)
class Builtin:
    """A hierarchy that is known before the data: of each value it says the label at each level.

    ``levels`` are the levels' names, from fine to coarse, without the values themselves and the top.
    ``labels`` gives a value's labels at these levels, or None for a value that is none of its own; a value
    that is itself coarser than a level has its own label there. Labels nest: values with one label at a level
    have one at each coarser level. ``source`` says where the levels come from, with the year. ``words`` are
    parts of columns' names, lower case, by which the hierarchy may be proposed where the values fit.
    """

    name: str
    title: str
    levels: tuple[str, ...]
    source: str
    example: str
    labels: Callable[[str], Labels | None]
    words: str = ""
