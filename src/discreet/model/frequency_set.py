"""The frequency set of a table: row types with counts, and the sensitive values of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.population import Population
from discreet.model.sensitive_attribute import SensitiveAttribute


@dataclass(frozen=True, eq=False)
class ValueSets:
    """For each row type the set of codes that occur in it, in compressed-row form.

    The set of row type ``i`` is ``codes[offsets[i]:offsets[i + 1]]``. ``size`` is the number of different
    codes in the whole table; codes count from 0. NULL is left out.

    Where the spec names a subject, ``subjects`` runs beside ``codes`` and names the subject of each entry;
    the entries are then distinct pairs of subject and code. Elsewhere ``counts`` may run beside ``codes``:
    the rows of the row type that have the code, so that with the rows whose value is NULL they add up to the
    row type's count. ``of`` is a table's sensitive attribute as a whole.
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

    ``codes`` has shape ``(row types, quasi-identifiers)`` and holds leaf codes of ``hierarchies`` (NULL is
    ``hierarchy.null_code``); rows of ``codes`` are distinct, in no promised order. ``counts`` holds rows.
    ``sensitive`` holds one ``ValueSets`` per sensitive attribute. ``subjects`` holds the subjects of each row
    type where the spec names a subject, else None; k then counts subjects, suppression still counts rows.
    ``dropped`` is the number of rows that the NULL policy left out, ``set_apart`` that of rows with stars or
    NULL in every quasi-identifier, and a star in one (decision 0016); neither are in ``counts``. ``starred``
    are the rows with a star in a sensitive attribute, by its name: it is read as NULL.
    ``population`` is there where the spec names one. ``whole`` says that ``sensitive`` leaves none of
    the table's sensitive attributes out.
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
    whole: bool = True

    @property
    def attributes(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the lattice's order."""
        return tuple(h.attribute for h in self.hierarchies)

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""
        return int(self.counts.sum())

    @property
    def row_types(self) -> int:
        """Distinct combinations of quasi-identifier values."""
        return len(self.counts)

    @cached_property
    def rows_by_code(self) -> tuple[NDArray[np.int64], ...]:
        """Of each quasi-identifier the rows of each leaf code, NULL last; read-only."""
        found = []
        for hierarchy, codes in zip(self.hierarchies, self.codes.T, strict=True):
            rows = np.bincount(codes, self.counts, hierarchy.null_code + 1).astype(np.int64)
            rows.flags.writeable = False
            found.append(rows)
        return tuple(found)

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """The sensitive attributes, in the spec's order."""
        return tuple(s.attribute for s in self.sensitive)
