"""Mondrian driven by a workload: cuts that keep predicates from crossing classes (LeFevre et al. 2008).

A class is imprecise for a query if its box intersects the query's region without being contained in it; its
imprecision is the number of its rows for which the predicate is false. The cost of a partitioning is the
sum over queries and classes of weight · imprecision. Each class is cut greedily at an end of a predicate,
at the attribute and position of least cost; ties are decided by distance from the median, then in
Mondrian's order. A class that no such cut improves is cut as by Mondrian. Boxes are the ranges of occurring
values; LeFevre, DeWitt and Ramakrishnan (2008) take the region between cuts.

Cost: per class (its row types) · (queries imprecise there), and per attribute (row types) · (attributes)
for the boxes of both sides of every cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import Categorical, MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.mondrian.space import CutChooser, Fragment, ProposedCut, WidestFirst, leaf_order_of_cuts
from discreet.queries.aggregate_query import AggregateQuery
from discreet.queries.region import Box, find_region
from discreet.settings import Settings
from discreet.workload.answerable_table import domains_of_hierarchies

_MOST_MATRIX_CELLS = 1 << 24


def partition_for_workload(
    queries: Sequence[AggregateQuery],
    frequency_set: FrequencySet,
    requirement: Requirement,
    settings: Settings,
    options: MondrianOptions = MondrianOptions(),  # noqa: B008
    *,
    progress: Callable[[int, int], None] | None = None,
) -> ClassRecoding:
    """Partition a table by strict Mondrian for a workload.

    Parameters
    ----------
    queries
        The workload, bound to the table's names (``queries.aggregate_query``).
    frequency_set
        The counted table.
    requirement
        Criteria that each class must meet.
    settings
        Memory limit and threads.
    options
        Options of Mondrian.

    Returns
    -------
    ClassRecoding
        The classes and their published cells.

    Raises
    ------
    InputError
        For a predicate over anything but quasi-identifiers, and as ``mondrian.partition.partition_table``.
    NoSolution
        If the table as a whole fails the requirement.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, "Workload-aware anonymization techniques for large-scale datasets",
    ACM Transactions on Database Systems 33(3), 2008.
    """
    least_rows = requirement.least_rows
    chooser = WorkloadCutChooser.of(
        queries, frequency_set, WidestFirst(options, least_rows), least_rows, options.categorical
    )
    return partition_table(frequency_set, requirement, settings, options, chooser=chooser, progress=progress)


@dataclass(frozen=True, eq=False)
class WorkloadCutChooser:
    """Chooser of the cuts that lower a workload's cost, the best first, followed by those of ``fallback``.

    ``selected[q]`` marks the row types for which query q is true. ``prefix[j][b, x]`` counts the positions
    below x of attribute j that box b selects; query q has the boxes ``starts[q] … starts[q + 1] - 1``.
    ``ends[j]`` contains the positions after which a predicate begins or ends. Cuts that leave fewer than
    ``least_rows`` rows on a side are not proposed.
    """

    weights: NDArray[np.float64]
    selected: NDArray[np.bool_]
    prefix: tuple[NDArray[np.int32], ...]
    starts: NDArray[np.int64]
    ends: tuple[NDArray[np.int64], ...]
    fallback: CutChooser
    least_rows: int = 1

    @classmethod
    def of(
        cls,
        queries: Sequence[AggregateQuery],
        frequency_set: FrequencySet,
        fallback: CutChooser,
        least_rows: int = 1,
        categorical: Categorical = Categorical.ORDER,
    ) -> WorkloadCutChooser:
        """Build the chooser of a workload; queries of weight 0, or that are never true, are ignored."""
        domains = domains_of_hierarchies(frequency_set.hierarchies)
        _check_names(queries, frequency_set)
        regions = [(q.weight, find_region(q.predicate, domains)) for q in queries if q.weight > 0]
        regions = [(weight, region) for weight, region in regions if region]
        boxes = [box for _, region in regions for box in region]
        masks = [
            _position_masks(boxes, frequency_set, j, categorical)
            for j in range(len(frequency_set.hierarchies))
        ]
        selected = np.zeros((len(regions), frequency_set.row_types), dtype=np.bool_)
        for query, (_, region) in enumerate(regions):
            for box in region:
                inside = np.ones(frequency_set.row_types, dtype=np.bool_)
                for name, mask in box.items():
                    inside &= mask[frequency_set.codes[:, frequency_set.attributes.index(name)]]
                selected[query] |= inside
        return cls(
            weights=np.array([weight for weight, _ in regions]),
            selected=selected,
            prefix=tuple(
                np.concatenate([np.zeros((len(m), 1)), np.cumsum(m, axis=1)], axis=1).astype(np.int32)
                for m in masks
            ),
            starts=np.cumsum([0, *(len(region) for _, region in regions)]),
            ends=tuple(np.flatnonzero((m[:, :-1] != m[:, 1:]).any(axis=0)) for m in masks),
            fallback=fallback,
            least_rows=least_rows,
        )

    def __call__(self, fragment: Fragment) -> Iterator[ProposedCut]:
        """Yield the cuts of one class."""
        yield from self._improving_cuts(fragment)
        yield from self.fallback(fragment)

    def cost(self, fragment: Fragment) -> float:
        """Compute Σ weight · imprecision of a class."""
        _, imprecision = self._imprecise(fragment)
        return float(imprecision.sum())

    def _imprecise(self, fragment: Fragment) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the queries for which a class is imprecise, and weight · imprecision of each."""
        low, high = fragment.ranks.min(axis=0), fragment.ranks.max(axis=0)
        met = np.flatnonzero(self._regions_meet_boxes(low[None, :], high[None, :])[:, 0])
        imprecision = self.weights[met] * self._imprecise_rows(met, fragment.row_types, fragment.rows)
        return met[imprecision > 0], imprecision[imprecision > 0]

    def _imprecise_rows(
        self, queries: NDArray[np.int64], row_types: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Count the rows for which each query is not true."""
        result = np.empty(len(queries))
        for part in _slices_of_queries(len(queries), len(rows)):
            chosen = ~self.selected[np.ix_(queries[part], row_types)]
            result[part] = chosen @ rows.astype(np.float64)
        return result

    def _regions_meet_boxes(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Check which query regions intersect which boxes, given by ends of shape ``(boxes, attributes)``."""
        met = np.ones((int(self.starts[-1]), len(low)), dtype=np.bool_)
        for j, prefix in enumerate(self.prefix):
            met &= prefix[:, high[:, j] + 1] > prefix[:, low[:, j]]
        if not len(self.weights):
            return np.zeros((0, len(low)), dtype=np.bool_)
        result: NDArray[np.bool_] = np.logical_or.reduceat(met, self.starts[:-1], axis=0)
        return result

    def _improving_cuts(self, fragment: Fragment) -> list[ProposedCut]:
        queries, imprecision = self._imprecise(fragment)
        if not len(queries):
            return []
        before = float(imprecision.sum())
        found: list[tuple[float, int, int, int, int]] = []
        for order, attribute in enumerate(fragment.space.priority):
            candidates = self._candidates(fragment, attribute, queries)
            if candidates is None:
                continue
            cost = candidates.cost
            better = np.flatnonzero(cost < before * (1 - 1e-12))
            off_half = np.abs(2 * candidates.below - fragment.total)
            found += [
                (float(cost[c]), int(off_half[c]), order, int(candidates.places[c]), attribute)
                for c in better.tolist()
            ]
        return [ProposedCut(attribute, position) for _, _, _, position, attribute in sorted(found)]

    def _candidates(
        self, fragment: Fragment, attribute: int, queries: NDArray[np.int64]
    ) -> _CandidateCuts | None:
        """Return the allowable cuts at ends of predicates of one attribute, or None if there are none."""
        column = fragment.ranks[:, attribute]
        ends = self.ends[attribute]
        ends = ends[(ends >= column.min()) & (ends < column.max())]
        if not len(ends):
            return None
        order = np.argsort(column, kind="stable")
        behind, first = np.unique(np.searchsorted(column[order], ends, side="right"), return_index=True)
        below = np.cumsum(fragment.rows[order])[behind - 1]
        allowable = (below >= self.least_rows) & (fragment.total - below >= self.least_rows)
        behind, places, below = behind[allowable], ends[first][allowable], below[allowable]
        if not len(behind):
            return None
        ranks = fragment.ranks[order]
        left = self._regions_meet_boxes(
            np.minimum.accumulate(ranks)[behind - 1], np.maximum.accumulate(ranks)[behind - 1]
        )
        right = self._regions_meet_boxes(
            np.minimum.accumulate(ranks[::-1])[::-1][behind], np.maximum.accumulate(ranks[::-1])[::-1][behind]
        )
        cost = np.zeros(len(behind))
        weighted = fragment.rows[order].astype(np.float64)
        for part in _slices_of_queries(len(queries), len(order)):
            chosen = queries[part]
            missed = ~self.selected[np.ix_(chosen, fragment.row_types[order])] * weighted
            sums = np.cumsum(np.add.reduceat(missed, np.append(0, behind), axis=1), axis=1)
            here = sums[:, :-1] * left[chosen] + (sums[:, -1:] - sums[:, :-1]) * right[chosen]
            cost += self.weights[chosen] @ here
        return _CandidateCuts(places, below, cost)


@dataclass(frozen=True, eq=False)
class _CandidateCuts:
    """Cuts of one attribute: position, rows up to it, and the cost of both sides."""

    places: NDArray[np.int64]
    below: NDArray[np.int64]
    cost: NDArray[np.float64]


def _check_names(queries: Sequence[AggregateQuery], frequency_set: FrequencySet) -> None:
    for query in queries:
        named = [name for name in query.attributes if name != query.attribute]
        beyond = [name for name in named if name not in frequency_set.attributes]
        if beyond:
            raise InputError(
                f"a query restricts '{beyond[0]}', which is not a quasi-identifier",
                allowed=", ".join(frequency_set.attributes),
                advice="Cuts are made in quasi-identifiers only; leave the query out.",
            )


def _position_masks(
    boxes: Sequence[Box], frequency_set: FrequencySet, j: int, categorical: Categorical
) -> NDArray[np.bool_]:
    """Return the mask of attribute j's positions that each box selects, NULL last."""
    hierarchy = frequency_set.hierarchies[j]
    masks = np.ones((len(boxes), hierarchy.null_code + 1), dtype=np.bool_)
    code = leaf_order_of_cuts(hierarchy, categorical).code
    for number, box in enumerate(boxes):
        if hierarchy.attribute in box:
            masks[number] = box[hierarchy.attribute][code]
    return masks


def _slices_of_queries(queries: int, row_types: int) -> Iterator[slice]:
    step = max(1, _MOST_MATRIX_CELLS // max(row_types, 1))
    for start in range(0, queries, step):
        yield slice(start, min(start + step, queries))
