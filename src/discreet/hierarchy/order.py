"""Hierarchies of ordered values: groups of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import mul

from discreet.errors import InputError
from discreet.hierarchy.bands import ordered_bands
from discreet.hierarchy.group_labels import LABELS, GroupLabel, group_column
from discreet.hierarchy.known_orders import education_order
from discreet.hierarchy.messages import shown
from discreet.hierarchy.others import hierarchy_with_others
from discreet.hierarchy.table import check_coverage, checked_leaves
from discreet.model.hierarchy import GeneralizationHierarchy, Given


@dataclass(frozen=True)
class OrderHierarchy:
    """Level i groups ``sizes[i - 1]`` neighbouring values; the last group of a level takes what is left.

    Instead of ``sizes``, ``fanout`` says how many groups of a level make one of the next: a list by level, or
    a number, which is repeated until one group would be left. ``values`` is the order; without it the data's
    values are ordered (bands such as ``<10k`` and levels of education as they rise, else numbers by size and
    texts naturally), and then the groups say something of the data. ``others`` are values without a place in
    the order: they stay as they are below the top.
    ``label`` names a group by ``first … last`` or as a set.
    """

    values: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    fanout: int | tuple[int, ...] | None = None
    label: GroupLabel = "range"
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.sizes) == (self.fanout is not None):
            raise InputError(
                "an order with both sizes and fanout" if self.sizes else "an order without sizes or fanout",
                allowed="sizes = [3, 6], fanout = [3, 2] or fanout = 2",
            )
        fanout = (
            self.fanout if isinstance(self.fanout, tuple) else (2 if self.fanout is None else self.fanout,)
        )
        if not fanout or min(fanout) < 2:
            raise InputError(
                f"order fanout {min(fanout, default='none')}", allowed="whole numbers of at least 2"
            )
        if self.sizes and self.sizes[0] < 2:
            raise InputError(f"order size {self.sizes[0]}", allowed="whole numbers of at least 2")
        for size, larger in pairwise(self.sizes):
            if larger <= size or larger % size:
                raise InputError(
                    f"order size {larger} after size {size}: such groups do not nest",
                    allowed=f"a multiple of {size}, larger than it",
                )
        if self.label not in LABELS:
            raise InputError(f"order label {shown(self.label)}", allowed=", ".join(LABELS))

    @property
    def origin(self) -> str:
        """``groups of neighbouring values``."""
        return "groups of neighbouring values"

    @property
    def from_data(self) -> bool:
        """Whether the order (and so the groups) comes from the data."""
        return not self.values

    @property
    def given(self) -> Given:
        """All of it with ``values``; else the levels, unless a repeated fanout makes as many as needed."""
        if self.values:
            return Given.HIERARCHY
        return Given.NOTHING if isinstance(self.fanout, int) else Given.LEVELS

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Groups of the ordered values; ``InputError`` for a value that an explicit order misses."""
        apart = set(self.others)
        ordered = list(self.values) or ordered_values(
            [value for value in checked_leaves(attribute, values) if value not in apart]
        )
        columns = [ordered]
        for size in self._sizes(len(ordered)):
            whole, rest = divmod(len(ordered), size)
            columns.append(group_column(ordered, [size] * whole + [rest] * (rest > 0), self.label))
        hierarchy = hierarchy_with_others(
            attribute,
            columns,
            self.others,
            origin=self.origin,
            like=["a group"] * (len(columns) - 1),
            advice="Leave it out of others.",
            from_data=self.from_data,
        )
        check_coverage(hierarchy, values)
        return hierarchy

    def _sizes(self, values: int) -> list[int]:
        if self.sizes:
            return list(self.sizes)
        if isinstance(self.fanout, tuple):
            return list(accumulate(self.fanout, mul))
        found, size = [], self.fanout or 2
        while size < values:
            found.append(size)
            size *= self.fanout or 2
        return found


def known_order(values: Sequence[str]) -> tuple[str, ...] | None:
    """Return values in an order that they have by their meaning; None where none is known.

    >>> known_order(["100k+", "<10k", "10k-100k"]), known_order(["b", "a"])
    (('<10k', '10k-100k', '100k+'), None)
    """
    return ordered_bands(values) or education_order(values)


def ordered_values(values: Sequence[str]) -> list[str]:
    """Return values that are in natural order in the order of their meaning, where one is known."""
    return list(known_order(values) or values)
