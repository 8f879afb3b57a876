"""How far a release's answers to a workload lie from the truth (LeFevre et al. 2006).

The error of a query is the distance of its estimate from the answer of the original. It is relative to the
truth where the truth is not 0. A workload's errors are means weighted by the queries' weights, with the
deviation that the paper prints beside them. Where one side has no row to answer with, SUM counts as 0 and the
other aggregates cannot be compared: such queries are left out and counted.

Whether the sure bounds hold the truth is told too: for a release that tells the truth they always do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from discreet.queries.query import Aggregate, AggregateQuery
from discreet.workload.answer import QueryAnswer, answer
from discreet.workload.answerable import AnswerableTable

_SLACK = 1e-9


@dataclass(frozen=True)
class QueryError:
    """One query: the truth, what the release answers, and how far apart they are (None: no comparison)."""

    query: AggregateQuery
    truth: float | None
    answer: QueryAnswer

    @property
    def absolute(self) -> float | None:
        """The distance of the estimate from the truth."""
        truth, estimate = self.truth, self.answer.estimate
        if self.query.aggregate is Aggregate.SUM or (truth is None and estimate is None):
            truth, estimate = truth or 0.0, estimate or 0.0
        return None if truth is None or estimate is None else abs(estimate - truth)

    @property
    def relative(self) -> float | None:
        """The same as a share of the truth; None where the truth is 0 or there is none."""
        return self.absolute / abs(self.truth) if self.truth and self.absolute is not None else None

    @property
    def holds(self) -> bool:
        """Whether the truth lies within the sure bounds."""
        lower, upper = self.answer.lower, self.answer.upper
        if self.truth is None:
            return True
        if lower is None or upper is None:
            return False
        slack = _SLACK * max(1.0, abs(lower), abs(upper))
        return lower - slack <= self.truth <= upper + slack

    def as_json(self) -> dict[str, Any]:
        """The query's part of ``discreet inspect --workload --json``."""
        return {
            "query": self.query.text,
            "weight": self.query.weight,
            "truth": self.truth,
            "estimate": self.answer.estimate,
            "lower": self.answer.lower,
            "upper": self.answer.upper,
            "absolute_error": self.absolute,
            "relative_error": self.relative,
        }


@dataclass(frozen=True)
class WorkloadError:
    """The errors of a workload's queries, in its order, and their weighted means.

    ``mean_absolute``, its standard ``deviation`` over the queries, and ``root_mean_square`` are in the
    queries' own units; ``mean_relative`` is a ratio, which may exceed 1. Each is None where no query can be
    compared so.
    """

    queries: tuple[QueryError, ...]

    @property
    def mean_absolute(self) -> float | None:
        """The weighted mean of the absolute errors."""
        return self._mean(lambda q: q.absolute)

    @property
    def mean_relative(self) -> float | None:
        """The weighted mean of the relative errors of queries whose truth is not 0."""
        return self._mean(lambda q: q.relative)

    @property
    def root_mean_square(self) -> float | None:
        """The root of the weighted mean of the squared errors."""
        squares = self._mean(lambda q: None if q.absolute is None else q.absolute**2)
        return None if squares is None else sqrt(squares)

    @property
    def deviation(self) -> float | None:
        """The weighted standard deviation of the absolute errors."""
        mean = self.mean_absolute
        if mean is None:
            return None
        squares = self._mean(lambda q: None if q.absolute is None else (q.absolute - mean) ** 2)
        return None if squares is None else sqrt(squares)

    @property
    def unanswered(self) -> int:
        """Queries that one side has no row to answer with."""
        return sum(1 for query in self.queries if query.absolute is None)

    @property
    def outside(self) -> int:
        """Queries whose truth lies outside the sure bounds."""
        return sum(1 for query in self.queries if not query.holds)

    def _mean(self, value: Callable[[QueryError], float | None]) -> float | None:
        pairs = [(q.query.weight, found) for q in self.queries if (found := value(q)) is not None]
        weights = sum(weight for weight, _ in pairs)
        return sum(weight * found for weight, found in pairs) / weights if weights > 0 else None

    def as_json(self) -> dict[str, Any]:
        """The document's part, with every query."""
        return {
            "mean_absolute_error": self.mean_absolute,
            "standard_deviation": self.deviation,
            "root_mean_square_error": self.root_mean_square,
            "mean_relative_error": self.mean_relative,
            "unanswered": self.unanswered,
            "outside_bounds": self.outside,
            "queries": [query.as_json() for query in self.queries],
        }


def workload_error(
    queries: Sequence[AggregateQuery],
    original: AnswerableTable,
    release: AnswerableTable,
    progress: Callable[[int, int], None] | None = None,
) -> WorkloadError:
    """Ask every query of both tables. ``InputError`` where a query cannot be asked of them."""
    found = []
    for number, query in enumerate(queries):
        found.append(QueryError(query, answer(query, original).estimate, answer(query, release)))
        if progress is not None:
            progress(number + 1, len(queries))
    return WorkloadError(tuple(found))
