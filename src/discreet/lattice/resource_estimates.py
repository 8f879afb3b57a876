"""Estimates of the time and memory of a lattice evaluation, and the check of the memory limit.

Kernels are timed on two samples of the row types; other evaluators have a constant rate. Long evaluations are
announced with advice on faster alternatives. Memory has an upper bound, and a sampled estimate if that
exceeds the limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isqrt, log
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.kernels.histograms import SMALL_LIMIT, Histograms
from discreet.kernels.lattice_rotation_plan import RotationPlan, count_words_of
from discreet.lattice.scores import count_node_histogram
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice
from discreet.settings import Settings, format_memory

Notice = Callable[[str], None]
"""Callback with one line that explains a waiting time."""

SETS_FACTOR, SCORES_FACTOR = 1.5, 12.0
"""Factors of time for the sensitive values of a class and for its scores, relative to its size only."""
BY_NUMPY = " with numpy instead of the compiled kernels"

ANNOUNCED_SECONDS = 60.0
"""Seconds from which an evaluation is announced."""

_LEAST_SECONDS = 1.5e-10
"""Least seconds per row type and node: an evaluation that stays short at ten times this is not sampled."""
_SAMPLE_SECONDS = 1e-9
_NUMPY_SECONDS, _NUMPY_SECONDS_OF_ROW, _SUBJECT_SECONDS = 5e-9, 3e-6, 1.5e-8
"""Seconds by numpy per row type and node and, counting subjects, per row; by subject kernels per entry."""
_STEEPEST, _FLATTEST = 1.5, 0.8
_PARTIAL = {"5%": 0.05, "1%": 0.01, "0.1%": 0.001}
_PARTIAL_SECONDS, _WORTH = 1.2e-7, 3
"""Seconds per node and row type of a partial lattice, and the speedup from which it is suggested."""

SampleRun = Callable[[NDArray[np.int64]], object]
"""Function that evaluates some row types of a plan, given their positions in it."""


def restrict_plan(plan: RotationPlan, places: NDArray[np.int64]) -> RotationPlan:
    """Return the plan restricted to some of its row types; their positions must ascend."""
    return replace(
        plan,
        keys=np.ascontiguousarray(plan.keys[:, places]),
        counts=plan.counts[places],
        source=plan.source[places],
    )


def sample_seconds(plan: RotationPlan, run: SampleRun, factor: float = 1.0) -> float:
    """Estimate the seconds of an evaluation from two samples; 0 if it is certainly short.

    ``factor`` is the time per class relative to counting sizes only.
    """
    types = len(plan.counts)
    if plan.nodes * types * _LEAST_SECONDS * factor * 10 < ANNOUNCED_SECONDS:
        return 0.0
    large = int(min(types // 16, 1.0 / (plan.nodes * _SAMPLE_SECONDS * factor)))
    small = large // 4
    if small < 64:
        return plan.nodes * types * _SAMPLE_SECONDS * factor
    # Fixed costs, such as loading kernels, are those of two row types; the first call compiles or loads them.
    time_sample(run, types, 2)
    fixed = time_sample(run, types, 2)
    first, second = (max(time_sample(run, types, number) - fixed, 1e-6) for number in (small, large))
    power = min(max(log(second / first) / log(large / small), _FLATTEST), _STEEPEST)
    grown: float = second * (types / large) ** power
    return fixed + grown


def time_sample(run: SampleRun, types: int, number: int) -> float:
    """Return the seconds of a run on ``number`` row types, drawn by a seeded generator."""
    places = np.sort(np.random.default_rng(number).choice(types, number, replace=False))
    start = perf_counter()
    run(places)
    return perf_counter() - start


def estimate_numpy_seconds(plan: RotationPlan, sensitive: int) -> float:
    """Estimate the seconds that numpy takes for a plan with ``sensitive`` sensitive attributes."""
    return plan.nodes * len(plan.counts) * _NUMPY_SECONDS * (1 + 6 * sensitive)


def estimate_table_seconds(plan: RotationPlan, table: FrequencySet) -> float:
    """Estimate the seconds that numpy takes for a table, with or without subjects."""
    if table.subjects is not None:
        return plan.nodes * table.rows * _NUMPY_SECONDS_OF_ROW
    return estimate_numpy_seconds(plan, len(table.sensitive))


def estimate_subject_seconds(plan: RotationPlan, table: FrequencySet) -> float:
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
    """Announce a long evaluation before it begins; without a listener nothing is estimated."""
    text = None if notice is None else announcement_text(seconds(), lattice, table, how)
    if notice is not None and text is not None:
        notice(text)


def announcement_text(seconds: float, lattice: Lattice, table: FrequencySet, how: str = "") -> str | None:
    """Return the notice of an evaluation of ``seconds``; None if it is short. ``how`` names the evaluator."""
    if seconds < ANNOUNCED_SECONDS:
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
    """Format seconds in the most readable unit, rounded as an estimate deserves.

    >>> duration_text(70), duration_text(400), duration_text(9000), duration_text(10**6)
    ('1 minute', '7 minutes', '2 hours', '12 days')
    """
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 1.5 * size or unit == "minute":
            number = max(round(seconds / size), 1)
            return f"{number} {unit}{'s' * (number > 1)}"
    raise AssertionError


_LISTED_AT_MOST = 1024
_TABLED = 33 * 34 // 2
_TABLED_SIZES = 32
_LOOKED_AT = 32
_BLOCK = 4
_SIGNATURES, _AT_ONCE = 1 << 17, 1024
_MOST_WORDS = 64
"""Largest number of words for the kernels; above it the twin evaluates, which stores pairs instead."""


def estimate_memory(
    lattice: Lattice, frequency_set: FrequencySet, sensitive: int, threads: int = 1, further: int = 0
) -> int:
    """Estimate the bytes that the histograms of all nodes and the rotation's buffers take at most.

    Sizes up to a limit are stored densely. Larger ones are listed, and aggregated if the list is long: there
    are at most as many as row types, as rows divided by the limit, and as distinct sizes, of which there are
    at most about the square root of twice the rows. With sensitive attributes small classes are listed too.
    With ``further`` scores of sensitive attributes, buffers contain the rows of every value; the number of
    entries is known only after counting (``make_memory_check``).
    """
    rows, types = frequency_set.rows, frequency_set.row_types
    number = 8 if rows >= 2**32 else 4
    longest = max(_LISTED_AT_MOST, isqrt(2 * rows))
    listed = min(types, rows // SMALL_LIMIT + 1, longest)
    if sensitive:
        listed = min(types, 2 * listed + _TABLED) if sensitive == 1 else min(types, longest)
    histograms = lattice.size * ((SMALL_LIMIT + 1) + listed * (2 + sensitive)) * number
    words = count_value_words(frequency_set, sensitive)
    fixed = 0
    if further and _words_of_rows(frequency_set) <= _MOST_WORDS:
        words = _words_of_rows(frequency_set)
        values = max(s.size for s in frequency_set.sensitive)
        # Tables of small classes, at their largest: of cell nodes, and of groups set apart by position.
        tables = (len(lattice.heights) + 4) * (4 * _SIGNATURES + 8 * min(_SIGNATURES, 2 * types))
        fixed = _AT_ONCE * (8 * words + 16 * values) + tables
    return histograms + (estimate_buffers(types, len(lattice.heights), number, words) + fixed) * threads


def sample_memory(lattice: Lattice, frequency_set: FrequencySet, sensitive: int, threads: int = 1) -> int:
    """Estimate the actual bytes from the histograms of some nodes, drawn by a seeded generator.

    Rows must be counted. Cost: counting up to 32 nodes one by one. The memory of the other nodes is checked
    as they are counted (``make_memory_check``).
    """
    number = 8 if frequency_set.rows >= 2**32 else 4
    table = replace(frequency_set, sensitive=frequency_set.sensitive[:sensitive])
    drawn = np.random.default_rng(lattice.size).integers(0, lattice.size, min(_LOOKED_AT, lattice.size))
    listed = sum(
        _count_listed(count_node_histogram(table, lattice.node(int(node)), ())) for node in drawn
    ) / len(drawn)
    small = lattice.size * (SMALL_LIMIT + 1 + 3 * 2) * number
    # Entries are gathered in parts, and for a moment exist in one piece as well.
    entries = 2 * int(lattice.size * listed * (2 + sensitive) * number)
    words = count_value_words(frequency_set, sensitive)
    buffers = estimate_buffers(frequency_set.row_types, len(lattice.heights), number, words)
    # States shrink with each depth, and pages that are never written to are not allocated.
    return small + entries + buffers * threads // 2


def _count_listed(node: Histograms) -> int:
    """Count the entries that the kernels list of a node's classes (``kernels.size_tallies``)."""
    signatures = node.signatures
    large = signatures[:, signatures[0] > (SMALL_LIMIT if len(signatures) == 1 else _TABLED_SIZES)]
    result = len(large.T)
    if result > _LISTED_AT_MOST:
        result = len(np.unique(large, axis=1).T)
    if len(signatures) > 1:
        result += len(np.unique(signatures[:, signatures[0] <= _TABLED_SIZES], axis=1).T)
    return result


def count_value_words(frequency_set: FrequencySet, sensitive: int) -> int:
    """Return the words of 8 bytes that contain a row type's values of ``sensitive`` attributes as bits."""
    return sum(count_words_of(s.size) for s in frequency_set.sensitive[:sensitive])


def estimate_buffers(types: int, attributes: int, number: int, words: int) -> int:
    """Return the bytes of one rotation thread: states by depth, the tail's rows, and lists.

    ``number`` is the bytes of a count, ``words`` the words of 8 bytes that contain a row type's values.
    """
    group = 8 + number + 8 * words
    return types * (group * (attributes + 2) + 2 * (8 + 4 * number + 32 * words) + 48)


def _words_of_rows(frequency_set: FrequencySet) -> int:
    """Return the words with a lane for each value's rows, in blocks (``kernels.packed_values``)."""
    sets = frequency_set.sensitive
    most = max((int(s.of.rows.max(initial=1)) for s in sets if s.of is not None), default=1)
    lanes = 64 // most.bit_length()
    return -(-sum(max(1, -(-s.size // lanes)) for s in sets) // _BLOCK) * _BLOCK


def check_memory(
    lattice: Lattice, frequency_set: FrequencySet, sensitive: int, settings: Settings, further: int = 0
) -> None:
    """Raise ``LimitReached`` with the estimate and advice if the estimate exceeds the memory limit.

    The upper bound is cheap but often several times too high: if it exceeds the limit, some nodes are
    sampled.
    """
    needed = estimate_memory(lattice, frequency_set, sensitive, settings.threads, further)
    if needed <= settings.memory_limit:
        return
    if (
        frequency_set.subjects is None
        and not further
        and count_value_words(frequency_set, sensitive) <= _MOST_WORDS
    ):
        needed = sample_memory(lattice, frequency_set, sensitive, settings.threads)
    if needed <= settings.memory_limit:
        return
    raise _memory_error(lattice, frequency_set, settings, f"would take about {format_memory(needed)}")


def make_memory_check(
    lattice: Lattice, frequency_set: FrequencySet, settings: Settings
) -> Callable[[int], None]:
    """Return a function that raises ``LimitReached`` if the histograms' bytes so far exceed the limit.

    The number of entries of a further score is known only after counting: nearly every class may be one.
    """

    def check(nbytes: int) -> None:
        if 2 * nbytes > settings.memory_limit:  # gathered in parts, then in one piece
            raise _memory_error(
                lattice, frequency_set, settings, f"takes more than {format_memory(2 * nbytes)}"
            )

    return check


def _memory_error(
    lattice: Lattice, frequency_set: FrequencySet, settings: Settings, amount: str
) -> LimitReached:
    return LimitReached(
        f"the lattice has {lattice.size:,} nodes over {frequency_set.row_types:,} row types;"
        f" evaluating it {amount}",
        allowed=f"{format_memory(settings.memory_limit)} (--memory-limit, DISCREET_MEMORY_LIMIT)",
        advice="Raise the limit, omit a quasi-identifier, or give hierarchies fewer levels.",
    )
