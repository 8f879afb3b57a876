"""Recodings by equivalence classes, tests of a single class, and patterns (Bredereck et al. 2013).

A class recoding is the result of a search that is not full-domain (LeFevre et al. 2005, section 5): the
class of every row and the cells that each class shows. A pattern is a lattice node that states at which
level a row shows each attribute; a pattern mask is the set of allowed patterns with their costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import BoundCriterion, Need
from discreet.model.criterion_inputs import ClassStatistics, ClassValues, SensitiveAttribute
from discreet.model.lattice import LatticeNode
from discreet.model.published_cells import Cells
from discreet.model.requirement import MONOTONE_ADVICE, Requirement, failing_mask, require_monotone
from discreet.model.search_result import SuppressionPolicy

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


class TieBreak(StrEnum):
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


PatternPredicate = Callable[[Pattern], bool]
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
    custom: PatternPredicate | None = None
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

    def order(self, tie: TieBreak) -> NDArray[np.int64]:
        """The patterns' places, cheapest first; ``best`` is ordered as the first tie: the search does it."""
        if tie is TieBreak.AS_GIVEN:
            return np.argsort(self.cost_ranks, kind="stable")
        columns = self.levels.T
        digits = columns if tie is TieBreak.FIRST_COLUMN_FIRST else columns[::-1]
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


class ClassTest(Protocol):
    """A requirement that is monotone under merging: where two classes meet it, their union does.

    A requirement of monotone criteria is one (``model.class_recoding``); a search may be given any other.
    """

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether a class of ``rows`` rows meets it.

        ``values[i]`` holds the class's rows by code of the frequency set's i-th sensitive attribute, NULL
        left out; shape ``(size,)`` of its ``ValueSets``.
        """


@dataclass(frozen=True, eq=False)
class RequirementTest:
    """A requirement's criteria as a test of one class.

    ``known`` holds what is known of each sensitive attribute as a whole, for criteria that compare a class
    with it; empty where none does.
    """

    bound: tuple[BoundCriterion, ...]
    known: tuple[SensitiveAttribute | None, ...] = ()

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether the class meets every criterion."""
        told: list[ClassValues | None] = [None] * len(values)
        for one in self.bound:
            if one.place is not None and (told[one.place] is None or one.criterion.need is Need.COUNTS):
                told[one.place] = self._values(one.place, one.criterion.need, values[one.place])
        facts = ClassStatistics(np.array([rows], dtype=np.int64), tuple(told))
        return not failing_mask(self.bound, facts)[0]

    def _values(self, place: int, need: Need, by_code: NDArray[np.int64]) -> ClassValues:
        if need is not Need.COUNTS:
            return ClassValues(np.array([np.count_nonzero(by_code)], dtype=np.int64))
        codes = np.flatnonzero(by_code)
        return ClassValues(
            distinct=np.array([len(codes)], dtype=np.int64),
            owners=np.zeros(len(codes), dtype=np.int64),
            codes=codes,
            counts=by_code[codes],
            of=self.known[place] if self.known else None,
        )


@dataclass(frozen=True)
class AllOf:
    """Every one of several tests."""

    tests: tuple[ClassTest, ...]

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether the class meets all."""
        return all(test.holds(rows, values) for test in self.tests)


def requirement_test(
    requirement: Requirement, sensitive: tuple[str, ...], known: tuple[SensitiveAttribute | None, ...] = ()
) -> RequirementTest:
    """A requirement as a test of a class; ``sensitive`` are the frequency set's sensitive attributes.

    ``known`` is as ``RequirementTest`` has them. ``InputError`` where a criterion speaks of an attribute
    that is not among them, or is not monotone.
    """
    require_monotone(requirement, "a search that divides or merges classes", advice=MONOTONE_ADVICE)
    return RequirementTest(requirement.bound(sensitive), known)


SUPPRESSED = -1
"""The class of rows that are suppressed."""


class RecodingModel(StrEnum):
    """The taxonomy of recoding models (LeFevre et al. 2005, section 5), by the field's names."""

    FULL_DOMAIN = "full-domain"
    ATTRIBUTE_SUPPRESSION = "attribute-suppression"
    FULL_SUBTREE = "full-subtree"
    UNRESTRICTED_SINGLE = "unrestricted-single-dimension"
    ORDERED_SINGLE = "ordered-single-dimension"
    FULL_SUBGRAPH = "full-subgraph"
    UNRESTRICTED_MULTI = "unrestricted-multi-dimension"
    ORDERED_MULTI = "ordered-multi-dimension"
    RELAXED_MULTI = "relaxed-multi-dimension"
    CELL_SUPPRESSION = "cell-suppression"
    CELL_GENERALIZATION = "cell-generalization"


@dataclass(frozen=True, eq=False)
class ClassRecoding:
    """Every row belongs to an equivalence class; a class shows one cell per quasi-identifier.

    ``model`` is the recoding model's name.
    It speaks of the row types of one frequency set, by their position there. Part ``p`` says that
    ``rows[p]`` rows of row type ``row_types[p]`` belong to class ``classes[p]`` (``SUPPRESSED``: to none).
    Parts ascend by row type and then class, and each row type's parts add up to its count; a global recoding
    has one part per row type. Which rows of a row type go to which of its parts is drawn when it is applied.
    Class c shows ``cells[i].labels[shown[c, i]]`` for attribute i; ``shown`` has shape ``(classes,
    quasi-identifiers)``. Two classes may show the same: in the release they are one. Where patterns guided
    the search, ``patterns`` says how much of the release each has. ``class_test`` was asked beside the
    requirement: no manifest records it and no audit counts it, so such a recoding is not published.
    """

    model: str
    attributes: tuple[str, ...]
    requirement: Requirement
    cells: tuple[Cells, ...]
    shown: NDArray[np.int64]
    row_types: NDArray[np.int64]
    classes: NDArray[np.int64]
    rows: NDArray[np.int64]
    suppression: SuppressionPolicy = SuppressionPolicy.DROP
    warnings: tuple[str, ...] = ()
    patterns: tuple[PatternCount, ...] = ()
    class_test: ClassTest | None = None

    @property
    def class_count(self) -> int:
        """The number of classes."""
        return len(self.shown)

    @property
    def suppressed(self) -> int:
        """Rows that belong to no class."""
        return int(self.rows[self.classes == SUPPRESSED].sum())

    def class_rows(self) -> NDArray[np.int64]:
        """Rows of each class, shape ``(classes,)``."""
        kept = self.classes != SUPPRESSED
        sizes = np.zeros(self.class_count, dtype=np.int64)
        np.add.at(sizes, self.classes[kept], self.rows[kept])
        return sizes
