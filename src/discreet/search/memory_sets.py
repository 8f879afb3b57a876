"""Frequency sets as arrays in memory.

Each holds packed keys and rows by class. Where the requirement asks for distinct values, classes have a set
of sensitive values too: a row of bits, rolled up by OR; or, with more than 4,096 values, where the spec names
a subject or rows are asked by value, lists of distinct entries (value, or value and subject; with rows).
Classes are judged by ``model.judge``, as ``frequency.class_facts`` tells of them.

Cost of making one from n classes (or row types): a pass over n keys per attribute that changes, and one sort
or hash of n keys (``frequency.packed_keys``); lists of entries are sorted too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_facts import FactCounter, by_class
from discreet.frequency.packed_keys import KeyFields, Keys
from discreet.kernels.plan import words_of
from discreet.lattice.evaluate import bit_sets
from discreet.model.class_facts import ClassFacts, ClassPopulation, ClassValues
from discreet.model.criteria.base import Need
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.joined_population import joined
from discreet.model.judge import suppressed
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.search.frequencies import FrequencySetsTooLarge

_MOST_WORDS = 64
_WORKING_BYTES = 40


@dataclass(frozen=True, eq=False)
class _Diversity:
    """What each class is tested for beside its rows.

    ``bits`` has one row per class; ``slices`` are the words of each sensitive attribute asked for. ``lists``
    serve instead where bits do not: one per sensitive attribute asked for. ``subjects`` are what k counts.
    ``people`` are the population's who match each class, those without rows among the classes, where asked.
    """

    bits: NDArray[np.uint64] | None = None
    slices: tuple[slice, ...] = ()
    lists: tuple[ValueSets, ...] = ()
    subjects: ValueSets | None = None
    people: NDArray[np.int64] | None = None

    def merged(self, class_of: NDArray[np.int64], classes: int) -> _Diversity:
        """The same of merged classes; ``class_of`` is the new class of each old one."""
        return replace(
            self,
            bits=None if self.bits is None else _united(self.bits, class_of, classes),
            lists=tuple(by_class(s, class_of, classes, counted=True) for s in self.lists),
            subjects=None if self.subjects is None else by_class(self.subjects, class_of, classes),
            people=None if self.people is None else _added(self.people, class_of, classes),
        )

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        lists = [*self.lists, *([self.subjects] if self.subjects is not None else [])]
        per_entry = [16 if s.subjects is None and s.counts is None else 24 for s in lists]
        entries = sum(len(s.codes) * size for s, size in zip(lists, per_entry, strict=True))
        return entries + sum(held.nbytes for held in (self.bits, self.people) if held is not None)


def _added(people: NDArray[np.int64], class_of: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    return np.bincount(class_of, people, minlength=classes).astype(np.int64)


def _united(bits: NDArray[np.uint64], class_of: NDArray[np.int64], classes: int) -> NDArray[np.uint64]:
    united = np.zeros((bits.shape[1], classes), np.uint64)
    for word, united_word in zip(bits.T, united, strict=True):
        np.bitwise_or.at(united_word, class_of, np.ascontiguousarray(word))
    return np.ascontiguousarray(united.T)


class MemorySet:
    """One frequency set in memory: see ``FrequencyClasses``."""

    def __init__(
        self,
        owner: MemoryFrequencies,
        attributes: tuple[int, ...],
        levels: tuple[int, ...],
        keys: Keys,
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
        """Classes."""
        return len(self.counts)

    def roll_up(self, levels: Sequence[int]) -> MemorySet:
        """The frequency set of the same attributes at levels none of which is lower."""
        return self._owner.made(self, self.attributes, tuple(levels))

    def sum_out(self, attribute: int) -> MemorySet:
        """The frequency set of the other attributes at the same levels."""
        place = self.attributes.index(attribute)
        attributes = self.attributes[:place] + self.attributes[place + 1 :]
        levels = self.levels[:place] + self.levels[place + 1 :]
        return self._owner.made(self, attributes, levels)

    def suppressed(self) -> int:
        """Rows in classes that fail the requirement."""
        return int(self.counts[self._owner.failing(self)].sum())

    def release(self) -> None:
        """Free it; a second call does nothing."""
        self._owner.forget(self)


@dataclass(eq=False)
class MemoryFrequencies:
    """The frequency sets of a counted table: see ``Frequencies``."""

    table: FrequencySet
    requirement: Requirement
    memory_limit: int
    scans: int = 0
    held_bytes: int = 0
    _held: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._facts = FactCounter.of(self.table, self.requirement)
        table, asked = self._facts.table, self._facts.asked
        table, people = joined(table) if self._facts.of_population else (table, None)
        self._fields = KeyFields(table.hierarchies)
        self._top = tuple(h.height for h in table.hierarchies)
        self._places = [place for place, need in enumerate(asked) if need is not None]
        held = [
            sets if asked[place] is Need.COUNTS else replace(sets, counts=None)
            for place, sets in enumerate(table.sensitive)
            if place in self._places
        ]
        diversity = replace(_diversity(held, table.subjects, table.row_types), people=people)
        everything = tuple(range(len(self._top)))
        keys = self._fields.pack(table.codes)
        self._row_types = MemorySet(self, everything, (0,) * len(self._top), keys, table.counts, diversity)

    def count(self, attributes: Sequence[int], levels: Sequence[int]) -> MemorySet:
        """The frequency set of some attributes at some levels: one pass over the row types."""
        self.scans += 1
        return self.made(self._row_types, tuple(attributes), tuple(levels))

    def made(self, source: MemorySet, attributes: tuple[int, ...], levels: tuple[int, ...]) -> MemorySet:
        """The frequency set of some of a frequency set's attributes, at levels none of which is lower."""
        self._reserve(source.nbytes, source.classes)
        lower, node = self._node(source.attributes, source.levels), self._node(attributes, levels)
        keys = self._fields.generalized(source.keys, lower, node)
        class_of, first, counts = self._fields.group(keys, source.counts)
        diversity = source.diversity.merged(class_of, len(first))
        found = MemorySet(self, attributes, levels, keys[:, first], counts, diversity)
        self._held.add(id(found))
        self.held_bytes += found.nbytes
        return found

    def _node(self, attributes: tuple[int, ...], levels: tuple[int, ...]) -> LatticeNode:
        """A node of the whole lattice: attributes that are left out stand at their tops."""
        node = list(self._top)
        for attribute, level in zip(attributes, levels, strict=True):
            node[attribute] = level
        return tuple(node)

    def forget(self, released: MemorySet) -> None:
        """Count a frequency set as held no more."""
        if id(released) in self._held:
            self._held.discard(id(released))
            self.held_bytes -= released.nbytes

    def failing(self, found: MemorySet) -> NDArray[np.bool_]:
        """The classes that the requirement suppresses."""
        counts, diversity = found.counts, found.diversity
        cells = None if self.requirement.of_cells is None else self._fields.codes(found.keys)
        sizes = counts if diversity.subjects is None else np.diff(diversity.subjects.offsets)
        population = None
        if diversity.people is not None:
            population = ClassPopulation(diversity.people, absent=int(diversity.people[counts == 0].sum()))
        if diversity.bits is None:
            sets = dict(zip(self._places, diversity.lists, strict=True))
            held = [sets.get(i) for i in range(len(self.table.sensitive))]
            facts = self._facts.facts_of(sizes, held, population, cells)
            return suppressed(self._facts.bound, facts)
        ones = np.bitwise_count(diversity.bits)
        values: list[ClassValues | None] = [None] * len(self.table.sensitive)
        for place, words in zip(self._places, diversity.slices, strict=True):
            values[place] = ClassValues(ones[:, words].sum(axis=1, dtype=np.int64))
        return suppressed(self._facts.bound, ClassFacts(sizes, tuple(values), population, cells))

    def _reserve(self, nbytes: int, classes: int) -> None:
        needed = self.held_bytes + nbytes + _WORKING_BYTES * classes
        if needed > self.memory_limit:
            raise FrequencySetsTooLarge(
                f"the search's frequency sets need about {needed:,} bytes, "
                f"but the memory limit is {self.memory_limit:,}",
                advice="Raise DISCREET_MEMORY_LIMIT, or search with --in-database, which has room on disk.",
            )


def _diversity(asked: Sequence[ValueSets], subjects: ValueSets | None, row_types: int) -> _Diversity:
    words = [words_of(s.size) for s in asked]
    listed = any(s.subjects is not None or s.counts is not None for s in asked)
    if not asked or listed or sum(words) > _MOST_WORDS:
        return _Diversity(lists=tuple(asked), subjects=subjects)
    ends = np.cumsum(words).tolist()
    slices = tuple(slice(end - width, end) for end, width in zip(ends, words, strict=True))
    bits = np.concatenate([bit_sets(s, row_types) for s in asked], axis=1)
    return _Diversity(bits=bits, slices=slices, subjects=subjects)
