"""A lower bound of the cost of every assignment of rows to patterns, for tables too large to solve.

Whatever the assignment, a row's class is part of the class that all rows of its cell would be, and no row
breaks a growing criterion (``model.monotone``): where all of them together fail, no part of them may be
published. Criteria that are not growing, and class tests, are left out of the bound, which holds without.
So a row costs at least as much as its cheapest pattern under which the whole table's class passes, and
where there is none as much as a row of all stars. The sum over the rows is the bound. Cost: one count of
all row types per pattern, until each has found its own; patterns are walked cheapest first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.frequency.class_demand import Demand
from discreet.frequency.subject_rows import rows_for_subjects
from discreet.model.class_test import ClassTest
from discreet.model.evaluator import Evaluator
from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import PatternMask, Tie
from discreet.model.requirement import Requirement
from discreet.patterns.evaluation import Walk, walk_of
from discreet.patterns.keys import PatternKeys, pattern_keys

_BATCH = 1024


def lower_bound(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    *,
    class_test: ClassTest | None = None,
    evaluator: Evaluator | str = Evaluator.AUTO,
) -> float:
    """A cost that no assignment of the rows to the mask's patterns goes below."""
    frequency_set = rows_for_subjects(frequency_set)
    keys = pattern_keys(frequency_set, mask)
    demand = Demand.of(frequency_set, requirement, class_test)
    walk = walk_of(keys, bounding(demand, requirement), evaluator)
    return bound_of_walk(frequency_set, mask, keys, walk)


def bounding(demand: Demand, requirement: Requirement) -> Demand:
    """The part of a requirement's demand that the bound rests on: the demand itself where all of it is."""
    if demand.growing:
        return demand
    growing = [criterion for criterion in requirement.criteria if criterion.growing]
    return Demand.of(demand.frequency_set, Requirement(criteria=growing) if growing else Requirement(1))


def bound_of_walk(
    frequency_set: FrequencySet,
    mask: PatternMask,
    keys: PatternKeys,
    walk: Walk,
    progress: Callable[[int], None] | None = None,
) -> float:
    """The same with keys and a walk that are there already; ``progress`` is told the patterns done."""
    order = mask.order(Tie.LAST_COLUMN_FIRST)
    first = np.full(frequency_set.row_types, -1, np.int64)
    for start in range(0, len(order), _BATCH):
        batch = np.minimum(first, 0)
        walk.first_holding(keys.masks[order[start : start + _BATCH]], batch)
        found = (first < 0) & (batch >= 0)
        first[found] = start + batch[found]
        if progress is not None:
            progress(min(start + _BATCH, len(order)))
        if not (first < 0).any():
            break
    walk.finish()
    costs = np.append(mask.pattern_costs[order], mask.top_cost)
    return float((np.minimum(costs[first], mask.top_cost) * frequency_set.counts).sum())
