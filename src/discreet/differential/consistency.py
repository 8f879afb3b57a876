"""What is made of noisy counts alone: it costs no privacy, as no row is looked at again.

The marginals of one table have one total. Their noisy totals differ; the best linear estimate of it weighs
each by the inverse of its variance, which grows with the number of cells. Each marginal then moves to that
total by the least squares of its cells: by the same amount each, or, where counts may not be negative, onto
the simplex (Duchi et al. 2008). Fractions are exact; what is left by rounding goes to the cells with the
largest remainders, the first ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def without_negatives(counts: Sequence[int]) -> list[int]:
    """Counts below 0 as 0, which makes small counts larger on average."""
    return [max(count, 0) for count in counts]


def with_one_total(marginals: Sequence[Sequence[int]], *, non_negative: bool) -> list[list[int]]:
    """Whole counts of each marginal that are near to the given ones and have one total in all marginals."""
    weights = [Fraction(1, len(counts)) for counts in marginals]
    sums = [sum(counts) * weight for counts, weight in zip(marginals, weights, strict=True)]
    total = round(sum(sums, Fraction(0)) / sum(weights, Fraction(0)))
    if non_negative:
        total = max(total, 0)
        return [_rounded(onto_simplex(counts, total), total) for counts in marginals]
    return [_rounded(_moved(counts, total), total) for counts in marginals]


def _moved(counts: Sequence[int], total: int) -> list[Fraction]:
    step = Fraction(total - sum(counts), len(counts))
    return [count + step for count in counts]


def onto_simplex(counts: Sequence[int], total: int) -> list[Fraction]:
    """The nearest point with no negative count and this total: all fall by one amount, some to 0.

    >>> [str(count) for count in onto_simplex([5, 2, -4], 6)]
    ['9/2', '3/2', '0']
    """
    fall, above = Fraction(0), 0
    for number, count in enumerate(sorted(counts, reverse=True), start=1):
        above += count
        step = Fraction(above - total, number)
        if count <= step and number > 1:
            break
        fall = step
    return [max(count - fall, Fraction(0)) for count in counts]


def _rounded(counts: Sequence[Fraction], total: int) -> list[int]:
    floors = [count.numerator // count.denominator for count in counts]
    order = sorted(range(len(counts)), key=lambda place: (floors[place] - counts[place], place))
    for place in order[: total - sum(floors)]:
        floors[place] += 1
    return floors
