"""Reading a sensitive column out of the engine: codes per row, and the number that each value says, exactly.

Texts of one number (``1``, ``1.0``, `` 01``) are one value: a group of three spellings of one salary has one
value, not three. Numbers are whole numbers in units of the last decimal wherever 64 bits hold them; where a
text has an exponent, or more digits, all are doubles. A column of which one text says no number has none.

Only distinct texts are grouped and compared; rows stay in the engine, and one code per row comes back.
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
from discreet.sql import permuted as sql

_LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class NumberForm:
    """How a column's texts say numbers: exactly with ``scale`` decimals, or as doubles where it is None."""

    scale: int | None


def read_sensitive(
    engine: Engine, tables: TemporaryTables, held: str, text: str, attribute: str, rows: int
) -> tuple[SensitiveColumn, NumberForm | None]:
    """The column whose cell text is the expression ``text`` over the held table, and the form of its numbers.

    The form is None where the values are no numbers. ``InputError`` where doubles are too large to be added.
    """
    texts, coded = tables.new_name(), tables.new_name()
    engine.execute(sql.distinct_texts(texts, held, text))
    form = _form_of(engine, texts)
    if form is None:
        engine.execute(sql.codes_by_text(coded, texts))
    else:
        engine.execute(sql.codes_by_number(coded, texts, form.scale))
    numbers = None
    if form is not None:
        numbers = engine.fetch_arrays(sql.numbers_by_code(coded, form.scale))[sql.NUMBER]
    labels = engine.fetch_arrays(sql.texts_by_code(coded))[sql.TEXT]
    found = engine.fetch_arrays(sql.codes_of_rows(held, text, coded))
    codes = np.full(rows, NULL - 1, dtype=np.int64)
    codes[found[sql.ROW]] = found[sql.CODE]
    if len(found[sql.ROW]) != rows or (codes < NULL).any():
        raise InternalError(f"the codes of '{attribute}' are not those of {rows} rows")
    for name in (texts, coded):
        tables.drop(name)
    column = SensitiveColumn(
        attribute=attribute,
        codes=codes,
        texts=tuple(labels.tolist()),
        numbers=numbers,
        scale=0 if form is None or form.scale is None else form.scale,
    )
    _check_magnitude(column)
    return column, form


def some_rows(column: SensitiveColumn, rows: NDArray[np.int64]) -> SensitiveColumn:
    """The column of some of the rows, by their places; values that none of them has are left out."""
    codes = column.codes[rows]
    used, inverse = np.unique(codes[codes != NULL], return_inverse=True)
    kept = np.full(len(codes), NULL, dtype=np.int64)
    kept[codes != NULL] = inverse
    return replace(
        column,
        codes=kept,
        texts=tuple(column.texts[code] for code in used.tolist()),
        numbers=None if column.numbers is None else column.numbers[used],
    )


def _form_of(engine: Engine, texts: str) -> NumberForm | None:
    """The form of the numbers, or None where a text says none, or there is no text."""
    every, plain, numbers, scale, whole = engine.fetch_rows(sql.kinds_of_texts(texts))[0]
    if not every or numbers < every:
        return None
    if plain == every and whole + scale <= sql.EXACT_DIGITS:
        widest = engine.fetch_rows(sql.widest_number(texts, scale))[0][0]
        if Decimal(widest).scaleb(scale) <= _LARGEST:
            return NumberForm(scale)
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


def total_magnitude(column: SensitiveColumn) -> int:
    """The sum of the magnitudes of all rows' exact numbers, in units of the last decimal, never rounded."""
    if column.numbers is None or column.numbers.dtype.kind == "f" or not len(column.numbers):
        return 0
    known = column.codes[column.codes != NULL]
    rows = np.bincount(known, minlength=len(column.numbers))
    return sum(abs(n) * r for n, r in zip(column.numbers.tolist(), rows.tolist(), strict=True))
