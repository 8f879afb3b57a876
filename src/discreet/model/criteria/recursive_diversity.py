"""Recursive (c,l)-diversity (Machanavajjhala et al. 2006): the most frequent value against the rarer ones."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria import float_criterion
from discreet.model.criteria.base import KernelFormula, Need, Parameter
from discreet.model.criteria.float_criterion import PAIR_QUERY, SQL_DOUBLE, FloatCriterion, ValueDistributions
from discreet.model.criterion_inputs import ClassValues
from discreet.model.option import OptionKind, option


@dataclass(frozen=True)
class RecursiveDiversity(FloatCriterion):
    """The most frequent value has fewer rows than ``value`` times those of the ``l``-th and all rarer ones.

    ``value`` is c (smaller is stricter); ``l`` is a fixed parameter. A class with fewer than l values fails.
    The score is the quotient r1 / (rl + … + rm), which must be smaller than c. A union's most frequent value
    has at most the rows of both classes' most frequent values, and the rows beyond its first l - 1 values are
    at least those of both classes, so the criterion is monotone. It is not growing.
    """

    l: int = option(
        2, kind=OptionKind.WHOLE, least=2, help="which value the rest begins with, by descending rows"
    )

    name: ClassVar[str] = "recursive_c"
    title: ClassVar[str] = "recursive (c,l)-diversity"
    citation: ClassVar[str] = "Machanavajjhala et al. (2006)"
    parameter: ClassVar[Parameter] = Parameter(
        "the most frequent value has fewer rows than this many times those of the l-th and all rarer ones",
        least=1 / float_criterion.SCORE_UNIT,
        most=float_criterion.MAX_MEASURE,
        whole=False,
        stops=(0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10),
    )
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 10

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the score of each class's quotient; a class with fewer than l values always fails."""
        distributions = ValueDistributions.of(values, len(sizes))
        order = np.lexsort((-distributions.counts, distributions.owners))
        owners, counts = distributions.owners[order], distributions.counts[order]
        starts = np.searchsorted(owners, np.arange(len(sizes)))
        places = np.arange(len(owners)) - starts[owners]
        first = np.zeros(len(sizes), np.int64)
        first[owners[places == 0]] = counts[places == 0]
        rest = np.zeros(len(sizes), np.int64)
        np.add.at(rest, owners[places >= self.l - 1], counts[places >= self.l - 1])
        quotient = first / np.maximum(rest, 1)
        return np.where(rest == 0, float_criterion.NEVER_SCORE, float_criterion.score_less_than(quotient))

    @property
    def least_rows(self) -> int:
        """Fewest rows that can pass: one for each of l - 1 values, and over 1 / c for the rarer values."""
        return self.l + floor(1 / float(self.value) * (1 - 2 * float_criterion.RELATIVE_ROUNDING))

    def formula(self, numbers: int) -> KernelFormula:
        """Return the formula of the quotient."""
        del numbers
        return KernelFormula("recursive", float(self.l))

    def audit_query(self, rows: str) -> str:
        """Return SQL of the quotient, from each value's rank by its rows."""
        placed = (
            "SELECT class, n, row_number() OVER (PARTITION BY class ORDER BY n DESC, value) AS place "
            f"FROM ({PAIR_QUERY.format(rows=rows)}) AS p"
        )
        rest = f"sum(CASE WHEN place >= {self.l} THEN n ELSE 0 END)"
        # An engine may divide before HAVING excludes the classes with a divisor of 0.
        quotient = f"max(n) * {SQL_DOUBLE} / greatest({rest}, 1)"
        score = float_criterion.score_in_sql("less_than", quotient)
        return f"SELECT class, {score} AS score FROM ({placed}) AS q GROUP BY class HAVING {rest} > 0"
