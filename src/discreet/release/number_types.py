"""The types that exact numbers of a permuted release are written with: the shortest that hold them all."""

from __future__ import annotations

from discreet.permutation.sensitive import NumberForm
from discreet.release.held import HeldRows
from discreet.sql import permuted as sql

LARGEST = (1 << 63) - 1
_SHORT_DIGITS = 18


def value_type(held: HeldRows) -> str:
    """The house type that holds every sensitive number exactly."""
    return type_of(held.widest, held.form)


def type_of(widest: int, form: NumberForm | None) -> str:
    """A type for whole numbers of units up to a magnitude."""
    if form is None or form.scale is None:
        return "DOUBLE"
    if form.scale == 0 and widest <= LARGEST:
        return "BIGINT"
    digits = _SHORT_DIGITS if widest < 10**_SHORT_DIGITS and form.scale <= _SHORT_DIGITS else sql.EXACT_DIGITS
    return f"DECIMAL({digits},{form.scale})"
