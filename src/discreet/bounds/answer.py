"""An answer by bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

Number = int | float
Key = str | int | float | bool | None


@dataclass(frozen=True)
class BoundRow:
    """One aggregate of one group: surely between ``lower`` and ``upper``, about ``estimate``.

    ``group`` holds the values of the keys. None stands for NULL: no row can be selected, or none with a
    value. Where that is only possible, bounds are those of the other cases, but that a SUM may then be 0.
    """

    group: tuple[Key, ...]
    aggregate: str
    lower: Number | None
    upper: Number | None
    estimate: Number | None

    @classmethod
    def of(
        cls,
        group: tuple[Key, ...],
        aggregate: str,
        lower: Number | None,
        upper: Number | None,
        estimate: Number | None,
    ) -> BoundRow:
        """A row whose estimate rounding has not left outside the bounds."""
        if lower is None or upper is None:
            return cls(group, aggregate, lower, upper, None)
        if estimate is not None:
            estimate = min(max(estimate, lower), upper)
        return cls(group, aggregate, lower, upper, estimate)

    @property
    def width(self) -> Number | None:
        """How far the bounds are apart."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower


def rounded(value: Decimal, *, upwards: bool | None = None) -> Number:
    """An exact number as JSON takes it: a whole one, or the nearest double in the direction that is safe.

    A lower bound goes down and an upper one up where the nearest double lies on the other side.
    """
    if value == value.to_integral_value():
        return int(value)
    found = float(value)
    if upwards is True and Decimal(found) < value:
        return math.nextafter(found, math.inf)
    if upwards is False and Decimal(found) > value:
        return math.nextafter(found, -math.inf)
    return found
