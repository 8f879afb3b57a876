"""One look per series, by its name: what has one name has one colour and marker in every chart of every page.

A group holds the names that meet in one chart, each at a place of its own; a name stands in one group only.
Names that never meet may share a look. A new series is a name added to the end of its group. A series that
no group names takes the first look that its chart has free, so that a chart by a caller of the library needs
no entry here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

GROUPS: tuple[tuple[str, ...], ...] = (
    tuple(f"k = {k}" for k in (3, 10, 25, 50, 100, 150)),
    tuple(f"l = {l}" for l in (3, 6, 9, 10)),
    tuple(f"QI {size}" for size in (3, 4, 5, 6, 7, 8, 9)),
    tuple(f"height {height}" for height in range(8)),
    ("for k", "for l"),
    ("ours", "the paper's chart"),
    ("full", "partial", "with v_max at run time", "levels 0 and 1"),
    (
        *("samarati", "bottom-up", "bottom-up-rollup", "incognito"),
        *("incognito-superroots", "incognito-cube", "exhaustive"),
    ),
    ("building the cube", "searching"),
    (
        *("single-dimensional", "multidimensional, median", "multidimensional, best cut"),
        *("heuristic", "single-dimensional, greedy", "mondrian", "least possible", "proven bound"),
    ),
    (
        *("generalized", "permuted", "min-sum", "contiguous-min-max"),
        *("min-max", "qi-aware", "random", "generalization"),
    ),
)
"""The names that meet in one chart, in the order of their looks."""

_OF_ANOTHER = re.compile(r"(?P<name>.+), (printed|QID \d+)")


@dataclass(frozen=True)
class Look:
    """The colour and the marker of one series."""

    colour: str
    marker: str


LOOKS: Mapping[str, Look] = {
    name: Look(COLOURS[place], MARKERS[place]) for group in GROUPS for place, name in enumerate(group)
}


def looks_of(names: Sequence[str]) -> dict[str, Look]:
    """The look of each series of one chart.

    ``incognito, printed`` and ``incognito, QID 5`` look as ``incognito`` does: a series that is the same
    thing elsewhere, or at one of its sizes. Beyond eight unnamed series looks begin again.
    """
    known = {name: LOOKS[base] for name in names if (base := _base(name)) in LOOKS}
    free = [Look(c, m) for c, m in zip(COLOURS, MARKERS, strict=True) if Look(c, m) not in known.values()]
    unnamed = [name for name in dict.fromkeys(names) if name not in known]
    every = free or [Look(c, m) for c, m in zip(COLOURS, MARKERS, strict=True)]
    return known | {name: every[place % len(every)] for place, name in enumerate(unnamed)}


def _base(name: str) -> str:
    of_another = _OF_ANOTHER.fullmatch(name)
    return of_another["name"] if of_another else name
