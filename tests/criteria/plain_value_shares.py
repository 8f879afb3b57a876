"""Oracle for criteria of the rows of each value, class by class, in exact fractions and fifty digits.

A class and a table are rows by value; the callers leave out NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction

from discreet.model.criteria.alpha_deassociation import AlphaDeassociation
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.beta_likeness import BetaLikeness
from discreet.model.criteria.delta_disclosure import DeltaDisclosure
from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.criteria.recursive_diversity import RecursiveDiversity

Rows = Mapping[int, int]
DIGITS = 50
EULER = Decimal("0.57721566490153286060651209008240243104215933593992")


def passes(criterion: Criterion, rows: Rows, table: Rows) -> bool:
    """Return True if a class meets a criterion; ``criterion.value`` counts as its printed decimal."""
    found = measure(criterion, rows, table)
    if found is None:
        return False
    required = Decimal(repr(criterion.value))
    if isinstance(criterion, EntropyDiversity):
        return found >= required
    if isinstance(criterion, RecursiveDiversity | DeltaDisclosure):
        return found < required
    return found <= required


def measure(criterion: Criterion, rows: Rows, table: Rows) -> Decimal | None:
    """Return the quantity that the parameter bounds, to fifty digits.

    It is None if the class fails for every parameter.
    """
    with localcontext() as context:
        context.prec = DIGITS
        counts = {value: n for value, n in rows.items() if n}
        if not counts:
            return None
        known = sum(counts.values())
        if isinstance(criterion, EntropyDiversity):
            logarithm = natural if criterion.estimator == "shannon" else grassberger
            found = (logarithm(known) - sum(n * logarithm(n) for n in counts.values()) / known).exp()
            # An exponential of logarithms is exact up to the last digits where the counts are equal: round
            # them off.
            found = found.quantize(Decimal(10) ** -(DIGITS // 2))
            return found if criterion.estimator == "shannon" else min(found, Decimal(len(counts)))
        if isinstance(criterion, RecursiveDiversity):
            ordered = sorted(counts.values(), reverse=True)
            rest = sum(ordered[criterion.l - 1 :])
            return decimal(Fraction(ordered[0], rest)) if rest else None
        if isinstance(criterion, AlphaDeassociation):
            return decimal(Fraction(max(counts.values()), known))
        whole = sum(table.values())
        shares = {
            value: (Fraction(rows.get(value, 0), known), Fraction(n, whole)) for value, n in table.items()
        }
        if isinstance(criterion, BetaLikeness):
            gains = [((q - p) / p, p) for q, p in shares.values() if q > p]
            if criterion.variant == "enhanced" and any(decimal(g) > -decimal(p).ln() for g, p in gains):
                return None
            return max((decimal(gain) for gain, _ in gains), default=Decimal(0))
        assert isinstance(criterion, DeltaDisclosure)
        if any(q == 0 for q, _ in shares.values()):
            return None
        return max(abs(decimal(q / p).ln()) for q, p in shares.values())


def decimal(fraction: Fraction) -> Decimal:
    """Return a fraction to fifty digits."""
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def natural(number: int) -> Decimal:
    """Return the natural logarithm."""
    return Decimal(number).ln()


def grassberger(number: int) -> Decimal:
    """Return Grassberger's number G(n) by its recurrence.

    G1 = G0 = -γ - ln 2, and G(2n + 2) = G(2n) + 2 / (2n + 1).
    """
    found = -EULER - Decimal(2).ln()
    for step in range(number // 2):
        found += Decimal(2) / (2 * step + 1)
    return found
