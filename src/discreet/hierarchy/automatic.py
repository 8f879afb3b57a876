"""Automatic hierarchies for columns without one: round intervals, periods, or groups of equal size.

The groups depend on the data, so a release discloses something about it; the publisher is warned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import ClassVar, Literal

from discreet.errors import InputError
from discreet.hierarchy.cell_values import floor_quotient, parse_number
from discreet.hierarchy.dates import DateHierarchy
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.hierarchy.level_table import hierarchy_from_columns, ordered_leaves
from discreet.hierarchy.messages import quote_value
from discreet.hierarchy.ordered_values import group_label_column
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, HierarchySource, PublicPart
from discreet.model.option import spec_key

_MOST_INTERVALS = 32
_MOST_OTHERS = 3
_FEWEST_NUMBERS = 8
_HEIGHT = 4


@dataclass(frozen=True)
class AutoHierarchy:
    """Groups of neighbouring values of about equal size, by ``order`` or by ``frequency``.

    By order: numbers get intervals of round widths (1, 5, 10, 50, …), where at most three other values may
    occur among eight or more numbers; ISO dates get month, year and decade; other values are grouped with
    their neighbours, with the same number of values in each group of a level.

    By frequency: values are sorted from the most to the least frequent, and the groups of a level have about
    the same number of rows, so frequent values stay separate the longest and rare ones are joined first. This
    requires the values' counts.

    The height is about four: each level reduces the number of groups by a factor of about the fourth root of
    the number of values.
    """

    by: Literal["order", "frequency"] = spec_key(
        "Basis of groups: the values' order, or their frequency.",
        '"frequency"',
        "order, frequency",
        default="order",
    )
    from_data: ClassVar[bool] = True
    """True: the groups depend on the data."""
    public_part: ClassVar[PublicPart] = PublicPart.NOTHING
    """Nothing is public: more values make more levels."""

    def __post_init__(self) -> None:
        if self.by not in ("order", "frequency"):
            raise InputError(f"automatic hierarchy by {quote_value(self.by)}", allowed="order, frequency")

    @property
    def origin(self) -> str:
        """Short description, such as ``automatic, by order``."""
        return f"automatic, by {self.by}"

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the hierarchy; raise ``InputError`` for an empty text, or by frequency without counts."""
        if self.by == "frequency":
            return self._by_frequency(attribute, values, counts)
        ordered = ordered_leaves(attribute, values)
        source = _interval_source(ordered) or _date_source(ordered)
        if source is not None:
            return replace(source.build(attribute, ordered), origin=self.origin, from_data=True)
        return self._grouped(attribute, ordered, _balanced_sizes(len(ordered)), "range")

    def _by_frequency(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None
    ) -> GeneralizationHierarchy:
        if counts is None:
            raise InputError(
                f"attribute {quote_value(attribute)}: a hierarchy by frequency without the values' counts",
                advice='Use {kind = "auto", by = "order"}.',
            )
        rows = dict(zip(values, counts, strict=True))
        ordered = sorted(ordered_leaves(attribute, values), key=lambda value: -rows[value])
        sizes = _weighted_sizes([rows[value] for value in ordered])
        return self._grouped(attribute, ordered, sizes, "set")

    def _grouped(
        self, attribute: str, ordered: list[str], sizes: list[list[int]], label: Literal["range", "set"]
    ) -> GeneralizationHierarchy:
        columns = [
            ordered,
            *(group_label_column(ordered, level, label) for level in sizes),
            [TOP] * len(ordered),
        ]
        return hierarchy_from_columns(attribute, columns, origin=self.origin, from_data=True)


def _interval_source(ordered: Sequence[str]) -> HierarchySource | None:
    """Return intervals if the values are numbers, except for a few others; else None."""
    parsed = [(value, parse_number(value)) for value in ordered]
    numbers = [number for _, number in parsed if number is not None]
    others = tuple(value for value, number in parsed if number is None)
    if not numbers or (others and (len(others) > _MOST_OTHERS or len(numbers) < _FEWEST_NUMBERS)):
        return None
    widths = _nice_widths(numbers)
    if not widths:
        return None
    return IntervalHierarchy(widths=widths, others=others)


def _nice_widths(numbers: Sequence[Decimal]) -> tuple[Decimal, ...]:
    """Return widths 1, 5, 10, 50, … times a power of ten, for about 32 intervals down to two."""
    low, high = numbers[0], numbers[-1]
    most = min(_MOST_INTERVALS, len(numbers) // 2)
    exponent = (high - low).adjusted() - 3 if high > low else 0
    found = []
    for step in range(10):
        width = Decimal((0, (1,) if step % 2 == 0 else (5,), exponent + step // 2))
        intervals = floor_quotient(high, width) - floor_quotient(low, width) + 1
        if 1 < intervals <= most:
            found.append(width)
            most = intervals - 1
    return tuple(found)


def _date_source(ordered: Sequence[str]) -> HierarchySource | None:
    """Return months, years and decades if all values are ISO dates, else None."""
    source = DateHierarchy(levels=("month", "year", "decade"))
    return source if ordered and all(source.is_date(value) for value in ordered) else None


def _fanout(groups: int) -> int:
    return max(2, math.ceil(math.pow(groups, 1 / _HEIGHT)))


def _balanced_sizes(values: int) -> list[list[int]]:
    """Return group sizes in values for each level below the top; fanouts of a level differ by at most one."""
    result: list[list[int]] = []
    sizes, fanout = [1] * values, _fanout(values)
    while (groups := math.ceil(len(sizes) / fanout)) > 1:
        cuts = [len(sizes) * number // groups for number in range(groups + 1)]
        sizes = [sum(sizes[start:end]) for start, end in pairwise(cuts)]
        result.append(sizes)
    return result


def _weighted_sizes(rows: Sequence[int]) -> list[list[int]]:
    """Return group sizes in values for each level, with about equal numbers of rows per group."""
    result: list[list[int]] = []
    sizes, weights, fanout = [1] * len(rows), list(rows), _fanout(len(rows))
    while (groups := math.ceil(len(sizes) / fanout)) > 1:
        joined = _equal_share_sizes(weights, groups)
        cuts = [0, *accumulate(joined)]
        sizes = [sum(sizes[start:end]) for start, end in pairwise(cuts)]
        weights = [sum(weights[start:end]) for start, end in pairwise(cuts)]
        if len(sizes) > 1:
            result.append(sizes)
    return result


def _equal_share_sizes(weights: Sequence[int], groups: int) -> list[int]:
    """Return the number of neighbours that each of at most ``groups`` groups joins.

    A group is closed when it has its equal share of the rows left for it and the groups after it.
    """
    left, current, size = sum(weights), 0, 0
    found: list[int] = []
    for weight in weights:
        current, size = current + weight, size + 1
        if len(found) < groups - 1 and current * (groups - len(found)) >= left:
            found.append(size)
            left, current, size = left - current, 0, 0
    return [*found, size] if size else found
