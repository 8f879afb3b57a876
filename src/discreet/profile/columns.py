"""What a column holds, counted: how many values, how often alone, of which form.

The engine groups each column once by its text; everything below is an aggregate over those groups. Cost: one
scan and one GROUP BY per column. Patterns are written so that every engine reads them alike: without ``.``
and ``\\s``, of which they think differently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.engines.base import Engine, SourceTable
from discreet.profile.identifiers import KINDS
from discreet.sql.dialect import Dialect
from discreet.sql.frequency import group_rows
from discreet.sql.names import literal
from discreet.sql.source import cell_text, group_key, group_key_type

SURE_NULLS = ("", "?", "N/A", "#N/A", "NULL", "null", "NaN", "nan")
"""Texts that are read as NULL in any column."""

LIKELY_NULLS = ("NA", "n/a", "None", "none", "-", "--", ".")
"""Texts that are read as NULL where a column holds numbers or dates otherwise."""

FORM_SHARE = 0.9
"""A column has the form of an identifier where this share of its distinct values has it,"""

FORM_VALUES = 3
"""and at least so many of them."""

_NUMBER = r"[ \t\n\f\r]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?[ \t\n\f\r]*"
_LEADING_ZERO = r"0[0-9][^\n]*"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}[^\n]*)?"
_CODE = "[A-Z0-9. /-]*[0-9][A-Z0-9. /-]*"


@dataclass(frozen=True)
class ColumnProfile:
    """One column, NULL texts apart.

    ``rows`` are the table's, ``nulls`` those without a value; ``distinct`` values, of which ``once`` occur in
    one row only and the most frequent in ``most`` rows. ``numbers``, ``dates`` and ``codes`` (capitals and
    digits, all of one length) say whether every value has that form; ``zeros`` that some number starts with
    a zero, as codes do. ``lowest`` and ``highest`` are those of numbers. ``null_texts`` are the texts that
    stand for NULL. ``form`` is the letter of the kind of identifier whose form the values have, else empty
    (``profile.identifiers``).
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
) -> tuple[ColumnProfile, ...]:
    """Every column of an opened source, in its order."""
    rows = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation}")[0][0])
    profiles = []
    for number, column in enumerate(table.columns):
        profiles.append(_profile(engine, table, column, rows))
        if progress is not None:
            progress(number + 1, len(table.columns))
    return tuple(profiles)


def values_of(
    engine: Engine, table: SourceTable, column: str, nulls: tuple[str, ...]
) -> tuple[list[str], list[int]]:
    """The distinct values of a column and the rows of each, in no promised order; NULL texts left out."""
    kept = f"v NOT IN ({_texts(('', *nulls))})"
    found = engine.fetch_rows(f"SELECT v, n FROM ({_groups(table, column)}) AS g WHERE {kept}")
    return [value for value, _ in found], [int(rows) for _, rows in found]


def _profile(engine: Engine, table: SourceTable, column: str, rows: int) -> ColumnProfile:
    likely, sure = _texts(LIKELY_NULLS), _texts(SURE_NULLS)
    dialect = table.dialect
    number, date = (_matches(dialect, form) for form in (_NUMBER, _DATE))
    code, zero = (_matches(dialect, form) for form in (_CODE, _LEADING_ZERO))
    said = dialect.try_double.format("v")
    formed_by = ", ".join(f"count(*) FILTER (WHERE {_has_form(dialect, kind.forms)})" for kind in _FORMED)
    (found,) = engine.fetch_rows(
        f"""
        WITH kept AS (SELECT v, n, v IN ({likely}) AS likely FROM ({_groups(table, column)}) AS g
                      WHERE v NOT IN ({sure}))
        SELECT count(*), CAST(coalesce(sum(n), 0) AS BIGINT), count(*) FILTER (WHERE n = 1),
               coalesce(max(n), 0), coalesce(min(length(v)), 0), coalesce(max(length(v)), 0),
               count(*) FILTER (WHERE {number}), count(*) FILTER (WHERE {date}),
               count(*) FILTER (WHERE {code}), count(*) FILTER (WHERE {zero}),
               coalesce(min(CASE WHEN {number} THEN {said} END), 0),
               coalesce(max(CASE WHEN {number} THEN {said} END), 0),
               count(*) FILTER (WHERE likely), CAST(coalesce(sum(n) FILTER (WHERE likely), 0) AS BIGINT),
               count(*) FILTER (WHERE likely AND n = 1),
               {formed_by}
        FROM kept
        """
    )
    distinct, filled, once, most, shortest, longest, numbers, dates, codes, zeros = map(int, found[:10])
    likely_distinct, likely_rows, likely_once = map(int, found[12:15])
    formed = max(numbers, dates)
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
        codes=distinct > 0 and codes == distinct and shortest == longest,
        zeros=zeros > 0,
        lowest=float(found[10]),
        highest=float(found[11]),
        null_texts=_null_texts(engine, table, column, nulls_likely),
        form=_form(distinct, [int(number) for number in found[15:]]),
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


def _null_texts(engine: Engine, table: SourceTable, column: str, likely: bool) -> tuple[str, ...]:
    candidates = SURE_NULLS + (LIKELY_NULLS if likely else ())
    found = engine.fetch_rows(
        f"SELECT v FROM ({_groups(table, column)}) AS g WHERE v IN ({_texts(candidates)})"
    )
    present = {value for (value,) in found}
    return tuple(text for text in candidates if text in present)


def _groups(table: SourceTable, column: str) -> str:
    """The distinct texts ``v`` of a column, NULL left out, and ``n``, the rows of each."""
    key = group_key(table.column(column), table.types[column], table.dialect)
    text = cell_text("k0", group_key_type(table.types[column]), table.null_values, table.dialect)
    texts = f"SELECT {text} AS v, n FROM ({group_rows(table.relation, [key])}) AS cells"
    return f"SELECT v, CAST(sum(n) AS BIGINT) AS n FROM ({texts}) AS texts WHERE v IS NOT NULL GROUP BY v"


def _texts(texts: tuple[str, ...]) -> str:
    return ", ".join(literal(text) for text in texts)
