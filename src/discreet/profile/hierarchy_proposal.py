"""Proposed hierarchies of quasi-identifiers: built-in, intervals, masks, dates, orders, groups, or files.

A proposal has a height and can lose levels one by one, so that a lattice can be kept small. A hierarchy file
is assigned to a column by its name, or by its values if it is the only file that contains all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import accumulate, pairwise
from math import floor, log10
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.automatic import AutoHierarchy
from discreet.hierarchy.bands import Band, parse_band, parse_bands
from discreet.hierarchy.builtin.builder import BUILTINS, BuiltinHierarchy
from discreet.hierarchy.builtin.catalog import AGE_GROUPS, BuiltinDeclaration
from discreet.hierarchy.cell_values import format_number, parse_number
from discreet.hierarchy.character_mask import MOST_MASK_LEVELS, MaskHierarchy
from discreet.hierarchy.csv_file import SUFFIX, FileHierarchy, is_hierarchy_file
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.hierarchy.ordered_values import order_by_meaning, order_education_levels
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.profile.column_profile import ColumnProfile
from discreet.profile.heading_hints import is_age
from discreet.profile.heading_words import split_name

_FEWEST_VALUES = 4
_MOST_UNORDERED_TEXTS = 3
_OTHERS_SHARE = 0.25
_MOST_LEVELS = 3
_NUMBERS_SHARE = 0.5


@dataclass(frozen=True)
class OpenEndedNumbers:
    """Numbers with texts for their open ends: ``lower`` and ``upper`` are the ends as the spec writes them.

    ``numbers`` are those between the ends, ``texts`` the open ends as the column writes them.
    """

    numbers: tuple[float, ...]
    texts: tuple[str, ...]
    lower: int | float | None
    upper: int | float | None
    others: tuple[str, ...]

    @property
    def fixed(self) -> tuple[tuple[str, Any], ...]:
        """Keys of an interval hierarchy for the ends and the other texts."""
        keys = {"lower": self.lower, "upper": self.upper, "others": list(self.others) or None}
        return tuple((name, value) for name, value in keys.items() if value is not None)


@dataclass(frozen=True)
class OrderedTexts:
    """Texts in the order of their meaning, and the ``others``, which have no position in it."""

    values: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of neighbours per group, level by level; at least two groups remain."""
        found = [2**level for level in range(1, _MOST_LEVELS + 1)]
        return tuple(size for size in found if 2 * size <= len(self.values) or size == 2)

    @property
    def fixed(self) -> tuple[tuple[str, Any], ...]:
        """Keys of an order hierarchy for the values and the others."""
        others = (("others", list(self.others)),) if self.others else ()
        return (("values", list(self.values)), *others)


def parse_open_ended_numbers(values: Sequence[str]) -> OpenEndedNumbers | None:
    """Return the numbers and open ends of a column; None if it has no open end or too many other texts."""
    numbers: dict[str, Decimal] = {}
    ends: dict[str, Band] = {}
    others: list[str] = []
    for value in values:
        number, band = parse_number(value), parse_band(value)
        if number is not None:
            numbers[value] = number
        elif band is not None and band.is_open:
            ends[value] = band
        else:
            others.append(value)
    mostly = len(numbers) >= max(_FEWEST_VALUES, _NUMBERS_SHARE * len(values))
    if not ends or not mostly or not _are_few(others, values) or parse_bands(ends) is None:
        return None
    low = [_lower_end(band) for band in ends.values() if band.low is None]
    high = [band.low for band in ends.values() if band.low is not None]
    lower, upper = max(low, default=None), min(high, default=None)
    if lower is not None and upper is not None and lower > upper:
        return None
    inside = [
        float(n) for n in numbers.values() if (lower is None or n >= lower) and (upper is None or n < upper)
    ]
    return OpenEndedNumbers(
        tuple(inside), tuple(ends), _plain_number(lower), _plain_number(upper), tuple(others)
    )


def order_texts(values: Sequence[str]) -> OrderedTexts | None:
    """Return the values in the order of their meaning; None if it is unknown or too few values have one."""
    others = tuple(value for value in values if parse_band(value) is None)
    if len(others) == len(values) or not _are_few(others, values):
        others = tuple(value for value in values if order_education_levels([value, *_SCHOOLS]) is None)
    placed = [value for value in values if value not in others]
    if len(placed) < _FEWEST_VALUES or not _are_few(others, values) or all(map(_is_number, placed)):
        return None
    order = order_by_meaning(placed)
    return None if order is None else OrderedTexts(order, others)


def format_open_ends(texts: Sequence[str], counts: Mapping[str, int]) -> str:
    """Return open ends with their rows, for a message.

    >>> format_open_ends(["90+"], {"90+": 12})
    "'90+' (12 rows)"
    """
    named = (f"'{text}' ({counts[text]:,} row{'s' * (counts[text] != 1)})" for text in texts)
    return ", ".join(named)


_SCHOOLS = ("primary school", "bachelor", "doctorate")
"""Three levels of education; together with them a single text can be tested for being one."""


def _is_number(text: str) -> bool:
    return parse_number(text) is not None


def _are_few(others: Sequence[str], values: Sequence[str]) -> bool:
    return len(others) <= min(_MOST_UNORDERED_TEXTS, _OTHERS_SHARE * len(values))


def _lower_end(band: Band) -> Decimal:
    """Return the smallest ``lower`` that contains a band open below: for "up to 17" that is 18."""
    high = band.high or Decimal(0)
    return high + 1 if band.high_closed else high


def _plain_number(number: Decimal | None) -> int | float | None:
    if number is None:
        return None
    return int(number) if number == number.to_integral_value() else float(format_number(number))


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
"""Countries whose postal codes have a heading word."""

FILE_KIND = "file"
BUILTIN_KIND = "builtin"


@dataclass(frozen=True)
class HierarchyProposal:
    """A hierarchy for the spec, as a table or a file's path (``kind`` None: value → ``*``), and its height.

    ``levels`` are the values of the table's key ``key``, one per level below the top, finest first; a kind
    without such a key has ``steps`` levels below the top, which cannot be chosen. ``note`` describes how
    texts of the column are read.
    """

    kind: str | None = None
    key: str = ""
    levels: tuple[Any, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    steps: int = 0
    note: str = ""

    @property
    def height(self) -> int:
        """Level of the top value."""
        return (len(self.levels) or self.steps) + 1

    @property
    def table(self) -> dict[str, Any] | str | None:
        """The hierarchy as the spec writes it; None for value → ``*``."""
        if self.kind is None:
            return None
        if self.kind == FILE_KIND:
            return str(dict(self.fixed)["path"])
        levels = {self.key: list(self.levels)} if self.key else {}
        return {"kind": self.kind, **dict(self.fixed), **levels}

    @property
    def words(self) -> str:
        """Short description of the hierarchy."""
        if self.kind == FILE_KIND:
            return str(dict(self.fixed)["path"])
        if self.kind == BUILTIN_KIND:
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

    def with_others(self, others: tuple[str, ...]) -> HierarchyProposal:
        """Return the same hierarchy with words that are kept unchanged among its numbers or dates."""
        if not others or self.key not in ("widths", "levels") or self.kind == BUILTIN_KIND:
            return self
        return replace(self, fixed=(*self.fixed, ("others", list(others))))

    def lower(self) -> HierarchyProposal:
        """Return the same hierarchy without its finest level; value → ``*`` if no level would be left."""
        if len(self.levels) < 2:
            return FLAT_PROPOSAL
        first, second, *rest = self.levels
        # Steps of a mask are cumulative: the next level also hides the characters of the finest.
        return replace(self, levels=(first + second if self.key == "steps" else second, *rest))


FLAT_PROPOSAL = HierarchyProposal()


def propose_file(path: str, height: int) -> HierarchyProposal:
    """Propose a hierarchy file; ``path`` is written as in the spec."""
    return HierarchyProposal(FILE_KIND, fixed=(("path", path),), steps=height - 1)


def needs_values(column: ColumnProfile) -> bool:
    """Return whether the proposal depends on the column's values."""
    return (
        1 < column.distinct <= _MOST_KNOWN
        and (
            any(is_named_like(column.name, builtin) for builtin in BUILTINS.values())
            or bool(_postal_code_builtins(column))
            or _is_code(column)
        )
    ) or (not (column.numbers or column.dates or column.codes) and 2 < column.distinct <= _MOST_GROUPED)


def propose_hierarchy(
    column: ColumnProfile, values: Sequence[str] = (), counts: Sequence[int] = ()
) -> HierarchyProposal:
    """Propose a hierarchy for a column.

    In this order: a group order of values that have one; a built-in hierarchy if name and values fit; periods
    for dates; masks from the right for codes; intervals of round widths for numbers; age groups; automatic
    groups for many other values; value → ``*`` for few. ``values`` and ``counts`` are required if
    ``needs_values`` returns True.
    """
    named = [builtin for builtin in BUILTINS.values() if is_named_like(column.name, builtin)]
    if values and not (column.numbers or column.dates):
        ordered = _propose_order(values, counts)
        if ordered is not None:
            return ordered
    known = [
        found
        for builtin in (*named, *_postal_code_builtins(column))
        if (found := fit_builtin(column.name, builtin, values)) is not None
    ]
    if known:
        return known[0]
    if column.dates:
        levels = choose_date_levels(column.first, column.last)
        return HierarchyProposal("dates", "levels", levels) if levels else FLAT_PROPOSAL
    if _is_code(column):
        return _propose_mask(column.longest, values)
    if column.numbers and column.distinct > _FEW_VALUES:
        return _propose_intervals(column)
    ages = fit_builtin(column.name, AGE_GROUPS, values) if is_age(column.name) else None
    if ages is not None:  # the values are not all numbers, such as 90+
        return ages
    if values and _FEW_VALUES < column.distinct <= _MOST_GROUPED:
        height = AutoHierarchy("frequency").build(column.name, values, counts).height
        if height > 1:
            return HierarchyProposal("auto", fixed=(("by", "frequency"),), steps=height - 1)
    return FLAT_PROPOSAL


def _propose_order(values: Sequence[str], counts: Sequence[int]) -> HierarchyProposal | None:
    """Return intervals of numbers with open ends, or groups of neighbours; None without an order."""
    numbers = parse_open_ended_numbers(values)
    if numbers is not None:
        widths = choose_widths(min(numbers.numbers), max(numbers.numbers), len(numbers.numbers))
        note = ""
        if counts:
            note = f"open ends in {format_open_ends(numbers.texts, dict(zip(values, counts, strict=True)))}"
        if widths:
            return HierarchyProposal("intervals", "widths", widths, numbers.fixed, note=note)
    texts = order_texts(values)
    return None if texts is None else HierarchyProposal("order", "sizes", texts.sizes, texts.fixed)


def is_named_like(name: str, builtin: BuiltinDeclaration) -> bool:
    """Return whether a column's name contains a word of a built-in hierarchy."""
    return any(part in builtin.words.split() for part in split_name(name))


def _postal_code_builtins(column: ColumnProfile) -> list[BuiltinDeclaration]:
    """Return the postal-code hierarchies that a column's name suggests; none for codes of one length."""
    if column.codes or column.distinct <= _FEW_VALUES:
        return []
    countries = [c for part in split_name(column.name) for c in _POSTAL.get(part, "").split()]
    return [BUILTINS[f"postal-code-{country}"] for country in dict.fromkeys(countries)]


def fit_builtin(name: str, builtin: BuiltinDeclaration, values: Sequence[str]) -> HierarchyProposal | None:
    """Propose a built-in hierarchy if it knows nearly all of a column's values, else return None.

    The unknown values are listed as others; only levels that join values are proposed.
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
    return HierarchyProposal(BUILTIN_KIND, "levels", levels, fixed)


def choose_date_levels(first: str, last: str) -> tuple[str, ...]:
    """Choose periods that join dates from the first to the last, both ISO; none if all are within a week.

    >>> choose_date_levels("1931-02-01", "2004-11-30"), choose_date_levels("2022-01-01", "2023-12-31")
    (('month', 'year', 'decade'), ('month', 'year'))
    >>> choose_date_levels("2023-03-01T08:00:00", "2023-04-29T19:00:00")
    ('day', 'week')
    """
    try:
        start, end = (date.fromisoformat(text[:_DAY]) for text in (first, last))
    except ValueError:  # not a calendar day; building the hierarchy reports it
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


def choose_widths(lowest: float, highest: float, distinct: int) -> tuple[int | float, ...]:
    """Choose up to three widths, each a multiple of the one before, for about 16, 8 and 4 intervals.

    >>> choose_widths(17, 90, 73), choose_widths(0, 9, 10), choose_widths(1200, 98000, 5000)
    ((5, 10, 20), (2, 4), (10000, 20000, 40000))
    """
    span = highest - lowest
    if span <= 0 or distinct < 3:
        return ()
    first = _nice_width(max(span / 16, span / distinct * 1.5))
    widths = [first]
    while len(widths) < _MOST_WIDTHS and span / (widths[-1] * 2) >= 2:
        widths.append(widths[-1] * 2)
    return tuple(int(w) if float(w).is_integer() else w for w in widths)


def _nice_width(width: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is at least ``width``."""
    exponent = floor(log10(width))
    for step in (1, 2, 5, 10):
        candidate = float(f"{step}e{exponent}")
        if candidate >= width * (1 - 1e-9):
            return candidate
    return float(f"1e{exponent + 1}")


def _propose_intervals(column: ColumnProfile) -> HierarchyProposal:
    widths = choose_widths(*_plausible_range(column), column.distinct)
    if not widths:
        return FLAT_PROPOSAL
    return HierarchyProposal("intervals", "widths", widths)


def _plausible_range(column: ColumnProfile) -> tuple[float, float]:
    """Return the range for choosing widths, without missing-value codes that are far outside the others."""
    low, high = column.plausible_range
    span = high - low
    if span <= 0:
        return column.lowest, column.highest
    lowest = low if low - column.lowest > span else column.lowest
    return lowest, high if column.highest - high > span else column.highest


def _propose_mask(length: int, values: Sequence[str]) -> HierarchyProposal:
    """Propose masks for codes of one length; with ``values``, only levels that join some of them.

    >>> _propose_mask(3, ("GT3", "LE3")).words, _propose_mask(4, ("AB10", "AB25", "CD30")).words
    ('value → *', 'last 2 characters masked')
    """
    levels = min(_MOST_WIDTHS, length - 1)
    each, left = divmod(length - 1, levels)
    hidden = list(accumulate(each + (level < left) for level in range(levels)))
    if values:
        # If none of the usual levels joins values, since 53711 and 53703 differ only at the end, others may.
        every = _joining_mask_lengths(range(1, min(length, MOST_MASK_LEVELS)), values)
        hidden = [number for number in hidden if number in every] or every[-_MOST_WIDTHS:]
    if not hidden:
        return FLAT_PROPOSAL
    return HierarchyProposal("mask", "steps", _mask_steps(hidden))


def _joining_mask_lengths(hidden: Sequence[int], values: Sequence[str]) -> list[int]:
    """Return the numbers of masked characters at which more values are joined than at the one before."""
    sizes = [len(labels) for labels in MaskHierarchy(steps=_mask_steps(hidden)).build("", values).labels]
    return [number for number, finer, size in zip(hidden, sizes, sizes[1:], strict=False) if 1 < size < finer]


def _mask_steps(hidden: Sequence[int]) -> tuple[int, ...]:
    """Return the number of characters that each level masks in addition to the level before."""
    return tuple(number - before for before, number in pairwise((0, *hidden)))


def _is_code(column: ColumnProfile) -> bool:
    """Return whether values are codes of equal length; digits need a leading zero or a name for codes.

    Codes that have lost their leading zeros are accepted.
    """
    coded = any(part in _CODE_PARTS.split() for part in split_name(column.name))
    if column.longest < 3:
        return False
    if not column.codes:
        lost = column.shortest == column.longest - 1 and not column.fractions
        return column.numbers and lost and coded and column.lowest >= 0
    return not column.numbers or column.zeros or coded


ValueReader = Callable[[Sequence[str]], Mapping[str, Sequence[str]]]
"""Function that returns the distinct values of columns by name."""


@dataclass(frozen=True)
class FileMatch:
    """Result for one hierarchy file: the columns that take it and the reason, or the reason why none does."""

    path: Path
    columns: tuple[str, ...]
    reason: str
    height: int = 0

    def __str__(self) -> str:
        taken = (
            f"taken for {', '.join(quote_value(name) for name in self.columns)}, "
            if self.columns
            else "not taken: "
        )
        return f"{self.path.name}: {taken}{self.reason}"


def match_hierarchy_files(
    folder: Path, columns: Sequence[ColumnProfile], others: Mapping[str, str], values_of: ValueReader
) -> tuple[FileMatch, ...]:
    """Match each ``.csv`` file of a folder with columns, by file name.

    ``columns`` are the quasi-identifiers, ``others`` the roles of the other columns. A file is assigned to a
    column that it is named like (``age.csv``, ``adult_hierarchy_age.csv``) if every value of the column is a
    leaf. A file named like no column is assigned to a column of words if it is the only file with every value
    of that column. Raises ``InputError`` if the folder cannot be read or has no such file.
    """
    read, matches = {}, {}
    for path in _hierarchy_files(folder):
        try:
            read[path] = FileHierarchy(path).build(path.stem, ())
        except InputError as error:
            matches[path] = FileMatch(path, (), error.message)
    named = {path: [c.name for c in columns if _is_named(path.stem, c.name)] for path in read}
    free = [path for path in read if not named[path]]
    wanted = [
        c for c in columns if any(c.name in names for names in named.values()) or (free and not c.numbers)
    ]
    most = max((len(hierarchy.leaves) for hierarchy in read.values()), default=0)
    values = values_of([column.name for column in wanted if column.distinct <= most])
    by_name = {path: _match_by_name(path, read[path], named[path], values) for path in read if named[path]}
    settled = {name for match in by_name.values() for name in match.columns}
    left = {
        c.name: values[c.name] for c in wanted if c.name in values and c.name not in settled and not c.numbers
    }
    owners = {
        name: [path for path in free if _values_without_leaf(read[path], left[name]) == []] for name in left
    }
    for path in free:
        matches[path] = _match_by_values(path, read[path], owners, others)
    matches |= by_name
    return tuple(_without_earlier_columns(matches[path], matches) for path in sorted(matches))


def _hierarchy_files(folder: Path) -> list[Path]:
    try:
        paths = sorted(path for path in folder.iterdir() if is_hierarchy_file(path))
    except OSError as error:
        raise InputError(
            f"the folder of hierarchies {folder} cannot be read: {error.strerror}",
            allowed="a folder with hierarchies as .csv files",
        ) from None
    if not paths:
        raise InputError(
            f"the folder of hierarchies {folder} contains no {SUFFIX} file",
            allowed="files with one line per value: leaf;level 1;…;*",
        )
    return paths


def _is_named(stem: str, column: str) -> bool:
    """Return whether the column's name equals the first or the last words of the file's name."""
    words, name = re.findall(r"\w+", stem.casefold().replace("_", " ")), _letters(column)
    heads = ("".join(words[:end]) for end in range(1, len(words) + 1))
    tails = ("".join(words[start:]) for start in range(len(words)))
    return bool(name) and name in {*heads, *tails}


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _values_without_leaf(hierarchy: GeneralizationHierarchy, values: Sequence[str]) -> list[str]:
    return [value for value in values if value not in hierarchy.code_of_leaf]


def _match_by_name(
    path: Path, hierarchy: GeneralizationHierarchy, names: Sequence[str], values: Mapping[str, Sequence[str]]
) -> FileMatch:
    """Match a file with the columns that it is named like."""
    taken = tuple(
        name for name in names if name in values and not _values_without_leaf(hierarchy, values[name])
    )
    if taken:
        return FileMatch(path, taken, "by its name", hierarchy.height)
    name = names[0]
    if name not in values:
        return FileMatch(path, (), f"{quote_value(name)} has more values than it has leaves")
    missing = _values_without_leaf(hierarchy, values[name])
    text = f"{len(missing):,} of the {len(values[name]):,} values of {quote_value(name)} have no leaf in it"
    return FileMatch(path, (), f"{text}: {quote_values(sorted(missing), 3)}")


def _match_by_values(
    path: Path,
    hierarchy: GeneralizationHierarchy,
    owners: Mapping[str, Sequence[Path]],
    others: Mapping[str, str],
) -> FileMatch:
    """Match a file that is named like no quasi-identifier with columns by their values."""
    taken = tuple(name for name, paths in owners.items() if list(paths) == [path])
    if taken:
        return FileMatch(path, taken, "by its values", hierarchy.height)
    shared = [name for name, paths in owners.items() if path in paths]
    if shared:
        rivals = ", ".join(other.name for other in owners[shared[0]] if other != path)
        return FileMatch(path, (), f"{rivals} has every value of {quote_value(shared[0])}, too")
    for name, role in others.items():
        if _is_named(path.stem, name):
            return FileMatch(path, (), f"{quote_value(name)} is proposed as {role}, which is not generalized")
    return FileMatch(path, (), "no quasi-identifier has its name, or only values that are in it")


def _without_earlier_columns(match: FileMatch, matches: Mapping[Path, FileMatch]) -> FileMatch:
    earlier = {name for path in matches if path < match.path for name in matches[path].columns}
    left = tuple(name for name in match.columns if name not in earlier)
    if match.columns and not left:
        return FileMatch(match.path, (), f"another file is taken for {quote_value(match.columns[0])}")
    return FileMatch(match.path, left, match.reason, match.height)
