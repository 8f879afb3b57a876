"""Frequency sets for searches: the protocol, and the implementation with arrays in memory.

A frequency set belongs to some quasi-identifiers at given levels. A *scan* computes it from the table;
otherwise it is rolled up (counts of values that become equal are added; LeFevre et al. 2005, rollup
property) or summed out (an attribute is removed). ``database_frequency_sets`` implements the same
protocol with temporary tables.

Cost of one from n classes or row types: a pass over n keys per attribute that changes, and one sort or
hash of n keys; lists of sensitive values are sorted too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.engines.source_tables import TemporaryTables
from discreet.errors import LimitReached
from discreet.frequency.fact_counter import FactCounter, group_value_sets
from discreet.frequency.packed_keys import KeyFields, PackedKeys
from discreet.kernels.rotation_plan import count_words_of
from discreet.lattice.evaluation import pack_bit_sets
from discreet.model.criteria.base import Need
from discreet.model.criterion_inputs import ClassPopulation, ClassStatistics, ClassValues
from discreet.model.frequency_set import FrequencySet, ValueSets, join_population
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement, suppression_mask
from discreet.search.database_frequency_sets import DatabaseFrequencySets
from discreet.search.search_problem import FactTable, SearchProblem


class FrequencySetsTooLarge(LimitReached):
    """Frequency sets in memory would exceed the memory limit; the database has room on disk."""


class AttributeFrequencySet(Protocol):
    """Frequency set: the equivalence classes of some attributes at some levels, with their rows."""

    @property
    def attributes(self) -> tuple[int, ...]:
        """Positions of the attributes in the lattice, ascending."""

    @property
    def levels(self) -> tuple[int, ...]:
        """Level of each attribute."""

    @property
    def classes(self) -> int:
        """Number of classes, divided by sensitive values if the database needs them."""

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes."""

    def roll_up(self, levels: Sequence[int]) -> AttributeFrequencySet:
        """Return the frequency set of the same attributes at the same or higher levels."""

    def sum_out(self, attribute: int) -> AttributeFrequencySet:
        """Return the frequency set of the other attributes at the same levels."""

    def suppressed(self) -> int:
        """Count the rows in classes that fail the requirement."""

    def release(self) -> None:
        """Free its memory or table; a second call does nothing."""


class FrequencySets(Protocol):
    """Frequency sets of one table under one requirement.

    ``scans`` counts those computed from the table itself.
    """

    scans: int

    @property
    def used_bytes(self) -> int:
        """Approximate size in bytes of the frequency sets that are not yet released."""

    def count(self, attributes: Sequence[int], levels: Sequence[int]) -> AttributeFrequencySet:
        """Compute the frequency set of some attributes at some levels from the table, with one scan.

        Raises ``FrequencySetsTooLarge`` if it would exceed the memory limit.
        """


_MOST_WORDS = 64
_WORKING_BYTES = 40


@dataclass(frozen=True, eq=False)
class _Diversity:
    """Class statistics next to the numbers of rows.

    ``bits`` has one row per class; ``slices`` are the words of each counted sensitive attribute. ``lists``
    replace ``bits`` where those do not suffice: one per counted sensitive attribute. ``subjects`` are the
    units that k counts. ``people`` is the population that matches each class, if a criterion needs it;
    classes without rows are included.
    """

    bits: NDArray[np.uint64] | None = None
    slices: tuple[slice, ...] = ()
    lists: tuple[ValueSets, ...] = ()
    subjects: ValueSets | None = None
    people: NDArray[np.int64] | None = None

    def merged(self, class_of: NDArray[np.int64], classes: int) -> _Diversity:
        """Merge classes; ``class_of`` is the new class of each old one."""
        return replace(
            self,
            bits=None if self.bits is None else _unite_bits(self.bits, class_of, classes),
            lists=tuple(group_value_sets(s, class_of, classes, counted=True) for s in self.lists),
            subjects=None if self.subjects is None else group_value_sets(self.subjects, class_of, classes),
            people=None if self.people is None else _sum_people(self.people, class_of, classes),
        )

    @property
    def nbytes(self) -> int:
        """Size of its arrays in bytes."""
        lists = [*self.lists, *([self.subjects] if self.subjects is not None else [])]
        per_entry = [16 if s.subjects is None and s.counts is None else 24 for s in lists]
        entries = sum(len(s.codes) * size for s, size in zip(lists, per_entry, strict=True))
        return entries + sum(array.nbytes for array in (self.bits, self.people) if array is not None)


def _sum_people(people: NDArray[np.int64], class_of: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    return np.bincount(class_of, people, minlength=classes).astype(np.int64)


def _unite_bits(bits: NDArray[np.uint64], class_of: NDArray[np.int64], classes: int) -> NDArray[np.uint64]:
    united = np.zeros((bits.shape[1], classes), np.uint64)
    for word, united_word in zip(bits.T, united, strict=True):
        np.bitwise_or.at(united_word, class_of, np.ascontiguousarray(word))
    return np.ascontiguousarray(united.T)


class MemoryFrequencySet:
    """Frequency set in memory; implements ``AttributeFrequencySet``."""

    def __init__(
        self,
        owner: MemoryFrequencySets,
        attributes: tuple[int, ...],
        levels: tuple[int, ...],
        keys: PackedKeys,
        counts: NDArray[np.int64],
        diversity: _Diversity,
    ) -> None:
        self._owner = owner
        self.attributes = attributes
        self.levels = levels
        self.keys = keys
        self.counts = counts
        self.diversity = diversity
        self.nbytes = keys.nbytes + counts.nbytes + diversity.nbytes

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.counts)

    def roll_up(self, levels: Sequence[int]) -> MemoryFrequencySet:
        """Return the frequency set of the same attributes at the same or higher levels."""
        return self._owner.derive(self, self.attributes, tuple(levels))

    def sum_out(self, attribute: int) -> MemoryFrequencySet:
        """Return the frequency set of the other attributes at the same levels."""
        index = self.attributes.index(attribute)
        attributes = self.attributes[:index] + self.attributes[index + 1 :]
        levels = self.levels[:index] + self.levels[index + 1 :]
        return self._owner.derive(self, attributes, levels)

    def suppressed(self) -> int:
        """Count the rows in classes that fail the requirement."""
        return int(self.counts[self._owner.failing(self)].sum())

    def release(self) -> None:
        """Subtract it from the used memory; a second call does nothing."""
        self._owner.forget(self)


@dataclass(eq=False)
class MemoryFrequencySets:
    """Frequency sets of a counted table; implements ``FrequencySets``."""

    table: FrequencySet
    requirement: Requirement
    memory_limit: int
    scans: int = 0
    used_bytes: int = 0
    _live: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._facts = FactCounter.of(self.table, self.requirement)
        table, needs = self._facts.table, self._facts.needs
        table, people = join_population(table) if self._facts.of_population else (table, None)
        self._fields = KeyFields(table.hierarchies)
        self._top = tuple(h.height for h in table.hierarchies)
        self._positions = [index for index, need in enumerate(needs) if need is not None]
        needed_sets = [
            sets if needs[index] is Need.COUNTS else replace(sets, counts=None)
            for index, sets in enumerate(table.sensitive)
            if index in self._positions
        ]
        diversity = replace(_build_diversity(needed_sets, table.subjects, table.row_types), people=people)
        everything = tuple(range(len(self._top)))
        keys = self._fields.pack(table.codes)
        self._row_types = MemoryFrequencySet(
            self, everything, (0,) * len(self._top), keys, table.counts, diversity
        )

    def count(self, attributes: Sequence[int], levels: Sequence[int]) -> MemoryFrequencySet:
        """Compute the frequency set of some attributes at some levels with one pass over the row types."""
        self.scans += 1
        return self.derive(self._row_types, tuple(attributes), tuple(levels))

    def derive(
        self, source: MemoryFrequencySet, attributes: tuple[int, ...], levels: tuple[int, ...]
    ) -> MemoryFrequencySet:
        """Compute the frequency set of some of the source's attributes at the same or higher levels."""
        self._reserve(source.nbytes, source.classes)
        lower, node = self._node(source.attributes, source.levels), self._node(attributes, levels)
        keys = self._fields.generalized(source.keys, lower, node)
        class_of, first, counts = self._fields.group(keys, source.counts)
        diversity = source.diversity.merged(class_of, len(first))
        result = MemoryFrequencySet(self, attributes, levels, keys[:, first], counts, diversity)
        self._live.add(id(result))
        self.used_bytes += result.nbytes
        return result

    def _node(self, attributes: tuple[int, ...], levels: tuple[int, ...]) -> LatticeNode:
        """Return the node of the whole lattice with the other attributes at their top levels."""
        node = list(self._top)
        for attribute, level in zip(attributes, levels, strict=True):
            node[attribute] = level
        return tuple(node)

    def forget(self, released: MemoryFrequencySet) -> None:
        """Subtract a released frequency set from the used memory."""
        if id(released) in self._live:
            self._live.discard(id(released))
            self.used_bytes -= released.nbytes

    def failing(self, frequency_set: MemoryFrequencySet) -> NDArray[np.bool_]:
        """Mark the classes that the requirement suppresses."""
        counts, diversity = frequency_set.counts, frequency_set.diversity
        cells = None if self.requirement.of_cells is None else self._fields.codes(frequency_set.keys)
        sizes = counts if diversity.subjects is None else np.diff(diversity.subjects.offsets)
        population = None
        if diversity.people is not None:
            population = ClassPopulation(diversity.people, absent=int(diversity.people[counts == 0].sum()))
        if diversity.bits is None:
            sets = dict(zip(self._positions, diversity.lists, strict=True))
            value_sets = [sets.get(i) for i in range(len(self.table.sensitive))]
            facts = self._facts.facts_of(sizes, value_sets, population, cells)
            return suppression_mask(self._facts.bound, facts)
        ones = np.bitwise_count(diversity.bits)
        values: list[ClassValues | None] = [None] * len(self.table.sensitive)
        for index, words in zip(self._positions, diversity.slices, strict=True):
            values[index] = ClassValues(ones[:, words].sum(axis=1, dtype=np.int64))
        return suppression_mask(self._facts.bound, ClassStatistics(sizes, tuple(values), population, cells))

    def _reserve(self, nbytes: int, classes: int) -> None:
        needed = self.used_bytes + nbytes + _WORKING_BYTES * classes
        if needed > self.memory_limit:
            raise FrequencySetsTooLarge(
                f"the search's frequency sets need about {needed:,} bytes, "
                f"but the memory limit is {self.memory_limit:,}",
                advice="Raise DISCREET_MEMORY_LIMIT, or search with --in-database, which uses the disk.",
            )


def _build_diversity(needs: Sequence[ValueSets], subjects: ValueSets | None, row_types: int) -> _Diversity:
    words = [count_words_of(s.size) for s in needs]
    listed = any(s.subjects is not None or s.counts is not None for s in needs)
    if not needs or listed or sum(words) > _MOST_WORDS:
        return _Diversity(lists=tuple(needs), subjects=subjects)
    ends = np.cumsum(words).tolist()
    slices = tuple(slice(end - width, end) for end, width in zip(ends, words, strict=True))
    bits = np.concatenate([pack_bit_sets(s, row_types) for s in needs], axis=1)
    return _Diversity(bits=bits, slices=slices, subjects=subjects)


@contextmanager
def open_frequency_sets(task: SearchProblem) -> Iterator[FrequencySets]:
    """Open the frequency sets of a problem's table, in memory or in its database.

    They are released when the context ends.
    """
    limit = task.settings.memory_limit
    if not isinstance(task.table, FactTable):
        yield MemoryFrequencySets(task.table, task.requirement, limit)
        return
    with TemporaryTables(task.table.engine) as tables:
        yield DatabaseFrequencySets(task.table, task.requirement, limit, tables)
