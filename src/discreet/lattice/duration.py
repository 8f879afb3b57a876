"""How long evaluating a lattice takes, estimated before it begins, and what would be faster.

The compiled kernels are timed on two samples of the row types; their times grow by a power of the number of
row types. Other evaluators have a rate for each class that they count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.plan import RotationPlan
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice

Notice = Callable[[str], None]
"""Called with one line about what a run waits for."""

OF_SETS, OF_SCORES = 1.5, 12.0
"""How many times as long as its size the values of a class take, and its scores."""
BY_NUMPY = " by numpy, not by the compiled kernels,"

LONG = 60.0
"""Seconds from which an evaluation is announced."""

_LEAST_SECONDS = 1.5e-10
"""Of a row type and node, at the least: what takes less than ``LONG`` at ten times of it is not sampled."""
_SAMPLE_SECONDS = 1e-9
_NUMPY_SECONDS, _NUMPY_SECONDS_OF_ROW, _SUBJECT_SECONDS = 5e-9, 3e-6, 1.5e-8
"""Of a row type and node by numpy; of a row where it counts subjects; of an entry by their kernels."""
_STEEPEST, _FLATTEST = 1.5, 0.8
_PARTIAL = {"5%": 0.05, "1%": 0.01, "0.1%": 0.001}
_PARTIAL_SECONDS, _WORTH = 1.2e-7, 3
"""What a node of a partial lattice takes for each row type; it is named where it is so many times faster."""

Run = Callable[[NDArray[np.int64]], object]
"""Evaluates some row types of a plan, by their places in it."""


def part_of(plan: RotationPlan, places: NDArray[np.int64]) -> RotationPlan:
    """The plan of some of its row types, whose places ascend."""
    return replace(
        plan,
        keys=np.ascontiguousarray(plan.keys[:, places]),
        counts=plan.counts[places],
        source=plan.source[places],
    )


def sampled_seconds(plan: RotationPlan, run: Run, factor: float = 1.0) -> float:
    """Estimate the seconds of an evaluation from two samples; 0 where it is short without doubt.

    ``factor`` is how many times as long a class takes as for its size only.
    """
    types = len(plan.counts)
    if plan.nodes * types * _LEAST_SECONDS * factor * 10 < LONG:
        return 0.0
    large = int(min(types // 16, 1.0 / (plan.nodes * _SAMPLE_SECONDS * factor)))
    small = large // 4
    if small < 64:
        return plan.nodes * types * _SAMPLE_SECONDS * factor
    # What does not grow with the row types, the loading of kernels too, is that of two of them.
    timed(run, types, 2)
    fixed = timed(run, types, 2)
    first, second = (max(timed(run, types, number) - fixed, 1e-6) for number in (small, large))
    power = min(max(log(second / first) / log(large / small), _FLATTEST), _STEEPEST)
    grown: float = second * (types / large) ** power
    return fixed + grown


def timed(run: Run, types: int, number: int) -> float:
    """The seconds of a run of so many row types, drawn by a generator with a seed."""
    places = np.sort(np.random.default_rng(number).choice(types, number, replace=False))
    start = perf_counter()
    run(places)
    return perf_counter() - start


def seconds_of_groups(plan: RotationPlan, sensitive: int) -> float:
    """Estimate the seconds that numpy takes for a plan with so many sensitive attributes."""
    return plan.nodes * len(plan.counts) * _NUMPY_SECONDS * (1 + 6 * sensitive)


def seconds_of_numpy(plan: RotationPlan, table: FrequencySet) -> float:
    """Estimate the same for a table, whose subjects may be counted."""
    if table.subjects is not None:
        return plan.nodes * table.rows * _NUMPY_SECONDS_OF_ROW
    return seconds_of_groups(plan, len(table.sensitive))


def seconds_of_subjects(plan: RotationPlan, table: FrequencySet) -> float:
    """Estimate the seconds of the kernels that count subjects."""
    sets = table.sensitive if table.subjects is None else (table.subjects, *table.sensitive)
    return plan.nodes * (len(plan.counts) + sum(len(each.codes) for each in sets)) * _SUBJECT_SECONDS


def announce(
    seconds: Callable[[], float],
    lattice: Lattice,
    table: FrequencySet,
    notice: Notice | None,
    how: str = "",
) -> None:
    """Announce an evaluation that takes long, before it begins; without a listener nothing is estimated."""
    told = None if notice is None else announcement(seconds(), lattice, table, how)
    if notice is not None and told is not None:
        notice(told)


def announcement(seconds: float, lattice: Lattice, table: FrequencySet, how: str = "") -> str | None:
    """The notice of an evaluation of so many seconds; None where it is short. ``how`` names the evaluator."""
    if seconds < LONG:
        return None
    levels = max(range(len(lattice.heights)), key=lambda a: (lattice.heights[a], -a))
    values = max(range(len(table.hierarchies)), key=lambda a: (len(table.hierarchies[a].leaves), -a))
    faster = [
        f"fewer levels in a hierarchy ('{lattice.attributes[levels]}' has {lattice.heights[levels] + 1})",
        "fewer quasi-identifiers",
        f"coarser values ('{table.attributes[values]}' has {len(table.hierarchies[values].leaves):,})",
    ]
    for percent, share in _PARTIAL.items():
        nodes = share * lattice.size + sum(lattice.heights) + 1
        if nodes * table.row_types * _PARTIAL_SECONDS * _WORTH < seconds:
            faster.insert(0, f"a partial lattice (--partial {percent})")
            break
    return (
        f"evaluating {lattice.size:,} nodes over {table.row_types:,} row types{how} takes about "
        f"{duration_text(seconds)}. Faster: {', '.join(faster[:-1])} or {faster[-1]}"
    )


def duration_text(seconds: float) -> str:
    """Seconds in the unit that reads best, rounded as an estimate deserves.

    >>> duration_text(70), duration_text(400), duration_text(9000), duration_text(10**6)
    ('1 minute', '7 minutes', '2 hours', '12 days')
    """
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 1.5 * size or unit == "minute":
            number = max(round(seconds / size), 1)
            return f"{number} {unit}{'s' * (number > 1)}"
    raise AssertionError
