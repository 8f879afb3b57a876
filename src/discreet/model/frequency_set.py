"""Frequency sets: row types with counts, their sensitive values, the population and the subjects.

The population has its own row types and is joined with the table only where both are rolled up together. If
no subject has two rows, counting rows counts subjects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.hierarchy import GeneralizationHierarchy


@dataclass(frozen=True, eq=False)
class Population:
    """Distinct combinations of quasi-identifier values in a population, with their people.

    ``codes`` has shape ``(row types, quasi-identifiers)`` and contains leaf codes of the frequency set's
    hierarchies, which also cover the population's values; ``counts`` contains people, at least as many in
    each combination as the table has rows. ``dropped`` is the number that the NULL policy removed.
    """

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    dropped: int = 0

    @property
    def people(self) -> int:
        """Number of people, after the NULL policy."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class ValueSets:
    """The set of codes that occur in each row type, in compressed-row form.

    The set of row type ``i`` is ``codes[offsets[i]:offsets[i + 1]]``. ``size`` is the number of distinct
    codes in the whole table; codes count from 0. NULL is excluded.

    If the spec names a subject, ``subjects`` is parallel to ``codes`` and contains the subject of each entry;
    the entries are then distinct pairs of subject and code. Otherwise ``counts`` may be parallel to
    ``codes``: the rows of the row type that have the code, so that together with the rows whose value is NULL
    they add up to the row type's count. ``of`` is a table's sensitive attribute as a whole.
    """

    attribute: str
    size: int
    offsets: NDArray[np.int64]
    codes: NDArray[np.int64]
    subjects: NDArray[np.int64] | None = None
    counts: NDArray[np.int64] | None = None
    of: SensitiveAttribute | None = None


@dataclass(frozen=True, eq=False)
class FrequencySet:
    """Distinct combinations of quasi-identifier values with their counts (LeFevre et al. 2005).

    ``codes`` has shape ``(row types, quasi-identifiers)`` and contains leaf codes of ``hierarchies`` (NULL is
    ``hierarchy.null_code``); rows of ``codes`` are distinct, in no guaranteed order. ``counts`` contains
    rows. ``sensitive`` contains one ``ValueSets`` per sensitive attribute. ``subjects`` contains the subjects
    of each row type if the spec names a subject, else None; k then counts subjects, suppression still counts
    rows.

    ``dropped`` is the number of rows that the NULL policy removed, ``set_apart`` that of rows with stars or
    NULL in every quasi-identifier, and a star in at least one (decision 0016); ``counts`` includes neither.
    ``starred`` is the number of rows with a star in a sensitive attribute, by its name: the star is read as
    NULL. ``population`` is set if the spec names one. ``has_all_sensitive`` is true if ``sensitive`` contains
    all sensitive attributes of the table.
    """

    hierarchies: tuple[GeneralizationHierarchy, ...]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    sensitive: tuple[ValueSets, ...] = ()
    subjects: ValueSets | None = None
    dropped: int = 0
    set_apart: int = 0
    starred: Mapping[str, int] = field(default_factory=dict)
    population: Population | None = None
    has_all_sensitive: bool = True

    @property
    def attributes(self) -> tuple[str, ...]:
        """Quasi-identifiers, in the lattice's order."""
        return tuple(h.attribute for h in self.hierarchies)

    @property
    def rows(self) -> int:
        """Number of rows after the NULL policy."""
        return int(self.counts.sum())

    @property
    def row_types(self) -> int:
        """Number of distinct combinations of quasi-identifier values."""
        return len(self.counts)

    @cached_property
    def rows_by_code(self) -> tuple[NDArray[np.int64], ...]:
        """Rows of each leaf code of each quasi-identifier, NULL last; read-only."""
        found = []
        for hierarchy, codes in zip(self.hierarchies, self.codes.T, strict=True):
            rows = np.bincount(codes, self.counts, hierarchy.null_code + 1).astype(np.int64)
            rows.flags.writeable = False
            found.append(rows)
        return tuple(found)

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """Sensitive attributes, in the spec's order."""
        return tuple(s.attribute for s in self.sensitive)


def join_population(table: FrequencySet) -> tuple[FrequencySet, NDArray[np.int64]]:
    """Append the population's row types to a table's, with 0 rows each; return it and the people of each.

    The result is only for rolling up both together: other code does not expect counts of 0. Cost: a sort of
    the row types of both.
    """
    population = table.population
    if population is None:
        raise InternalError("a table without a population was to be joined with it")
    both = np.concatenate([table.codes, population.codes])
    kinds, kind = np.unique(both, axis=0, return_inverse=True)
    kind = kind.ravel()
    own, theirs = kind[: table.row_types], kind[table.row_types :]
    position_of = np.full(len(kinds), -1)
    position_of[own] = np.arange(table.row_types)
    is_missing = position_of[theirs] < 0
    people = np.zeros(table.row_types, np.int64)
    people[position_of[theirs[~is_missing]]] = population.counts[~is_missing]
    more = int(is_missing.sum())
    found = replace(
        table,
        codes=np.concatenate([table.codes, population.codes[is_missing]]),
        counts=np.concatenate([table.counts, np.zeros(more, np.int64)]),
        sensitive=tuple(_extend_value_sets(sets, more) for sets in table.sensitive),
    )
    return found, np.concatenate([people, population.counts[is_missing]])


def _extend_value_sets(sets: ValueSets, more: int) -> ValueSets:
    return replace(sets, offsets=np.concatenate([sets.offsets, np.full(more, sets.offsets[-1])]))


def has_one_row_per_subject(table: FrequencySet) -> bool:
    """Return whether no subject has two rows; true if the spec names no subject."""
    return table.subjects is None or len(np.unique(table.subjects.codes)) == table.rows


def drop_unneeded_subjects(table: FrequencySet) -> FrequencySet:
    """Return the table without subjects if no subject has two rows, otherwise the table itself."""
    if table.subjects is None or not has_one_row_per_subject(table):
        return table
    sensitive = tuple(_rows_by_value(sets, table.row_types) for sets in table.sensitive)
    return replace(table, sensitive=sensitive, subjects=None)


def class_test_of_subjects_error() -> InputError:
    """Return the error for a class test, which reads rows by value, where subjects have several rows."""
    return InputError(
        "a class test counts rows, but subjects are counted here, and some have several rows",
        allowed="k, l and other criteria of subjects",
        advice="Leave the class test out, or bring the table to one row per subject first.",
    )


def _rows_by_value(sets: ValueSets, row_types: int) -> ValueSets:
    """Count the entries of pairs of subject and code by code."""
    size = max(sets.size, 1)
    pairs = np.repeat(np.arange(row_types), np.diff(sets.offsets)) * size + sets.codes
    found, counts = np.unique(pairs, return_counts=True)
    row_type, codes = np.divmod(found, size)
    offsets = np.searchsorted(row_type, np.arange(row_types + 1))
    return ValueSets(sets.attribute, sets.size, offsets, codes, None, counts, sets.of)
