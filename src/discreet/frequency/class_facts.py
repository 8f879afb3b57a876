"""What criteria are told of the classes of a frequency set: sizes, and sensitive values in each.

Whoever divides row types into classes asks here, and gets them judged by ``model.judge``. Where the spec
names subjects, sizes are subjects and distinct values those that as many different subjects carry
(``frequency.distinct_items``); their rows by value are counted only where each subject has one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.distinct_items import distinct_values
from discreet.frequency.merge import value_sets
from discreet.frequency.rollup import GeneralizedCounts
from discreet.model.class_facts import ClassFacts, ClassPopulation, ClassValues
from discreet.model.counted_values import check_counted
from discreet.model.criteria.base import Bound, Need
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.judge import failing, suppressed
from discreet.model.requirement import Requirement
from discreet.model.subject_rows import counting_rows

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FactCounter:
    """Counts what some criteria ask of the classes of one table; ``bound`` are they with their places.

    ``table`` counts rows wherever each subject has one (``model.subject_rows``). With ``exact`` the distinct
    values of every sensitive attribute are counted, asked or not; without it, those of subjects are an upper
    bound in classes that fail even so. ``of`` is what makes one.
    """

    table: FrequencySet
    bound: tuple[Bound, ...]
    exact: bool = False

    @classmethod
    def of(cls, table: FrequencySet, requirement: Requirement, *, exact: bool = False) -> FactCounter:
        """For a requirement; ``InputError`` for an attribute that is not sensitive in the table.

        So it is for a criterion of rows by value where the table does not hold them, as that of subjects with
        several rows does not.
        """
        bound = requirement.bound(table.sensitive_attributes)
        if table.subjects is not None:
            table = counting_rows(table)
        for one in bound:
            check_counted(one, table)
        return cls(table, bound, exact)

    @cached_property
    def asked(self) -> tuple[Need | None, ...]:
        """What the criteria need to know of each sensitive attribute, None where none asks."""
        found: list[Need | None] = [Need.DISTINCT if self.exact else None] * len(self.table.sensitive)
        for one in self.bound:
            if one.criterion.of_every_attribute:
                return (Need.COUNTS,) * len(found)
            if one.place is not None and found[one.place] is not Need.COUNTS:
                found[one.place] = one.criterion.need
        return tuple(found)

    @cached_property
    def of_population(self) -> bool:
        """Whether a criterion asks for the people who match each class."""
        return any(one.criterion.of_population for one in self.bound)

    def failing(self, class_of: Whole, classes: int, types: Whole | None = None) -> NDArray[np.bool_]:
        """Whether each class fails; arguments as in ``facts``. A class without rows has a size of 0."""
        return failing(self.bound, self.facts(class_of, classes, types))

    def suppressed(
        self,
        class_of: Whole,
        classes: int,
        population: ClassPopulation | None = None,
        cells: Whole | None = None,
    ) -> NDArray[np.bool_]:
        """Whether each class goes, of classes that hold the whole table; the rest as in ``facts``."""
        return suppressed(self.bound, self.facts(class_of, classes, population=population, cells=cells))

    def at_node(self, found: GeneralizedCounts) -> ClassFacts:
        """The facts of a node's classes."""
        population = found.population if self.of_population else None
        return self.facts(found.class_of, found.classes, population=population, cells=found.codes)

    def facts(
        self,
        class_of: Whole,
        classes: int,
        types: Whole | None = None,
        *,
        population: ClassPopulation | None = None,
        cells: Whole | None = None,
    ) -> ClassFacts:
        """The facts of ``classes`` classes; ``class_of`` names the class of each row type, negative: none.

        With ``types`` there are those row types alone, and ``class_of`` runs beside them. ``population`` and
        ``cells`` are told where the classes are a node's (``at_node``).
        """
        sets = [
            by_class(sets, class_of, classes, types, counted=need is Need.COUNTS)
            if need is not None
            else None
            for sets, need in zip(self.table.sensitive, self.asked, strict=True)
        ]
        return self.facts_of(self._sizes(class_of, classes, types), sets, population, cells)

    def facts_of(
        self,
        sizes: Whole,
        sets: Sequence[ValueSets | None],
        population: ClassPopulation | None = None,
        cells: Whole | None = None,
    ) -> ClassFacts:
        """The same of classes whose value sets are there already, in the place of row types."""
        judged_by_size = [one for one in self.bound if one.place is None and not one.criterion.of_release]
        hopeful = ~failing(judged_by_size, ClassFacts(sizes, population=population))
        values = tuple(
            None if held is None else self._values(place, held, sizes, hopeful)
            for place, held in enumerate(sets)
        )
        return ClassFacts(sizes, values, population, cells)

    def holds(self, types: Whole) -> bool:
        """Whether whole row types, taken together, are a class that fails in nothing."""
        return not failing(self.bound, self._one_class(types))[0]

    def _one_class(self, types: Whole) -> ClassFacts:
        """``facts`` of one class, by fewer steps: searches ask for millions."""
        if self.table.subjects is not None:
            return self.facts(np.zeros(len(types), np.int64), 1, types)
        values: list[ClassValues | None] = []
        for sets, need in zip(self.table.sensitive, self.asked, strict=True):
            if need is None:
                values.append(None)
                continue
            places, _ = entries_of(sets, types)
            codes, inverse = np.unique(sets.codes[places], return_inverse=True)
            distinct = np.array([len(codes)])
            if need is not Need.COUNTS or sets.counts is None:
                values.append(ClassValues(distinct))
                continue
            counts = np.bincount(inverse, sets.counts[places], minlength=len(codes)).astype(np.int64)
            values.append(ClassValues(distinct, np.zeros(len(codes), np.int64), codes, counts, sets.of))
        return ClassFacts(np.array([self.table.counts[types].sum()]), tuple(values))

    def _sizes(self, class_of: Whole, classes: int, types: Whole | None) -> Whole:
        if self.table.subjects is not None:
            held = by_class(self.table.subjects, class_of, classes, types)
            return np.diff(held.offsets)
        rows = self.table.counts if types is None else self.table.counts[types]
        if (class_of < 0).any():
            rows, class_of = rows[class_of >= 0], class_of[class_of >= 0]
        return np.bincount(class_of, rows, minlength=classes).astype(np.int64)

    def _values(self, place: int, sets: ValueSets, sizes: Whole, hopeful: NDArray[np.bool_]) -> ClassValues:
        entries = np.diff(sets.offsets)
        if sets.subjects is not None:
            return ClassValues(self._distinct(place, sets, entries, sizes, hopeful))
        if self.asked[place] is not Need.COUNTS:
            return ClassValues(entries)
        owners = np.repeat(np.arange(len(entries)), entries)
        return ClassValues(entries, owners, sets.codes, sets.counts, self.table.sensitive[place].of)

    def _distinct(
        self, place: int, sets: ValueSets, entries: Whole, sizes: Whole, hopeful: NDArray[np.bool_]
    ) -> Whole:
        """Distinct values of subjects; where even the most that there may be fails, nothing is matched."""
        assert sets.subjects is not None
        mine = [one.criterion for one in self.bound if one.place == place]

        def wanted(most: Whole) -> NDArray[np.bool_]:
            found = hopeful.copy()
            for criterion in mine:
                found &= criterion.scores(sizes, ClassValues(most)) >= criterion.threshold
            return found

        owners = np.repeat(np.arange(len(entries)), entries)
        limits = None if self.exact else wanted
        return distinct_values(owners, sets.codes, sets.subjects, len(entries), limits)


def failing_classes(
    table: FrequencySet,
    class_of: Whole,
    classes: int,
    requirement: Requirement,
    population: ClassPopulation | None = None,
    cells: Whole | None = None,
) -> NDArray[np.bool_]:
    """Whether each class of a table's row types goes for a requirement (see ``FactCounter.suppressed``)."""
    return FactCounter.of(table, requirement).suppressed(class_of, classes, population, cells)


def by_class(
    sets: ValueSets, class_of: Whole, classes: int, types: Whole | None = None, *, counted: bool = False
) -> ValueSets:
    """The value sets of classes; ``counted`` keeps the rows of each value."""
    places, lengths = entries_of(sets, types)
    owners = np.repeat(class_of, lengths)
    if (class_of < 0).any():
        kept = owners >= 0
        owners, places = owners[kept], np.arange(len(sets.codes))[places][kept]
    return value_sets(
        sets.attribute,
        owners,
        sets.codes[places],
        types=classes,
        subjects=None if sets.subjects is None else sets.subjects[places],
        rows=sets.counts[places] if counted and sets.counts is not None else None,
    )


def entries_of(sets: ValueSets, types: Whole | None) -> tuple[Whole | slice, Whole]:
    """Where the entries of some row types lie (None: of all), and how many each of them has."""
    lengths = np.diff(sets.offsets)
    if types is None:
        return slice(None), lengths
    lengths = lengths[types]
    ends = np.cumsum(lengths)
    places = np.repeat(sets.offsets[types] - (ends - lengths), lengths)
    places += np.arange(len(places))
    return places, lengths
