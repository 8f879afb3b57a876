"""How small a sample and how large a k make a sample of rows differentially private (SafePub).

Each row is drawn with probability β, what is drawn is generalized by a scheme that was fixed before the data,
and classes of fewer than k drawn rows are left out. That is (ε,δ)-differentially private for β at most
1 − e^(−ε) and δ the largest, over all class sizes n from ⌈k/γ − 1⌉ on, of the chance that more than γ·n of n
rows are drawn, where γ = 1 − (1 − β)·e^(−ε) (Li, Qardaji and Su 2012; with its parameters as in Bild, Kuhn
and Prasser 2018).

Here β is the largest multiple of 2^−53 that is allowed, so that drawing by 53 random bits has exactly this
probability, and k the least for which this bound is at most δ. The bound is not tight: the exact divergence
of two samples allows a smaller k. Tails are summed upwards-rounded, with 60 digits; sizes beyond which the
Chernoff–Hoeffding bound e^(−n·KL(γ‖β)) (Hoeffding 1963) is at most δ need no sum. Cost: a tail for each size
from there down to the first that exceeds δ.

ARX's k is larger by one: its loop counts on once more after it has found the k that keeps the bound.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from math import comb

import numpy as np

from discreet.errors import InputError
from discreet.model.privacy_loss import PrivacyLoss

BITS = 53
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 100), Fraction(10)
_PRECISION = 60
_MARGIN = Decimal("1e-40")
"""Far more than sixty digits can be wrong by in any formula here, and far less than matters."""
_NEGLIGIBLE = Decimal("1e-45")
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Sampling:
    """The chance ``beta`` with which a row is drawn, and the drawn rows ``k`` that a class needs to show."""

    beta: Fraction
    k: int


def sampling_for(loss: PrivacyLoss) -> Sampling:
    """Return the largest β, and the least k by the theorem's bound; ``InputError`` where none is computed."""
    if not LEAST_EPSILON <= loss.epsilon <= MOST_EPSILON or not loss.delta:
        raise InputError(
            f"{loss} of a sample",
            allowed=f"ε from {float(LEAST_EPSILON):g} to {float(MOST_EPSILON):g}, and a δ above 0",
        )
    with localcontext(Context(prec=_PRECISION, Emin=-(10**9), Emax=10**9)):
        shrink = (-_decimal(loss.epsilon)).exp() * (1 + _MARGIN)
        drawn = int(((1 - shrink) * 2**BITS).to_integral_value(ROUND_FLOOR))
        beta = Fraction(drawn, 2**BITS)
        gamma = 1 - _decimal(1 - beta) * shrink  # rounded down: a smaller share makes a larger tail
        largest = _largest_failing(gamma, beta, _decimal(loss.delta))
        bound = (gamma + _MARGIN) * (1 + 3 * _MARGIN) * (largest + 1)
        return Sampling(beta, int(bound.to_integral_value(ROUND_FLOOR)) + 1)


def tail(size: int, gamma: Decimal, beta: Fraction) -> Decimal:
    """At least the chance that more than ``gamma`` times ``size`` of so many rows are drawn."""
    first = int((gamma * size).to_integral_value(ROUND_FLOOR)) + 1
    if first > size:
        return Decimal(0)
    chance, rest = _decimal(beta), _decimal(1 - beta)
    term = Decimal(comb(size, first)) * chance**first * rest ** (size - first)
    total, odds = term, chance / rest
    for number in range(first, size):
        ratio = odds * (size - number) / (number + 1)
        term *= ratio
        total += term
        if ratio < 1 and term < _NEGLIGIBLE * total:
            # What is left falls by at least this ratio from term to term.
            total += term * ratio / (1 - ratio)
            break
    return total * (1 + _MARGIN)


def _largest_failing(gamma: Decimal, beta: Fraction, delta: Decimal) -> int:
    """The largest class size whose tail exceeds δ; 0 where none does."""
    chance, rest = _decimal(beta), _decimal(1 - beta)
    divergence = gamma * (gamma / chance).ln() + (1 - gamma) * ((1 - gamma) / rest).ln()
    size = int((-delta.ln() / divergence * (1 + _MARGIN)).to_integral_value(ROUND_CEILING)) + 1
    while size and tail(size, gamma, beta) <= delta:
        size -= 1
    return size


def drawn_rows(counts: Mapping[str, int], beta: Fraction) -> dict[str, int]:
    """How many of the rows of each class are drawn, each by itself, by the operating system's generator.

    Rows of a class look alike in the release, so that their number is all that drawing tells; which rows they
    are is decided nowhere.
    """
    limit, found = int(beta * 2**BITS), {}
    for key, number in counts.items():
        drawn = 0
        for start in range(0, number, _AT_ONCE):
            rows = min(_AT_ONCE, number - start)
            bits = np.frombuffer(os.urandom(8 * rows), dtype=np.uint64) >> np.uint64(64 - BITS)
            drawn += int(np.count_nonzero(bits < np.uint64(limit)))
        found[key] = drawn
    return found


def _decimal(number: Fraction | int) -> Decimal:
    number = Fraction(number)
    return Decimal(number.numerator) / Decimal(number.denominator)
