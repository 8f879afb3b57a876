"""Which hierarchy a quasi-identifier may start with, as the spec writes it.

Proposals come with their height, so that a lattice can be kept small, and give way level by level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate, pairwise
from math import floor, log10
from typing import Any

from discreet.hierarchy.auto import AutoHierarchy
from discreet.hierarchy.builtin.declaration import Builtin
from discreet.hierarchy.builtin.everyday import AGE
from discreet.hierarchy.builtin.hierarchy import BUILTINS, BuiltinHierarchy
from discreet.hierarchy.mask import MOST_LEVELS, MaskHierarchy
from discreet.profile.columns import ColumnProfile
from discreet.profile.names import is_age, name_parts
from discreet.profile.ordered_values import open_end_rows, open_numbers, ordered_texts

_FEW_VALUES = 8
_MOST_GROUPED = 2_000
_MOST_WIDTHS = 3
_MOST_KNOWN = 20_000
_KNOWN_SHARE = 0.9
_MOST_OTHERS = 20
_DAY = len("2023-04-01")
_WEEK, _SOME_MONTHS, _SOME_YEARS = 7, 92, 10  # days, days, years
_CODE_PARTS = "zip zipcode postal postcode plz cep cap code codes codepostal municipality gemeinde commune"


_POSTAL = {
    **dict.fromkeys(("zip", "zipcode"), "us"),
    **dict.fromkeys(("plz", "postleitzahl"), "de at ch"),
    **dict.fromkeys(("postcode", "postal", "postalcode"), "gb ca nl us"),
    "cep": "br",
    "cap": "it",
    "codepostal": "fr",
    "postnummer": "se",
}
"""The countries whose postal codes have a name."""

FILE = "file"
BUILTIN = "builtin"


@dataclass(frozen=True)
class HierarchyProposal:
    """A hierarchy of the spec, a table or a file's path (``kind`` None: value → ``*``), and its height.

    ``levels`` are the values of the table's key ``key``, one per level below the top, finest first; a kind
    without such a key has ``steps`` levels below the top, which cannot be chosen. ``note`` says how texts of
    the column are read.
    """

    kind: str | None = None
    key: str = ""
    levels: tuple[Any, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    steps: int = 0
    note: str = ""

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
            return "last character masked" if hidden == "1" else f"last {hidden} characters masked"
        if self.kind == "order":
            return f"neighbours in groups of {', '.join(map(str, self.levels))}"
        if self.kind is None or not self.levels:
            return "groups by frequency" if self.kind else "value → *"
        return f"{self.kind} of {', '.join(str(level) for level in self.levels)}".replace(
            "dates of", "dates by"
        )

    def beside(self, others: tuple[str, ...]) -> HierarchyProposal:
        """The same with words that stay as they are among its numbers or dates."""
        if not others or self.key not in ("widths", "levels") or self.kind == BUILTIN:
            return self
        return replace(self, fixed=(*self.fixed, ("others", list(others))))

    def lower(self) -> HierarchyProposal:
        """The same with one level less, the finest; value → ``*`` where nothing else is left."""
        if len(self.levels) < 2:
            return FLAT
        first, second, *rest = self.levels
        # The steps of a mask add up: what the finest level hides the next hides, too.
        return replace(self, levels=(first + second if self.key == "steps" else second, *rest))


FLAT = HierarchyProposal()


def file_proposal(path: str, height: int) -> HierarchyProposal:
    """A hierarchy file, its path as the spec writes it."""
    return HierarchyProposal(FILE, fixed=(("path", path),), steps=height - 1)


def needs_values(column: ColumnProfile) -> bool:
    """Whether the proposal depends on the values themselves."""
    return (
        1 < column.distinct <= _MOST_KNOWN
        and (
            any(is_named_like(column.name, builtin) for builtin in BUILTINS.values())
            or bool(_postal_codes(column))
            or _is_code(column)
        )
    ) or (not (column.numbers or column.dates or column.codes) and 2 < column.distinct <= _MOST_GROUPED)


def propose_hierarchy(
    column: ColumnProfile, values: Sequence[str] = (), counts: Sequence[int] = ()
) -> HierarchyProposal:
    """A built-in hierarchy where name and values fit; dates by month, year and decade; codes masked from the
    right; numbers in intervals of nice widths; many other values in automatic groups; few as they are.

    ``values`` where ``needs_values`` says so.
    """
    named = [builtin for builtin in BUILTINS.values() if is_named_like(column.name, builtin)]
    if values and not (column.numbers or column.dates):
        ordered = _ordered(values, counts)
        if ordered is not None:
            return ordered
    known = [
        found
        for builtin in (*named, *_postal_codes(column))
        if (found := fitted_builtin(column.name, builtin, values)) is not None
    ]
    if known:
        return known[0]
    if column.dates:
        levels = date_levels(column.first, column.last)
        return HierarchyProposal("dates", "levels", levels) if levels else FLAT
    if _is_code(column):
        return _mask(column.longest, values)
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


def _ordered(values: Sequence[str], counts: Sequence[int]) -> HierarchyProposal | None:
    """Return intervals of numbers with open ends, or groups of neighbours; None for values in no order."""
    numbers = open_numbers(values)
    if numbers is not None:
        widths = nice_widths(min(numbers.numbers), max(numbers.numbers), len(numbers.numbers))
        note = ""
        if counts:
            note = f"open ends in {open_end_rows(numbers.texts, dict(zip(values, counts, strict=True)))}"
        if widths:
            return HierarchyProposal("intervals", "widths", widths, numbers.fixed, note=note)
    texts = ordered_texts(values)
    return None if texts is None else HierarchyProposal("order", "sizes", texts.sizes, texts.fixed)


def is_named_like(name: str, builtin: Builtin) -> bool:
    """Whether a column's name has a word of a built-in hierarchy."""
    return any(part in builtin.words.split() for part in name_parts(name))


def _postal_codes(column: ColumnProfile) -> list[Builtin]:
    """The postal codes that a column may hold, by its name; those of one length are masked instead."""
    if column.codes or column.distinct <= _FEW_VALUES:
        return []
    countries = [c for part in name_parts(column.name) for c in _POSTAL.get(part, "").split()]
    return [BUILTINS[f"postal-code-{country}"] for country in dict.fromkeys(countries)]


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


def date_levels(first: str, last: str) -> tuple[str, ...]:
    """Periods that join dates from the first to the last, both ISO, and are several; none within a week.

    >>> date_levels("1931-02-01", "2004-11-30"), date_levels("2022-01-01", "2023-12-31")
    (('month', 'year', 'decade'), ('month', 'year'))
    >>> date_levels("2023-03-01T08:00:00", "2023-04-29T19:00:00")
    ('day', 'week')
    """
    try:
        start, end = (date.fromisoformat(text[:_DAY]) for text in (first, last))
    except ValueError:  # no calendar has the day, which the hierarchy will say
        return "month", "year", "decade"
    years, days = end.year - start.year, (end - start).days
    if years > _SOME_YEARS:
        return "month", "year", "decade"
    if years:
        return "month", "year"
    if days > _SOME_MONTHS:
        return "month", "quarter"
    finest = ("day",) if len(first) > _DAY and days else ()
    return (*finest, "week") if days > _WEEK else finest


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
    widths = nice_widths(*_measured(column), column.distinct)
    if not widths:
        return FLAT
    return HierarchyProposal("intervals", "widths", widths)


def _measured(column: ColumnProfile) -> tuple[float, float]:
    """The range that widths go by: numbers for what is missing are left out where they are far off."""
    low, high = column.within
    span = high - low
    if span <= 0:
        return column.lowest, column.highest
    lowest = low if low - column.lowest > span else column.lowest
    return lowest, high if column.highest - high > span else column.highest


def _mask(length: int, values: Sequence[str]) -> HierarchyProposal:
    """Return the masks of codes of a length; of known ``values`` only those levels that join some.

    >>> _mask(3, ("GT3", "LE3")).words, _mask(4, ("AB10", "AB25", "CD30")).words
    ('value → *', 'last 2 characters masked')
    """
    levels = min(_MOST_WIDTHS, length - 1)
    each, left = divmod(length - 1, levels)
    hidden = list(accumulate(each + (place < left) for place in range(levels)))
    if values:
        # Where none of the usual levels joins values, as 53711 and 53703 differ at the end only, others may.
        every = _joining(range(1, min(length, MOST_LEVELS)), values)
        hidden = [number for number in hidden if number in every] or every[-_MOST_WIDTHS:]
    if not hidden:
        return FLAT
    return HierarchyProposal("mask", "steps", _steps(hidden))


def _joining(hidden: Sequence[int], values: Sequence[str]) -> list[int]:
    """Return the numbers of masked characters that join values, each more of them than the number before."""
    sizes = [len(labels) for labels in MaskHierarchy(steps=_steps(hidden)).build("", values).labels]
    return [number for number, finer, size in zip(hidden, sizes, sizes[1:], strict=False) if 1 < size < finer]


def _steps(hidden: Sequence[int]) -> tuple[int, ...]:
    """Return the characters that each level masks in addition to those of the level before."""
    return tuple(number - before for before, number in pairwise((0, *hidden)))


def _is_code(column: ColumnProfile) -> bool:
    """Codes of equal length; digits alone only with a leading zero or a name that says so.

    Codes that have lost their zeros are codes all the same.
    """
    coded = any(part in _CODE_PARTS.split() for part in name_parts(column.name))
    if column.longest < 3:
        return False
    if not column.codes:
        lost = column.shortest == column.longest - 1 and not column.fractions
        return column.numbers and lost and coded and column.lowest >= 0
    return not column.numbers or column.zeros or coded
