"""Exact numbers in units of their last decimal, as whole numbers of 64 bits, and back."""

from __future__ import annotations

from decimal import Decimal

from discreet.sql.dialect import Dialect

LONG_DIGITS = 19
"""Of whole numbers of 64 bits. Fewer decimals than this can be told by units."""


def in_units(dialect: Dialect, number: str, scale: int) -> str:
    """An exact number in units of its last decimal, as a whole number of 64 bits."""
    if scale:
        digits = dialect.cast(number, f"DECIMAL({LONG_DIGITS},{scale})")
        number = f"{digits} * {dialect.cast(str(10**scale), f'DECIMAL({scale + 1},0)')}"
    return dialect.cast(number, "BIGINT")


def of_units(dialect: Dialect, units: str, scale: int) -> str:
    """The exact number of so many units of the last decimal."""
    if not scale:
        return units
    unit = dialect.cast(f"'{Decimal(1).scaleb(-scale):f}'", f"DECIMAL({scale + 1},{scale})")
    return f"{dialect.cast(units, f'DECIMAL({LONG_DIGITS},0)')} * {unit}"
