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
from dataclasses import dataclass, field
from typing import Protocol

from discreet.engines.source_tables import TemporaryTables
from discreet.errors import LimitReached
from discreet.frequency.node_classes import NodeClasses
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.search.database_frequency_sets import DatabaseFrequencySets
from discreet.search.node_counts import StatisticsCounter
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


class MemoryFrequencySet:
    """Frequency set in memory; implements ``AttributeFrequencySet``."""

    def __init__(
        self,
        owner: MemoryFrequencySets,
        attributes: tuple[int, ...],
        levels: tuple[int, ...],
        counted: NodeClasses,
    ) -> None:
        self._owner = owner
        self.attributes = attributes
        self.levels = levels
        self.counted = counted
        self.classes = counted.classes
        self.nbytes = counted.nbytes

    def roll_up(self, levels: Sequence[int]) -> MemoryFrequencySet:
        """Return the frequency set of the same attributes at the same or higher levels."""
        return self._owner.derive(self.counted, self.attributes, tuple(levels))

    def sum_out(self, attribute: int) -> MemoryFrequencySet:
        """Return the frequency set of the other attributes at the same levels."""
        index = self.attributes.index(attribute)
        attributes = self.attributes[:index] + self.attributes[index + 1 :]
        levels = self.levels[:index] + self.levels[index + 1 :]
        return self._owner.derive(self.counted, attributes, levels)

    def suppressed(self) -> int:
        """Count the rows in classes that fail the requirement."""
        return int(self.counted.sizes[self._owner.counter.failing(self.counted)].sum())

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
        # Without a cache: searches decide which frequency sets they keep.
        self.counter = StatisticsCounter(self.table, self.requirement, 0)

    def count(self, attributes: Sequence[int], levels: Sequence[int]) -> MemoryFrequencySet:
        """Compute the frequency set of some attributes at some levels with one pass over the row types."""
        self.scans += 1
        return self.derive(self.counter.classes.row_types, tuple(attributes), tuple(levels))

    def derive(
        self, source: NodeClasses, attributes: tuple[int, ...], levels: tuple[int, ...]
    ) -> MemoryFrequencySet:
        """Compute the frequency set of some of the source's attributes at the same or higher levels."""
        self._reserve(source.nbytes, source.classes)
        # The node of the whole lattice with the other attributes at their top levels.
        node = [hierarchy.height for hierarchy in self.table.hierarchies]
        for attribute, level in zip(attributes, levels, strict=True):
            node[attribute] = level
        counted = self.counter.classes.derive(source, tuple(node))
        result = MemoryFrequencySet(self, attributes, levels, counted)
        self._live.add(id(result))
        self.used_bytes += result.nbytes
        return result

    def forget(self, released: MemoryFrequencySet) -> None:
        """Subtract a released frequency set from the used memory."""
        if id(released) in self._live:
            self._live.discard(id(released))
            self.used_bytes -= released.nbytes

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
