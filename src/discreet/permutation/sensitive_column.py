"""Sensitive columns read from the engine: codes of its values, exact numbers, and strata of rows.

Texts of one number (``1``, ``1.0``, `` 01``) are one value. Numbers are integers in units of the last decimal
if they fit 64 bits; with an exponent or more digits all are doubles. The embedded engine returns one code per
row; other engines return the rows of each *stratum*: the rows of one value (and row type), which a partition
does not distinguish.
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
    """Number format of a column's texts: exact with ``scale`` decimals, or doubles if it is None.

    ``canonical`` means that each text equals the text of its exact number with ``scale`` decimals: ``10`` and
    ``1.50`` do, ``010``, ``.5`` and ``1e0`` do not. Only then numbers can replace the texts without loss.
    """

    scale: int | None
    canonical: bool = False


@dataclass(frozen=True, eq=False)
class CodedTexts:
    """Distinct values of a column; ``table`` contains each text's code in the engine.

    ``distinct`` is the number of codes, ``numbers`` their numbers (see ``SensitiveColumn``); ``form`` is None
    if the texts are no numbers.
    """

    table: str
    distinct: int
    numbers: NDArray[np.int64] | NDArray[np.float64] | None
    form: NumberForm | None

    def column(self, attribute: str, codes: RowIntegers) -> SensitiveColumn:
        """Build the column of rows with these codes; raise ``InputError`` if doubles are too large to add."""
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
    """Read the values of the column whose cell text is the expression ``text`` over the staged table.

    ``exact`` is the staged column of the text if it has exact numbers. ``integers`` means that these are
    integers of at most 64 bits: then no text is inspected. ``counted`` also counts the rows of each text
    (``sql.value_permutation.strata``).
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
    """Read the column of all staged rows, by row number, and its number form (None: no numbers).

    One code per row is fetched, which only the embedded engine supports. ``exact`` is as in ``read_texts``.
    Raises ``InputError`` if doubles are too large to add.
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
    """Select some rows of a column by their positions; values that none of them has are dropped."""
    codes = column.codes[rows]
    used, inverse = np.unique(codes[codes != NULL_CODE], return_inverse=True)
    selected = np.full_like(codes, NULL_CODE)
    selected[codes != NULL_CODE] = inverse
    return replace(
        column,
        codes=selected,
        distinct=len(used),
        numbers=None if column.numbers is None else column.numbers[used],
        subjects=None if column.subjects is None else column.subjects[rows],
    )


def _number_form(engine: Engine, texts: str) -> NumberForm | None:
    """Determine the form of the numbers; None if a text is no number, or there is no text."""
    every, plain, numbers, scale, integers = engine.fetch_rows(sql.kinds_of_texts(engine.dialect, texts))[0]
    if not every or numbers < every:
        return None
    if plain == every and integers + scale <= sql.EXACT_DIGITS:
        return _exact_form(engine, texts, scale)
    return NumberForm(None)


def _exact_form(engine: Engine, texts: str, scale: int) -> NumberForm | None:
    """Determine the form of texts that are plain numbers of ``scale`` decimals; None if there is no text."""
    widest, unlike = engine.fetch_rows(sql.exact_numbers(engine.dialect, texts, scale))[0]
    if widest is None:
        return None
    if Decimal(widest).scaleb(scale) <= _LARGEST:
        return NumberForm(scale, canonical=not unlike)
    return NumberForm(None)


def _check_magnitude(column: SensitiveColumn) -> None:
    """Raise ``InputError`` if doubles are so large that a sum of them may be infinite."""
    numbers = column.numbers
    if numbers is None or numbers.dtype.kind != "f" or not len(numbers):
        return
    with np.errstate(over="ignore"):
        largest = float(np.abs(numbers).max()) * column.rows * 4
    if not np.isfinite(largest):
        raise InputError(
            f"sums of '{column.attribute}' exceed the range of doubles", allowed="sums within doubles"
        )


def largest_magnitude(column: SensitiveColumn) -> int:
    """Return the largest magnitude of exact numbers, in units of the last decimal; 0 if there are none."""
    numbers = column.numbers
    if numbers is None or numbers.dtype.kind == "f" or not len(numbers):
        return 0
    return max(abs(int(numbers[0])), abs(int(numbers[-1])))


def total_magnitude(column: SensitiveColumn) -> int:
    """Sum the magnitudes of all rows' exact numbers, in units of the last decimal, without rounding."""
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
    """Strata of a staged table, by number; ``table`` contains them in the engine.

    ``codes``, shape ``(strata,)``, are value codes, -1 for NULL; ``leaf_codes``, shape ``(strata,
    quasi-identifiers)``, those of the row type, without columns if strata do not distinguish row types;
    ``counts``, shape ``(strata,)``, are rows.
    """

    table: str
    codes: NDArray[np.int64]
    leaf_codes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def keys(self) -> int:
        """Number of quasi-identifiers that distinguish strata."""
        return int(self.leaf_codes.shape[1])

    @property
    def stratum_of_position(self) -> NDArray[np.int64]:
        """Stratum of each position."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def parts(
        self, groups: NDArray[np.int64], places: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], ...]:
        """Return stratum, group, first seat and rows of each part, given the group of all or some positions.

        A stratum's parts take its seats 0, 1, … one after the other.
        """
        stratum_of_position = self.stratum_of_position if places is None else self.stratum_of_position[places]
        span = int(groups.max(initial=0)) + 1
        if len(self.counts) * span >= 1 << 62:
            raise InternalError(f"{len(self.counts)} strata in {span} groups are too many to number")
        pairs, rows = np.unique(stratum_of_position * span + groups, return_counts=True)
        strata, found = np.divmod(pairs, span)
        before = np.cumsum(rows) - rows
        starts = np.searchsorted(strata, strata)
        return strata, found, before - before[starts], rows.astype(np.int64)

    def are_full(self, strata: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark the parts, given their strata and rows, that contain all rows of their stratum."""
        return np.equal(self.counts[strata], rows)


def count_strata(
    engine: Engine, tables: TemporaryTables, staged: str, text: str, coded: CodedTexts, keys: int, rows: int
) -> RowStrata:
    """Count the strata of a staged table by the value whose text is ``text``, and by ``keys`` leaf codes.

    The result is a frequency set. Raises ``InternalError`` if it does not have ``rows`` rows.
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
