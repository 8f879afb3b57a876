"""The cheapest pattern-guided k-anonymity there is, proven so (Bredereck et al. 2013).

An integer program (``exact_solve``) over cells of at least k rows (``exact_cells``), made smaller without
changing its optimum (``exact_reduce``), started from a greedy solution (``exact_start``), its components
solved side by side (``exact_plan``). Rows of one row type may go to several patterns.

Differences from the paper's program: cells below k rows are dropped at once; each number of rows is bounded
by its own row type's rows instead of the whole table's; numbers of rows are continuous and only the use of
cells is whole; outliers have no variable. On the paper's instances that is the difference between minutes
without a proof and seconds with one.

A class of all stars is empty or has at least k rows, as the paper defines the problem and its heuristic
ignores, unless rows may be suppressed instead. A time limit ends the search with the best solution found and
a proven lower bound. Proofs are those of floating-point arithmetic (tolerance 1e-6).
"""

from __future__ import annotations

import math
import time

from discreet.errors import InputError
from discreet.frequency.subject_rows import rows_for_subjects
from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import OutlierPolicy, PatternMask
from discreet.model.recoding import SuppressionPolicy
from discreet.model.requirement import Requirement
from discreet.patterns.exact_cells import table_of
from discreet.patterns.exact_plan import Limits, Progress, plan_rows
from discreet.patterns.exact_result import ExactResult, finished, only_k
from discreet.patterns.exact_solve import Program, solver
from discreet.settings import Settings


def solve_exactly(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    settings: Settings,
    *,
    time_limit: float | None = None,
    publish_all: bool = True,
    suppression: SuppressionPolicy = SuppressionPolicy.DROP,
    progress: Progress | None = None,
) -> ExactResult:
    """The assignment of rows to patterns of least cost, with a bound that proves it.

    With the policy *suppress* the class of all stars is empty or has at least k rows; without ``publish_all``
    it may have fewer, which are then suppressed as rows, as the greedy does.

    ``time_limit`` in seconds ends the solver with the best found; None waits for the proof. Finding the cells
    and checking the answer are not cut short: on very large masks they come on top. ``settings.threads``
    components are solved at a time, one thread each. ``progress`` is told components done and in all, from
    any thread.

    Raises ``InputError`` where HiGHS is missing, for a requirement other than k, and for a time limit that is
    none; ``NoSolution`` where rows fit nowhere and outliers are not allowed, or no class could be made;
    ``LimitReached`` where the problem does not fit ``settings.memory_limit``.
    """
    begun = time.monotonic()
    solver()
    k = only_k(requirement)
    if time_limit is not None and not 0 < time_limit < math.inf:
        raise InputError(f"a time limit of {time_limit} seconds", allowed="a number above 0")
    frequency_set = rows_for_subjects(frequency_set)
    table, places = table_of(frequency_set, mask)
    asked = publish_all or mask.outliers is OutlierPolicy.ERROR
    star_class = mask.all_star is not None and mask.outliers is not OutlierPolicy.DELETE and asked
    everyone = mask.all_star is None and mask.outliers is OutlierPolicy.ERROR
    deadline = math.inf if time_limit is None else begun + time_limit
    plan = plan_rows(
        table,
        Program(k, table.outlier_cost, everyone),
        Limits(deadline, settings.threads, settings.memory_limit),
        star_class=star_class,
        progress=progress,
    )
    return finished(
        frequency_set,
        mask,
        requirement,
        plan,
        table=table,
        places=places,
        begun=begun,
        suppression=suppression,
    )
