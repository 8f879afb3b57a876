"""Reading a sensitive column out of the engine: its values, and the number that each says, exactly.

Texts of one number (``1``, ``1.0``, `` 01``) are one value: a group of three spellings of one salary has one
value, not three. Numbers are whole numbers in units of the last decimal wherever 64 bits hold them; where a
text has an exponent, or more digits, all are doubles. A column of which one text says no number has none.

Only distinct texts are grouped and compared. Of the rows the embedded engine gives one code each; another
engine gives only how many rows have it (``permutation.strata``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError, InternalError
from discreet.model.permutation import NULL, SensitiveColumn
from discreet.permutation.narrow import AT_ONCE, Whole, narrow
from discreet.sql import permuted as sql
from discreet.sql.units import LONG_DIGITS

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

    def column(self, attribute: str, codes: Whole) -> SensitiveColumn:
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
    held: str,
    text: str,
    *,
    exact: str | None = None,
    whole: bool = False,
    counted: bool = False,
) -> CodedTexts:
    """The values of the column whose cell text is the expression ``text`` over the held table.

    ``exact`` is the held column of which it is the text, where that has exact numbers. ``whole`` says that
    these are whole numbers of at most 64 bits: no text is looked at then. ``counted`` asks for the rows of
    each text beside its code (``sql.permuted.strata``).
    """
    query = sql.counted_texts(held, text) if counted else sql.distinct_texts(held, text, exact)
    texts = tables.create(query)
    form = _exact_form(engine, texts, 0) if whole else _form_of(engine, texts)
    if form is None:
        coded, numbers = tables.create(sql.codes_by_text(engine.dialect, texts)), None
    else:
        coded = tables.create(sql.codes_by_number(engine.dialect, texts, form.scale))
        numbers = engine.fetch_arrays(sql.numbers_by_code(engine.dialect, coded, form.scale))[sql.NUMBER]
    distinct = engine.fetch_rows(sql.number_of_codes(coded))[0][0]
    tables.drop(texts)
    return CodedTexts(coded, int(distinct), numbers, form)


def read_sensitive(
    engine: Engine,
    tables: TemporaryTables,
    held: str,
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
    coded = read_texts(engine, tables, held, text, exact=exact)
    query = sql.codes_of_rows(held, text, coded.table, rows)
    scale = None if coded.form is None else coded.form.scale
    if exact is not None and scale is not None and scale < LONG_DIGITS:
        query = sql.codes_of_numbers(engine.dialect, held, exact, coded.table, scale, rows)
    found = engine.fetch_arrays(query)
    codes = np.full(rows, NULL - 1, dtype=narrow(rows + 1))
    codes[found[sql.ROW]] = found[sql.CODE]
    if len(found[sql.ROW]) != rows or (codes < NULL).any():
        raise InternalError(f"the codes of '{attribute}' are not those of {rows} rows")
    tables.drop(coded.table)
    return coded.column(attribute, codes), coded.form


def some_rows(column: SensitiveColumn, rows: Whole) -> SensitiveColumn:
    """The column of some of the rows, by their places; values that none of them has is left out."""
    codes = column.codes[rows]
    used, inverse = np.unique(codes[codes != NULL], return_inverse=True)
    kept = np.full_like(codes, NULL)
    kept[codes != NULL] = inverse
    return replace(
        column,
        codes=kept,
        distinct=len(used),
        numbers=None if column.numbers is None else column.numbers[used],
        subjects=None if column.subjects is None else column.subjects[rows],
    )


def _form_of(engine: Engine, texts: str) -> NumberForm | None:
    """The form of the numbers, or None where a text says none, or there is no text."""
    every, plain, numbers, scale, whole = engine.fetch_rows(sql.kinds_of_texts(engine.dialect, texts))[0]
    if not every or numbers < every:
        return None
    if plain == every and whole + scale <= sql.EXACT_DIGITS:
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
        parts = (column.codes[first : first + AT_ONCE] for first in range(0, column.rows, AT_ONCE))
        return sum(int(np.abs(column.numbers[part[part != NULL]]).sum()) for part in parts)
    rows = np.bincount(column.codes[column.codes != NULL], minlength=len(column.numbers))
    return sum(abs(n) * r for n, r in zip(column.numbers.tolist(), rows.tolist(), strict=True))
