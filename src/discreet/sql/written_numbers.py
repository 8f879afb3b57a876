"""Numbers as they are written, as SQL: to plain digits with a point, without zeros at either end.

Nothing is cast, so that no digit is lost: the text is taken apart, and put together again.
"""

from __future__ import annotations

from discreet.model.written_form import WrittenForm
from discreet.sql.dialect import Dialect
from discreet.sql.names import literal
from discreet.sql.written_steps import INNER_BLANKS, Steps, plain

_MINUS = "[-−]"
_SIGN = "[-+−]"
_BLANK_THOUSANDS = " \u00a0\u202f"


def number_steps(place: int, text: str, form: WrittenForm, dialect: Dialect) -> Steps:
    """The steps from a column's stripped ``text`` to its number.

    A minus stands before the number, behind it, or is a pair of parentheses. A lenient form takes decimals
    alone, behind digits that do not begin with a zero, as those of codes do.
    """
    fits, core, rest, digits = (f"{name}{place}" for name in ("fits", "core", "rest", "digits"))
    whole, fraction = f"whole{place}", f"fraction{place}"
    mark = form.decimal_mark
    pattern = f"{_SIGN}?(?:0|[1-9][0-9]*){plain(mark)}[0-9]+" if form.lenient else _pattern(form)
    bare = text
    for unit in sorted(form.units, key=len, reverse=True):
        bare = f"replace({bare}, {literal(unit)}, '')"
    inner = f"[0-9{mark}]" + _inner(form) + "*(?:[eE][-+]?[0-9]{1,2})?"
    found = dialect.extract.format(bare, literal(f"({inner})"))
    plain_digits = core
    for sign in _thousands(form):
        plain_digits = f"replace({plain_digits}, {literal(sign)}, '')"
    plain_digits = f"lower(replace({plain_digits}, {literal(mark)}, '.'))"
    return Steps(
        (
            {fits: dialect.full_match.format(text, literal(pattern))},
            {core: f"CASE WHEN {fits} THEN {found} END"},
            {rest: f"replace({bare}, {core}, '')", digits: plain_digits},
            _shifted(place, digits),
            {
                whole: f"TRIM(LEADING '0' FROM w{place})",
                fraction: f"TRIM(TRAILING '0' FROM f{place})",
            },
            {f"number{place}": _put_together(whole, fraction, rest)},
        ),
        f"number{place}",
    )


def _pattern(form: WrittenForm) -> str:
    """What a whole cell may look like."""
    mark, gap = plain(form.decimal_mark), INNER_BLANKS
    whole = "[0-9]+"
    if form.thousands is not None:
        sign = f"[{''.join(_thousands(form))}]"
        # Groups of two before the last are India's.
        whole = f"(?:[0-9]{{1,3}}(?:{sign}[0-9]{{2,3}})*{sign}[0-9]{{3}}|[0-9]+)"
    number = f"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][-+]?[0-9]{{1,2}})?"
    units = "|".join(plain(unit) for unit in form.units)
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


def _thousands(form: WrittenForm) -> str:
    """What parts thousands."""
    if form.thousands is None:
        return ""
    return _BLANK_THOUSANDS if form.thousands in _BLANK_THOUSANDS else form.thousands


def _inner(form: WrittenForm) -> str:
    return f"[0-9{form.decimal_mark}{_thousands(form)}]"


def _shifted(place: int, digits: str) -> dict[str, str]:
    """The digits before and behind the point, which an exponent moves."""
    mantissa = f"split_part({digits}, 'e', 1)"
    whole, fraction = f"split_part({mantissa}, '.', 1)", f"split_part({mantissa}, '.', 2)"
    exponent = f"CAST(replace(split_part({digits}, 'e', 2), '+', '') AS INTEGER)"
    row = (
        f"repeat('0', greatest(-({exponent}), 0)) || {whole} || {fraction} "
        f"|| repeat('0', greatest({exponent} - length({fraction}), 0))"
    )
    point = f"length({whole}) + greatest({exponent}, 0)"
    moved = f"{digits} LIKE '%e%'"
    return {
        f"w{place}": f"CASE WHEN {moved} THEN substr({row}, 1, {point}) ELSE {whole} END",
        f"f{place}": f"CASE WHEN {moved} THEN substr({row}, {point} + 1) ELSE {fraction} END",
    }


def _put_together(whole: str, fraction: str, rest: str) -> str:
    minus = f"{rest} LIKE '%-%' OR {rest} LIKE '%−%' OR {rest} LIKE '%(%'"
    return (
        f"CASE WHEN {whole} = '' AND {fraction} = '' THEN '0' ELSE "
        f"CASE WHEN {minus} THEN '-' ELSE '' END || CASE WHEN {whole} = '' THEN '0' ELSE {whole} END || "
        f"CASE WHEN {fraction} = '' THEN '' ELSE '.' || {fraction} END END"
    )
