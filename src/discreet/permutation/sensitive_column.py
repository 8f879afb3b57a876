"""Sensitive columns read from the engine: codes of its values, exact numbers, and strata of rows.

Texts of one number (``1``, ``1.0``, `` 01``) are one value. Numbers are integers in units of the last
decimal if 64 bits hold them; with an exponent or more digits all are doubles. The embedded engine
returns one code per row; other engines return the rows of each *stratum*: the rows of one value (and row
type), which a partition treats alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import InputError, InternalError
from discreet.model.release_kind import NULL_CODE, SensitiveColumn
from discreet.permutation.row_positions import ROWS_PER_BATCH, RowIntegers, integer_dtype
from discreet.sql import value_permutation as sql
from discreet.sql.cell_expressions import LONG_DIGITS
from discreet.sql.recoded_rows import key_name

_LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class NumberForm:
    """How a column's texts say numbers: exactly with ``scale`` decimals, or as doubles where it is None.

    ``canonical`` says that each text is just what its exact number reads as with so many decimals: ``10`` and
    ``1.50`` are, ``010``, ``.5`` and ``1e0`` are not. Only then a number in its place loses nothing.
    """

    scale: int | None
    canonical: bool = False


@dataclass(frozen=True, eq=False)
class CodedTexts:
    """The distinct values of a column: ``table`` has each text's code in the engine.

    ``distinct`` is the number of codes, ``numbers`` what each says (see ``SensitiveColumn``); ``form`` is
    None where they are no numbers.
    """

    table: str
    distinct: int
    numbers: NDArray[np.int64] | NDArray[np.float64] | None
    form: NumberForm | None

    def column(self, attribute: str, codes: RowIntegers) -> SensitiveColumn:
        """The column of rows with these codes; ``InputError`` where doubles are too large to be added."""
        column = SensitiveColumn(
            attribute=attribute,
            codes=codes,
            distinct=self.distinct,
            numbers=self.numbers,
            scale=0 if self.form is None or self.form.scale is None else self.form.scale,
        )
        _check_magnitude(column)
        return column


def read_texts(
    engine: Engine,
    tables: TemporaryTables,
    staged: str,
    text: str,
    *,
    exact: str | None = None,
    integers: bool = False,
    counted: bool = False,
) -> CodedTexts:
    """The values of the column whose cell text is the expression ``text`` over the held table.

    ``exact`` is the held column of which it is the text, where that has exact numbers. ``whole`` says that
    these are whole numbers of at most 64 bits: no text is looked at then. ``counted`` asks for the rows of
    each text beside its code (``sql.value_permutation.strata``).
    """
    query = sql.counted_texts(staged, text) if counted else sql.distinct_texts(staged, text, exact)
    texts = tables.create(query)
    form = _exact_form(engine, texts, 0) if integers else _number_form(engine, texts)
    if form is None:
        coded, numbers = tables.create(sql.codes_by_text(engine.dialect, texts)), None
    else:
        coded = tables.create(sql.codes_by_number(engine.dialect, texts, form.scale))
        numbers = engine.fetch_arrays(sql.numbers_by_code(engine.dialect, coded, form.scale))[
            sql.VALUE_NUMBER
        ]
    distinct = engine.fetch_rows(sql.number_of_codes(coded))[0][0]
    tables.drop(texts)
    return CodedTexts(coded, int(distinct), numbers, form)


def read_sensitive(
    engine: Engine,
    tables: TemporaryTables,
    staged: str,
    text: str,
    attribute: str,
    rows: int,
    *,
    exact: str | None = None,
) -> tuple[SensitiveColumn, NumberForm | None]:
    """The column of all held rows, by their numbers in the table, and the form of its numbers (None: none).

    One code per row is fetched, which is for the embedded engine alone. ``exact`` is as of ``read_texts``.
    ``InputError`` where doubles are too large to be added.
    """
    coded = read_texts(engine, tables, staged, text, exact=exact)
    query = sql.codes_of_rows(staged, text, coded.table, rows)
    scale = None if coded.form is None else coded.form.scale
    if exact is not None and scale is not None and scale < LONG_DIGITS:
        query = sql.codes_of_numbers(engine.dialect, staged, exact, coded.table, scale, rows)
    found = engine.fetch_arrays(query)
    codes = np.full(rows, NULL_CODE - 1, dtype=integer_dtype(rows + 1))
    codes[found[sql.ROW_NUMBER]] = found[sql.VALUE_CODE]
    if len(found[sql.ROW_NUMBER]) != rows or (codes < NULL_CODE).any():
        raise InternalError(f"the codes of '{attribute}' are not those of {rows} rows")
    tables.drop(coded.table)
    return coded.column(attribute, codes), coded.form


def select_rows(column: SensitiveColumn, rows: RowIntegers) -> SensitiveColumn:
    """The column of some of the rows, by their places; values that none of them has is left out."""
    codes = column.codes[rows]
    used, inverse = np.unique(codes[codes != NULL_CODE], return_inverse=True)
    kept = np.full_like(codes, NULL_CODE)
    kept[codes != NULL_CODE] = inverse
    return replace(
        column,
        codes=kept,
        distinct=len(used),
        numbers=None if column.numbers is None else column.numbers[used],
        subjects=None if column.subjects is None else column.subjects[rows],
    )


def _number_form(engine: Engine, texts: str) -> NumberForm | None:
    """The form of the numbers, or None where a text says none, or there is no text."""
    every, plain, numbers, scale, integers = engine.fetch_rows(sql.kinds_of_texts(engine.dialect, texts))[0]
    if not every or numbers < every:
        return None
    if plain == every and integers + scale <= sql.EXACT_DIGITS:
        return _exact_form(engine, texts, scale)
    return NumberForm(None)


def _exact_form(engine: Engine, texts: str, scale: int) -> NumberForm | None:
    """The form of texts that are plain numbers of so many decimals; None where there is no text."""
    widest, unlike = engine.fetch_rows(sql.exact_numbers(engine.dialect, texts, scale))[0]
    if widest is None:
        return None
    if Decimal(widest).scaleb(scale) <= _LARGEST:
        return NumberForm(scale, canonical=not unlike)
    return NumberForm(None)


def _check_magnitude(column: SensitiveColumn) -> None:
    """Raise where doubles are so large that a sum of them may be infinite."""
    numbers = column.numbers
    if numbers is None or numbers.dtype.kind != "f" or not len(numbers):
        return
    with np.errstate(over="ignore"):
        largest = float(np.abs(numbers).max()) * column.rows * 4
    if not np.isfinite(largest):
        raise InputError(
            f"numbers of '{column.attribute}' are too large to be added", allowed="sums within doubles"
        )


def largest_magnitude(column: SensitiveColumn) -> int:
    """The largest magnitude of exact numbers, in units of the last decimal; 0 where there are none."""
    numbers = column.numbers
    if numbers is None or numbers.dtype.kind == "f" or not len(numbers):
        return 0
    return max(abs(int(numbers[0])), abs(int(numbers[-1])))


def total_magnitude(column: SensitiveColumn) -> int:
    """The sum of the magnitudes of all rows' exact numbers, in units of the last decimal, never rounded."""
    largest = largest_magnitude(column)
    if column.numbers is None or not largest:
        return 0
    if largest * column.rows <= _LARGEST:
        parts = (
            column.codes[first : first + ROWS_PER_BATCH] for first in range(0, column.rows, ROWS_PER_BATCH)
        )
        return sum(int(np.abs(column.numbers[part[part != NULL_CODE]]).sum()) for part in parts)
    rows = np.bincount(column.codes[column.codes != NULL_CODE], minlength=len(column.numbers))
    return sum(abs(n) * r for n, r in zip(column.numbers.tolist(), rows.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class RowStrata:
    """The strata of a held table, by number: ``table`` has them in the engine.

    ``codes`` (strata,) are of the value, -1 for NULL; ``leaf_codes`` (strata, quasi-identifiers) of the row
    type, with no column where strata do not tell them apart; ``counts`` (strata,) are rows.
    """

    table: str
    codes: NDArray[np.int64]
    leaf_codes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def keys(self) -> int:
        """The quasi-identifiers by which strata are told apart."""
        return int(self.leaf_codes.shape[1])

    @property
    def stratum_of_position(self) -> NDArray[np.int64]:
        """The stratum of each place."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def parts(
        self, groups: NDArray[np.int64], places: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], ...]:
        """Stratum, group, first seat and rows of each part, given the group of all places, or of some.

        A stratum's parts take its seats 0, 1, … one after the other.
        """
        stratum_of_position = self.stratum_of_position if places is None else self.stratum_of_position[places]
        span = int(groups.max(initial=0)) + 1
        if len(self.counts) * span >= 1 << 62:
            raise InternalError(f"{len(self.counts)} strata in {span} groups are too many to be numbered")
        pairs, rows = np.unique(stratum_of_position * span + groups, return_counts=True)
        strata, found = np.divmod(pairs, span)
        before = np.cumsum(rows) - rows
        starts = np.searchsorted(strata, strata)
        return strata, found, before - before[starts], rows.astype(np.int64)

    def whole(self, strata: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which parts (of these strata, with so many rows) are all the rows of their stratum."""
        return np.equal(self.counts[strata], rows)


def count_strata(
    engine: Engine, tables: TemporaryTables, staged: str, text: str, coded: CodedTexts, keys: int, rows: int
) -> RowStrata:
    """Count the strata of a held table by the value whose text is ``text``, and by ``keys`` leaf codes.

    What is fetched is a frequency set. ``InternalError`` where it is not one of ``rows`` rows.
    """
    table = tables.create(sql.strata(staged, text, coded.table, keys))
    found = engine.fetch_arrays(sql.strata_in_order(table, keys))
    counts = found[sql.STRATUM_ROWS].astype(np.int64)
    leaf_codes = np.empty((len(counts), keys), dtype=np.int64)
    for i in range(keys):
        leaf_codes[:, i] = found[key_name(i)]
    if int(counts.sum()) != rows:
        raise InternalError(f"the strata have {int(counts.sum())} rows, and the table {rows}")
    return RowStrata(table, found[sql.VALUE_CODE].astype(np.int64), leaf_codes, counts)
