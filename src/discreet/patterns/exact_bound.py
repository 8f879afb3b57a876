"""A lower bound of what any solution costs, by prices of rows: for tables too large to solve.

The components of ``exact_reduce``, and the prices of ``bounds`` for each. On the paper's instances it is
within six per cent of the optimum, mostly within two, where counting is within twenty.
"""

from __future__ import annotations

import math
import time

from discreet.frequency.subject_rows import rows_for_subjects
from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import PatternMask
from discreet.model.requirement import Requirement
from discreet.patterns.bounds import price_bound
from discreet.patterns.exact_cells import cover_of, table_of
from discreet.patterns.exact_reduce import reduce_cover
from discreet.patterns.exact_result import only_k, rounding_of
from discreet.settings import Settings


def bound_by_prices(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    settings: Settings,
    *,
    time_limit: float | None = None,
) -> float:
    """A cost that no assignment of the rows to the mask's patterns goes below; outliers cost all stars.

    ``time_limit`` (seconds) ends the rounds early, with a weaker bound. ``InputError`` for a requirement
    other than k, ``LimitReached`` where the cells do not fit ``settings.memory_limit``.
    """
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    k = only_k(requirement)
    frequency_set = rows_for_subjects(frequency_set)
    table, _ = table_of(frequency_set, mask)
    reduced = reduce_cover(cover_of(table, k, settings.memory_limit), table.counts)
    steps = table.outlier_cost * int(table.counts[reduced.placeless].sum())
    for component in reduced.components:
        steps += price_bound(component, k, table.outlier_cost, deadline=deadline)
    return max(steps / table.steps - rounding_of(mask, table) * table.rows, 0.0)
