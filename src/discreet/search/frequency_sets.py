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
from discreet.model.criteria.base import Need
from discreet.model.criterion_inputs import ClassPopulation
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


_WORKING_BYTES = 40


@dataclass(frozen=True, eq=False)
class _ClassContents:
    """Contents of the classes besides their numbers of rows.

    ``sets`` are the values of each counted sensitive attribute, ``subjects`` the units that k counts.
    ``population`` is the number of people who match each class, if a criterion needs it; classes without
    rows are included.
    """

    sets: tuple[ValueSets, ...] = ()
    subjects: ValueSets | None = None
    population: NDArray[np.int64] | None = None

    def merged(self, class_of: NDArray[np.int64], classes: int) -> _ClassContents:
        """Merge classes; ``class_of`` is the new class of each old one."""
        population = self.population
        if population is not None:
            population = np.bincount(class_of, population, minlength=classes).astype(np.int64)
        return _ClassContents(
            tuple(group_value_sets(s, class_of, classes, counted=True) for s in self.sets),
            None if self.subjects is None else group_value_sets(self.subjects, class_of, classes),
            population,
        )

    @property
    def nbytes(self) -> int:
        """Size of its arrays in bytes."""
        lists = self.sets if self.subjects is None else (*self.sets, self.subjects)
        entries = sum(len(s.codes) * (16 if s.subjects is None and s.counts is None else 24) for s in lists)
        return entries + (0 if self.population is None else self.population.nbytes)


class MemoryFrequencySet:
    """Frequency set in memory; implements ``AttributeFrequencySet``."""

    def __init__(
        self,
        owner: MemoryFrequencySets,
        attributes: tuple[int, ...],
        levels: tuple[int, ...],
        keys: PackedKeys,
        counts: NDArray[np.int64],
        contents: _ClassContents,
    ) -> None:
        self._owner = owner
        self.attributes = attributes
        self.levels = levels
        self.keys = keys
        self.counts = counts
        self.contents = contents
        self.nbytes = keys.nbytes + counts.nbytes + contents.nbytes

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
        table, population = join_population(table) if self._facts.of_population else (table, None)
        self._fields = KeyFields(table.hierarchies)
        self._top = tuple(h.height for h in table.hierarchies)
        self._positions = [index for index, need in enumerate(needs) if need is not None]
        needed_sets = tuple(
            sets if needs[index] is Need.COUNTS else replace(sets, counts=None)
            for index, sets in enumerate(table.sensitive)
            if index in self._positions
        )
        contents = _ClassContents(needed_sets, table.subjects, population)
        everything = tuple(range(len(self._top)))
        keys = self._fields.pack(table.codes)
        self._row_types = MemoryFrequencySet(
            self, everything, (0,) * len(self._top), keys, table.counts, contents
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
        contents = source.contents.merged(class_of, len(first))
        result = MemoryFrequencySet(self, attributes, levels, keys[:, first], counts, contents)
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
        counts, contents = frequency_set.counts, frequency_set.contents
        cells = None if self.requirement.of_cells is None else self._fields.codes(frequency_set.keys)
        sizes = counts if contents.subjects is None else np.diff(contents.subjects.offsets)
        population = None
        if contents.population is not None:
            absent = int(contents.population[counts == 0].sum())
            population = ClassPopulation(contents.population, absent=absent)
        sets = dict(zip(self._positions, contents.sets, strict=True))
        value_sets = [sets.get(i) for i in range(len(self.table.sensitive))]
        facts = self._facts.facts_of(sizes, value_sets, population, cells)
        return suppression_mask(self._facts.bound, facts)

    def _reserve(self, nbytes: int, classes: int) -> None:
        needed = self.used_bytes + nbytes + _WORKING_BYTES * classes
        if needed > self.memory_limit:
            raise FrequencySetsTooLarge(
                f"the search's frequency sets need about {needed:,} bytes, "
                f"but the memory limit is {self.memory_limit:,}",
                advice="Raise DISCREET_MEMORY_LIMIT, or search with --in-database, which uses the disk.",
            )


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
