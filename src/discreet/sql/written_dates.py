"""Dates as they are written, as SQL: to ``2023-04-01``, or ``2023-04-01T10:15:00`` where they have a time.

The time is that of the place where it was written: its zone is left out, so that the day is the one that
people know.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.model.date_pattern import DatePattern, PatternPart
from discreet.model.written_form import WrittenForm
from discreet.sql.dialect import Dialect
from discreet.sql.names import literal
from discreet.sql.written_steps import Steps, plain

_NAMES = (
    ("January", "Januar"),
    ("February", "Februar"),
    ("March", "März", "Mrz"),
    ("April",),
    ("May", "Mai"),
    ("June", "Juni"),
    ("July", "Juli"),
    ("August",),
    ("September",),
    ("October", "Oktober"),
    ("November",),
    ("December", "Dezember"),
)
"""The months in English and German, in any case of letters."""

_FORMS = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "M": "[0-5][0-9]",
    "S": "[0-5][0-9]",
    "f": "[0-9]{1,9}",
    "p": "[AaPp][Mm]",
    "z": "(?:Z|z|UTC|GMT|[-+][0-9]{2}(?::?[0-9]{2})?)",
}
_ONE_OR_TWO = {"m": "(?:0{0}[1-9]|1[0-2])", "d": "(?:0{0}[1-9]|[12][0-9]|3[01])"}
_ONE_OR_TWO |= {"H": "(?:0{0}[0-9]|1[0-9]|2[0-3])", "I": "(?:0{0}[1-9]|1[0-2])"}

_NO_DAYS = ("02-30", "02-31", "04-31", "06-31", "09-31", "11-31")


def date_steps(place: int, text: str, form: WrittenForm, dialect: Dialect) -> Steps:
    """The steps from a column's stripped ``text`` to its date: that of the first pattern that fits."""
    parts: dict[str, str] = {}
    days: dict[str, str] = {}
    dates: dict[str, str] = {}
    for number, pattern in enumerate(form.patterns):
        prefix = f"d{place}x{number}"
        parts |= _parts(prefix, text, pattern, dialect)
        days |= _day(prefix, pattern, form)
        dates[f"{prefix}r"] = _date(prefix, pattern, dialect)
    names = ", ".join(dates)
    value = f"date{place}"
    return Steps((parts, days, dates, {value: f"coalesce({names}, NULL)"}), value)


def month_names(*, short: bool) -> Mapping[str, int]:
    """The names of months, or their first three letters, and their numbers."""
    return {name[:3] if short else name: i for i, names in enumerate(_NAMES, start=1) for name in names}


def _parts(prefix: str, text: str, pattern: DatePattern, dialect: Dialect) -> dict[str, str]:
    """The text of each directive, NULL where the pattern does not fit."""
    forms = [_form(part) for part in pattern.parts]
    fits = dialect.full_match.format(text, literal("".join(forms)))
    found = {}
    for i, part in enumerate(pattern.parts):
        if part.directive:
            marked = "".join((*forms[:i], f"({forms[i]})", *forms[i + 1 :]))
            one = dialect.extract.format(text, literal(f"^{marked}$"))
            found[_name(prefix, part.directive)] = f"CASE WHEN {fits} THEN {one} END"
    return found


def _name(prefix: str, directive: str) -> str:
    """A column's name: databases fold capitals, so these are marked."""
    return f"{prefix}{'u' if directive.isupper() else 'l'}{directive.lower()}"


def _form(part: PatternPart) -> str:
    """A part of a pattern as one of texts, without a group of its own."""
    if not part.directive:
        return plain(part.text)
    if part.directive in "bB":
        names = sorted(month_names(short=part.directive == "b"), key=len, reverse=True)
        return f"(?:{'|'.join(_any_case(name) for name in names)})"
    if part.directive in _ONE_OR_TWO:
        return _ONE_OR_TWO[part.directive].format("" if part.padded else "?")
    return _FORMS[part.directive]


def _any_case(name: str) -> str:
    return "".join(f"[{c.lower()}{c.upper()}]" for c in name)


def _day(prefix: str, pattern: DatePattern, form: WrittenForm) -> dict[str, str]:
    """Year, month and day in digits, padded."""
    held = pattern.directives
    if "Y" in held:
        year = _name(prefix, "Y")
    else:
        assert form.pivot is not None
        century, last = divmod(form.pivot, 100)
        two = _name(prefix, "y")
        year = (
            f"CASE WHEN CAST({two} AS INTEGER) <= {last} THEN '{century:02}' ELSE '{century - 1:02}' END "
            f"|| {two}"
        )
    named = next((d for d in held if d in "bB"), None)
    month = _two_digits(_name(prefix, "m")) if named is None else _month(_name(prefix, named), named)
    return {
        f"{prefix}year": year,
        f"{prefix}month": month,
        f"{prefix}day": _two_digits(_name(prefix, "d")),
    }


def _month(name: str, directive: str) -> str:
    names = month_names(short=directive == "b")
    # A letter with dots keeps its case where the database's collation knows ASCII alone.
    cases = " ".join(
        f"WHEN {literal(text)} THEN '{number:02}'"
        for text, number in dict.fromkeys(
            pair for n, i in names.items() for pair in ((n.lower(), i), (n.lower().replace("ä", "Ä"), i))
        )
    )
    return f"CASE lower({name}) {cases} END"


def _two_digits(expression: str) -> str:
    return f"lpad({expression}, 2, '0')"


def _date(prefix: str, pattern: DatePattern, dialect: Dialect) -> str:
    """The date, NULL for a day that no calendar has."""
    year, month, day = (f"{prefix}{part}" for part in ("year", "month", "day"))
    number = f"CAST({year} AS INTEGER)"
    month_and_day = f"{month} || '-' || {day}"
    leap = f"{number} % 4 = 0 AND ({number} % 100 <> 0 OR {number} % 400 = 0)"
    none = ", ".join(map(literal, _NO_DAYS))
    text = f"{year} || '-' || {month_and_day}" + _time(prefix, pattern, dialect)
    return (
        f"CASE WHEN {year} = '0000' OR {month_and_day} IN ({none}) THEN NULL "
        f"WHEN {month_and_day} = '02-29' AND NOT ({leap}) THEN NULL ELSE {text} END"
    )


def _time(prefix: str, pattern: DatePattern, dialect: Dialect) -> str:
    """What comes behind the day: hours, minutes and seconds, and a fraction without zeros at its end."""
    held = pattern.directives
    if not pattern.has_time:
        return ""
    hour = _two_digits(_name(prefix, "H"))
    if "I" in held:
        late = f"CASE WHEN lower({_name(prefix, 'p')}) = 'pm' THEN 12 ELSE 0 END"
        twelve = f"CAST({_name(prefix, 'I')} AS INTEGER) % 12 + {late}"
        hour = _two_digits(dialect.cast(f"({twelve})", "VARCHAR"))
    minute = _name(prefix, "M") if "M" in held else "'00'"
    second = _name(prefix, "S") if "S" in held else "'00'"
    text = f" || 'T' || {hour} || ':' || {minute} || ':' || {second}"
    if "f" in held:
        rest = f"TRIM(TRAILING '0' FROM {_name(prefix, 'f')})"
        text += f" || CASE WHEN {rest} = '' THEN '' ELSE '.' || {rest} END"
    return text
