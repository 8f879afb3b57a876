"""Oracle: criteria of a whole release by their sentences, and the rule by which rows go."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from discreet.model.criteria.average_risk import AverageRisk
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.records_at_risk import RecordsAtRisk
from discreet.model.criteria.sample_uniques import SampleUniques
from discreet.model.requirement import Requirement

BILLION = 10**9


def plain_share(criterion: Criterion, sizes: Sequence[int]) -> Fraction:
    """What a criterion bounds, from the size of the class of every record."""
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
    """What is missing to 1, in billionths, never too much."""
    return floor(BILLION * (1 - plain_share(criterion, sizes)))


def plain_rest(sizes: Sequence[int], requirement: Requirement, name: str = "", cap: int = 2**62) -> list[int]:
    """The sizes that stay, of classes that fail in nothing by themselves; ``name`` asks at most ``cap``."""
    rest = list(sizes)

    def fails(criterion: Criterion) -> bool:
        least = min(criterion.threshold, cap) if criterion.name == name else criterion.threshold
        return plain_score(criterion, rest) < least

    while rest and any(map(fails, requirement.of_release)):
        rest = [size for size in rest if size > min(rest)]
    return rest


def rests_of(sizes: Sequence[int]) -> list[list[int]]:
    """A release, and what is left of it without its smallest classes, one size after the other."""
    return [[size for size in sizes if size >= least] for least in sorted(set(sizes))]
