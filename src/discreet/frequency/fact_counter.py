"""Per-class inputs of the criteria: sizes, distinct values and row counts per value.

If the spec names subjects, sizes count subjects, and distinct values are the values that different subjects
carry (``kernels.matching``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.encoding import build_value_sets
from discreet.frequency.rollup import GeneralizedCounts
from discreet.kernels.matching import distinct_representatives
from discreet.model.criteria.base import BoundCriterion, Need
from discreet.model.criterion_inputs import ClassPopulation, ClassStatistics, ClassValues
from discreet.model.frequency_set import FrequencySet, ValueSets, drop_unneeded_subjects
from discreet.model.requirement import Requirement, check_value_counts, failing_mask, suppression_mask

ItemMembers = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Pairs of a class (ascending) and an item in it, without duplicates."""


@dataclass(frozen=True, eq=False)
class CountedItems:
    """Counted items: values, or pairs of a value and a subject; both arrays run over items."""

    values: NDArray[np.int64]
    subjects: NDArray[np.int64] | None

    def distinct(self, members: ItemMembers, classes: int) -> NDArray[np.int64]:
        """Count the distinct values of each class, shape ``(classes,)``."""
        group, item = members
        if self.subjects is None:
            return np.bincount(group, minlength=classes)
        return count_distinct_values(group, self.values[item], self.subjects[item], classes)


def list_items(sets: ValueSets) -> tuple[CountedItems, ItemMembers]:
    """Return the items of a table's value sets, and the row types that contain them."""
    group = np.repeat(np.arange(len(sets.offsets) - 1), np.diff(sets.offsets))
    codes = sets.codes.astype(np.int64)
    if sets.subjects is None:
        return CountedItems(np.arange(sets.size), None), (group, codes)
    subjects = sets.subjects.astype(np.int64)
    size = int(subjects.max(initial=0)) + 1
    pairs, item = np.unique(codes * size + subjects, return_inverse=True)
    return CountedItems(*np.divmod(pairs, size)), (group, item)


def merge_pairs(group: NDArray[np.int64], item: NDArray[np.int64]) -> ItemMembers:
    """Return the pairs of group and item, sorted, without duplicates."""
    size = int(item.max(initial=0)) + 1
    pairs = group * size + item
    pairs.sort()
    fresh = np.ones(len(pairs), np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=fresh[1:])
    group, item = np.divmod(pairs[fresh], size)
    return group, item


def merge_counted_pairs(
    group: NDArray[np.int64], item: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[ItemMembers, NDArray[np.int64]]:
    """Return the pairs as ``merge_pairs``, with the rows of equal pairs summed."""
    size = int(item.max(initial=0)) + 1
    pairs = group * size + item
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    starts = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])) if len(pairs) else order
    group, item = np.divmod(pairs[starts], size)
    return (group, item), np.add.reduceat(rows[order], starts) if len(pairs) else rows


def count_distinct_values(
    group: NDArray[np.int64],
    values: NDArray[np.int64],
    subjects: NDArray[np.int64],
    classes: int,
    undecided: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None = None,
) -> NDArray[np.int64]:
    """Count the values that different subjects of a class can carry, shape ``(classes,)``.

    ``group`` (the class of each pair, ascending), ``values`` and ``subjects`` run over distinct pairs.
    ``undecided`` receives an upper bound per class and returns the classes for which the exact number
    matters. Cost: two sorts of the pairs, and a matching in each class in which a subject has several values.
    """
    pairs = np.bincount(group, minlength=classes)
    result = np.bincount(merge_pairs(group, values)[0], minlength=classes)
    unsure = np.bincount(merge_pairs(group, subjects)[0], minlength=classes) < pairs
    if undecided is not None:
        unsure &= undecided(result)
    ends = np.cumsum(pairs)
    for i in np.flatnonzero(unsure).tolist():
        part = slice(int(ends[i] - pairs[i]), int(ends[i]))
        result[i] = distinct_representatives(zip(subjects[part].tolist(), values[part].tolist(), strict=True))
    return result


IntegerArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FactCounter:
    """Counter of the inputs that some criteria need for the classes of one table; create it with ``of``.

    ``bound`` are the criteria with the indices of their attributes. ``table`` counts rows if each subject has
    one (``model.frequency_set``). With ``exact`` the distinct values of every sensitive attribute are
    counted, even if no criterion needs them; without it, those of subjects are an upper bound in classes that
    fail anyway.
    """

    table: FrequencySet
    bound: tuple[BoundCriterion, ...]
    exact: bool = False

    @classmethod
    def of(cls, table: FrequencySet, requirement: Requirement, *, exact: bool = False) -> FactCounter:
        """Build the counter of a requirement.

        Raises ``InputError`` for an attribute that is not sensitive in the table, and for a criterion of rows
        by value if the table does not contain them, as a table of subjects with several rows does not.
        """
        bound = requirement.bound(table.sensitive_attributes)
        if table.subjects is not None:
            table = drop_unneeded_subjects(table)
        for one in bound:
            check_value_counts(one, table)
        return cls(table, bound, exact)

    @cached_property
    def needs(self) -> tuple[Need | None, ...]:
        """Counts that the criteria need of each sensitive attribute; None if no criterion needs it."""
        found: list[Need | None] = [Need.DISTINCT if self.exact else None] * len(self.table.sensitive)
        for one in self.bound:
            if one.criterion.of_every_attribute:
                return (Need.COUNTS,) * len(found)
            if one.index is not None and found[one.index] is not Need.COUNTS:
                found[one.index] = one.criterion.need
        return tuple(found)

    @cached_property
    def of_population(self) -> bool:
        """True if a criterion needs the people who match each class."""
        return any(one.criterion.of_population for one in self.bound)

    def failing(
        self, class_of: IntegerArray, classes: int, types: IntegerArray | None = None
    ) -> NDArray[np.bool_]:
        """Return whether each class fails; arguments as in ``facts``. An empty class has size 0."""
        return failing_mask(self.bound, self.facts(class_of, classes, types))

    def suppressed(
        self,
        class_of: IntegerArray,
        classes: int,
        population: ClassPopulation | None = None,
        cells: IntegerArray | None = None,
    ) -> NDArray[np.bool_]:
        """Return whether each class is suppressed, given the classes of the whole table; see ``facts``."""
        return suppression_mask(self.bound, self.facts(class_of, classes, population=population, cells=cells))

    def at_node(self, classes: GeneralizedCounts) -> ClassStatistics:
        """Return the facts of a node's classes."""
        population = classes.population if self.of_population else None
        return self.facts(classes.class_of, classes.classes, population=population, cells=classes.codes)

    def facts(
        self,
        class_of: IntegerArray,
        classes: int,
        types: IntegerArray | None = None,
        *,
        population: ClassPopulation | None = None,
        cells: IntegerArray | None = None,
    ) -> ClassStatistics:
        """Compute the facts of ``classes`` classes; ``class_of`` is each row type's class, negative if none.

        With ``types`` only those row types are counted, and ``class_of`` is parallel to them. ``population``
        and ``cells`` are given if the classes are those of a node (``at_node``).
        """
        sets = [
            group_value_sets(sets, class_of, classes, types, counted=need is Need.COUNTS)
            if need is not None
            else None
            for sets, need in zip(self.table.sensitive, self.needs, strict=True)
        ]
        return self.facts_of(self._sizes(class_of, classes, types), sets, population, cells)

    def facts_of(
        self,
        sizes: IntegerArray,
        sets: Sequence[ValueSets | None],
        population: ClassPopulation | None = None,
        cells: IntegerArray | None = None,
    ) -> ClassStatistics:
        """Compute the facts of classes from their value sets instead of from row types."""
        # Distinct subjects' values are matched only in classes that pass the criteria of size: matching is
        # slow.
        judged_by_size = [one for one in self.bound if one.index is None and not one.criterion.of_release]
        hopeful = ~failing_mask(judged_by_size, ClassStatistics(sizes, population=population))
        values = tuple(
            None if value_sets is None else self._values(index, value_sets, sizes, hopeful)
            for index, value_sets in enumerate(sets)
        )
        return ClassStatistics(sizes, values, population, cells)

    def holds(self, types: IntegerArray) -> bool:
        """Return whether the given whole row types together form a class that fails no criterion."""
        return not failing_mask(self.bound, self._one_class(types))[0]

    def _one_class(self, types: IntegerArray) -> ClassStatistics:
        """Compute ``facts`` of one class in fewer steps: searches call this millions of times."""
        if self.table.subjects is not None:
            return self.facts(np.zeros(len(types), np.int64), 1, types)
        values: list[ClassValues | None] = []
        for sets, need in zip(self.table.sensitive, self.needs, strict=True):
            if need is None:
                values.append(None)
                continue
            places, _ = locate_entries(sets, types)
            codes, inverse = np.unique(sets.codes[places], return_inverse=True)
            distinct = np.array([len(codes)])
            if need is not Need.COUNTS or sets.counts is None:
                values.append(ClassValues(distinct))
                continue
            counts = np.bincount(inverse, sets.counts[places], minlength=len(codes)).astype(np.int64)
            values.append(ClassValues(distinct, np.zeros(len(codes), np.int64), codes, counts, sets.of))
        return ClassStatistics(np.array([self.table.counts[types].sum()]), tuple(values))

    def _sizes(self, class_of: IntegerArray, classes: int, types: IntegerArray | None) -> IntegerArray:
        if self.table.subjects is not None:
            subject_sets = group_value_sets(self.table.subjects, class_of, classes, types)
            return np.diff(subject_sets.offsets)
        rows = self.table.counts if types is None else self.table.counts[types]
        if (class_of < 0).any():
            rows, class_of = rows[class_of >= 0], class_of[class_of >= 0]
        return np.bincount(class_of, rows, minlength=classes).astype(np.int64)

    def _values(
        self, index: int, sets: ValueSets, sizes: IntegerArray, hopeful: NDArray[np.bool_]
    ) -> ClassValues:
        entries = np.diff(sets.offsets)
        if sets.subjects is not None:
            return ClassValues(self._distinct(index, sets, entries, sizes, hopeful))
        if self.needs[index] is not Need.COUNTS:
            return ClassValues(entries)
        owners = np.repeat(np.arange(len(entries)), entries)
        return ClassValues(entries, owners, sets.codes, sets.counts, self.table.sensitive[index].of)

    def _distinct(
        self,
        index: int,
        sets: ValueSets,
        entries: IntegerArray,
        sizes: IntegerArray,
        hopeful: NDArray[np.bool_],
    ) -> IntegerArray:
        """Count distinct values of subjects; classes that fail with the upper bound are not matched."""
        assert sets.subjects is not None
        mine = [one.criterion for one in self.bound if one.index == index]

        def undecided(most: IntegerArray) -> NDArray[np.bool_]:
            result = hopeful.copy()
            for criterion in mine:
                result &= criterion.scores(sizes, ClassValues(most)) >= criterion.threshold
            return result

        owners = np.repeat(np.arange(len(entries)), entries)
        limits = None if self.exact else undecided
        return count_distinct_values(owners, sets.codes, sets.subjects, len(entries), limits)


def find_failing_classes(
    table: FrequencySet,
    class_of: IntegerArray,
    classes: int,
    requirement: Requirement,
    population: ClassPopulation | None = None,
    cells: IntegerArray | None = None,
) -> NDArray[np.bool_]:
    """Return whether each class of a table's row types is suppressed (see ``FactCounter.suppressed``)."""
    return FactCounter.of(table, requirement).suppressed(class_of, classes, population, cells)


def group_value_sets(
    sets: ValueSets,
    class_of: IntegerArray,
    classes: int,
    types: IntegerArray | None = None,
    *,
    counted: bool = False,
) -> ValueSets:
    """Return the value sets of classes; with ``counted`` including the rows of each value."""
    places, lengths = locate_entries(sets, types)
    owners = np.repeat(class_of, lengths)
    if (class_of < 0).any():
        retained = owners >= 0
        owners, places = owners[retained], np.arange(len(sets.codes))[places][retained]
    return build_value_sets(
        sets.attribute,
        owners,
        sets.codes[places],
        types=classes,
        subjects=None if sets.subjects is None else sets.subjects[places],
        rows=sets.counts[places] if counted and sets.counts is not None else None,
    )


def locate_entries(sets: ValueSets, types: IntegerArray | None) -> tuple[IntegerArray | slice, IntegerArray]:
    """Return the positions of the entries of some row types (None: all), and the entries per type."""
    lengths = np.diff(sets.offsets)
    if types is None:
        return slice(None), lengths
    lengths = lengths[types]
    ends = np.cumsum(lengths)
    places = np.repeat(sets.offsets[types] - (ends - lengths), lengths)
    places += np.arange(len(places))
    return places, lengths
