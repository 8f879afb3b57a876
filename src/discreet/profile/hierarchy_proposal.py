"""Proposed hierarchies of quasi-identifiers: built-in, intervals, masks, dates, orders, groups, or files of a
folder.

Each proposal has its height and loses levels one by one, so that a lattice can be kept small. A file is taken
for a column by its name, or by its values if it alone contains all of them.
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
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.hierarchy.ordered_values import order_by_meaning, order_education_levels
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.profile.column_profile import ColumnProfile
from discreet.profile.heading_hints import is_age, split_name

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
        """The keys of an interval hierarchy for the ends and the other texts."""
        keys = {"lower": self.lower, "upper": self.upper, "others": list(self.others) or None}
        return tuple((name, value) for name, value in keys.items() if value is not None)


@dataclass(frozen=True)
class OrderedTexts:
    """Texts in their order, and the ``others`` that have no place in it."""

    values: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many neighbours make a group, level by level; at least two groups are left."""
        found = [2**level for level in range(1, _MOST_LEVELS + 1)]
        return tuple(size for size in found if 2 * size <= len(self.values) or size == 2)

    @property
    def fixed(self) -> tuple[tuple[str, Any], ...]:
        """The keys of an order hierarchy for the values and the others."""
        others = (("others", list(self.others)),) if self.others else ()
        return (("values", list(self.values)), *others)


def parse_open_ended_numbers(values: Sequence[str]) -> OpenEndedNumbers | None:
    """Return the numbers and open ends of a column; None without an open end, or with much of neither."""
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
    """Return the values in the order of their meaning; None where no order is known, or too few have one."""
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
"""Three levels of education: with them a single text is one, or not."""


def _is_number(text: str) -> bool:
    return parse_number(text) is not None


def _are_few(others: Sequence[str], values: Sequence[str]) -> bool:
    return len(others) <= min(_MOST_UNORDERED_TEXTS, _OTHERS_SHARE * len(values))


def _lower_end(band: Band) -> Decimal:
    """Return the least ``lower`` that contains a band that is open below: up to 17 is below 18."""
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
"""The countries whose postal codes have a name."""

FILE_KIND = "file"
BUILTIN_KIND = "builtin"


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
        if self.kind == FILE_KIND:
            return str(dict(self.fixed)["path"])
        levels = {self.key: list(self.levels)} if self.key else {}
        return {"kind": self.kind, **dict(self.fixed), **levels}

    @property
    def words(self) -> str:
        """The hierarchy in a few words."""
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
        """The same with words that stay as they are among its numbers or dates."""
        if not others or self.key not in ("widths", "levels") or self.kind == BUILTIN_KIND:
            return self
        return replace(self, fixed=(*self.fixed, ("others", list(others))))

    def lower(self) -> HierarchyProposal:
        """The same with one level less, the finest; value → ``*`` where nothing else is left."""
        if len(self.levels) < 2:
            return FLAT_PROPOSAL
        first, second, *rest = self.levels
        # The steps of a mask add up: what the finest level hides the next hides, too.
        return replace(self, levels=(first + second if self.key == "steps" else second, *rest))


FLAT_PROPOSAL = HierarchyProposal()


def propose_file(path: str, height: int) -> HierarchyProposal:
    """A hierarchy file, its path as the spec writes it."""
    return HierarchyProposal(FILE_KIND, fixed=(("path", path),), steps=height - 1)


def needs_values(column: ColumnProfile) -> bool:
    """Whether the proposal depends on the values themselves."""
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
    """A built-in hierarchy where name and values fit; dates by month, year and decade; codes masked from the
    right; numbers in intervals of nice widths; many other values in automatic groups; few as they are.

    ``values`` where ``needs_values`` says so.
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
    if ages is not None:  # no numbers alone, such as 90+ among them
        return ages
    if values and _FEW_VALUES < column.distinct <= _MOST_GROUPED:
        height = AutoHierarchy("frequency").build(column.name, values, counts).height
        if height > 1:
            return HierarchyProposal("auto", fixed=(("by", "frequency"),), steps=height - 1)
    return FLAT_PROPOSAL


def _propose_order(values: Sequence[str], counts: Sequence[int]) -> HierarchyProposal | None:
    """Return intervals of numbers with open ends, or groups of neighbours; None for values in no order."""
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
    """Whether a column's name has a word of a built-in hierarchy."""
    return any(part in builtin.words.split() for part in split_name(name))


def _postal_code_builtins(column: ColumnProfile) -> list[BuiltinDeclaration]:
    """The postal codes that a column may hold, by its name; those of one length are masked instead."""
    if column.codes or column.distinct <= _FEW_VALUES:
        return []
    countries = [c for part in split_name(column.name) for c in _POSTAL.get(part, "").split()]
    return [BUILTINS[f"postal-code-{country}"] for country in dict.fromkeys(countries)]


def fit_builtin(name: str, builtin: BuiltinDeclaration, values: Sequence[str]) -> HierarchyProposal | None:
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
    return HierarchyProposal(BUILTIN_KIND, "levels", levels, fixed)


def choose_date_levels(first: str, last: str) -> tuple[str, ...]:
    """Periods that join dates from the first to the last, both ISO, and are several; none within a week.

    >>> choose_date_levels("1931-02-01", "2004-11-30"), choose_date_levels("2022-01-01", "2023-12-31")
    (('month', 'year', 'decade'), ('month', 'year'))
    >>> choose_date_levels("2023-03-01T08:00:00", "2023-04-29T19:00:00")
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


def choose_widths(lowest: float, highest: float, distinct: int) -> tuple[int | float, ...]:
    """Up to three widths, each a multiple of the one before, for about 16, 8 and 4 intervals.

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
    """The smallest of 1, 2, 5 times a power of ten that is at least ``width``."""
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
    """The range that widths go by: numbers for what is missing are left out where they are far off."""
    low, high = column.plausible_range
    span = high - low
    if span <= 0:
        return column.lowest, column.highest
    lowest = low if low - column.lowest > span else column.lowest
    return lowest, high if column.highest - high > span else column.highest


def _propose_mask(length: int, values: Sequence[str]) -> HierarchyProposal:
    """Return the masks of codes of a length; of known ``values`` only those levels that join some.

    >>> _propose_mask(3, ("GT3", "LE3")).words, _propose_mask(4, ("AB10", "AB25", "CD30")).words
    ('value → *', 'last 2 characters masked')
    """
    levels = min(_MOST_WIDTHS, length - 1)
    each, left = divmod(length - 1, levels)
    hidden = list(accumulate(each + (place < left) for place in range(levels)))
    if values:
        # Where none of the usual levels joins values, as 53711 and 53703 differ at the end only, others may.
        every = _joining_mask_lengths(range(1, min(length, MOST_MASK_LEVELS)), values)
        hidden = [number for number in hidden if number in every] or every[-_MOST_WIDTHS:]
    if not hidden:
        return FLAT_PROPOSAL
    return HierarchyProposal("mask", "steps", _mask_steps(hidden))


def _joining_mask_lengths(hidden: Sequence[int], values: Sequence[str]) -> list[int]:
    """Return the numbers of masked characters that join values, each more of them than the number before."""
    sizes = [len(labels) for labels in MaskHierarchy(steps=_mask_steps(hidden)).build("", values).labels]
    return [number for number, finer, size in zip(hidden, sizes, sizes[1:], strict=False) if 1 < size < finer]


def _mask_steps(hidden: Sequence[int]) -> tuple[int, ...]:
    """Return the characters that each level masks in addition to those of the level before."""
    return tuple(number - before for before, number in pairwise((0, *hidden)))


def _is_code(column: ColumnProfile) -> bool:
    """Codes of equal length; digits alone only with a leading zero or a name that says so.

    Codes that have lost their zeros are codes all the same.
    """
    coded = any(part in _CODE_PARTS.split() for part in split_name(column.name))
    if column.longest < 3:
        return False
    if not column.codes:
        lost = column.shortest == column.longest - 1 and not column.fractions
        return column.numbers and lost and coded and column.lowest >= 0
    return not column.numbers or column.zeros or coded


ValueReader = Callable[[Sequence[str]], Mapping[str, Sequence[str]]]
"""The distinct values of columns, by name."""

_SUFFIX = ".csv"


@dataclass(frozen=True)
class FileMatch:
    """What became of one file: the columns that take it, and why, or why none does."""

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
    """What becomes of each ``.csv`` file of a folder, by name.

    ``columns`` are the quasi-identifiers, ``others`` the roles of the other columns. A file is taken for a
    column that it is named like (``age.csv``, ``adult_hierarchy_age.csv``) where every value of the column is
    a leaf; and one that is named like none for a column of words of which it alone has every value.
    ``InputError`` where the folder cannot be read or has no such file.
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
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == _SUFFIX)
    except OSError as error:
        raise InputError(
            f"the folder of hierarchies {folder} cannot be read: {error.strerror}",
            allowed="a folder with hierarchies as .csv files",
        ) from None
    if not paths:
        raise InputError(
            f"the folder of hierarchies {folder} holds no {_SUFFIX} file",
            allowed="files with one line per value: leaf;level 1;…;*",
        )
    return paths


def _is_named(stem: str, column: str) -> bool:
    """Whether the column's name is the first or the last words of the file's."""
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
    """A file that is named like columns."""
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
    """A file that is named like no quasi-identifier."""
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
    """A match without the columns that a file before it takes."""
    earlier = {name for path in matches if path < match.path for name in matches[path].columns}
    left = tuple(name for name in match.columns if name not in earlier)
    if match.columns and not left:
        return FileMatch(match.path, (), f"another file is taken for {quote_value(match.columns[0])}")
    return FileMatch(match.path, left, match.reason, match.height)
