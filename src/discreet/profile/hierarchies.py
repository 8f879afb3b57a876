"""Which hierarchy a quasi-identifier may start with, as the spec writes it.

Proposals come with their height, so that a lattice can be kept small, and give way level by level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import floor, log10
from typing import Any

from discreet.hierarchy.auto import AutoHierarchy
from discreet.hierarchy.builtin.declaration import Builtin
from discreet.hierarchy.builtin.everyday import AGE
from discreet.hierarchy.builtin.hierarchy import BUILTINS, BuiltinHierarchy
from discreet.profile.columns import ColumnProfile
from discreet.profile.names import is_age, name_parts

_FEW_VALUES = 8
_MOST_GROUPED = 2_000
_MOST_WIDTHS = 3
_MOST_KNOWN = 20_000
_KNOWN_SHARE = 0.9
_MOST_OTHERS = 20
_CODE_PARTS = "zip zipcode postal postcode plz cep cap code codes codepostal municipality gemeinde commune"


FILE = "file"
BUILTIN = "builtin"


@dataclass(frozen=True)
class HierarchyProposal:
    """A hierarchy of the spec, a table or a file's path (``kind`` None: value → ``*``), and its height.

    ``levels`` are the values of the table's key ``key``, one per level below the top, finest first; a kind
    without such a key has ``steps`` levels below the top, which cannot be chosen.
    """

    kind: str | None = None
    key: str = ""
    levels: tuple[Any, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    steps: int = 0

    @property
    def height(self) -> int:
        """The level of the top value."""
        return (len(self.levels) or self.steps) + 1

    @property
    def table(self) -> dict[str, Any] | str | None:
        """The hierarchy as the spec writes it; None for value → ``*``."""
        if self.kind is None:
            return None
        if self.kind == FILE:
            return str(dict(self.fixed)["path"])
        levels = {self.key: list(self.levels)} if self.key else {}
        return {"kind": self.kind, **dict(self.fixed), **levels}

    @property
    def words(self) -> str:
        """The hierarchy in a few words."""
        if self.kind == FILE:
            return str(dict(self.fixed)["path"])
        if self.kind == BUILTIN:
            return f"{dict(self.fixed)['name']} by {', '.join(self.levels)}"
        if self.kind == "mask":
            hidden = ", ".join(str(number) for number in accumulate(self.levels))
            return f"last {hidden} characters masked"
        if self.kind is None or not self.levels:
            return "groups by frequency" if self.kind else "value → *"
        return f"{self.kind} of {', '.join(str(level) for level in self.levels)}".replace(
            "dates of", "dates by"
        )

    def lower(self) -> HierarchyProposal:
        """The same with one level less, the coarsest; value → ``*`` where nothing else is left."""
        return replace(self, levels=self.levels[:-1]) if len(self.levels) > 1 else FLAT


FLAT = HierarchyProposal()


def file_proposal(path: str, height: int) -> HierarchyProposal:
    """A hierarchy file, its path as the spec writes it."""
    return HierarchyProposal(FILE, fixed=(("path", path),), steps=height - 1)


def needs_values(column: ColumnProfile) -> bool:
    """Whether the proposal depends on the values themselves."""
    return (
        1 < column.distinct <= _MOST_KNOWN
        and any(is_named_like(column.name, builtin) for builtin in BUILTINS.values())
    ) or (
        not (column.numbers or column.dates or column.codes)
        and _FEW_VALUES < column.distinct <= _MOST_GROUPED
    )


def propose_hierarchy(
    column: ColumnProfile, values: Sequence[str] = (), counts: Sequence[int] = ()
) -> HierarchyProposal:
    """A built-in hierarchy where name and values fit; dates by month, year and decade; codes masked from the
    right; numbers in intervals of nice widths; many other values in automatic groups; few as they are.

    ``values`` where ``needs_values`` says so.
    """
    known = [
        found
        for builtin in BUILTINS.values()
        if is_named_like(column.name, builtin)
        and (found := fitted_builtin(column.name, builtin, values)) is not None
    ]
    if known:
        return known[0]
    if column.dates:
        return HierarchyProposal("dates", "levels", ("month", "year", "decade"))
    if _is_code(column):
        return _mask(column.longest)
    if column.numbers and column.distinct > _FEW_VALUES:
        return _intervals(column)
    ages = fitted_builtin(column.name, AGE, values) if is_age(column.name) else None
    if ages is not None:  # no numbers alone, such as 90+ among them
        return ages
    if values and _FEW_VALUES < column.distinct <= _MOST_GROUPED:
        height = AutoHierarchy("frequency").build(column.name, values, counts).height
        if height > 1:
            return HierarchyProposal("auto", fixed=(("by", "frequency"),), steps=height - 1)
    return FLAT


def is_named_like(name: str, builtin: Builtin) -> bool:
    """Whether a column's name has a word of a built-in hierarchy."""
    return any(part in builtin.words.split() for part in name_parts(name))


def fitted_builtin(name: str, builtin: Builtin, values: Sequence[str]) -> HierarchyProposal | None:
    """A built-in hierarchy for the column of a name, where it knows nearly all of the values.

    The others are listed; of the levels those are proposed that join values.
    """
    if not values:
        return None
    others = sorted(value for value in values if builtin.labels(value) is None)
    if len(others) > min(_MOST_OTHERS, (1 - _KNOWN_SHARE) * len(values)):
        return None
    hierarchy = BuiltinHierarchy(builtin.name, others=tuple(others)).build(name, values)
    sizes = [len(labels) for labels in hierarchy.labels]
    levels = tuple(
        level
        for level, finer, size in zip(builtin.levels, sizes, sizes[1:], strict=False)
        if 1 + len(others) < size < finer
    )
    if not levels:
        return None
    fixed = (("name", builtin.name), *((("others", others),) if others else ()))
    return HierarchyProposal(BUILTIN, "levels", levels, fixed)


def nice_widths(lowest: float, highest: float, distinct: int) -> tuple[int | float, ...]:
    """Up to three widths, each a multiple of the one before, for about 16, 8 and 4 intervals.

    >>> nice_widths(17, 90, 73), nice_widths(0, 9, 10), nice_widths(1200, 98000, 5000)
    ((5, 10, 20), (2, 4), (10000, 20000, 40000))
    """
    span = highest - lowest
    if span <= 0 or distinct < 3:
        return ()
    first = _nice(max(span / 16, span / distinct * 1.5))
    widths = [first]
    while len(widths) < _MOST_WIDTHS and span / (widths[-1] * 2) >= 2:
        widths.append(widths[-1] * 2)
    return tuple(int(w) if float(w).is_integer() else w for w in widths)


def _nice(width: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least ``width``."""
    exponent = floor(log10(width))
    for step in (1, 2, 5, 10):
        candidate = float(f"{step}e{exponent}")
        if candidate >= width * (1 - 1e-9):
            return candidate
    return float(f"1e{exponent + 1}")


def _intervals(column: ColumnProfile) -> HierarchyProposal:
    widths = nice_widths(column.lowest, column.highest, column.distinct)
    if not widths:
        return FLAT
    return HierarchyProposal("intervals", "widths", widths)


def _mask(length: int) -> HierarchyProposal:
    levels = min(_MOST_WIDTHS, length - 1)
    each, left = divmod(length - 1, levels)
    steps = tuple(each + (place < left) for place in range(levels))
    return HierarchyProposal("mask", "steps", steps)


def _is_code(column: ColumnProfile) -> bool:
    """Codes of equal length; digits alone only with a leading zero or a name that says so."""
    if not column.codes or column.longest < 3:
        return False
    return (
        not column.numbers
        or column.zeros
        or any(part in _CODE_PARTS.split() for part in name_parts(column.name))
    )
