"""Oracle for criteria of a whole release, from their definitions, and for the rule that suppresses rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from discreet.model.criteria.base import Criterion
from discreet.model.criteria.release_shares import AverageRisk, RecordsAtRisk, SampleUniques
from discreet.model.requirement import Requirement

BILLION = 10**9


def plain_share(criterion: Criterion, sizes: Sequence[int]) -> Fraction:
    """Return the share that a criterion bounds, from the class size of every record."""
    of_records = [size for size in sizes for _ in range(size)]
    match criterion:
        case AverageRisk():
            total = sum((Fraction(1, size) for size in of_records), Fraction(0))
        case RecordsAtRisk():
            total = Fraction(sum(1 / size > criterion.above for size in of_records))
        case SampleUniques():
            total = Fraction(of_records.count(1))
        case other:
            raise AssertionError(other)
    return total / len(of_records)


def plain_score(criterion: Criterion, sizes: Sequence[int]) -> int:
    """Return 1 minus the share, in billionths, rounded down."""
    return floor(BILLION * (1 - plain_share(criterion, sizes)))


def plain_rest(sizes: Sequence[int], requirement: Requirement, name: str = "", cap: int = 2**62) -> list[int]:
    """Return the sizes of the classes that remain, given classes that pass every class criterion.

    The threshold of the criterion ``name`` is at most ``cap``.
    """
    rest = list(sizes)

    def fails(criterion: Criterion) -> bool:
        least = min(criterion.threshold, cap) if criterion.name == name else criterion.threshold
        return plain_score(criterion, rest) < least

    while rest and any(map(fails, requirement.of_release)):
        rest = [size for size in rest if size > min(rest)]
    return rest


def rests_of(sizes: Sequence[int]) -> list[list[int]]:
    """Return the class sizes of a release as its smallest classes are removed, one size after the other."""
    return [[size for size in sizes if size >= least] for least in sorted(set(sizes))]
