"""Criteria with a real-valued measure: fixed-point scores and distributions of sensitive values.

Scores are in billionths; larger is safer. Scores are rounded against the class and thresholds against the
publisher; measures with a relative difference below a trillionth are equal. NULL is not a value.
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
"""Scores per unit: one score is a billionth."""

RELATIVE_ROUNDING = 1e-12
"""Relative difference up to which measures are equal."""

NEVER_SCORE = -(2**62)
"""Score of a class that fails for every parameter, for example a class without a value."""

_UP, _DOWN = SCORE_UNIT * (1 + RELATIVE_ROUNDING), SCORE_UNIT * (1 - RELATIVE_ROUNDING)
MAX_MEASURE = 1e9
"""Upper limit of parameters; larger measures are treated as this one."""


def score_at_least(measure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the scores of measures with a lower limit."""
    return np.floor(np.minimum(measure, MAX_MEASURE) * _UP).astype(np.int64)


def score_at_most(measure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the scores of non-negative measures with an inclusive upper limit."""
    return -np.ceil(np.minimum(measure, MAX_MEASURE) * _DOWN).astype(np.int64)


def score_less_than(measure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the scores of non-negative measures with an exclusive upper limit.

    A measure fails unless it is below the limit by at least a billionth.
    """
    return -np.floor(np.minimum(measure, MAX_MEASURE) * _UP).astype(np.int64) - 1


def threshold_at_least(value: float) -> int:
    """Return the threshold of a parameter that measures must reach."""
    return int(np.ceil(value * _DOWN))


def threshold_at_most(value: float) -> int:
    """Return the threshold of a parameter that is an inclusive or exclusive upper limit."""
    return -int(np.floor(value * _UP))


def measure_of_threshold(score: int) -> float:
    """Return the parameter of a threshold, the inverse of ``threshold_at_least`` and ``_at_most``."""
    return min(abs(score) / SCORE_UNIT, MAX_MEASURE)


def score_in_sql(rounding: str, measure: Any) -> str:
    """Return the SQL of the score of an expression of type double.

    ``rounding`` names one of the three functions above: ``at_least``, ``at_most`` or ``less_than``. The SQL
    is in the common subset of all engines.
    """
    bounded = f"least({measure}, {MAX_MEASURE!r})"
    if rounding == "at_most":
        return f"-CAST(ceil({bounded} * {_DOWN!r}) AS BIGINT)"
    score = f"CAST(floor({bounded} * {_UP!r}) AS BIGINT)"
    return score if rounding == "at_least" else f"-{score} - 1"


@dataclass(frozen=True)
class FloatCriterion(Criterion, ABC):
    """A criterion whose measure must reach the value or, with ``reached`` False, must not exceed it."""

    reached: ClassVar[bool] = False

    @property
    def threshold(self) -> int:
        """Value in billionths."""
        return threshold_at_least(self.value) if self.reached else threshold_at_most(self.value)

    def value_of(self, score: int) -> float:
        """Return the measure of a score, within the parameter's bounds."""
        if self.reached:
            return max(measure_of_threshold(max(score, 0)), float(self.parameter.least))
        return min(measure_of_threshold(score), float(self.parameter.most))


_IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ValueDistributions:
    """Pairs of class and value that occur, and the rows of each class with a value.

    ``owners``, ``codes`` and ``counts`` are those of ``ClassValues``; ``known`` has shape ``(classes,)``.
    """

    owners: _IntArray
    codes: _IntArray
    counts: _IntArray
    known: _IntArray
    distinct: _IntArray

    @classmethod
    def of(cls, values: ClassValues | None, classes: int) -> ValueDistributions:
        """Build from the class values of a criterion with ``Need.COUNTS``."""
        assert values is not None
        assert values.owners is not None
        assert values.codes is not None
        assert values.counts is not None
        known = np.zeros(classes, np.int64)
        np.add.at(known, values.owners, values.counts)
        return cls(values.owners, values.codes, values.counts, known, values.distinct)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Mask of the classes without a value, shape ``(classes,)``."""
        none: NDArray[np.bool_] = self.known == 0
        return none

    def total(self, of_pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum a number of each pair by class."""
        return np.bincount(self.owners, of_pairs, minlength=len(self.known)).astype(np.float64)

    def largest(self, of_pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest non-negative number of each class's pairs; 0 for a class without pairs."""
        result = np.zeros(len(self.known))
        np.maximum.at(result, self.owners, of_pairs)
        return result

    def scaled_shares(self, table: _IntArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each pair's shares in its class and in the table, times the product of their rows.

        Their quotient is that of the shares, and integers up to 2**53 are exact. ``table`` contains the
        table's rows by code; a value that does not occur in the table has share 0.
        """
        mine = self.counts.astype(np.float64) * float(table.sum())
        return mine, self.known[self.owners].astype(np.float64) * table[self.codes]


def reference_rows(values: ClassValues | None) -> _IntArray:
    """Return the whole table's rows by code: the distribution that classes are compared with."""
    assert values is not None
    assert values.of is not None
    return values.of.rows


PAIR_QUERY = "SELECT class, value, count(*) AS n FROM {rows} WHERE value IS NOT NULL GROUP BY class, value"
"""SQL of the rows of each class by value."""

SQL_DOUBLE = "exp(0)"
"""The number one as a double in every engine; multiplication by it converts integers and decimals."""


def pair_query(rows: str) -> str:
    """Return SQL of ``class``, ``value``, its rows ``n``, and the class's rows with a value.

    The column ``known`` contains the last, as a double.
    """
    counted = PAIR_QUERY.format(rows=rows)
    return (
        f"SELECT class, value, n, sum(n) OVER (PARTITION BY class) * {SQL_DOUBLE} AS known "
        f"FROM ({counted}) AS p"
    )


def compared_pair_query(rows: str, values: str) -> str:
    """Return SQL of ``pair_query`` plus each value's rows in the table and the table's rows.

    The columns ``held`` and ``whole`` contain them.

    Both are doubles. ``values`` is the relation of ``ReferenceTable``, with ``number`` values; ``held`` is
    NULL for a value that it does not contain.
    """
    totals = f"sum(held) OVER () * {SQL_DOUBLE} AS whole, count(*) OVER () AS number"
    table = f"SELECT value, held * {SQL_DOUBLE} AS held, {totals} FROM {values}"
    joined = f"({pair_query(rows)}) AS p LEFT JOIN ({table}) AS t ON p.value = t.value"
    return f"SELECT p.*, t.held, t.whole, t.number FROM {joined}"
