"""Numbers as people write them, told from shapes: texts of which every digit has become a 0."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.model.written_form import WrittenForm

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


def _any_of(units: tuple[tuple[str, ...], ...]) -> str:
    every = sorted((unit for group in units for unit in group), key=len, reverse=True)
    return "|".join(map(re.escape, every))


_SHAPE = re.compile(
    rf"[(]?{_GAP}[-+−]?{_GAP}(?P<before>{_any_of(_CURRENCIES)})?{_GAP}[-+−]?{_GAP}"
    rf"(?P<digits>0[0.,'’_ \u00a0\u202f]*?|[.,]0+)(?:[eE][-+]?0{{1,2}})?"
    rf"{_GAP}(?P<behind>{_any_of(_GROUPS)})?{_GAP}[-−]?{_GAP}[)]?"
)
_MARK = re.compile(r"[.,'’_ \u00a0\u202f]")
_BLANKS = " \u00a0\u202f"
_NEVER_DECIMAL = "'’_" + _BLANKS
_GROUP = 3


@dataclass
class NumberMarks:
    """What the shapes of a column say of its marks, and how many values have no shape of a number.

    ``open_`` are marks that may be either: ``1.234``. ``plain`` says that no shape needs a form.
    """

    decimal: set[str] = field(default_factory=set)
    thousands: set[str] = field(default_factory=set)
    open_: set[str] = field(default_factory=set)
    units: dict[str, int] = field(default_factory=dict)
    strange: dict[str, int] = field(default_factory=dict)
    values: int = 0
    plain: bool = True

    @property
    def mixed(self) -> tuple[str, ...]:
        """Units that do not mean the same; empty where they do."""
        alike = any(set(self.units) <= set(group) for group in _GROUPS)
        return () if alike else tuple(sorted(self.units))

    def form(self, hint: str | None) -> WrittenForm | None:
        """The form of the column, None where marks contradict each other or nothing tells them apart.

        ``hint`` is the decimal mark that other columns, or the publisher, use.
        """
        decimal, thousands = set(self.decimal), set(self.thousands)
        for mark in self.open_ - decimal - thousands:
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
        return WrittenForm(mark, next(iter(thousands), None), tuple(sorted(self.units)))


def number_marks(shapes: Mapping[str, int]) -> NumberMarks:
    """What shapes say, each with its number of values.

    >>> marks = number_marks({"0.000,00 €": 3, "000 €": 1})
    >>> marks.decimal, marks.thousands, marks.units
    ({','}, {'.'}, {'€': 4})
    """
    found = NumberMarks()
    for shape, values in shapes.items():
        match = _SHAPE.fullmatch(shape)
        units = [] if match is None else [u for u in (match["before"], match["behind"]) if u]
        if match is None or len(units) > 1:
            found.strange[shape] = values
            continue
        found.values += values
        for unit in units:
            found.units[unit] = found.units.get(unit, 0) + values
        _read_marks(match["digits"].rstrip(_BLANKS), found)
        found.plain &= bool(re.fullmatch(r"-?0+(\.0+)?", shape))
    return found


def _read_marks(digits: str, found: NumberMarks) -> None:
    """Add what one number says of the marks."""
    marks = [" " if mark in _BLANKS else mark for mark in _MARK.findall(digits)]
    if not marks:
        return
    groups = _MARK.split(digits)
    last = marks[-1]
    if last in _NEVER_DECIMAL or marks.count(last) > 1:
        found.thousands.update(marks)
    elif len(marks) > 1:
        found.decimal.add(last)
        found.thousands.update(marks[:-1])
    elif len(groups[-1]) != _GROUP or len(groups[0]) > _GROUP or not groups[0]:
        found.decimal.add(last)
    else:
        found.open_.add(last)


def totals(shapes: Mapping[str, Mapping[str, object]]) -> list[str]:
    """A warning where columns of numbers, whose shapes these are, hold a word for their total.

    >>> totals({"cost": {"00": 3, "Total": 1}, "age": {"00": 4}})[0][:32]
    "A line of totals, it seems: 'cos"
    """
    found = [f"'{name}' holds '{t}'" for name, of in shapes.items() for t in of if t.casefold() in _TOTALS]
    if not found:
        return []
    return [f"A line of totals, it seems: {', '.join(found)}. It is nobody's row: take it out of the file."]


_TOTALS = frozenset(
    ("total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "insgesamt", "totale", "suma")
)
