"""What a column holds, counted: how many values, how often alone, of which form.

The engine groups each column once by its text; everything below is an aggregate over those groups. Cost: a
scan and a GROUP BY for as many columns as have a million cells together, at least one. Patterns are written
so that every engine reads them alike: without ``.`` and ``\\s``, of which they think differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from discreet.engines.base import Engine, SourceTable
from discreet.profile.identifiers import KINDS
from discreet.sql.cells import COLUMNS_AT_ONCE, cells, in_parts
from discreet.sql.dialect import Dialect
from discreet.sql.frequency import group_rows
from discreet.sql.names import literal
from discreet.sql.source import cell_text, group_key, group_key_type
from discreet.sql.written_steps import is_padded

SURE_NULLS = (
    *("", "?", "N/A", "#N/A", "NULL", "null", "NaN", "nan"),
    *("\\N", "(null)", "[NULL]", "<null>", "<NA>"),
)
"""Texts that are read as NULL in any column."""

LIKELY_NULLS = (
    *("NA", "n/a", "None", "none", "-", "--", "."),
    *("k.A.", "k. A.", "keine Angabe", "unbekannt", "unknown", "missing", "n.a.", "N.A."),
    *("k.A", "o. A.", "o.A.", "ohne Angabe", "Unbekannt", "unbek.", "nicht bekannt", "n.b.", "n. b."),
    *("Unknown", "UNKNOWN", "Missing", "not available", "not known", "(blank)", "–", "—"),
    *("inconnu", "desconocido", "sconosciuto", "onbekend", "s/d"),
    *("#NV", "#VALUE!", "#DIV/0!", "#REF!", "#WERT!", "#BEZUG!", "#NAME?", "#NUM!"),
)
"""Texts that are read as NULL where a column holds numbers or dates otherwise."""

_NULL_TEXTS = SURE_NULLS + LIKELY_NULLS

FORM_SHARE = 0.9
"""A column has the form of an identifier where this share of its distinct values has it,"""

FORM_VALUES = 3
"""and at least so many of them."""

_CELLS_AT_ONCE = 1_000_000
"""Columns are grouped together up to so many cells; larger ones alone, by what they hold and not its text."""

CODED_MISSING = tuple(
    sign + digit * times
    for times in range(1, 6)
    for sign, digits in (("", "6789" if times > 1 else ""), ("-", "126789"))
    for digit in digits
)
"""Numbers that programs of statistics write for what is missing: 99, 999, -9, …"""

_NUMBER = r"[ \t\n\f\r]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?[ \t\n\f\r]*"
_LEADING_ZERO = r"0[0-9][^\n]*"
_FRACTION = r"[ \t\n\f\r]*[+-]?[0-9]*\.[0-9]*[1-9][0-9]*([eE][+-]?[0-9]{1,3})?[ \t\n\f\r]*"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}[^\n]*)?"
_CODE = "[A-Z0-9. /-]*[0-9][A-Z0-9. /-]*"
_SHORT_WITH_DIGIT = r"[^0-9\n]{0,12}[0-9][^\n]{0,40}"


@dataclass(frozen=True)
class ColumnProfile:
    """One column, NULL texts apart.

    ``rows`` are the table's, ``nulls`` those without a value; ``distinct`` values, of which ``once`` occur
    in one row only and the most frequent in ``most`` rows. ``numbers``, ``dates`` and ``codes`` (capitals
    and digits, all of one length) say whether every value has that form; ``zeros`` that some number starts
    with a zero, as codes do, and ``fractions`` that some number has decimals, as measures do. ``lowest`` and
    ``highest`` are those of numbers, ``within`` those without such as stand for what is missing
    (``CODED_MISSING``); ``first`` and ``last`` are those of ISO dates. ``null_texts`` are the texts that
    stand for NULL. ``padded`` values have blanks around them, ``with_digit`` are short and hold a digit;
    ``points`` that some hold a point. ``form`` is the letter of the kind of identifier whose form the values
    have, else empty (``profile.identifiers``).
    """

    name: str
    rows: int
    nulls: int
    distinct: int
    once: int
    most: int
    shortest: int
    longest: int
    numbers: bool
    dates: bool
    codes: bool
    zeros: bool
    lowest: float
    highest: float
    null_texts: tuple[str, ...]
    form: str = ""
    padded: int = 0
    with_digit: int = 0
    fractions: bool = False
    points: bool = False
    within: tuple[float, float] = (0.0, 0.0)
    first: str = ""
    last: str = ""

    @property
    def filled(self) -> int:
        """Rows with a value."""
        return self.rows - self.nulls

    @property
    def alone(self) -> float:
        """The share of filled rows whose value no other row has."""
        return self.once / self.filled if self.filled else 0.0


def profile_columns(
    engine: Engine,
    table: SourceTable,
    progress: Callable[[int, int], None] | None = None,
    names: Sequence[str] | None = None,
    rows: int | None = None,
    but: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> tuple[ColumnProfile, ...]:
    """Every column of an opened source, in its order; or those of some ``names``; ``rows`` where known.

    ``but`` are texts by column that are no values of it, and are left out with NULL.
    """
    if rows is None:
        rows = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation}")[0][0])
    profiles: list[ColumnProfile] = []
    asked = table.columns if names is None else names
    for columns in in_parts(asked, columns_at_once(rows)):
        profiles += _profiles(engine, table, columns, rows, but)
        if progress is not None:
            progress(len(profiles), len(asked))
    return tuple(profiles)


def columns_at_once(rows: int) -> int:
    """How many columns of a table are grouped together."""
    return max(1, min(COLUMNS_AT_ONCE, _CELLS_AT_ONCE // max(rows, 1)))


def values_of(
    engine: Engine, table: SourceTable, columns: Sequence[str], nulls: tuple[str, ...]
) -> list[tuple[list[str], list[int]]]:
    """The distinct values of some columns and the rows of each, in no promised order; NULL texts left out."""
    found: list[tuple[list[str], list[int]]] = [([], []) for _ in columns]
    kept = f"v NOT IN ({_texts(('', *nulls))})"
    query = f"SELECT place, v, n FROM ({grouped_texts(table, columns)}) AS g WHERE {kept}"
    for place, value, rows in engine.fetch_rows(query):
        found[place][0].append(value)
        found[place][1].append(int(rows))
    return found


def _profiles(
    engine: Engine,
    table: SourceTable,
    columns: Sequence[str],
    rows: int,
    but: Mapping[str, tuple[str, ...]],
) -> Iterator[ColumnProfile]:
    """Columns that are grouped together."""
    apart = [
        f"NOT (place = {i} AND v IN ({_texts(but[name])}))" for i, name in enumerate(columns) if name in but
    ]
    where = f" WHERE {' AND '.join(apart)}" if apart else ""
    likely, sure = _texts(LIKELY_NULLS), _texts(SURE_NULLS)
    dialect = table.dialect
    number, date, fraction = (_matches(dialect, form) for form in (_NUMBER, _DATE, _FRACTION))
    code, zero, digit = (_matches(dialect, form) for form in (_CODE, _LEADING_ZERO, _SHORT_WITH_DIGIT))
    said = dialect.try_double.format("v")
    measured = f"kept AND v NOT IN ({_texts(CODED_MISSING)})"
    formed_by = [f"count(*) FILTER (WHERE kept AND ({_has_form(dialect, kind.forms)}))" for kind in _FORMED]
    # A text is one group of its column's, so that a sum of powers of two tells which texts there are.
    bits = " ".join(f"WHEN {literal(text)} THEN {1 << i}" for i, text in enumerate(_NULL_TEXTS))
    found = engine.fetch_rows(
        f"""
        WITH told AS (SELECT place, v, n, v IN ({likely}) AS likely, v NOT IN ({sure}) AS kept,
                             {number} AS number, CASE WHEN {number} THEN {said} END AS said
                      FROM ({grouped_texts(table, columns)}) AS g{where})
        SELECT place, count(*) FILTER (WHERE kept),
               CAST(coalesce(sum(n) FILTER (WHERE kept), 0) AS BIGINT),
               count(*) FILTER (WHERE kept AND n = 1), coalesce(max(n) FILTER (WHERE kept), 0),
               coalesce(min(length(v)) FILTER (WHERE kept AND NOT likely), 0),
               coalesce(max(length(v)) FILTER (WHERE kept AND NOT likely), 0),
               count(*) FILTER (WHERE kept AND number), count(*) FILTER (WHERE kept AND {date}),
               count(*) FILTER (WHERE kept AND {code}), count(*) FILTER (WHERE kept AND {zero}),
               coalesce(min(said) FILTER (WHERE kept), 0), coalesce(max(said) FILTER (WHERE kept), 0),
               count(*) FILTER (WHERE likely), CAST(coalesce(sum(n) FILTER (WHERE likely), 0) AS BIGINT),
               count(*) FILTER (WHERE likely AND n = 1),
               count(*) FILTER (WHERE {is_padded("v")}),
               count(*) FILTER (WHERE kept AND {digit}), count(*) FILTER (WHERE kept AND {fraction}),
               count(*) FILTER (WHERE kept AND v LIKE '%.%'),
               {", ".join(formed_by)},
               CAST(coalesce(sum(CASE WHEN likely OR NOT kept THEN CASE v {bits} END END), 0) AS BIGINT),
               min(said) FILTER (WHERE {measured}), max(said) FILTER (WHERE {measured}),
               min(v) FILTER (WHERE kept AND {date}), max(v) FILTER (WHERE kept AND {date})
        FROM told GROUP BY place
        """
    )
    counts = {int(place): counted for place, *counted in found}
    nothing = [0] * (_OTHERS + len(formed_by) + 1) + [None] * 4
    for place, column in enumerate(columns):
        yield _profile(column, rows, counts.get(place, nothing))


_OTHERS = 19


def _profile(column: str, rows: int, found: Sequence[Any]) -> ColumnProfile:
    """A column by what was counted of it."""
    *found, least, greatest, first, last = found
    distinct, filled, once, most, shortest, longest, numbers, dates, codes, zeros = map(int, found[:10])
    likely_distinct, likely_rows, likely_once, *others = map(int, found[12:_OTHERS])
    padded, with_digit, fractions, points = others
    after_forms = _OTHERS + len(_FORMED)
    same_length = shortest == longest
    formed = max(numbers, dates, codes if same_length else 0)
    nulls_likely = likely_distinct > 0 and formed > 0 and formed + likely_distinct == distinct
    if nulls_likely:
        distinct, filled, once = distinct - likely_distinct, filled - likely_rows, once - likely_once
    return ColumnProfile(
        name=column,
        rows=rows,
        nulls=rows - filled,
        distinct=distinct,
        once=once,
        most=most,
        shortest=shortest,
        longest=longest,
        numbers=distinct > 0 and numbers == distinct,
        dates=distinct > 0 and dates == distinct,
        codes=distinct > 0 and codes == distinct and same_length,
        zeros=zeros > 0,
        lowest=float(found[10]),
        highest=float(found[11]),
        null_texts=_null_texts(int(found[after_forms]), nulls_likely),
        form=_form(distinct, [int(number) for number in found[_OTHERS:after_forms]]),
        padded=padded,
        with_digit=with_digit,
        fractions=fractions > 0,
        points=points > 0,
        within=(
            float(found[10] if least is None else least),
            float(found[11] if greatest is None else greatest),
        ),
        first=first or "",
        last=last or "",
    )


_FORMED = tuple(kind for kind in KINDS if kind.forms)


def _has_form(dialect: Dialect, forms: tuple[str, ...]) -> str:
    return " OR ".join(_matches(dialect, form) for form in forms)


def _matches(dialect: Dialect, form: str) -> str:
    return dialect.full_match.format("v", literal(form))


def _form(distinct: int, numbers: list[int]) -> str:
    """The letter of the kind whose form most distinct values have, where nearly all of them have it."""
    place = max(range(len(numbers)), key=lambda i: numbers[i])
    enough = numbers[place] >= FORM_VALUES and numbers[place] >= FORM_SHARE * distinct
    return _FORMED[place].letter if enough else ""


def _null_texts(present: int, likely: bool) -> tuple[str, ...]:
    """The texts that stand for NULL, by the bits of those that there are."""
    candidates = SURE_NULLS + (LIKELY_NULLS if likely else ())
    return tuple(text for place, text in enumerate(candidates) if present >> place & 1)


def grouped_texts(table: SourceTable, columns: Sequence[str]) -> str:
    """The distinct texts ``v`` of columns by their ``place``, NULL left out, and ``n``, the rows of each."""
    if len(columns) > 1:
        texts = [table.text(column) for column in columns]
        turned = f"SELECT place, v, 1 AS n FROM ({cells(table.dialect, table.relation, texts)}) AS cells"
    else:
        kind = table.types[columns[0]]
        key = group_key(table.column(columns[0]), kind, table.dialect)
        text = cell_text("k0", group_key_type(kind), table.null_values, table.dialect)
        turned = f"SELECT 0 AS place, {text} AS v, n FROM ({group_rows(table.relation, [key])}) AS cells"
    return (
        f"SELECT place, v, CAST(sum(n) AS BIGINT) AS n FROM ({turned}) AS texts "
        "WHERE v IS NOT NULL GROUP BY place, v"
    )


def _texts(texts: tuple[str, ...]) -> str:
    return ", ".join(literal(text) for text in texts)
