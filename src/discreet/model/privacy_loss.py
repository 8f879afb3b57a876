"""Privacy loss (ε, δ) of a differentially private release as exact fractions.

Dwork and Roth 2014, Definition 2.4. Texts are parsed and written without rounding, so that sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from discreet.errors import InputError, InternalError

MAX_EPSILON = 1000
_DIGITS = 30
_LEAST_EXPONENT = -30


@dataclass(frozen=True)
class PrivacyLoss:
    """An (ε,δ) of differential privacy (Dwork and Roth 2014, Definition 2.4), as exact fractions.

    Sums are exact: ten times 0.1 is 1, and no rounding returns budget.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        """Return the loss of both in sequence (sequential composition).

        The second may depend on the result of the first.
        """
        return PrivacyLoss(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: PrivacyLoss) -> PrivacyLoss:
        """Return the remainder after the other loss is spent; negative if the other is larger."""
        return PrivacyLoss(self.epsilon - other.epsilon, self.delta - other.delta)

    def fits(self, budget: PrivacyLoss) -> bool:
        """Return whether neither ε nor δ exceeds the budget's."""
        return self.epsilon <= budget.epsilon and self.delta <= budget.delta

    def as_json(self) -> dict[str, str]:
        """Return both as decimal texts, which no reader rounds."""
        return {"epsilon": format_decimal(self.epsilon), "delta": format_decimal(self.delta)}

    def __str__(self) -> str:
        delta = f", δ = {format_decimal(self.delta)}" if self.delta else ""
        return f"ε = {format_decimal(self.epsilon)}{delta}"


ZERO_LOSS = PrivacyLoss(Fraction(0))


def parse_epsilon(label: str, value: object) -> Fraction:
    """Parse a user's ε as a fraction: above 0, at most ``MAX_EPSILON``; raise ``InputError`` otherwise.

    >>> parse_epsilon("epsilon", "0.1")
    Fraction(1, 10)
    """
    number = _parse_exact(value)
    if number is None or not 0 < number <= MAX_EPSILON:
        raise InputError(
            f"{label} = {value}", allowed=f"a number above 0, at most {MAX_EPSILON}, such as 0.5"
        )
    return number


def parse_delta(label: str, value: object) -> Fraction:
    """Parse a user's δ as a fraction: from 0 to below 1; raise ``InputError`` otherwise.

    >>> parse_delta("delta", 1e-6)
    Fraction(1, 1000000)
    """
    number = _parse_exact(value)
    if number is None or not 0 <= number < 1:
        raise InputError(f"{label} = {value}", allowed="a number of at least 0 and below 1, such as 0.000001")
    return number


def format_decimal(number: Fraction) -> str:
    """Format a fraction with finitely many decimals exactly.

    >>> format_decimal(Fraction(1, 10)), format_decimal(Fraction(1, 1000000)), format_decimal(Fraction(2))
    ('0.1', '0.000001', '2')
    """
    scaled, places = abs(number), 0
    while scaled.denominator != 1 and places <= -2 * _LEAST_EXPONENT:
        scaled, places = scaled * 10, places + 1
    if scaled.denominator != 1:
        raise InternalError(
            "a privacy loss without a finite decimal form"
        )  # truncated, it would be less than spent
    digits = f"{int(scaled):0{places + 1}d}"
    text = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{text}" if number < 0 else text


def _parse_exact(value: object) -> Fraction | None:
    """Return the number in a text, a decimal, or the shortest text of a float; None if there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
        return None
    try:
        number = Decimal(str(value)) if not isinstance(value, Fraction) else Decimal(format_decimal(value))
    except (InvalidOperation, InternalError):
        return None
    exponent = number.as_tuple().exponent
    # Numbers of very many digits would make sums of any size.
    if not isinstance(exponent, int) or len(number.as_tuple().digits) > _DIGITS:
        return None
    return Fraction(number) if _LEAST_EXPONENT <= exponent <= _DIGITS else None
