"""Formats of dates and numbers, read from shapes: texts in which every digit is replaced by 0."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from discreet.model.cell_format import CellFormat
from discreet.sql.format_parsing import month_names

_TIME = re.compile(
    r"(?P<gap>[T ])0{1,2}:00(?P<seconds>:00(?P<fraction>\.0{1,9})?)?(?P<late> ?[AaPp][Mm])?"
    r"(?P<zone> ?(?:Z|UTC|GMT|[-+]00(?::?00)?))?"
)
_NUMERIC = re.compile(r"0{1,2}(?P<mark>[./-] ?)0{1,2}(?P=mark)(?P<year>0000|00)")
_YEAR_FIRST = re.compile(r"0000(?P<mark>[./-])0{1,2}(?P=mark)0{1,2}")
_NAMED = re.compile(
    r"0{1,2}(?P<first>\.? |-|/|\.|)(?P<month>[^\W\d_]{3,9})(?P<second> |-|/|\.|)(?P<year>0000|00)"
)
_MONTH_FIRST = re.compile(r"(?P<month>[^\W\d_]{3,9})(?P<first>\.? )0{1,2}(?P<second>,? )(?P<year>0000|00)")
_MONTH = re.compile(r"(?P<month>[^\W\d_]{3,9})\.?[ /-]?(0000|00)")
_PACKED = "00000000"


@dataclass
class DateShapes:
    """Date patterns that a column's shapes match.

    ``certain`` patterns have one meaning; each has its number of rows. ``ambiguous`` shapes may have the day
    or the month first; the key is the mark between them, the year's directive and the rest of the pattern.
    ``unmatched`` are other shapes and their numbers of values, ``words`` those of them that are kept
    unchanged.
    """

    certain: dict[str, int] = field(default_factory=dict)
    ambiguous: dict[tuple[str, str, str], int] = field(default_factory=dict)
    unmatched: dict[str, int] = field(default_factory=dict)
    values: int = 0
    words: tuple[str, ...] = ()


def read_date_shapes(shapes: Mapping[str, tuple[int, int]]) -> DateShapes:
    """Read date patterns from shapes, each with its number of values and of rows.

    >>> read_date_shapes({"00.00.0000": (2, 3), "0000-00-00": (1, 1)}).ambiguous
    {('.', '%Y', ''): 3}
    """
    result = DateShapes()
    for shape, (values, rows) in shapes.items():
        day, time = _split_time(shape)
        pattern = None if day is None else _day_pattern(day)
        if pattern is None or time is None:
            result.unmatched[shape] = values
            continue
        result.values += values
        if isinstance(pattern, str):
            result.certain[pattern + time] = result.certain.get(pattern + time, 0) + rows
        else:
            key = (*pattern, time)
            result.ambiguous[key] = result.ambiguous.get(key, 0) + rows
    _join_month_names(result, shapes)
    return result


def _join_month_names(result: DateShapes, shapes: Mapping[str, tuple[int, int]]) -> None:
    """Merge patterns of short month names into those of full names if every short name is a full one: May."""
    short = {name.casefold() for name in month_names(short=True)}
    short -= {name.casefold() for name in month_names(short=False)}
    if any(word.casefold() in short for shape in shapes for word in re.findall(r"[^\W\d_]+", shape)):
        return
    for pattern in [pattern for pattern in result.certain if "%b" in pattern]:
        full_names = pattern.replace("%b", "%B")
        if full_names in result.certain:
            result.certain[full_names] += result.certain.pop(pattern)


def are_months(shapes: Collection[str]) -> bool:
    """Return whether texts are months without a day, followed by the year.

    >>> are_months({"00/0000"}), are_months({"0000-00"}), are_months({"Aug 00", "May 00"})
    (True, False, True)
    """
    return bool(shapes) and all(
        re.fullmatch(r"0{1,2}[./-]0000", shape) is not None
        or ((match := _MONTH.fullmatch(shape)) is not None and _month_directive(match["month"]) is not None)
        for shape in shapes
    )


def resolve_day_order(key: tuple[str, str, str], *, day_first: bool) -> str:
    """Return the pattern of an ambiguous key for a given order of day and month.

    >>> resolve_day_order(("/", "%Y", " %H:%M"), day_first=False)
    '%m/%d/%Y %H:%M'
    """
    mark, year, time = key
    return mark.join(("%d", "%m", year) if day_first else ("%m", "%d", year)) + time


def _split_time(shape: str) -> tuple[str | None, str | None]:
    """Return the day part of a shape, and the pattern of the time that follows it, "" without a time."""
    for position in range(6, len(shape)):
        match = _TIME.fullmatch(shape[position:])
        if match is not None and shape[position - 1] != " ":
            return shape[:position], _time_pattern(match)
    return shape, ""


def _time_pattern(match: re.Match[str]) -> str:
    late = match["late"] or ""
    text = match["gap"] + ("%I:%M" if late else "%H:%M")
    text += ":%S" if match["seconds"] else ""
    text += ".%f" if match["fraction"] else ""
    zone = match["zone"] or ""
    text += late[: len(late) - len(late.lstrip())] + "%p" if late else ""
    return text + (zone[: len(zone) - len(zone.lstrip())] + "%z" if zone else "")


def _day_pattern(day: str) -> str | tuple[str, str] | None:
    """Return the pattern of a day, or mark and year directive if the order of day and month is ambiguous."""
    match = _YEAR_FIRST.fullmatch(day)
    if match is not None:
        return match["mark"].join(("%Y", "%m", "%d"))
    match = _NUMERIC.fullmatch(day)
    if match is not None:
        return match["mark"], _year_directive(match["year"])
    match = _NAMED.fullmatch(day)
    if match is not None:
        directive = _month_directive(match["month"])
        return directive and f"%d{match['first']}{directive}{match['second']}{_year_directive(match['year'])}"
    match = _MONTH_FIRST.fullmatch(day)
    if match is not None:
        directive = _month_directive(match["month"])
        return directive and f"{directive}{match['first']}%d{match['second']}{_year_directive(match['year'])}"
    return "%Y%m%d" if day == _PACKED else None


def _year_directive(text: str) -> str:
    return "%y" if len(text) == len("yy") else "%Y"


def _month_directive(name: str) -> str | None:
    for directive, short in (("%b", True), ("%B", False)):
        if name.casefold() in {known.casefold() for known in month_names(short=short)}:
            return directive
    return None


_GAP = "[ \u00a0\u202f]*"
_CURRENCIES = (
    ("€", "EUR", "Euro"),
    ("$", "US$", "USD"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("CHF", "Fr.", "SFr."),
    ("kr", "kr.", "SEK", "NOK", "DKK"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("Ft", "HUF"),
    ("₹", "INR"),
    ("R$", "BRL"),
    ("₽", "RUB"),
    ("₺", "TRY"),
    ("₩", "KRW"),
)
_MEASURES = (
    *(("%",), ("‰",), ("kg",), ("g",), ("mg",), ("lb", "lbs"), ("oz",), ("cm",), ("mm",), ("m",), ("km",)),
    *(("ft",), ("in",), ("l", "L"), ("ml",), ("h",), ("min",), ("s",), ("°C",), ("°F",), ("kWh",)),
    *(("Jahre", "J."), ("Tage",), ("years",), ("days",)),
)
_GROUPS = _CURRENCIES + _MEASURES


def _alternatives(units: tuple[tuple[str, ...], ...]) -> str:
    every = sorted((unit for group in units for unit in group), key=len, reverse=True)
    return "|".join(map(re.escape, every))


_SHAPE = re.compile(
    rf"[(]?{_GAP}[-+−]?{_GAP}(?P<before>{_alternatives(_CURRENCIES)})?{_GAP}[-+−]?{_GAP}"
    rf"(?P<digits>0[0.,'’_ \u00a0\u202f]*?|[.,]0+)(?:[eE][-+]?0{{1,2}})?"
    rf"{_GAP}(?P<behind>{_alternatives(_GROUPS)})?{_GAP}[-−]?{_GAP}[)]?"
)
_MARK = re.compile(r"[.,'’_ \u00a0\u202f]")
_BLANKS = " \u00a0\u202f"
_NEVER_DECIMAL = "'’_" + _BLANKS
_GROUP = 3


@dataclass
class NumberMarks:
    """Decimal marks, thousands separators and units in the shapes of a column.

    ``ambiguous`` marks may be either: ``1.234``. ``unmatched`` are the shapes that are not numbers, with
    their numbers of values. ``plain`` is true if no shape needs a format.
    """

    decimal: set[str] = field(default_factory=set)
    thousands: set[str] = field(default_factory=set)
    ambiguous: set[str] = field(default_factory=set)
    units: dict[str, int] = field(default_factory=dict)
    unmatched: dict[str, int] = field(default_factory=dict)
    values: int = 0
    plain: bool = True

    @property
    def mixed(self) -> tuple[str, ...]:
        """Units that have different meanings; empty if all have the same."""
        alike = any(set(self.units) <= set(group) for group in _GROUPS)
        return () if alike else tuple(sorted(self.units))

    def form(self, hint: str | None) -> CellFormat | None:
        """Return the format of the column; None if marks contradict each other or remain ambiguous.

        ``hint`` is the decimal mark that other columns or the publisher use.
        """
        decimal, thousands = set(self.decimal), set(self.thousands)
        for mark in self.ambiguous - decimal - thousands:
            if decimal or thousands:
                (thousands if decimal else decimal).add(mark)
            elif hint is None:
                return None
            else:
                (decimal if mark == hint else thousands).add(mark)
        if len(decimal) > 1 or len(thousands) > 1 or decimal & thousands:
            return None
        if self.mixed:
            return None
        mark = next(iter(decimal), "," if "." in thousands else hint or ".")
        if mark in thousands:
            mark = "," if mark == "." else "."
        return CellFormat(mark, next(iter(thousands), None), tuple(sorted(self.units)))


def read_number_marks(shapes: Mapping[str, int]) -> NumberMarks:
    """Read marks and units of numbers from shapes, each with its number of values.

    >>> marks = read_number_marks({"0.000,00 €": 3, "000 €": 1})
    >>> marks.decimal, marks.thousands, marks.units
    ({','}, {'.'}, {'€': 4})
    """
    result = NumberMarks()
    for shape, values in shapes.items():
        match = _SHAPE.fullmatch(shape)
        units = [] if match is None else [u for u in (match["before"], match["behind"]) if u]
        if match is None or len(units) > 1:
            result.unmatched[shape] = values
            continue
        result.values += values
        for unit in units:
            result.units[unit] = result.units.get(unit, 0) + values
        _read_marks(match["digits"].rstrip(_BLANKS), result)
        result.plain &= bool(re.fullmatch(r"-?0+(\.0+)?", shape))
    return result


def _read_marks(digits: str, result: NumberMarks) -> None:
    """Add the marks of one number to the result."""
    marks = [" " if mark in _BLANKS else mark for mark in _MARK.findall(digits)]
    if not marks:
        return
    groups = _MARK.split(digits)
    last = marks[-1]
    if last in _NEVER_DECIMAL or marks.count(last) > 1:
        result.thousands.update(marks)
    elif len(marks) > 1:
        result.decimal.add(last)
        result.thousands.update(marks[:-1])
    elif len(groups[-1]) != _GROUP or len(groups[0]) > _GROUP or not groups[0]:
        result.decimal.add(last)
    else:
        result.ambiguous.add(last)


def warn_about_totals(shapes: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Return a warning if columns of numbers, given by their shapes, contain a word for their total.

    >>> warn_about_totals({"cost": {"00": 3, "Total": 1}, "age": {"00": 4}})[0][:32]
    "Probably a line of totals: 'cost"
    """
    result = [f"'{name}' holds '{t}'" for name, of in shapes.items() for t in of if t.casefold() in _TOTALS]
    if not result:
        return []
    return [f"Probably a line of totals: {', '.join(result)}. Remove it from the file."]


_TOTALS = frozenset(
    ("total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "insgesamt", "totale", "suma")
)
