"""Profiles of columns (counts, ranges, formats of values), and columns that are sums of other columns.

The engine groups each column once by its text; every other number aggregates those groups. Cost: one scan and
one GROUP BY per batch of columns. Sums are searched in aggregates of a sample of the rows; only the
candidates are verified on every row. The regular expressions avoid constructs that engines read differently.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
    is_binary,
    is_nested,
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
"""Texts that are read as NULL in columns whose other values are all numbers, dates or codes."""

_NULL_TEXTS = SURE_NULLS + LIKELY_NULLS

FORM_SHARE = 0.9
"""Minimum share of a column's distinct values that must have an identifier's form (see also ``FORM_VALUES``).
"""

FORM_VALUES = 3
"""Minimum number of distinct values that must have an identifier's form."""

_CELLS_PER_BATCH = 1_000_000
"""Maximum number of cells that one statement unpivots.

A larger column is grouped in a statement of its own, by its typed value instead of its text.
"""

MISSING_CODES = tuple(
    sign + digit * times
    for times in range(1, 6)
    for sign, digits in (("", "6789" if times > 1 else ""), ("-", "126789"))
    for digit in digits
)
"""Numbers that statistics programs write for missing values: 99, 999, -9, …"""

_NUMBER = r"[ \t\n\f\r]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?[ \t\n\f\r]*"
_LEADING_ZERO = r"0[0-9][^\n]*"
_FRACTION = r"[ \t\n\f\r]*[+-]?[0-9]*\.[0-9]*[1-9][0-9]*([eE][+-]?[0-9]{1,3})?[ \t\n\f\r]*"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}[^\n]*)?"
_CODE = "[A-Z0-9. /-]*[0-9][A-Z0-9. /-]*"
_SHORT_WITH_DIGIT = r"[^0-9\n]{0,12}[0-9][^\n]{0,40}"


@dataclass(frozen=True)
class ColumnProfile:
    """Counts, ranges and formats of one column; NULL texts are not values.

    ``rows`` counts the table's rows, ``nulls`` those without a value. There are ``distinct`` values; ``once``
    of them occur in exactly one row, and the most frequent occurs in ``most`` rows. ``numbers``, ``dates``
    and ``codes`` (capitals and digits, all of one length) report whether every value has that form.
    ``zeros``: some number begins with a zero, as codes do. ``fractions``: some number has decimals, as
    measures do. ``lowest`` and ``highest`` are the range of the numbers, ``plausible_range`` the same without
    ``MISSING_CODES``; ``first`` and ``last`` are the range of ISO dates. ``null_texts`` are the texts that
    mean NULL. ``padded`` counts the values with surrounding blanks, ``with_digit`` the short values that
    contain a digit. ``points``: some value contains a point. ``form`` is the letter of the kind of identifier
    whose form the values have, else empty (see ``profile.heading_hints``).
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
        """Number of rows with a value."""
        return self.rows - self.nulls

    @property
    def unique_share(self) -> float:
        """Share of the filled rows whose value occurs in no other row."""
        return self.once / self.filled if self.filled else 0.0


def profile_columns(
    engine: Engine,
    table: SourceTable,
    progress: Callable[[int, int], None] | None = None,
    names: Sequence[str] | None = None,
    rows: int | None = None,
    excluded_texts: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> tuple[ColumnProfile, ...]:
    """Profile the columns of an opened source, all or those in ``names``, in their order.

    ``rows`` is the table's number of rows if known; otherwise it is counted. ``excluded_texts`` lists, by
    column, texts that are not values; they are left out like NULL. ``progress`` receives the number of
    profiled and of requested columns after each batch.
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
    """Return the number of columns that one statement groups."""
    return max(1, min(UNPIVOTED_COLUMNS, _CELLS_PER_BATCH // max(rows, 1)))


def column_values(
    engine: Engine, table: SourceTable, columns: Sequence[str], nulls: tuple[str, ...]
) -> list[tuple[list[str], list[int]]]:
    """Return the distinct values of each column and the rows of each value, unordered, without NULL texts."""
    result: list[tuple[list[str], list[int]]] = [([], []) for _ in columns]
    condition = f"v NOT IN ({literal_list(('', *nulls))})"
    query = f"SELECT place, v, n FROM ({grouped_texts_sql(table, columns)}) AS g WHERE {condition}"
    for index, value, rows in engine.fetch_rows(query):
        result[index][0].append(value)
        result[index][1].append(int(rows))
    return result


def _profile_batch(
    engine: Engine,
    table: SourceTable,
    columns: Sequence[str],
    rows: int,
    excluded_texts: Mapping[str, tuple[str, ...]],
) -> Iterator[ColumnProfile]:
    apart = [
        f"NOT (place = {i} AND v IN ({literal_list(excluded_texts[name])}))"
        for i, name in enumerate(columns)
        if name in excluded_texts
    ]
    where = f" WHERE {' AND '.join(apart)}" if apart else ""
    likely, sure = literal_list(LIKELY_NULLS), literal_list(SURE_NULLS)
    dialect = table.dialect
    number, date, fraction = (_matches(dialect, form) for form in (_NUMBER, _DATE, _FRACTION))
    code, zero, digit = (_matches(dialect, form) for form in (_CODE, _LEADING_ZERO, _SHORT_WITH_DIGIT))
    numbers_sql = dialect.try_double.format("v")
    measured = f"kept AND v NOT IN ({literal_list(MISSING_CODES)})"
    formed_by = [
        f"count(*) FILTER (WHERE kept AND ({_has_form(dialect, kind.forms)}))" for kind in _KINDS_WITH_FORMS
    ]
    # Each text is one group of its column, so a sum of powers of two encodes the set of occurring texts.
    bits = " ".join(f"WHEN {literal(text)} THEN {1 << i}" for i, text in enumerate(_NULL_TEXTS))
    # One statement for all counts. FILTER keeps SURE_NULLS out (kept) and counts LIKELY_NULLS apart, since
    # only the counts decide whether they are NULL (see _profile_of_counts).
    result = engine.fetch_rows(
        f"""
        WITH marked AS (SELECT place, v, n, v IN ({likely}) AS likely, v NOT IN ({sure}) AS kept,
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
        FROM marked GROUP BY place
        """
    )
    counts = {int(index): counted for index, *counted in result}
    nothing = [0] * (_COUNTS_BEFORE_FORMS + len(formed_by) + 1) + [None] * 4
    for index, column in enumerate(columns):
        yield _profile_of_counts(column, rows, counts.get(index, nothing))


_COUNTS_BEFORE_FORMS = 19


def _profile_of_counts(column: str, rows: int, result: Sequence[Any]) -> ColumnProfile:
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
    """Return the letter of the most frequent identifier form, or "" if too few distinct values have it."""
    index = max(range(len(numbers)), key=lambda i: numbers[i])
    enough = numbers[index] >= FORM_VALUES and numbers[index] >= FORM_SHARE * distinct
    return _KINDS_WITH_FORMS[index].letter if enough else ""


def _null_texts(present: int, likely: bool) -> tuple[str, ...]:
    """Return the texts that mean NULL; bit i of ``present`` is set if text i occurs."""
    candidates = SURE_NULLS + (LIKELY_NULLS if likely else ())
    return tuple(text for index, text in enumerate(candidates) if present >> index & 1)


def grouped_texts_sql(table: SourceTable, columns: Sequence[str]) -> str:
    """Return SQL for the distinct texts ``v`` of columns by ``place``, with row counts ``n``, without NULL.

    A single column is grouped by its typed value, so that only distinct values are converted to text.
    """
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


def literal_list(texts: Iterable[str]) -> str:
    """Return texts as a list of SQL literals."""
    return ", ".join(map(literal, texts))


def is_readable(table: SourceTable, name: str) -> bool:
    """Return whether a table has a column of that name that contains no nested values and no bytes."""
    kind = table.types.get(name)
    return kind is not None and not (is_nested(kind) or is_binary(kind))


MOST_SUMMED_COLUMNS = 24
"""Maximum number of numeric columns examined for sums; those with the most distinct values are taken."""

FEWEST_ROWS = 20
"""Minimum number of rows with all values of a sum for it to be reported."""

FEWEST_VALUES = 5
"""Minimum number of distinct values of a total; with fewer, sums agree by coincidence."""

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
    """Find numeric columns that are the sum of two to four others, with the fewest parts for each total.

    The check uses floating-point arithmetic: sums must agree to the thirteenth digit.
    """
    numbers = [c for c in columns if c.numbers and c.distinct > 1 and c.filled >= FEWEST_ROWS]
    if len(numbers) < 3:
        return ()
    most = sorted(numbers, key=lambda column: -column.distinct)[:MOST_SUMMED_COLUMNS]
    numeric = [c for c in numbers if c in most]
    names = [c.name for c in numeric]
    totals = [i for i, column in enumerate(numeric) if column.distinct >= FEWEST_VALUES]
    candidates = list(_find_candidates(_sample_sums(engine, table, names), totals))[:_MOST_CANDIDATES]
    if not candidates:
        return ()
    counted = [part for total, parts in candidates for part in _verification_sql(total, parts)]
    with TemporaryTables(engine) as tables:
        # Stored, since the embedded engine inlines a cell's expression wherever it is referenced, and takes
        # ten seconds to plan the statement if cells have a format.
        stored = tables.create(
            _numbers_sql(table, names, {i for each in candidates for i in (each[0], *each[1])})
        )
        found = engine.fetch_rows(f"SELECT {', '.join(counted)} FROM {identifier(stored)}")[0]
    sums: list[ColumnSum] = []
    for index, (total, parts) in enumerate(candidates):
        rows, wrong = map(int, found[2 * index : 2 * index + 2])
        known = [sum_ for sum_ in sums if sum_.total == names[total] and len(sum_.parts) < len(parts)]
        if rows >= FEWEST_ROWS and not wrong and not known:
            sums.append(ColumnSum(names[total], tuple(names[part] for part in parts), rows))
    return tuple(sums)


def _numbers_sql(
    table: SourceTable, names: Sequence[str], places: Collection[int], some: int | None = None
) -> str:
    """Return SQL for columns ``x0``, ``x1``, … at some places: each cell's number, NULL if it is not one.

    The query reads the first ``some`` rows, or all.
    """
    rows = table.relation if some is None else f"(SELECT * FROM {table.relation} LIMIT {some}) AS taken"
    chosen = sorted(places)
    numbers_sql = [f"{table.dialect.try_double.format(f'({table.text(names[i])})')} AS y{i}" for i in chosen]
    # The range drops NaN and infinities, with which every sum would be NaN.
    sure = [f"CASE WHEN y{i} BETWEEN -1e300 AND 1e300 THEN y{i} END AS x{i}" for i in chosen]
    return f"SELECT {', '.join(sure)} FROM (SELECT {', '.join(numbers_sql)} FROM {rows}) AS numbers"


def _verification_sql(total: int, parts: Sequence[int]) -> tuple[str, str]:
    """Return SQL for the rows that have all the values, and for those in which the sum is wrong."""
    every = [f"x{i}" for i in (total, *parts)]
    there = " AND ".join(f"{cell} IS NOT NULL" for cell in every)
    made = " + ".join(every[1:])
    size = " + ".join(f"abs({cell})" for cell in every)
    differs = f"abs({every[0]} - ({made})) > {_OF_CELLS} * ({size})"
    return f"count(*) FILTER (WHERE {there})", f"count(*) FILTER (WHERE {there} AND {differs})"


def _sample_sums(
    engine: Engine, table: SourceTable, names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute sums of columns and of their absolute values for each set of filled columns; NaN where NULL."""
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
    """Yield totals with parts that add up in every group of rows that has all values; fewest parts first."""
    values, sizes = sums
    number = values.shape[1]
    for size in range(2, min(_MOST_PARTS, number - 1) + 1):
        sets = np.array(list(combinations(range(number), size)))
        made, scale = values[:, sets].sum(axis=2), sizes[:, sets].sum(axis=2)
        for total in totals:
            # NaN marks columns that are NULL in a group of rows; comparisons with it must not warn.
            with np.errstate(invalid="ignore"):
                apart = np.abs(made - values[:, [total]]) > _OF_SUMS * (scale + sizes[:, [total]])
            there = ~np.isnan(made + values[:, [total]])
            fits = there.any(axis=0) & ~(apart & there).any(axis=0) & (sets != total).all(axis=1)
            yield from ((total, tuple(map(int, sets[index]))) for index in np.flatnonzero(fits))
