"""Comparison of a partial lattice with the evaluated one: importance metrics, and answers.

Metrics (the paper's study): at each height the fewest suppressed rows of the selected nodes are compared
with the fewest of all nodes; a miss is a height where they differ, the deviation is relative to the true
fewest. Figures are reported with and without heights whose fewest is below ``small`` rows. Answers: each
request is answered by the evaluated lattice, by the partial one, and by the partial one that also counts the
request's own node at run time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.measures.grouping_power import ImportanceMetric, grouping_power, level_importance
from discreet.model.lattice import node_height
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import Negotiation, Relaxation, relaxable_names
from discreet.negotiation.negotiator import Negotiator, node_order
from discreet.negotiation.partial_lattice import (
    PartialLattice,
    parse_metric,
    parse_percentage,
    select_most_important,
)
from discreet.negotiation.partial_negotiation import PartialNegotiator
from papers.printed_negotiation import negotiate_as_printed

PAPERS_METRICS = (
    ImportanceMetric.GAMMA,
    ImportanceMetric.MU,
    ImportanceMetric.GAMMA_MU,
    ImportanceMetric.LAMBDA,
)
"""Γ, M, ΓM and Λ."""

FEW_SUPPRESSED = 30
"""Suppressed rows below which the paper reports a deviation separately: about 0.1 % of its table."""


@dataclass(frozen=True)
class MetricComparison:
    """One metric against the evaluated lattice over the heights of one lattice, or summed over several.

    ``absent`` counts heights at which the metric chose no node; no other figure includes them. ``heights``
    counts the compared heights, ``misses`` those where the fewest suppressed rows differ; ``deviations`` is
    the sum of their deviations. ``large``, ``large_misses`` and ``large_deviations`` omit small true values.
    """

    metric: ImportanceMetric
    k: int | None
    heights: int
    absent: int
    misses: int
    deviations: float
    large: int
    large_misses: int
    large_deviations: float

    @property
    def deviation(self) -> float:
        """Average deviation over the compared heights."""
        return self.deviations / max(self.heights, 1)

    @property
    def large_deviation(self) -> float:
        """Average deviation over the heights whose true fewest is not small."""
        return self.large_deviations / max(self.large, 1)


def compare_importance_metrics(
    evaluated: EvaluatedLattice,
    ks: Sequence[int],
    *,
    percent: str | Fraction = "5%",
    metrics: Sequence[ImportanceMetric | str] = PAPERS_METRICS,
    small: int = FEW_SUPPRESSED,
) -> tuple[MetricComparison, ...]:
    """Return one comparison per metric and k, in the order of metrics; ``sum_comparisons`` adds them up."""
    lattice, share = evaluated.lattice, parse_percentage(percent)
    powers = grouping_power(lattice, evaluated.rows, evaluated.classes())
    found = []
    for metric in map(parse_metric, metrics):
        nodes = select_most_important(lattice, level_importance(lattice, powers, metric), share)
        chosen = np.array([lattice.index(node) for node in nodes], dtype=np.int64)
        found += [_compare_metric(evaluated, metric, chosen, k, small) for k in ks]
    return tuple(found)


def sum_comparisons(comparisons: Iterable[MetricComparison]) -> tuple[MetricComparison, ...]:
    """Return one comparison per metric, summed over lattices and k, in order of first occurrence."""
    sums: dict[ImportanceMetric, MetricComparison] = {}
    for c in comparisons:
        s = sums.get(c.metric, MetricComparison(c.metric, None, 0, 0, 0, 0.0, 0, 0, 0.0))
        sums[c.metric] = MetricComparison(
            metric=c.metric,
            k=None,
            heights=s.heights + c.heights,
            absent=s.absent + c.absent,
            misses=s.misses + c.misses,
            deviations=s.deviations + c.deviations,
            large=s.large + c.large,
            large_misses=s.large_misses + c.large_misses,
            large_deviations=s.large_deviations + c.large_deviations,
        )
    return tuple(sums.values())


def _compare_metric(
    evaluated: EvaluatedLattice, metric: ImportanceMetric, chosen: NDArray[np.int64], k: int, small: int
) -> MetricComparison:
    order = node_order(evaluated.lattice.heights)
    starts = np.array(order.starts)
    suppressed = evaluated.suppression(Requirement(k=k))
    fewest = np.minimum.reduceat(suppressed[order.nodes], starts[:-1])
    height_of = np.empty(len(order.nodes), dtype=np.int64)
    height_of[order.nodes] = np.repeat(np.arange(len(fewest)), np.diff(starts))
    never = np.iinfo(np.int64).max
    found = np.full(len(fewest), never)
    np.minimum.at(found, height_of[chosen], suppressed[chosen])
    present = found != never
    true, extra = fewest[present], (found - fewest)[present]
    deviations = extra / np.where(true > 0, true, max(evaluated.rows, 1))
    large = true >= small
    return MetricComparison(
        metric=metric,
        k=k,
        heights=int(present.sum()),
        absent=int((~present).sum()),
        misses=int((extra > 0).sum()),
        deviations=float(deviations.sum()),
        large=int(large.sum()),
        large_misses=int((extra[large] > 0).sum()),
        large_deviations=float(deviations[large].sum()),
    )


class Effect(StrEnum):
    """Outcome of one part of an answer under a partial lattice."""

    SAME = "same solution"
    SAME_HEIGHT = "other solution of the same height"
    OTHER = "other solution"
    RELAXED = "relaxed instead of exact"
    FAILED = "no solution, though there is one"
    NEITHER = "no solution in either"


@dataclass(frozen=True)
class RequestComparison:
    """Answers to one request from the evaluated lattice, the partial one, and the partial one at run time.

    ``visited`` counts the visits of the paper's algorithm, in the same order.
    """

    request: Request
    full: Negotiation
    partial: Negotiation
    runtime: Negotiation
    visited: tuple[int, int, int]

    def effect(self, part: str | None, *, runtime: bool) -> Effect | None:
        """Return the effect on one part (None: the exact answer), or None if the part does not occur.

        Relaxations occur where the evaluated lattice relaxes, and only for parts of the request.
        """
        other = self.runtime if runtime else self.partial
        if part is None:
            return None if self.full.exact is None else _effect(self.full, other, None)
        unasked = part not in relaxable_names(self.request.requirement)
        return None if self.full.exact is not None or unasked else _effect(self.full, other, part)


def compare_partial(
    evaluated: EvaluatedLattice, partial: PartialLattice, requests: Sequence[Request]
) -> tuple[RequestComparison, ...]:
    """Answer each request, in order, by both lattices; they must belong to the same table."""
    negotiator = Negotiator(evaluated)
    without, within = PartialNegotiator(partial, runtime=False), PartialNegotiator(partial, runtime=True)
    return tuple(
        RequestComparison(
            request=request,
            full=negotiator.negotiate(request),
            partial=without.negotiate(request),
            runtime=within.negotiate(request),
            visited=(
                negotiate_as_printed(evaluated, request).visited,
                negotiate_as_printed(partial, request).visited,
                negotiate_as_printed(partial, request, runtime=True).visited,
            ),
        )
        for request in requests
    )


def count_effects(
    comparisons: Iterable[RequestComparison], part: str | None, *, runtime: bool
) -> Counter[Effect]:
    """Count each effect for one part: a column of the paper's table."""
    effects = (comparison.effect(part, runtime=runtime) for comparison in comparisons)
    return Counter(effect for effect in effects if effect is not None)


def _effect(full: Negotiation, other: Negotiation, part: str | None) -> Effect:
    true = full.exact if part is None else full.relaxation(part)
    found = other.exact if part is None else other.relaxation(part)
    if true is None:
        return Effect.NEITHER if found is None else Effect.OTHER
    if found is None:
        return Effect.RELAXED if part is None else Effect.FAILED
    if found == true:
        return Effect.SAME
    by_height = part is None or part == Relaxation.HEIGHT
    agree = found.requirement == true.requirement and (by_height or found.suppressed == true.suppressed)
    return Effect.SAME_HEIGHT if agree and node_height(found.node) == node_height(true.node) else Effect.OTHER
