"""What a criterion is told of the classes of one table: their sizes, and the sensitive values in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.sensitive_attribute import SensitiveAttribute


@dataclass(frozen=True, eq=False)
class ClassValues:
    """One sensitive attribute in every class; NULL is no value.

    ``distinct`` holds each class's number of distinct values, shape ``(classes,)``; where subjects count,
    those that as many different subjects carry. The rest is there where a criterion needs rows by value
    (``Need.COUNTS``): of the pairs of class and value that occur, in ascending order, ``owners`` are the
    classes, ``codes`` the values and ``counts`` the rows; ``of`` is the attribute in the whole table.
    """

    distinct: NDArray[np.int64]
    owners: NDArray[np.int64] | None = None
    codes: NDArray[np.int64] | None = None
    counts: NDArray[np.int64] | None = None
    of: SensitiveAttribute | None = None


@dataclass(frozen=True, eq=False)
class ClassPopulation:
    """The population's people who match each class, shape ``(classes,)``, its own rows among them.

    ``absent`` are those who match no class at all; people of a class without rows are among them.
    """

    people: NDArray[np.int64]
    absent: int


@dataclass(frozen=True, eq=False)
class ClassFacts:
    """The classes of one table: ``sizes``, shape ``(classes,)``, are what k counts, rows or subjects.

    ``values`` has one entry per sensitive attribute of the table, None for those that nobody asked of.
    ``population`` is None where the table has none, and where classes are no classes of a node, so that
    nobody can tell who else matches them. ``cells``, shape ``(classes, quasi-identifiers)``, is what classes
    of a node show, as numbers of which equal ones mean equal cells; None where nobody tells it.
    """

    sizes: NDArray[np.int64]
    values: tuple[ClassValues | None, ...] = ()
    population: ClassPopulation | None = None
    cells: NDArray[np.int64] | None = None

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)
