"""Criteria with a real-valued measure: fixed-point scores and distributions of sensitive values.

A score counts billionths, larger is safer. Scores are rounded against the class and thresholds against the
publisher; measures that differ by less than a trillionth of themselves are equal. NULL is no value.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import Criterion
from discreet.model.criterion_inputs import ClassValues

SCORE_UNIT = 10**9
"""Scores are told in parts of one: billionths."""

RELATIVE_ROUNDING = 1e-12
"""What differs by a smaller share of itself is equal."""

NEVER_SCORE = -(2**62)
"""The score of a class that no parameter is weak enough for: it has no value, say."""

_UP, _DOWN = SCORE_UNIT * (1 + RELATIVE_ROUNDING), SCORE_UNIT * (1 - RELATIVE_ROUNDING)
MAX_MEASURE = 1e9
"""Measures above it count as this, and no parameter may be larger."""


def score_at_least(measure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scores of measures that must be so large at least."""
    return np.floor(np.minimum(measure, MAX_MEASURE) * _UP).astype(np.int64)


def score_at_most(measure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scores of measures, none negative, that must be so large at most."""
    return -np.ceil(np.minimum(measure, MAX_MEASURE) * _DOWN).astype(np.int64)


def score_less_than(measure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scores of measures, none negative, that must be smaller: by a billionth or more, as they are told."""
    return -np.floor(np.minimum(measure, MAX_MEASURE) * _UP).astype(np.int64) - 1


def threshold_at_least(value: float) -> int:
    """The threshold of a parameter that measures must reach."""
    return int(np.ceil(value * _DOWN))


def threshold_at_most(value: float) -> int:
    """The threshold of a parameter that measures must not exceed, or stay below."""
    return -int(np.floor(value * _UP))


def measure_of_threshold(score: int) -> float:
    """The parameter of a threshold: the inverse of ``least`` and of ``most``."""
    return min(abs(score) / SCORE_UNIT, MAX_MEASURE)


def score_in_sql(rounding: str, measure: Any) -> str:
    """The same of an SQL expression of type double; ``rounding`` names one of the three functions above.

    The words are the common subset's of all engines.
    """
    held = f"least({measure}, {MAX_MEASURE!r})"
    if rounding == "at_most":
        return f"-CAST(ceil({held} * {_DOWN!r}) AS BIGINT)"
    score = f"CAST(floor({held} * {_UP!r}) AS BIGINT)"
    return score if rounding == "at_least" else f"-{score} - 1"


@dataclass(frozen=True)
class FloatCriterion(Criterion, ABC):
    """Asks that a measure reaches the value, or with ``reached`` False that it does not exceed it."""

    reached: ClassVar[bool] = False

    @property
    def threshold(self) -> int:
        """The value in billionths."""
        return threshold_at_least(self.value) if self.reached else threshold_at_most(self.value)

    def value_of(self, score: int) -> float:
        """The measure, within the parameter's bounds."""
        if self.reached:
            return max(measure_of_threshold(max(score, 0)), float(self.parameter.least))
        return min(measure_of_threshold(score), float(self.parameter.most))


_IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ValueDistributions:
    """The pairs of class and value that occur, and each class's rows with a value.

    ``owners``, ``codes`` and ``counts`` are those of ``ClassValues``; ``known`` has shape ``(classes,)``.
    """

    owners: _IntArray
    codes: _IntArray
    counts: _IntArray
    known: _IntArray
    distinct: _IntArray

    @classmethod
    def of(cls, values: ClassValues | None, classes: int) -> ValueDistributions:
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

    def beside(self, table: _IntArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each pair's share in its class and in the table, both times the rows that both have.

        So their quotient is that of the shares, and whole numbers as far as 2**53 are exact. ``table`` holds
        the table's rows by code; a value that it lacks has a share of 0 there.
        """
        mine = self.counts.astype(np.float64) * float(table.sum())
        return mine, self.known[self.owners].astype(np.float64) * table[self.codes]


def reference_rows(values: ClassValues | None) -> _IntArray:
    """The whole table's rows by code: the distribution that classes are compared with."""
    assert values is not None
    assert values.of is not None
    return values.of.rows


PAIR_QUERY = "SELECT class, value, count(*) AS n FROM {rows} WHERE value IS NOT NULL GROUP BY class, value"
"""Rows of each class by value, in SQL."""

SQL_DOUBLE = "exp(0)"
"""One, as a double in every engine: what is multiplied by it is no whole number or decimal."""


def pair_query(rows: str) -> str:
    """SQL: ``class``, ``value``, its rows ``n``, and the class's rows with a value ``known``, as a double."""
    counted = PAIR_QUERY.format(rows=rows)
    return f"SELECT class, value, n, sum(n) OVER (PARTITION BY class) * {SQL_DOUBLE} AS known FROM ({counted}) AS p"


def compared_pair_query(rows: str, values: str) -> str:
    """SQL: ``pairs``, with the value's rows in the table ``held`` and the table's rows ``whole``, as doubles.

    ``values`` is the relation of ``WholeTable``, of ``number`` values; ``held`` is NULL for a value that it
    lacks.
    """
    totals = f"sum(held) OVER () * {SQL_DOUBLE} AS whole, count(*) OVER () AS number"
    table = f"SELECT value, held * {SQL_DOUBLE} AS held, {totals} FROM {values}"
    joined = f"({pair_query(rows)}) AS p LEFT JOIN ({table}) AS t ON p.value = t.value"
    return f"SELECT p.*, t.held, t.whole, t.number FROM {joined}"
