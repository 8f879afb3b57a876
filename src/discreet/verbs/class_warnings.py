"""Warnings about the classes of an answer or of a release: few people, one sensitive value.

Class size hides both. Cost: people take one GROUP BY by quasi-identifiers and the identifying column, once
per table and only if that column repeats; sensitive values are in the frequency set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.audit.manifest_claims import read_requirement
from discreet.errors import DiscreetError
from discreet.frequency.fact_counter import find_failing_classes
from discreet.frequency.rollup import roll_up
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.coded_warnings import (
    FEW_PEOPLE,
    SINGLE_VALUES,
    CodedWarning,
    few_people_warning,
    homogeneous_groups_warning,
    order_warnings,
    source_single_values_warning,
)
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.profile.data_warnings import warn_about_counted_values
from discreet.profile.table_warnings import warn_about_uncounted_persons
from discreet.release.manifest import Manifest
from discreet.results.answers import NegotiationResult
from discreet.verbs.table_context import TableContext

_IntArray = NDArray[np.int64]
_MIN_PEOPLE = 2
EXCEEDS_MEMORY = "the rows exceed the memory limit"


@dataclass(frozen=True, eq=False)
class ClassParts:
    """Published classes as parts: the class and the row type of each part, of one frequency set.

    ``randomly_split``: rows of one row type are drawn into several classes, so their assignment is not known
    in advance.
    """

    table: FrequencySet
    class_of: _IntArray
    row_types: _IntArray
    randomly_split: bool = False

    @classmethod
    def at_node(cls, table: FrequencySet, node: LatticeNode, requirement: Requirement) -> ClassParts:
        """Return the classes of a node that meet a requirement."""
        found = roll_up(table, node)
        fails = find_failing_classes(
            table, found.class_of, found.classes, requirement, found.population, found.codes
        )
        retained = np.flatnonzero(~fails[found.class_of])
        return cls(table, found.class_of[retained], retained)

    @classmethod
    def of_recoding(cls, table: FrequencySet, recoding: ClassRecoding) -> ClassParts:
        """Return the classes of a recoding; classes with the same labels are one."""
        _, alike = np.unique(recoding.shown, axis=0, return_inverse=True)
        retained = recoding.classes != SUPPRESSED
        classes = alike.reshape(-1)[recoding.classes[retained]]
        randomly_split = len(recoding.row_types) != table.row_types
        return cls(table, classes, recoding.row_types[retained], randomly_split)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(np.unique(self.class_of))

    def distinct(self, sets: ValueSets) -> _IntArray:
        """Count the distinct codes of each class that has one, in no guaranteed order.

        Of randomly split classes this is the maximum.
        """
        class_of, codes = self._entries(sets)
        # Class and code are packed into one integer; a plain ``unique`` is faster than one along an axis.
        pairs = class_of * max(sets.size, 1) + codes
        return np.unique(np.unique(pairs) // max(sets.size, 1), return_counts=True)[1]

    def classes_of_several(self, sets: ValueSets) -> int:
        """Count the classes that have at least two different codes; linear in the entries."""
        class_of, codes = self._entries(sets)
        one = np.zeros(int(self.class_of.max(initial=-1)) + 1, dtype=np.int64)
        # Repeated indexes: one code of each class remains, and any other code of the class differs from it.
        one[class_of] = codes
        return len(np.unique(class_of[codes != one[class_of]]))

    def _entries(self, sets: ValueSets) -> tuple[_IntArray, _IntArray]:
        """Return the class and the code of every entry of value sets."""
        starts, ends = sets.offsets[self.row_types], sets.offsets[self.row_types + 1]
        lengths = ends - starts
        # The concatenation of ``arange(start, end)`` of each part, without a loop.
        places = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        return np.repeat(self.class_of, lengths), sets.codes[places]


def class_warnings(
    table: TableContext, parts: ClassParts, requirement: Requirement
) -> tuple[CodedWarning, ...]:
    """Return the warnings of a table, those about the classes of an answer first."""
    found = (*people_warnings(table, parts, requirement), *homogeneity_warnings(parts))
    values = (*single_value_warnings(parts.table), *warn_about_counted_values(parts.table))
    return order_warnings((*found, *values, *_other_warnings(table)))


def with_warnings(table: TableContext, result: NegotiationResult) -> NegotiationResult:
    """Return an answer with the warnings about the rows of a table and the classes of its node."""
    return replace(result, warnings=answer_warnings(table, result))


def answer_warnings(table: TableContext, result: NegotiationResult) -> tuple[CodedWarning, ...]:
    """Return the warnings of a table, and of the classes of a negotiation's first answer."""
    if not result.answers:
        return table.warnings
    answer = result.answers[0].answer
    parts = ClassParts.at_node(table.counted_for(answer.requirement), answer.node, answer.requirement)
    return class_warnings(table, parts, answer.requirement)


def inspection_warnings(table: TableContext) -> tuple[CodedWarning, ...]:
    """Return the warnings of an unmodified table."""
    counted = table.frequency_set
    return (*table.warnings, *single_value_warnings(counted), *warn_about_counted_values(counted))


def publish_warnings(
    table: TableContext, parts: ClassParts | None, requirement: Requirement, reason: str = ""
) -> tuple[CodedWarning, ...]:
    """Return the warnings of a table for a release; people are counted if ``parts`` are known.

    Homogeneous classes and values that occur once are left to the audit of the written file.
    """
    others = _other_warnings(table, SINGLE_VALUES)
    if parts is None:
        return (*uncounted_people_warnings(table, reason), *others)
    return (*people_warnings(table, parts, requirement), *warn_about_counted_values(parts.table), *others)


def release_people_warnings(table: TableContext, manifest: Manifest | None) -> tuple[CodedWarning, ...]:
    """Warn that classes of a release contain few people, according to the original table.

    People are counted if the manifest records the levels of a full-domain release.
    """
    if table.findings.people.first is None:
        return ()
    names = [attribute.name for attribute in table.spec.quasi_identifiers]
    levels = {} if manifest is None else {entry.name: entry.level for entry in manifest.attributes}
    node = tuple(level for name in names if (level := levels.get(name)) is not None)
    if manifest is None or len(node) < len(names):
        return uncounted_people_warnings(table, "the manifest does not record every level")
    required = read_requirement(manifest.as_json())
    try:
        parts = ClassParts.at_node(table.counted_for(required), node, required)
    except DiscreetError as error:
        return uncounted_people_warnings(table, error.message)
    return people_warnings(table, parts, required)


def group_warnings(table: TableContext) -> tuple[str | None, tuple[CodedWarning, ...]]:
    """Return the column that identifies the people of permuted groups, and the other warnings.

    People are counted if the rows are in arrays; otherwise a warning reports that they were not counted.
    """
    key = table.findings.people.first
    counted = key is not None and key.can_be_subject
    uncounted = uncounted_people_warnings(table, _ROWS_IN_DATABASE if counted else _COLUMN_INCOMPLETE)
    others = _other_warnings(table, SINGLE_VALUES)
    return key.column if key is not None and counted else None, (*uncounted, *others)


def people_warnings(
    table: TableContext, parts: ClassParts, requirement: Requirement
) -> tuple[CodedWarning, ...]:
    """Warn that classes contain few people, by the column that identifies them; empty if none do."""
    key = table.findings.people.first
    if key is None:
        return ()
    if not key.can_be_subject:
        return uncounted_people_warnings(table, _COLUMN_INCOMPLETE)
    try:
        people = table.people_of(key.column)
        aligned = _align_row_types(people, parts.table)
    except DiscreetError as error:
        return uncounted_people_warnings(table, error.message)
    if aligned is None or people.subjects is None:
        return uncounted_people_warnings(table, "the rows changed meanwhile")
    k = max(requirement.k or 0, _MIN_PEOPLE)
    distinct = replace(parts, row_types=aligned[parts.row_types]).distinct(people.subjects)
    few = int((distinct < k).sum())
    if not few:
        return uncounted_people_warnings(table, _RANDOM_GROUPS) if parts.randomly_split else ()
    return (few_people_warning(key.column, k, few, parts.classes, at_least=parts.randomly_split),)


_COLUMN_INCOMPLETE = "it is not in every row"
_ROWS_IN_DATABASE = "the rows stay in their database"
_RANDOM_GROUPS = "rows are drawn into groups at random"


def uncounted_people_warnings(table: TableContext, reason: str) -> tuple[CodedWarning, ...]:
    """Warn that the people of classes were not counted, if a column that identifies them repeats."""
    key = table.findings.people.first
    return () if key is None else (warn_about_uncounted_persons(key, reason),)


def homogeneity_warnings(parts: ClassParts) -> tuple[CodedWarning, ...]:
    """Warn of classes in which all rows have the same value, per sensitive attribute."""
    found, classes = [], parts.classes
    for sets in parts.table.sensitive:
        several = parts.classes_of_several(sets)
        if several < classes:
            found.append(homogeneous_groups_warning(sets.attribute, classes - several, classes))
    return tuple(found)


def single_value_warnings(table: FrequencySet) -> tuple[CodedWarning, ...]:
    """Warn of rows, or subjects, with a sensitive value that no other row or subject has.

    Attributes without counted values are skipped.
    """
    found = []
    unit, number = ("rows", table.rows) if table.subjects is None else ("people", table.subjects.size)
    for sets in table.sensitive:
        singles = _count_singletons(sets)
        if singles:
            found.append(source_single_values_warning(sets.attribute, singles, number, unit))
    return tuple(found)


def _count_singletons(sets: ValueSets) -> int:
    """Count the values that only one row, or one subject's rows, have; 0 if values were not counted."""
    if sets.subjects is not None:
        pairs = np.unique(np.stack([sets.codes, sets.subjects]), axis=1)
        return int((np.bincount(pairs[0]) == 1).sum()) if pairs.size else 0
    if sets.counts is None or not len(sets.codes):
        return 0
    return int((np.bincount(sets.codes, sets.counts) == 1).sum())


def _other_warnings(table: TableContext, *reported: str) -> Sequence[CodedWarning]:
    """Return a table's warnings except those about people (counted per class) and of codes ``reported``."""
    return [warning for warning in table.warnings if warning.code not in (FEW_PEOPLE, *reported)]


def _align_row_types(people: FrequencySet, table: FrequencySet) -> _IntArray | None:
    """Return the index in ``people`` of each row type of ``table``; None if the row types differ."""
    if people.codes.shape != table.codes.shape:
        return None
    order, other = np.lexsort(table.codes.T), np.lexsort(people.codes.T)
    if not np.array_equal(table.codes[order], people.codes[other]):
        return None
    result = np.empty(len(order), dtype=np.int64)
    result[order] = other
    return result
