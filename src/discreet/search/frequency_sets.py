"""Frequency sets for searches: the interface, and the implementation with arrays in memory.

A frequency set belongs to some quasi-identifiers at given levels. A *scan* computes it from the table;
otherwise it is rolled up (counts of values that become equal are added; LeFevre et al. 2005, rollup
property) or summed out (an attribute is removed). ``database_frequency_sets`` implements the same
interface with temporary tables.

Cost of one from n classes or row types: a pass over n keys per attribute that changes, and one sort or
hash of n keys; lists of sensitive values are sorted too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from discreet.errors import LimitReached
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.search.node_counts import StatisticsCounter


class FrequencySetsTooLarge(LimitReached):
    """Frequency sets in memory would exceed the memory limit; the database has room on disk."""


class AttributeFrequencySet:
    """Frequency set: the equivalence classes of some attributes at some levels, with their rows.

    ``attributes`` are their positions in the lattice, ascending, with a level each. ``content`` contains the
    classes, in the form of the ``owner``.
    """

    def __init__(
        self, owner: FrequencySets, attributes: tuple[int, ...], levels: tuple[int, ...], content: Any
    ) -> None:
        self._owner = owner
        self.attributes = attributes
        self.levels = levels
        self.content = content

    @cached_property
    def classes(self) -> int:
        """Number of classes, divided by sensitive values if the database needs them."""
        return self._owner.count_classes(self)

    @cached_property
    def nbytes(self) -> int:
        """Approximate size in bytes."""
        return self._owner.count_bytes(self)

    def roll_up(self, levels: Sequence[int]) -> AttributeFrequencySet:
        """Return the frequency set of the same attributes at the same or higher levels."""
        return self._owner.derive(self, self.attributes, tuple(levels))

    def sum_out(self, attribute: int) -> AttributeFrequencySet:
        """Return the frequency set of the other attributes at the same levels."""
        index = self.attributes.index(attribute)
        attributes = self.attributes[:index] + self.attributes[index + 1 :]
        levels = self.levels[:index] + self.levels[index + 1 :]
        return self._owner.derive(self, attributes, levels)

    def suppressed(self) -> int:
        """Count the rows in classes that fail the requirement."""
        return self._owner.suppressed(self)

    def release(self) -> None:
        """Free its memory or table; a second call does nothing."""
        self._owner.release(self)


class FrequencySets(ABC):
    """Frequency sets of one table under one requirement.

    ``scans`` counts those computed from the table itself.
    """

    scans: int

    @property
    @abstractmethod
    def used_bytes(self) -> int:
        """Approximate size in bytes of the frequency sets that are not yet released."""

    @abstractmethod
    def count(self, attributes: Sequence[int], levels: Sequence[int]) -> AttributeFrequencySet:
        """Compute the frequency set of some attributes at some levels from the table, with one scan.

        Raises ``FrequencySetsTooLarge`` if it would exceed the memory limit.
        """

    @abstractmethod
    def derive(
        self, source: AttributeFrequencySet, attributes: tuple[int, ...], levels: tuple[int, ...]
    ) -> AttributeFrequencySet:
        """Compute the frequency set of some of the source's attributes at the same or higher levels."""

    @abstractmethod
    def suppressed(self, of: AttributeFrequencySet) -> int:
        """Count the rows in classes that fail the requirement."""

    @abstractmethod
    def count_classes(self, of: AttributeFrequencySet) -> int:
        """Return the number of classes."""

    @abstractmethod
    def count_bytes(self, of: AttributeFrequencySet) -> int:
        """Return the approximate size in bytes."""

    @abstractmethod
    def release(self, released: AttributeFrequencySet) -> None:
        """Free the memory or table of a frequency set; a second call does nothing."""


_WORKING_BYTES = 40


class MemoryFrequencySets(FrequencySets):
    """Frequency sets of a counted table; the content of each is a ``NodeClasses``."""

    def __init__(self, table: FrequencySet, requirement: Requirement, memory_limit: int) -> None:
        self.scans = 0
        self._tops = [hierarchy.height for hierarchy in table.hierarchies]
        self._memory_limit = memory_limit
        # Without a cache: searches decide which frequency sets they keep.
        self._counter = StatisticsCounter(table, requirement, 0)
        everything = tuple(range(len(self._tops)))
        row_types = self._counter.classes.row_types
        self._row_types = AttributeFrequencySet(self, everything, row_types.node, row_types)
        self._live: dict[int, int] = {}

    @property
    def used_bytes(self) -> int:
        """Approximate size in bytes of the frequency sets that are not yet released."""
        return sum(self._live.values())

    def count(self, attributes: Sequence[int], levels: Sequence[int]) -> AttributeFrequencySet:
        """Compute the frequency set of some attributes at some levels with one pass over the row types."""
        self.scans += 1
        return self.derive(self._row_types, tuple(attributes), tuple(levels))

    def derive(
        self, source: AttributeFrequencySet, attributes: tuple[int, ...], levels: tuple[int, ...]
    ) -> AttributeFrequencySet:
        """Compute the frequency set of some of the source's attributes at the same or higher levels."""
        self._reserve(source.nbytes, source.classes)
        # The node of the whole lattice with the other attributes at their top levels.
        node = self._tops.copy()
        for attribute, level in zip(attributes, levels, strict=True):
            node[attribute] = level
        content = self._counter.classes.derive(source.content, tuple(node))
        result = AttributeFrequencySet(self, attributes, levels, content)
        self._live[id(result)] = result.nbytes
        return result

    def suppressed(self, of: AttributeFrequencySet) -> int:
        """Count the rows in classes that fail the requirement."""
        return int(of.content.sizes[self._counter.failing(of.content)].sum())

    def count_classes(self, of: AttributeFrequencySet) -> int:
        """Return the number of classes."""
        return int(of.content.classes)

    def count_bytes(self, of: AttributeFrequencySet) -> int:
        """Return the size of the arrays in bytes."""
        return int(of.content.nbytes)

    def release(self, released: AttributeFrequencySet) -> None:
        """Subtract a frequency set from the used memory; a second call does nothing."""
        self._live.pop(id(released), None)

    def _reserve(self, nbytes: int, classes: int) -> None:
        needed = self.used_bytes + nbytes + _WORKING_BYTES * classes
        if needed > self._memory_limit:
            raise FrequencySetsTooLarge(
                f"the search's frequency sets need about {needed:,} bytes, "
                f"but the memory limit is {self._memory_limit:,}",
                advice="Raise DISCREET_MEMORY_LIMIT, or search with --in-database, which uses the disk.",
            )
