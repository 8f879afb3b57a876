"""Patterns: in which combinations the attributes of a row may be generalized (Bredereck et al. 2013).

A pattern has one level per quasi-identifier, so it is a lattice node; the paper's patterns know two levels,
the value itself and the star, which is the top. A row is published under one pattern: it shows each
attribute at exactly the pattern's level. A pattern mask is the set of patterns that are allowed, with what
each costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import LatticeNode

OUTLIER = -1
"""The pattern of rows that fit none."""

_SAME_COST = 1e-9


class OutlierPolicy(StrEnum):
    """What becomes of the rows that fit no other pattern.

    Suppress: the pattern of all stars takes them, and where those are too few to be a class by themselves,
    they are suppressed as rows. Delete: they are suppressed as rows. Error: there must be none.
    """

    SUPPRESS = "suppress"
    DELETE = "delete"
    ERROR = "error"


class Tie(StrEnum):
    """The order of patterns that cost the same.

    The first two read a pattern as a number, its first or its last attribute the most significant digit, and
    take the smaller first: so the last, or the first, attributes are generalized first. ``as-given`` keeps
    the order of the mask's vectors. ``best`` takes the pattern that places most of the rows that remain.
    """

    LAST_COLUMN_FIRST = "last-column-first"
    FIRST_COLUMN_FIRST = "first-column-first"
    AS_GIVEN = "as-given"
    BEST = "best"


@dataclass(frozen=True)
class Pattern:
    """One pattern: a level per attribute, and the heights, at which an attribute is starred."""

    levels: LatticeNode
    heights: tuple[int, ...]

    def __str__(self) -> str:
        """One sign per attribute: ``.`` shown, ``*`` starred, else the level; apart where one is above 9."""
        signs = [
            "." if level == 0 else "*" if level == height else str(level)
            for level, height in zip(self.levels, self.heights, strict=True)
        ]
        return ("" if all(len(sign) == 1 for sign in signs) else " ").join(signs)

    @property
    def starred(self) -> tuple[bool, ...]:
        """Whether each attribute is starred."""
        return tuple(0 < level == top for level, top in zip(self.levels, self.heights, strict=True))

    @property
    def changed(self) -> tuple[bool, ...]:
        """Whether each attribute is generalized at all."""
        return tuple(level > 0 for level in self.levels)


Predicate = Callable[[Pattern], bool]
"""Whether a pattern is allowed."""


@dataclass(frozen=True)
class PatternConstraints:
    """Which patterns are allowed, of all that there are.

    At most ``max_stars`` attributes are starred. An attribute in ``never`` is not generalized, one in
    ``required`` is. Of attributes that stand ``together`` all are generalized or none is; of ``at_most_one``
    one at most. ``custom`` is asked of each pattern that meets all these. With ``levels`` every level of a
    hierarchy counts, else the value and the star alone.
    """

    max_stars: int | None = None
    never: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    at_most_one: tuple[tuple[str, ...], ...] = ()
    required: tuple[str, ...] = ()
    custom: Predicate | None = None
    levels: bool = False


@dataclass(frozen=True, eq=False)
class PatternMask:
    """The patterns that are allowed, what they cost, and what becomes of the rows that fit none.

    ``levels`` has shape ``(patterns, attributes)``; its rows are distinct. With the policy *suppress* the
    pattern of all stars is one of them. ``costs[j][level]`` is what one row's cell of attribute j costs at
    each level, 0 or more, weights included: a row published under a pattern costs the sum. A suppressed row
    costs as much as one of all stars.
    """

    attributes: tuple[str, ...]
    heights: tuple[int, ...]
    levels: NDArray[np.int16]
    costs: tuple[NDArray[np.float64], ...]
    outliers: OutlierPolicy = OutlierPolicy.SUPPRESS

    def __len__(self) -> int:
        return len(self.levels)

    def pattern(self, index: int) -> Pattern:
        """One of the patterns; all stars for ``OUTLIER``."""
        if index == OUTLIER:
            return Pattern(self.heights, self.heights)
        return Pattern(tuple(self.levels[index].tolist()), self.heights)

    @cached_property
    def pattern_costs(self) -> NDArray[np.float64]:
        """What a row costs under each pattern, shape ``(patterns,)``."""
        total = np.zeros(len(self.levels))
        for j, table in enumerate(self.costs):
            total += table[self.levels[:, j]]
        return total

    @property
    def top_cost(self) -> float:
        """What a row of all stars costs, and a suppressed one."""
        return float(sum(table[-1] for table in self.costs))

    @cached_property
    def all_star(self) -> int | None:
        """The place of the pattern of all stars; None where it is not allowed."""
        found = np.flatnonzero((self.levels == np.array(self.heights, np.int16)).all(axis=1))
        return int(found[0]) if len(found) else None

    def order(self, tie: Tie) -> NDArray[np.int64]:
        """The patterns' places, cheapest first; ``best`` is ordered as the first tie: the search does it."""
        if tie is Tie.AS_GIVEN:
            return np.argsort(self.cost_ranks, kind="stable")
        columns = self.levels.T
        digits = columns if tie is Tie.FIRST_COLUMN_FIRST else columns[::-1]
        return np.lexsort(np.concatenate([digits, self.cost_ranks[np.newaxis]]))

    @cached_property
    def cost_ranks(self) -> NDArray[np.int64]:
        """The place of each pattern's cost among the different costs, sums that rounding parts being one."""
        order = np.argsort(self.pattern_costs, kind="stable")
        steps = np.diff(self.pattern_costs[order], prepend=self.pattern_costs[order[:1]])
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.cumsum(steps > _SAME_COST * max(self.top_cost, 1.0))
        return ranks


@dataclass(frozen=True)
class PatternCount:
    """How much of a release one pattern has: classes (output row types) and rows."""

    pattern: Pattern
    classes: int
    rows: int
