"""Rows by value as criteria of distributions read them: of each class, and of the whole table.

NULL is no value: it is counted in neither. A share is of the rows that have a value, which is never smaller
than the share of all rows, so that a value is not hidden among NULLs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_facts import ClassValues

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counted:
    """The pairs of class and value that occur, and each class's rows with a value.

    ``owners``, ``codes`` and ``counts`` are those of ``ClassValues``; ``known`` has shape ``(classes,)``.
    """

    owners: Whole
    codes: Whole
    counts: Whole
    known: Whole
    distinct: Whole

    @classmethod
    def of(cls, values: ClassValues | None, classes: int) -> Counted:
        """From what a criterion of ``Need.COUNTS`` is told."""
        assert values is not None
        assert values.owners is not None
        assert values.codes is not None
        assert values.counts is not None
        known = np.zeros(classes, np.int64)
        np.add.at(known, values.owners, values.counts)
        return cls(values.owners, values.codes, values.counts, known, values.distinct)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Whether a class has no value at all, shape ``(classes,)``."""
        none: NDArray[np.bool_] = self.known == 0
        return none

    def total(self, of_pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """A number of each pair, summed by class."""
        return np.bincount(self.owners, of_pairs, minlength=len(self.known)).astype(np.float64)

    def largest(self, of_pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest number, none negative, of a class's pairs; 0 of a class without."""
        found = np.zeros(len(self.known))
        np.maximum.at(found, self.owners, of_pairs)
        return found

    def beside(self, table: Whole) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each pair's share in its class and in the table, both times the rows that both have.

        So their quotient is that of the shares, and whole numbers as far as 2**53 are exact. ``table`` holds
        the table's rows by code; a value that it lacks has a share of 0 there.
        """
        mine = self.counts.astype(np.float64) * float(table.sum())
        return mine, self.known[self.owners].astype(np.float64) * table[self.codes]


def table_rows(values: ClassValues | None) -> Whole:
    """The whole table's rows by code: the distribution that classes are compared with."""
    assert values is not None
    assert values.of is not None
    return values.of.rows


PAIRS = "SELECT class, value, count(*) AS n FROM {rows} WHERE value IS NOT NULL GROUP BY class, value"
"""Rows of each class by value, in SQL."""

DOUBLE = "exp(0)"
"""One, as a double in every engine: what is multiplied by it is no whole number or decimal."""


def pairs(rows: str) -> str:
    """SQL: ``class``, ``value``, its rows ``n``, and the class's rows with a value ``known``, as a double."""
    counted = PAIRS.format(rows=rows)
    return (
        f"SELECT class, value, n, sum(n) OVER (PARTITION BY class) * {DOUBLE} AS known FROM ({counted}) AS p"
    )


def beside_table(rows: str, values: str) -> str:
    """SQL: ``pairs``, with the value's rows in the table ``held`` and the table's rows ``whole``, as doubles.

    ``values`` is the relation of ``WholeTable``, of ``number`` values; ``held`` is NULL for a value that it
    lacks.
    """
    totals = f"sum(held) OVER () * {DOUBLE} AS whole, count(*) OVER () AS number"
    table = f"SELECT value, held * {DOUBLE} AS held, {totals} FROM {values}"
    joined = f"({pairs(rows)}) AS p LEFT JOIN ({table}) AS t ON p.value = t.value"
    return f"SELECT p.*, t.held, t.whole, t.number FROM {joined}"
