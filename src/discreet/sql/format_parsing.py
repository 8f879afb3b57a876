"""Parsing of numbers and dates by declared cell formats, to canonical texts.

Nested SELECTs name each intermediate expression once. Numbers are split and reassembled as texts, so that no
digit is lost; dates become ISO 8601. The column ``misread`` contains the index of a column whose cell does
not match its format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.model.cell_format import BLANKS, CellFormat, DatePattern, PatternPart
from discreet.sql.cell_expressions import column_name
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import literal

_BLANK_LITERALS = ", ".join(literal(blank) for blank in BLANKS)


def is_padded(text: str) -> str:
    """Return the predicate that a text has blanks around it.

    Testing its two ends takes a sixth of the time of TRIM.
    """
    return f"(left({text}, 1) IN ({_BLANK_LITERALS}) OR right({text}, 1) IN ({_BLANK_LITERALS}))"


def strip_blanks(text: str) -> str:
    """Return a text without the blanks around it."""
    return f"CASE WHEN {is_padded(text)} THEN TRIM(BOTH {literal(BLANKS)} FROM {text}) ELSE {text} END"


INNER_BLANKS = "[ \u00a0\u202f]*"
"""Pattern of blanks within a cell."""

_SPECIAL = frozenset(".$*?{}|+()[]/")


@dataclass(frozen=True)
class ParsingSteps:
    """Named expressions, step by step, and the name of the last one: the canonical text, or NULL."""

    named: tuple[Mapping[str, str], ...]
    value: str


def escape_pattern(text: str) -> str:
    """Return a text as a pattern of any engine that matches it literally.

    >>> escape_pattern("Fr."), escape_pattern("US$")
    ('Fr[.]', 'US[$]')
    """
    return "".join(f"[{c}]" if c in _SPECIAL else "\\" + c if c in "^\\" else c for c in text)


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
"""Month names in English and German, in any case of letters."""

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


def date_steps(index: int, text: str, form: CellFormat, dialect: Dialect) -> ParsingSteps:
    """Build the steps from a column's stripped ``text`` to its date, by the first pattern that matches."""
    parts: dict[str, str] = {}
    days: dict[str, str] = {}
    dates: dict[str, str] = {}
    for number, pattern in enumerate(form.patterns):
        prefix = f"d{index}x{number}"
        parts |= _parts(prefix, text, pattern, dialect)
        days |= _day(prefix, pattern, form)
        dates[f"{prefix}r"] = _date(prefix, pattern, dialect)
    names = ", ".join(dates)
    value = f"date{index}"
    return ParsingSteps((parts, days, dates, {value: f"coalesce({names}, NULL)"}), value)


def month_names(*, short: bool) -> Mapping[str, int]:
    """Return the number of each month name, or of its first three letters if ``short``."""
    return {name[:3] if short else name: i for i, names in enumerate(_NAMES, start=1) for name in names}


def _parts(prefix: str, text: str, pattern: DatePattern, dialect: Dialect) -> dict[str, str]:
    """Extract the text of each directive, NULL where the pattern does not match."""
    forms = [_form(part) for part in pattern.parts]
    fits = dialect.full_match.format(text, literal("".join(forms)))
    result = {}
    for i, part in enumerate(pattern.parts):
        if part.directive:
            marked = "".join((*forms[:i], f"({forms[i]})", *forms[i + 1 :]))
            one = dialect.extract.format(text, literal(f"^{marked}$"))
            result[_name(prefix, part.directive)] = f"CASE WHEN {fits} THEN {one} END"
    return result


def _name(prefix: str, directive: str) -> str:
    """Return the column name of a directive; its case is marked, because databases fold capitals."""
    return f"{prefix}{'u' if directive.isupper() else 'l'}{directive.lower()}"


def _form(part: PatternPart) -> str:
    """Return a part of a pattern as a regular expression without a capturing group."""
    if not part.directive:
        return escape_pattern(part.text)
    if part.directive in "bB":
        names = sorted(month_names(short=part.directive == "b"), key=len, reverse=True)
        return f"(?:{'|'.join(_any_case(name) for name in names)})"
    if part.directive in _ONE_OR_TWO:
        return _ONE_OR_TWO[part.directive].format("" if part.padded else "?")
    return _FORMS[part.directive]


def _any_case(name: str) -> str:
    return "".join(f"[{c.lower()}{c.upper()}]" for c in name)


def _day(prefix: str, pattern: DatePattern, form: CellFormat) -> dict[str, str]:
    """Build year, month and day as zero-padded digits."""
    directives = pattern.directives
    if "Y" in directives:
        year = _name(prefix, "Y")
    else:
        assert form.pivot is not None
        century, last = divmod(form.pivot, 100)
        two = _name(prefix, "y")
        year = (
            f"CASE WHEN CAST({two} AS INTEGER) <= {last} THEN '{century:02}' ELSE '{century - 1:02}' END "
            f"|| {two}"
        )
    named = next((d for d in directives if d in "bB"), None)
    month = _two_digits(_name(prefix, "m")) if named is None else _month(_name(prefix, named), named)
    return {
        f"{prefix}year": year,
        f"{prefix}month": month,
        f"{prefix}day": _two_digits(_name(prefix, "d")),
    }


def _month(name: str, directive: str) -> str:
    names = month_names(short=directive == "b")
    # lower() does not change umlauts if the database's collation is ASCII only.
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
    """Build the ISO date, NULL for a day that does not exist."""
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
    """Build the time after the date: hours, minutes, seconds, and a fraction without trailing zeros."""
    directives = pattern.directives
    if not pattern.has_time:
        return ""
    hour = _two_digits(_name(prefix, "H"))
    if "I" in directives:
        late = f"CASE WHEN lower({_name(prefix, 'p')}) = 'pm' THEN 12 ELSE 0 END"
        twelve = f"CAST({_name(prefix, 'I')} AS INTEGER) % 12 + {late}"
        hour = _two_digits(dialect.cast(f"({twelve})", "VARCHAR"))
    minute = _name(prefix, "M") if "M" in directives else "'00'"
    second = _name(prefix, "S") if "S" in directives else "'00'"
    text = f" || 'T' || {hour} || ':' || {minute} || ':' || {second}"
    if "f" in directives:
        rest = f"TRIM(TRAILING '0' FROM {_name(prefix, 'f')})"
        text += f" || CASE WHEN {rest} = '' THEN '' ELSE '.' || {rest} END"
    return text


_MINUS = "[-−]"
_SIGN = "[-+−]"
_BLANK_THOUSANDS = " \u00a0\u202f"


def number_steps(index: int, text: str, form: CellFormat, dialect: Dialect) -> ParsingSteps:
    """Build the steps from a column's stripped ``text`` to its number: sign, digits, point and exponent."""
    fits, core, rest, digits = (f"{name}{index}" for name in ("fits", "core", "rest", "digits"))
    integer_part, fraction = f"whole{index}", f"fraction{index}"
    mark = form.decimal_mark
    pattern = f"{_SIGN}?(?:0|[1-9][0-9]*){escape_pattern(mark)}[0-9]+" if form.lenient else _pattern(form)
    bare = text
    for unit in sorted(form.units, key=len, reverse=True):
        bare = f"replace({bare}, {literal(unit)}, '')"
    inner = f"[0-9{mark}]" + _inner(form) + "*(?:[eE][-+]?[0-9]{1,2})?"
    found = dialect.extract.format(bare, literal(f"({inner})"))
    plain_digits = core
    for sign in _thousands(form):
        plain_digits = f"replace({plain_digits}, {literal(sign)}, '')"
    plain_digits = f"lower(replace({plain_digits}, {literal(mark)}, '.'))"
    return ParsingSteps(
        (
            {fits: dialect.full_match.format(text, literal(pattern))},
            {core: f"CASE WHEN {fits} THEN {found} END"},
            {rest: f"replace({bare}, {core}, '')", digits: plain_digits},
            _shifted(index, digits),
            {
                integer_part: f"TRIM(LEADING '0' FROM w{index})",
                fraction: f"TRIM(TRAILING '0' FROM f{index})",
            },
            {f"number{index}": _put_together(integer_part, fraction, rest)},
        ),
        f"number{index}",
    )


def _pattern(form: CellFormat) -> str:
    """Build the pattern of a whole cell."""
    mark, gap = escape_pattern(form.decimal_mark), INNER_BLANKS
    integer_pattern = "[0-9]+"
    if form.thousands is not None:
        sign = f"[{''.join(_thousands(form))}]"
        # Indian notation has groups of two digits before the last group.
        integer_pattern = f"(?:[0-9]{{1,3}}(?:{sign}[0-9]{{2,3}})*{sign}[0-9]{{3}}|[0-9]+)"
    number = f"(?:{integer_pattern}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][-+]?[0-9]{{1,2}})?"
    units = "|".join(escape_pattern(unit) for unit in form.units)
    before, behind = (f"(?:(?:{units}){gap})?", f"(?:{gap}(?:{units}))?") if units else ("", "")
    return "|".join(
        (
            f"(?:{_SIGN}{gap})?{before}{number}{behind}",
            f"{before}{_SIGN}{gap}{number}{behind}",
            f"{before}{number}{gap}{_MINUS}{behind}",
            f"{before}{number}{behind}{gap}{_MINUS}",
            f"[(]{gap}{before}{number}{behind}{gap}[)]",
        )
    )


def _thousands(form: CellFormat) -> str:
    """Return the characters that separate thousands."""
    if form.thousands is None:
        return ""
    return _BLANK_THOUSANDS if form.thousands in _BLANK_THOUSANDS else form.thousands


def _inner(form: CellFormat) -> str:
    return f"[0-9{form.decimal_mark}{_thousands(form)}]"


def _shifted(shift: int, digits: str) -> dict[str, str]:
    """Build the digits before and after the point, shifted by the exponent."""
    mantissa = f"split_part({digits}, 'e', 1)"
    integer_part, fraction = f"split_part({mantissa}, '.', 1)", f"split_part({mantissa}, '.', 2)"
    exponent = f"CAST(replace(split_part({digits}, 'e', 2), '+', '') AS INTEGER)"
    row = (
        f"repeat('0', greatest(-({exponent}), 0)) || {integer_part} || {fraction} "
        f"|| repeat('0', greatest({exponent} - length({fraction}), 0))"
    )
    point = f"length({integer_part}) + greatest({exponent}, 0)"
    moved = f"{digits} LIKE '%e%'"
    return {
        f"w{shift}": f"CASE WHEN {moved} THEN substr({row}, 1, {point}) ELSE {integer_part} END",
        f"f{shift}": f"CASE WHEN {moved} THEN substr({row}, {point} + 1) ELSE {fraction} END",
    }


def _put_together(integer_part: str, fraction: str, rest: str) -> str:
    minus = f"{rest} LIKE '%-%' OR {rest} LIKE '%−%' OR {rest} LIKE '%(%'"
    return (
        f"CASE WHEN {integer_part} = '' AND {fraction} = '' THEN '0' ELSE "
        f"CASE WHEN {minus} THEN '-' ELSE '' END || "
        f"CASE WHEN {integer_part} = '' THEN '0' ELSE {integer_part} END || "
        f"CASE WHEN {fraction} = '' THEN '' ELSE '.' || {fraction} END END"
    )


MISREAD = "misread"
"""Column with the index of a column whose cell does not match its format."""


def parse_by_format(
    rows: str,
    columns: int,
    forms: Mapping[int, CellFormat],
    null_values: Sequence[str],
    dialect: Dialect,
) -> str:
    """Build the query that parses some text columns of rows by their formats.

    ``rows`` is a relation with ``columns`` columns; ``forms`` contains the formats by column index.
    ``null_values`` are removed before a cell is parsed, with or without the blanks around it.
    """
    query = f"SELECT * FROM {rows}"
    steps = {index: _steps(index, form, dialect) for index, form in forms.items()}
    depth = max(len(found.named) for found in steps.values())
    for level in range(depth):
        named = {n: e for s in steps.values() if level < len(s.named) for n, e in s.named[level].items()}
        new = ", ".join(f"{expression} AS {name}" for name, expression in named.items())
        query = f"SELECT *, {new} FROM ({query}) AS s{level}"
    cells = [
        f"{_cell(i, forms[i], steps[i], null_values)} AS {column_name(i)}" if i in forms else column_name(i)
        for i in range(columns)
    ]
    wrong = " ".join(
        f"WHEN {_does_not_match(i, form, steps[i], null_values)} THEN {i}"
        for i, form in forms.items()
        if form.refuses
    )
    cells.append(f"{f'CASE {wrong} END' if wrong else 'CAST(NULL AS INTEGER)'} AS {MISREAD}")
    return f"SELECT {', '.join(cells)} FROM ({query}) AS written"


def _steps(index: int, form: CellFormat, dialect: Dialect) -> ParsingSteps:
    """Build the parsing steps of a cell; the first is its text without the blanks around it."""
    text = f"t{index}"
    first = {text: strip_blanks(column_name(index))}
    if form.is_number:
        found = number_steps(index, text, form, dialect)
    elif form.dates:
        found = date_steps(index, text, form, dialect)
    else:
        found = ParsingSteps((), text)
    return ParsingSteps((first, *found.named), found.value)


def _cell(index: int, form: CellFormat, steps: ParsingSteps, null_values: Sequence[str]) -> str:
    column = f"t{index}" if form.lenient and form.strip else column_name(index)
    nulls = _is_one_of(index, null_values)
    apart = _is_one_of(index, form.others)
    return (
        f"CASE WHEN {nulls} THEN NULL WHEN {apart} THEN t{index} "
        f"WHEN {steps.value} IS NOT NULL THEN {steps.value} ELSE {column} END"
    )


def _does_not_match(index: int, form: CellFormat, steps: ParsingSteps, null_values: Sequence[str]) -> str:
    known = _is_one_of(index, (*null_values, *form.others))
    return f"{column_name(index)} IS NOT NULL AND NOT ({known}) AND {steps.value} IS NULL"


def _is_one_of(index: int, texts: Sequence[str]) -> str:
    if not texts:
        return "FALSE"
    listed = ", ".join(map(literal, dict.fromkeys(texts)))
    return f"({column_name(index)} IN ({listed}) OR t{index} IN ({listed}))"
