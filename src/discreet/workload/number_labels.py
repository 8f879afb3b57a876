"""Labels that tell numbers by themselves: ranges in the usual spellings, sides, and means beside ranges."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from discreet.model.leaf_order import decimal_of

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_BETWEEN = re.compile(
    rf"(?P<open>[\[\](])?\s*(?P<low>{_NUMBER})\s*(?P<sign>,|;|-|–|—|…|\.\.|to)\s*(?P<high>{_NUMBER})\s*(?P<close>[\[\])])?"
)
_SIDE = re.compile(rf"(?P<sign><=|>=|<|>|≤|≥)\s*(?P<end>{_NUMBER})")
_MEAN = re.compile(rf"(?P<mean>{_NUMBER})\s*\((?P<rest>.+)\)")
_WHOLE_ENDS = re.compile(r"\d+-\d+")


@dataclass(frozen=True)
class NumberRange:
    """The numbers between two ends, each of which belongs to it or not; None is no end."""

    low: Decimal | None
    high: Decimal | None
    with_low: bool = True
    with_high: bool = True

    def holds(self, number: Decimal) -> bool:
        """Whether a number lies in it."""
        above = self.low is None or (number >= self.low if self.with_low else number > self.low)
        return above and (
            self.high is None or (number <= self.high if self.with_high else number < self.high)
        )


def number_range(label: str) -> NumberRange | None:
    """``a … b``, ``[a, b]``, ``[a, b[``, ``(a, b]``, ``a-b`` and the like; ``<a``, ``≥a``; else None."""
    side = _SIDE.fullmatch(label)
    if side is not None:
        end, sign = decimal_of(side["end"]), side["sign"]
        if end is None:
            return None
        held = sign not in ("<", ">")
        below = sign in ("<", "<=", "≤")
        return NumberRange(None, end, with_high=held) if below else NumberRange(end, None, with_low=held)
    match = _BETWEEN.fullmatch(label)
    low, high = (decimal_of(match["low"]), decimal_of(match["high"])) if match else (None, None)
    if match is None or low is None or high is None:
        return None
    return NumberRange(low, high, match["open"] not in ("(", "]"), match["close"] not in (")", "["))


def tells_whole_numbers(label: str) -> bool:
    """Whether a label has the form ``20-24``, which says that there is nothing between 24 and 25."""
    return _WHOLE_ENDS.fullmatch(label) is not None


def mean_label(label: str) -> tuple[Decimal, str] | None:
    """The mean, and what it is the mean of, in ``m (range or set)``; None for another label."""
    match = _MEAN.fullmatch(label)
    mean = decimal_of(match["mean"]) if match else None
    return None if match is None or mean is None else (mean, match["rest"])


def half_unit(number: Decimal) -> float:
    """Half a unit of the last digit that a number is written with."""
    exponent = number.as_tuple().exponent
    return 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)
