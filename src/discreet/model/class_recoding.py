"""Recodings by equivalence classes, tests of a single class, and patterns (Bredereck et al. 2013).

A class recoding is the result of a search that is not full-domain (LeFevre et al. 2005, section 5): the class
of every row and the cells that each class shows. A pattern is a lattice node that gives the level at which a
row shows each attribute; a pattern mask is the set of allowed patterns with their costs.
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
"""Index of the pattern of rows that match no pattern."""

_SAME_COST = 1e-9


class OutlierPolicy(StrEnum):
    """Treatment of the rows that match no other pattern.

    Suppress: they get the pattern of all stars; if they are too few to form a class, they are suppressed as
    rows. Delete: they are suppressed as rows. Error: such rows are refused.
    """

    SUPPRESS = "suppress"
    DELETE = "delete"
    ERROR = "error"


class TieBreak(StrEnum):
    """Order of patterns with equal costs.

    The first two read a pattern as a number, its first or its last attribute the most significant digit, and
    take the smaller number first, so that the last, or the first, attributes are generalized first.
    ``as-given`` keeps the order of the mask's vectors. ``best`` takes the pattern that places most of the
    remaining rows.
    """

    LAST_COLUMN_FIRST = "last-column-first"
    FIRST_COLUMN_FIRST = "first-column-first"
    AS_GIVEN = "as-given"
    BEST = "best"


@dataclass(frozen=True)
class Pattern:
    """A level per attribute, and the heights, at which an attribute is starred."""

    levels: LatticeNode
    heights: tuple[int, ...]

    def __str__(self) -> str:
        """Return one sign per attribute: ``.`` shown, ``*`` starred, otherwise the level.

        Signs are separated by blanks if a level is above 9.
        """
        signs = [
            "." if level == 0 else "*" if level == height else str(level)
            for level, height in zip(self.levels, self.heights, strict=True)
        ]
        return ("" if all(len(sign) == 1 for sign in signs) else " ").join(signs)

    @property
    def starred(self) -> tuple[bool, ...]:
        """Per attribute, True if it is starred."""
        return tuple(0 < level == top for level, top in zip(self.levels, self.heights, strict=True))

    @property
    def changed(self) -> tuple[bool, ...]:
        """Per attribute, True if it is generalized."""
        return tuple(level > 0 for level in self.levels)


PatternPredicate = Callable[[Pattern], bool]
"""A function that returns whether a pattern is allowed."""


@dataclass(frozen=True)
class PatternConstraints:
    """Constraints that select the allowed patterns.

    At most ``max_stars`` attributes are starred. An attribute in ``never`` is not generalized, one in
    ``required`` is. The attributes of a ``together`` group are all generalized or none is; of an
    ``exclusive`` group at most one is. ``custom`` is called for each pattern that meets these constraints.
    With ``levels`` every level of a hierarchy is available, otherwise only the value and the star.
    """

    max_stars: int | None = None
    keep: tuple[str, ...] = ()
    generalize_together: tuple[tuple[str, ...], ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    always_generalize: tuple[str, ...] = ()
    custom: PatternPredicate | None = None
    levels: bool = False


@dataclass(frozen=True, eq=False)
class PatternMask:
    """The allowed patterns, their costs, and the treatment of rows that match none.

    ``levels`` has shape ``(patterns, attributes)``; its rows are distinct. With the policy *suppress* the
    pattern of all stars is one of them. ``costs[j][level]`` is the cost of one row's cell of attribute j at
    each level, at least 0, with weights applied: a row published under a pattern costs the sum. A suppressed
    row costs the same as one of all stars.
    """

    attributes: tuple[str, ...]
    heights: tuple[int, ...]
    levels: NDArray[np.int16]
    costs: tuple[NDArray[np.float64], ...]
    outliers: OutlierPolicy = OutlierPolicy.SUPPRESS

    def __len__(self) -> int:
        return len(self.levels)

    def pattern(self, index: int) -> Pattern:
        """Return a pattern by index; all stars for ``OUTLIER``."""
        if index == OUTLIER:
            return Pattern(self.heights, self.heights)
        return Pattern(tuple(self.levels[index].tolist()), self.heights)

    @cached_property
    def pattern_costs(self) -> NDArray[np.float64]:
        """Cost of a row under each pattern, shape ``(patterns,)``."""
        total = np.zeros(len(self.levels))
        for j, table in enumerate(self.costs):
            total += table[self.levels[:, j]]
        return total

    @property
    def top_cost(self) -> float:
        """Cost of a row of all stars, or of a suppressed one."""
        return float(sum(table[-1] for table in self.costs))

    @cached_property
    def all_star(self) -> int | None:
        """Index of the pattern of all stars; None if it is not allowed."""
        found = np.flatnonzero((self.levels == np.array(self.heights, np.int16)).all(axis=1))
        return int(found[0]) if len(found) else None

    def order(self, tie: TieBreak) -> NDArray[np.int64]:
        """Return the patterns' indices, cheapest first.

        ``best`` uses the order of the first policy; the search itself selects the best pattern.
        """
        if tie is TieBreak.AS_GIVEN:
            return np.argsort(self.cost_ranks, kind="stable")
        columns = self.levels.T
        digits = columns if tie is TieBreak.FIRST_COLUMN_FIRST else columns[::-1]
        return np.lexsort(np.concatenate([digits, self.cost_ranks[np.newaxis]]))

    @cached_property
    def cost_ranks(self) -> NDArray[np.int64]:
        """Rank of each pattern's cost among the distinct costs; costs equal up to rounding are equal."""
        order = np.argsort(self.pattern_costs, kind="stable")
        steps = np.diff(self.pattern_costs[order], prepend=self.pattern_costs[order[:1]])
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.cumsum(steps > _SAME_COST * max(self.top_cost, 1.0))
        return ranks


@dataclass(frozen=True)
class PatternCount:
    """Number of classes (output row types) and of rows of one pattern in a release."""

    pattern: Pattern
    classes: int
    rows: int


class ClassTest(Protocol):
    """A requirement that is monotone under merging: if two classes meet it, their union does.

    ``requirement_test`` makes one of a requirement of monotone criteria; a search accepts any other.
    """

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Return whether a class of ``rows`` rows meets it.

        ``values[i]`` contains the class's rows by code of the frequency set's i-th sensitive attribute,
        without NULL; shape ``(size,)`` of its ``ValueSets``.
        """


@dataclass(frozen=True, eq=False)
class RequirementTest:
    """A requirement's criteria as a test of one class.

    ``known`` contains the whole table's sensitive attributes, for criteria that compare a class with them; it
    is empty if none does.
    """

    bound: tuple[BoundCriterion, ...]
    known: tuple[SensitiveAttribute | None, ...] = ()

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Return whether the class meets every criterion."""
        class_values: list[ClassValues | None] = [None] * len(values)
        for one in self.bound:
            if one.index is not None and (
                class_values[one.index] is None or one.criterion.need is Need.COUNTS
            ):
                class_values[one.index] = self._values(one.index, one.criterion.need, values[one.index])
        facts = ClassStatistics(np.array([rows], dtype=np.int64), tuple(class_values))
        return not failing_mask(self.bound, facts)[0]

    def _values(self, index: int, need: Need, by_code: NDArray[np.int64]) -> ClassValues:
        if need is not Need.COUNTS:
            return ClassValues(np.array([np.count_nonzero(by_code)], dtype=np.int64))
        codes = np.flatnonzero(by_code)
        return ClassValues(
            distinct=np.array([len(codes)], dtype=np.int64),
            owners=np.zeros(len(codes), dtype=np.int64),
            codes=codes,
            counts=by_code[codes],
            of=self.known[index] if self.known else None,
        )


@dataclass(frozen=True)
class AllOf:
    """Conjunction of several tests."""

    tests: tuple[ClassTest, ...]

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Return whether the class meets all tests."""
        return all(test.holds(rows, values) for test in self.tests)


def requirement_test(
    requirement: Requirement, sensitive: tuple[str, ...], known: tuple[SensitiveAttribute | None, ...] = ()
) -> RequirementTest:
    """Return a requirement as a test of a class of a frequency set with ``sensitive`` attributes.

    ``known`` is that of ``RequirementTest``. Raises ``InputError`` if a criterion applies to another
    attribute, or is not monotone.
    """
    require_monotone(requirement, "a search that divides or merges classes", advice=MONOTONE_ADVICE)
    return RequirementTest(requirement.bound(sensitive), known)


SUPPRESSED = -1
"""Class number of suppressed rows."""


class RecodingModel(StrEnum):
    """Taxonomy of recoding models (LeFevre et al. 2005, section 5)."""

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
    """Assignment of every row to an equivalence class; a class shows one cell per quasi-identifier.

    ``model`` is the recoding model's name.

    Row types are those of one frequency set, by position. Part ``p`` assigns ``rows[p]`` rows of row type
    ``row_types[p]`` to class ``classes[p]`` (``SUPPRESSED``: to none). Parts are sorted by row type and then
    class, and each row type's parts add up to its count; a global recoding has one part per row type. The
    rows of a row type are distributed over its parts at random when the recoding is applied.

    Class c shows ``cells[i].labels[shown[c, i]]`` for attribute i; ``shown`` has shape ``(classes,
    quasi-identifiers)``. Two classes may show the same cells: in the release they are one. If patterns guided
    the search, ``patterns`` contains the size of each in the release. ``class_test`` was required in addition
    to the requirement: no manifest records it and no audit counts it, so such a recoding is not published.
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
        """Number of classes."""
        return len(self.shown)

    @property
    def suppressed(self) -> int:
        """Number of rows in no class."""
        return int(self.rows[self.classes == SUPPRESSED].sum())

    def class_rows(self) -> NDArray[np.int64]:
        """Return the rows of each class, shape ``(classes,)``."""
        retained = self.classes != SUPPRESSED
        sizes = np.zeros(self.class_count, dtype=np.int64)
        np.add.at(sizes, self.classes[retained], self.rows[retained])
        return sizes
