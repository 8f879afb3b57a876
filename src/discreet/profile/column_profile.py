"""Profiles of columns: counts, ranges and forms of their values; and columns that are sums of others.

The engine groups each column once by its text; all else aggregates those groups. Cost: a scan and one GROUP
BY per batch of columns. Sums are searched among sums of some rows, and only candidates are verified on every
row. Patterns avoid what engines read differently.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables
from discreet.profile.heading_hints import IDENTIFIER_KINDS
from discreet.sql.cell_expressions import (
    UNPIVOTED_COLUMNS,
    batched,
    cell_text,
    group_key,
    group_key_type,
    unpivot,
)
from discreet.sql.dialect import Dialect
from discreet.sql.format_parsing import is_padded
from discreet.sql.group_counts import group_rows
from discreet.sql.quoting import identifier, literal

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

_CELLS_PER_BATCH = 1_000_000
"""Columns are grouped together up to so many cells; larger ones alone, by what they hold and not its text."""

MISSING_CODES = tuple(
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
    (``MISSING_CODES``); ``first`` and ``last`` are those of ISO dates. ``null_texts`` are the texts that
    stand for NULL. ``padded`` values have blanks around them, ``with_digit`` are short and hold a digit;
    ``points`` that some hold a point. ``form`` is the letter of the kind of identifier whose form the values
    have, else empty (``profile.heading_hints``).
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
    plausible_range: tuple[float, float] = (0.0, 0.0)
    first: str = ""
    last: str = ""

    @property
    def filled(self) -> int:
        """Rows with a value."""
        return self.rows - self.nulls

    @property
    def unique_share(self) -> float:
        """The share of filled rows whose value no other row has."""
        return self.once / self.filled if self.filled else 0.0


def profile_columns(
    engine: Engine,
    table: SourceTable,
    progress: Callable[[int, int], None] | None = None,
    names: Sequence[str] | None = None,
    rows: int | None = None,
    excluded_texts: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> tuple[ColumnProfile, ...]:
    """Every column of an opened source, in its order; or those of some ``names``; ``rows`` where known.

    ``but`` are texts by column that are no values of it, and are left out with NULL.
    """
    if rows is None:
        rows = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation}")[0][0])
    profiles: list[ColumnProfile] = []
    requested = table.columns if names is None else names
    for columns in batched(requested, column_batch_size(rows)):
        profiles += _profile_batch(engine, table, columns, rows, excluded_texts)
        if progress is not None:
            progress(len(profiles), len(requested))
    return tuple(profiles)


def column_batch_size(rows: int) -> int:
    """How many columns of a table are grouped together."""
    return max(1, min(UNPIVOTED_COLUMNS, _CELLS_PER_BATCH // max(rows, 1)))


def column_values(
    engine: Engine, table: SourceTable, columns: Sequence[str], nulls: tuple[str, ...]
) -> list[tuple[list[str], list[int]]]:
    """The distinct values of some columns and the rows of each, in no promised order; NULL texts left out."""
    result: list[tuple[list[str], list[int]]] = [([], []) for _ in columns]
    kept = f"v NOT IN ({_literal_list(('', *nulls))})"
    query = f"SELECT place, v, n FROM ({grouped_texts_sql(table, columns)}) AS g WHERE {kept}"
    for place, value, rows in engine.fetch_rows(query):
        result[place][0].append(value)
        result[place][1].append(int(rows))
    return result


def _profile_batch(
    engine: Engine,
    table: SourceTable,
    columns: Sequence[str],
    rows: int,
    excluded_texts: Mapping[str, tuple[str, ...]],
) -> Iterator[ColumnProfile]:
    """Columns that are grouped together."""
    apart = [
        f"NOT (place = {i} AND v IN ({_literal_list(excluded_texts[name])}))"
        for i, name in enumerate(columns)
        if name in excluded_texts
    ]
    where = f" WHERE {' AND '.join(apart)}" if apart else ""
    likely, sure = _literal_list(LIKELY_NULLS), _literal_list(SURE_NULLS)
    dialect = table.dialect
    number, date, fraction = (_matches(dialect, form) for form in (_NUMBER, _DATE, _FRACTION))
    code, zero, digit = (_matches(dialect, form) for form in (_CODE, _LEADING_ZERO, _SHORT_WITH_DIGIT))
    numbers_sql = dialect.try_double.format("v")
    measured = f"kept AND v NOT IN ({_literal_list(MISSING_CODES)})"
    formed_by = [
        f"count(*) FILTER (WHERE kept AND ({_has_form(dialect, kind.forms)}))" for kind in _KINDS_WITH_FORMS
    ]
    # A text is one group of its column's, so that a sum of powers of two tells which texts there are.
    bits = " ".join(f"WHEN {literal(text)} THEN {1 << i}" for i, text in enumerate(_NULL_TEXTS))
    result = engine.fetch_rows(
        f"""
        WITH told AS (SELECT place, v, n, v IN ({likely}) AS likely, v NOT IN ({sure}) AS kept,
                             {number} AS number, CASE WHEN {number} THEN {numbers_sql} END AS said
                      FROM ({grouped_texts_sql(table, columns)}) AS g{where})
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
    counts = {int(place): counted for place, *counted in result}
    nothing = [0] * (_COUNTS_BEFORE_FORMS + len(formed_by) + 1) + [None] * 4
    for place, column in enumerate(columns):
        yield _profile_of_counts(column, rows, counts.get(place, nothing))


_COUNTS_BEFORE_FORMS = 19


def _profile_of_counts(column: str, rows: int, result: Sequence[Any]) -> ColumnProfile:
    """A column by what was counted of it."""
    *result, least, greatest, first, last = result
    distinct, filled, once, most, shortest, longest, numbers, dates, codes, zeros = map(int, result[:10])
    likely_distinct, likely_rows, likely_once, *others = map(int, result[12:_COUNTS_BEFORE_FORMS])
    padded, with_digit, fractions, points = others
    after_forms = _COUNTS_BEFORE_FORMS + len(_KINDS_WITH_FORMS)
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
        lowest=float(result[10]),
        highest=float(result[11]),
        null_texts=_null_texts(int(result[after_forms]), nulls_likely),
        form=_letter_of_form(distinct, [int(number) for number in result[_COUNTS_BEFORE_FORMS:after_forms]]),
        padded=padded,
        with_digit=with_digit,
        fractions=fractions > 0,
        points=points > 0,
        plausible_range=(
            float(result[10] if least is None else least),
            float(result[11] if greatest is None else greatest),
        ),
        first=first or "",
        last=last or "",
    )


_KINDS_WITH_FORMS = tuple(kind for kind in IDENTIFIER_KINDS if kind.forms)


def _has_form(dialect: Dialect, forms: tuple[str, ...]) -> str:
    return " OR ".join(_matches(dialect, form) for form in forms)


def _matches(dialect: Dialect, form: str) -> str:
    return dialect.full_match.format("v", literal(form))


def _letter_of_form(distinct: int, numbers: list[int]) -> str:
    """The letter of the kind whose form most distinct values have, where nearly all of them have it."""
    place = max(range(len(numbers)), key=lambda i: numbers[i])
    enough = numbers[place] >= FORM_VALUES and numbers[place] >= FORM_SHARE * distinct
    return _KINDS_WITH_FORMS[place].letter if enough else ""


def _null_texts(present: int, likely: bool) -> tuple[str, ...]:
    """The texts that stand for NULL, by the bits of those that there are."""
    candidates = SURE_NULLS + (LIKELY_NULLS if likely else ())
    return tuple(text for place, text in enumerate(candidates) if present >> place & 1)


def grouped_texts_sql(table: SourceTable, columns: Sequence[str]) -> str:
    """The distinct texts ``v`` of columns by their ``place``, NULL left out, and ``n``, the rows of each."""
    if len(columns) > 1:
        texts = [table.text(column) for column in columns]
        turned = f"SELECT place, v, 1 AS n FROM ({unpivot(table.dialect, table.relation, texts)}) AS cells"
    else:
        kind = table.types[columns[0]]
        key = group_key(table.column(columns[0]), kind, table.dialect)
        text = cell_text("k0", group_key_type(kind), table.null_values, table.dialect)
        turned = f"SELECT 0 AS place, {text} AS v, n FROM ({group_rows(table.relation, [key])}) AS cells"
    return (
        f"SELECT place, v, CAST(sum(n) AS BIGINT) AS n FROM ({turned}) AS texts "
        "WHERE v IS NOT NULL GROUP BY place, v"
    )


def _literal_list(texts: tuple[str, ...]) -> str:
    return ", ".join(literal(text) for text in texts)


MOST_SUMMED_COLUMNS = 24
"""Of a table's columns of numbers, those with most values are looked at, so many."""

FEWEST_ROWS = 20
"""A relation is told where at least so many rows have all its values."""

FEWEST_VALUES = 5
"""What is a sum has at least so many values: of few, coincidence makes sums."""

_MOST_PARTS = 4
_SOME_ROWS = 20_000
_MOST_NULL_SETS = 64
_MOST_CANDIDATES = 100
_OF_SUMS, _OF_CELLS = 1e-9, 1e-13


@dataclass(frozen=True)
class ColumnSum:
    """A column that is the sum of others in each of the ``rows`` that have all the values."""

    total: str
    parts: tuple[str, ...]
    rows: int

    def __str__(self) -> str:
        parts = " + ".join(f"'{part}'" for part in self.parts)
        return f"'{self.total}' = {parts}"


def find_column_sums(
    engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile]
) -> tuple[ColumnSum, ...]:
    """The columns of numbers that are sums of two to four others, with the fewest parts that make each.

    What says so is arithmetic of floating-point numbers: sums agree to the thirteenth digit.
    """
    numbers = [c for c in columns if c.numbers and c.distinct > 1 and c.filled >= FEWEST_ROWS]
    if len(numbers) < 3:
        return ()
    most = sorted(numbers, key=lambda column: -column.distinct)[:MOST_SUMMED_COLUMNS]
    kept = [c for c in numbers if c in most]
    names = [c.name for c in kept]
    totals = [i for i, column in enumerate(kept) if column.distinct >= FEWEST_VALUES]
    candidates = list(_find_candidates(_sample_sums(engine, table, names), totals))[:_MOST_CANDIDATES]
    if not candidates:
        return ()
    counted = [part for total, parts in candidates for part in _verification_sql(total, parts)]
    with TemporaryTables(engine) as tables:
        # Stored, since the embedded engine writes what a cell is into each place that names it, and takes
        # ten seconds to plan the statement where cells are written in a form.
        stored = tables.create(
            _numbers_sql(table, names, {i for each in candidates for i in (each[0], *each[1])})
        )
        found = engine.fetch_rows(f"SELECT {', '.join(counted)} FROM {identifier(stored)}")[0]
    told: list[ColumnSum] = []
    for place, (total, parts) in enumerate(candidates):
        rows, wrong = map(int, found[2 * place : 2 * place + 2])
        known = [sum_ for sum_ in told if sum_.total == names[total] and len(sum_.parts) < len(parts)]
        if rows >= FEWEST_ROWS and not wrong and not known:
            told.append(ColumnSum(names[total], tuple(names[part] for part in parts), rows))
    return tuple(told)


def _numbers_sql(
    table: SourceTable, names: Sequence[str], places: Collection[int], some: int | None = None
) -> str:
    """Columns ``x0``, ``x1``, … at some places: the number of each cell, NULL for what is none.

    Of ``some`` rows, or of all.
    """
    rows = table.relation if some is None else f"(SELECT * FROM {table.relation} LIMIT {some}) AS taken"
    chosen = sorted(places)
    numbers_sql = [f"{table.dialect.try_double.format(f'({table.text(names[i])})')} AS y{i}" for i in chosen]
    sure = [f"CASE WHEN y{i} BETWEEN -1e300 AND 1e300 THEN y{i} END AS x{i}" for i in chosen]
    return f"SELECT {', '.join(sure)} FROM (SELECT {', '.join(numbers_sql)} FROM {rows}) AS numbers"


def _verification_sql(total: int, parts: Sequence[int]) -> tuple[str, str]:
    """How many rows have all the values, and in how many of these the parts do not make the total."""
    every = [f"x{i}" for i in (total, *parts)]
    there = " AND ".join(f"{cell} IS NOT NULL" for cell in every)
    made = " + ".join(every[1:])
    size = " + ".join(f"abs({cell})" for cell in every)
    differs = f"abs({every[0]} - ({made})) > {_OF_CELLS} * ({size})"
    return f"count(*) FILTER (WHERE {there})", f"count(*) FILTER (WHERE {there} AND {differs})"


def _sample_sums(
    engine: Engine, table: SourceTable, names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of each column, and of its absolute values, by the columns that some rows have; NaN where NULL."""
    some = _numbers_sql(table, names, range(len(names)), _SOME_ROWS)
    nulls = " || ".join(f"CASE WHEN x{i} IS NULL THEN '0' ELSE '1' END" for i in range(len(names)))
    summed = ", ".join(f"sum(x{i}), sum(abs(x{i}))" for i in range(len(names)))
    found = engine.fetch_rows(
        f"SELECT {nulls} AS filled, count(*) AS n, {summed} FROM ({some}) AS s "
        f"GROUP BY {nulls} ORDER BY n DESC, filled LIMIT {_MOST_NULL_SETS}"
    )
    both = np.array([row[2:] for row in found], dtype=np.float64).reshape(-1, 2 * len(names))
    return both[:, ::2], both[:, 1::2]


def _find_candidates(
    sums: tuple[NDArray[np.float64], NDArray[np.float64]], totals: Sequence[int]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Columns whose sums are those of two or more others, wherever some rows have them all; fewest first."""
    values, sizes = sums
    number = values.shape[1]
    for size in range(2, min(_MOST_PARTS, number - 1) + 1):
        sets = np.array(list(combinations(range(number), size)))
        made, scale = values[:, sets].sum(axis=2), sizes[:, sets].sum(axis=2)
        for total in totals:
            with np.errstate(invalid="ignore"):
                apart = np.abs(made - values[:, [total]]) > _OF_SUMS * (scale + sizes[:, [total]])
            there = ~np.isnan(made + values[:, [total]])
            fits = there.any(axis=0) & ~(apart & there).any(axis=0) & (sets != total).all(axis=1)
            yield from ((total, tuple(map(int, sets[place]))) for place in np.flatnonzero(fits))
