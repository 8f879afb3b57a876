"""Compiled scores of classes from their row counts per sensitive value, and the buckets of the scores.

Twins of the criteria's ``scores`` (``model.criteria``) with the rounding of
``model.criteria.float_criterion``: entropy and recursive l-diversity, largest share, gain and logarithm, and
the earth mover's distance of t-closeness as exact integer work.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, floor, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled
from discreet.kernels.packed_values import LaneLayout, OccurringValues, lay_out_lanes, popcount

Array = NDArray[Any]
Int64Array = NDArray[np.int64]
_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_EXACT_BELOW = 2**61
_DENSE = 8
"""Density of values from which a class's partial sums are computed place by place: one in eight places."""


class ReferenceDistribution(NamedTuple):
    """Values of the whole table as one distance needs them: ``rows`` and ``ranks`` by code.

    ``levels`` (shape ``(levels, codes)``) are the groups of the levels between the leaves and the top; empty
    except for the hierarchical distance. ``ordered`` selects the ordered distance.
    """

    rows: Int64Array
    ranks: Int64Array
    levels: Int64Array
    ordered: bool


class ReferenceArrays(NamedTuple):
    """Distributions of all scores as arrays; scores that are no distance have an entry too, unused.

    ``rows`` and ``ranks`` have shape ``(scores, values)``, ``table`` is the sum of the rows, ``last`` the
    last place. ``partial[i, p]`` is the number of rows up to and including place p, ``before[i, p]`` the sum
    of these over the places below p. ``groups`` (shape ``(scores, levels, values)``) are the groups of each
    code at the ``levels[i]`` upper levels, ``numbers`` the number of groups, and ``group_rows`` the rows of
    each group. ``single_work`` is the work per row of a class that contains only this value. Work divided by
    ``steps`` is the distance.
    """

    rows: Int64Array
    table: Int64Array
    ranks: Int64Array
    last: Int64Array
    partial: Int64Array
    before: Int64Array
    groups: Int64Array
    group_rows: Int64Array
    numbers: Int64Array
    levels: Int64Array
    single_work: Int64Array
    steps: Int64Array


class DistanceScratch(NamedTuple):
    """Working arrays of one thread, all 0 between classes: rows by place or group, and places as bits."""

    sums: Array
    seen: Array


def make_distance_scratch(values: int) -> DistanceScratch:
    """Allocate scratch for attributes of up to ``values`` values."""
    return DistanceScratch(np.zeros(values, np.int64), np.zeros(values // 64 + 1, np.uint64))


def is_exact(rows: Int64Array) -> bool:
    """Return whether the work fits into int64; otherwise the twin computes it in floating point."""
    table = int(rows.sum())
    return table * table * (len(rows) + 2) < _EXACT_BELOW


def make_reference_arrays(inputs: Sequence[ReferenceDistribution]) -> ReferenceArrays:
    """Build the arrays of several distributions."""
    number, values = len(inputs), max(len(one.rows) for one in inputs)
    levels = max(len(one.levels) for one in inputs)

    def empty(*shape: int) -> Int64Array:
        return np.zeros((number, *shape), np.int64)

    ground = ReferenceArrays(
        *(empty(values), empty(), empty(values), empty(), empty(values), empty(values + 1)),
        *(empty(levels, values), empty(levels, values), empty(levels), empty(), empty(values), empty()),
    )
    for i, one in enumerate(inputs):
        _fill_reference(ground, i, one)
    return ground


def _fill_reference(ground: ReferenceArrays, i: int, one: ReferenceDistribution) -> None:
    size, table = len(one.rows), int(one.rows.sum())
    ground.rows[i, :size], ground.ranks[i, :size] = one.rows, one.ranks
    ground.table[i], ground.last[i], ground.levels[i] = table, size - 1, len(one.levels)
    in_order = np.zeros(size, np.int64)
    in_order[one.ranks] = one.rows
    partial = np.cumsum(in_order)
    before = np.append(0, np.cumsum(partial))
    ground.partial[i, :size], ground.before[i, : size + 1] = partial, before
    single_work = table - one.rows
    for level, groups in enumerate(one.levels):
        # Groups are renumbered densely, so that scratch of the number of values is large enough.
        _, group_of = np.unique(groups, return_inverse=True)
        ground.groups[i, level, :size] = group_of
        np.add.at(ground.group_rows[i, level], group_of, one.rows)
        ground.numbers[i, level] = group_of.max(initial=-1) + 1
        single_work = single_work + table - ground.group_rows[i, level, group_of]
    steps = 1 + len(one.levels)
    if one.ordered:
        last = size - 1
        single_work, steps = table * (last - one.ranks) - before[last] + 2 * before[one.ranks], max(last, 1)
    ground.single_work[i, :size], ground.steps[i] = single_work, steps


@compiled
def sum_group_work(
    classes: int,
    occurring_values: OccurringValues,
    ground: ReferenceArrays,
    score: int,
    sums: Array,
    work: Array,
) -> None:
    """Fill ``work`` with the excess over the table's share, of each value and each group of upper levels."""
    codes, counts, starts = occurring_values.codes, occurring_values.counts, occurring_values.starts
    rows, single_work, table = ground.rows[score], ground.single_work[score], ground.table[score]
    for c in range(classes):
        first, end, known = starts[c], starts[c + 1], occurring_values.known[c]
        if end == first + 1:
            work[c] = single_work[codes[first]] * known
            continue
        total = 0
        for i in range(first, end):
            total += max(counts[i] * table - rows[codes[i]] * known, 0)
        for level in range(ground.levels[score]):
            groups, group_rows = ground.groups[score, level], ground.group_rows[score, level]
            number = ground.numbers[score, level]
            for i in range(first, end):
                sums[groups[codes[i]]] += counts[i]
            if number < end - first:
                for group in range(number):
                    total += max(sums[group] * table - group_rows[group] * known, 0)
                    sums[group] = 0
                continue
            for i in range(first, end):
                # A group that was added already is empty now and adds 0.
                group = groups[codes[i]]
                total += max(sums[group] * table - group_rows[group] * known, 0)
                sums[group] = 0
        work[c] = total


@compiled
def sum_work_between(
    begin: Any, end: Any, mine: Any, known: Any, table: Any, partial: Array, before: Array
) -> Any:
    """Return the work of the steps between two places, where a class's partial sum is constant.

    The table's partial sum ascends and crosses it at most once; a binary search finds the crossing.
    """
    scaled = mine * table
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if known * partial[middle] <= scaled:
            low = middle + 1
        else:
            high = middle
    return scaled * (2 * low - begin - end) + known * (before[begin] + before[end] - 2 * before[low])


@compiled
def sum_dense_work(
    first: Any,
    end: Any,
    known: Any,
    occurring_values: OccurringValues,
    ground: ReferenceArrays,
    score: int,
    sums: Array,
) -> Any:
    """Return the work of one class, the differences of partial sums, summed place by place."""
    ranks, partial = ground.ranks[score], ground.partial[score]
    table, last = ground.table[score], ground.last[score]
    for i in range(first, end):
        sums[ranks[occurring_values.codes[i]]] += occurring_values.counts[i]
    total: Any = 0
    mine: Any = 0
    for slot in range(last):
        mine += sums[slot]
        sums[slot] = 0
        total += abs(mine * table - known * partial[slot])
    sums[last] = 0
    return total


@compiled
def sum_ordered_work(
    classes: int,
    occurring_values: OccurringValues,
    ground: ReferenceArrays,
    score: int,
    moving: DistanceScratch,
    work: Array,
) -> None:
    """Fill ``work`` with the differences of the partial sums, summed from value to value of each class.

    Cost: the number of a class's values times a binary search, not the number of places.
    """
    codes, counts, starts = occurring_values.codes, occurring_values.counts, occurring_values.starts
    ranks, single_work, table = ground.ranks[score], ground.single_work[score], ground.table[score]
    partial, before, last = ground.partial[score], ground.before[score], ground.last[score]
    sums, seen = moving.sums, moving.seen
    for c in range(classes):
        first, end, known = starts[c], starts[c + 1], occurring_values.known[c]
        if end == first + 1:
            work[c] = single_work[codes[first]] * known
            continue
        if end == first:
            work[c] = 0
            continue
        if _DENSE * (end - first) > last:
            work[c] = sum_dense_work(first, end, known, occurring_values, ground, score, sums)
            continue
        for i in range(first, end):
            rank = ranks[codes[i]]
            sums[rank] = counts[i]
            seen[rank // 64] |= _ONE << np.uint64(rank % 64)
        total: Any = 0
        mine: Any = 0
        slot: Any = 0
        for w in range(last // 64 + 1):
            # Visit the class's places in ascending order: clear and locate the lowest bit that is set.
            word = seen[w]
            seen[w] = _NOTHING
            while word != _NOTHING:
                lowest = word & (~word + _ONE)
                word ^= lowest
                there = 64 * w + np.int64(popcount(lowest - _ONE))
                if mine == 0:
                    total = known * before[there]
                else:
                    total += sum_work_between(slot, there, mine, known, table, partial, before)
                mine += sums[there]
                sums[there] = 0
                slot = there
        # After the last value the class's partial sum is complete; only the table's still grows.
        work[c] = total + known * (table * (last - slot) - before[last] + before[slot])


# Opcodes of ``score_classes``.
ENTROPY, RECURSIVE, LARGEST_SHARE, LARGEST_GAIN, LARGEST_LOGARITHM = 0, 1, 2, 3, 4
DISTANCE_OF_GROUPS, DISTANCE_IN_ORDER = 5, 6
DISTANCES = EQUAL_DISTANCE, ORDERED_DISTANCE, HIERARCHICAL_DISTANCE = (
    "equal-distance",
    "ordered-distance",
    "hierarchical-distance",
)
FORMULAS = {
    "entropy": ENTROPY,
    "recursive": RECURSIVE,
    "largest-share": LARGEST_SHARE,
    "largest-gain": LARGEST_GAIN,
    "largest-logarithm": LARGEST_LOGARITHM,
    EQUAL_DISTANCE: DISTANCE_OF_GROUPS,
    HIERARCHICAL_DISTANCE: DISTANCE_OF_GROUPS,
    ORDERED_DISTANCE: DISTANCE_IN_ORDER,
}
"""Opcodes of the formulas by the names that criteria use."""

_UNIT, _ROUNDING, _NEVER, _LARGEST_MEASURE = 10**9, 1e-12, -(2**62), 1e9
# Scale to billionths with a tolerance for floating-point errors, as ``float_criterion`` does.
_UP, _DOWN = _UNIT * (1 + _ROUNDING), _UNIT * (1 - _ROUNDING)


class ScoreInputs(NamedTuple):
    """Inputs of the scores, each by its position in the arrays.

    ``formulas`` are opcodes of ``FORMULAS``, ``places`` the sensitive attributes, ``numbers`` (shape
    ``(scores, 1)``) each formula's parameter. ``table`` (shape ``(scores, values)``) contains the whole
    table's rows by code, ``totals`` their sums and ``present`` the number of values that occur.
    ``logarithms`` (shape ``(scores, numbers)``) are tabled logarithms of small numbers. ``ground`` contains
    the reference distributions of distances. ``edges[i, :ends[i]]`` divide the scores into buckets.
    """

    lanes: LaneLayout
    formulas: Array
    places: Array
    numbers: Array
    table: Array
    totals: Array
    present: Array
    logarithms: Array
    ground: ReferenceArrays
    edges: Array
    ends: Array


def minimal_score_inputs() -> ScoreInputs:
    """Return the inputs with which kernels are precompiled: the largest share of a two-valued attribute."""
    ones = np.ones(1, np.int64)
    return ScoreInputs(
        lanes=lay_out_lanes([ones.repeat(2)]),
        formulas=LARGEST_SHARE * ones,
        places=0 * ones,
        numbers=np.zeros((1, 1)),
        table=np.ones((1, 2)),
        totals=np.ones(1),
        present=2 * ones,
        logarithms=np.zeros((1, 1)),
        ground=make_reference_arrays(
            [ReferenceDistribution(np.ones(2, np.int64), np.arange(2), np.zeros((0, 2), np.int64), False)]
        ),
        edges=np.zeros((1, 2), np.int64),
        ends=ones,
    )


@compiled
def round_at_least(measure: float) -> int:
    """Return ``float_criterion.score_at_least`` of a measure."""
    return floor(min(measure, _LARGEST_MEASURE) * _UP)


@compiled
def round_at_most(measure: float) -> int:
    """Return ``float_criterion.score_at_most`` of a measure."""
    return -ceil(min(measure, _LARGEST_MEASURE) * _DOWN)


@compiled
def round_less_than(measure: float) -> int:
    """Return ``float_criterion.score_less_than`` of a measure."""
    return -floor(min(measure, _LARGEST_MEASURE) * _UP) - 1


@compiled
def logarithm(number: int, small: Array, corrected: bool) -> float:
    """Return the logarithm that an estimator uses: tabled in ``small``, beyond it by its formula."""
    if number < len(small):
        return float(small[number])
    if not corrected:
        return log(float(number))
    half = float(number // 2)
    return log(2 * half) + 1 / 24 / half**2 - 7 / 960 / half**4


@compiled
def score_entropy(
    classes: int, counts: Array, starts: Array, known: Array, small: Array, corrected: bool, scores: Array
) -> None:
    """Score ``EntropyDiversity``: the number of equally frequent values with the same entropy."""
    for c in range(classes):
        if known[c] == 0:
            scores[c] = 0
            continue
        spread = 0.0
        for i in range(starts[c], starts[c + 1]):
            spread += counts[i] * logarithm(counts[i], small, corrected)
        alike = exp(logarithm(known[c], small, corrected) - spread / known[c])
        scores[c] = round_at_least(min(alike, float(starts[c + 1] - starts[c])) if corrected else alike)


@compiled
def score_recursive(
    classes: int, counts: Array, starts: Array, known: Array, least: int, top: Array, scores: Array
) -> None:
    """Score ``RecursiveDiversity``: the most frequent value divided by the ``least``-th and rarer values."""
    slots = least - 1
    for c in range(classes):
        if starts[c + 1] - starts[c] < least:
            scores[c] = _NEVER
            continue
        # The ``least`` - 1 largest counts, by insertion; no sort, since ``least`` is small.
        for slot in range(slots):
            top[slot] = 0
        for i in range(starts[c], starts[c + 1]):
            count = counts[i]
            for slot in range(slots):
                if count > top[slot]:
                    count, top[slot] = top[slot], count
        rest = known[c]
        for slot in range(slots):
            rest -= top[slot]
        scores[c] = round_less_than(top[0] / rest)


@compiled
def score_largest_share(classes: int, counts: Array, starts: Array, known: Array, scores: Array) -> None:
    """Score ``AlphaDeassociation``: the most frequent value's share."""
    for c in range(classes):
        most = 0
        for i in range(starts[c], starts[c + 1]):
            most = max(most, counts[i])
        scores[c] = round_at_most(most / known[c]) if known[c] > 0 else _NEVER


@compiled
def score_largest_gain(
    classes: int,
    codes: Array,
    counts: Array,
    starts: Array,
    known: Array,
    table: Array,
    totals: float,
    bounded: bool,
    scores: Array,
) -> None:
    """Score ``BetaLikeness``: the largest relative gain of a share; ``bounded`` also by -ln of the share."""
    for c in range(classes):
        fails = known[c] == 0
        largest = 0.0
        for i in range(starts[c], starts[c + 1]):
            reference_count = table[codes[i]]
            theirs = float(known[c]) * reference_count
            if reference_count == 0:
                fails = True
                continue
            gain = max(counts[i] * totals - theirs, 0.0) / theirs
            if bounded and gain > -log(reference_count / totals) * (1 + _ROUNDING):
                fails = True
            largest = max(largest, gain)
        scores[c] = _NEVER if fails else round_at_most(largest)


@compiled
def score_largest_logarithm(
    classes: int,
    codes: Array,
    counts: Array,
    starts: Array,
    known: Array,
    table: Array,
    totals: float,
    present: int,
    scores: Array,
) -> None:
    """Score ``DeltaDisclosure``: the largest logarithm of a ratio of shares; all values must occur."""
    for c in range(classes):
        fails = known[c] == 0 or starts[c + 1] - starts[c] < present
        largest = 1.0
        if not fails:
            for i in range(starts[c], starts[c + 1]):
                mine = counts[i] * totals
                theirs = float(known[c]) * table[codes[i]]
                if theirs == 0:
                    fails = True
                    break
                largest = max(largest, mine / theirs, theirs / mine)
        scores[c] = _NEVER if fails else round_less_than(log(largest))


@compiled
def score_distance(classes: int, known: Array, table: int, steps: int, scores: Array) -> None:
    """Score ``TCloseness``: replace the work in ``scores`` by the rounded distance."""
    for c in range(classes):
        parts = max(known[c] * float(max(table, 1)) * steps, 1.0)
        scores[c] = round_at_most(scores[c] / parts) if known[c] > 0 else _NEVER


@compiled
def score_classes(
    inputs: ScoreInputs,
    slot: int,
    classes: int,
    occurring_values: OccurringValues,
    top: Array,
    moving: DistanceScratch,
    scores: Array,
) -> None:
    """Compute one score of some classes whose values are listed in ``occurring_values``."""
    formula = inputs.formulas[slot]
    chosen = inputs.numbers[slot, 0]
    codes, counts, starts, known = (
        occurring_values.codes,
        occurring_values.counts,
        occurring_values.starts,
        occurring_values.known,
    )
    table, totals = inputs.table[slot], inputs.totals[slot]
    if formula == ENTROPY:
        score_entropy(classes, counts, starts, known, inputs.logarithms[slot], chosen > 0, scores)
    elif formula == RECURSIVE:
        score_recursive(classes, counts, starts, known, int(chosen), top, scores)
    elif formula == LARGEST_SHARE:
        score_largest_share(classes, counts, starts, known, scores)
    elif formula == LARGEST_GAIN:
        score_largest_gain(classes, codes, counts, starts, known, table, totals, chosen > 0, scores)
    elif formula == LARGEST_LOGARITHM:
        present = inputs.present[slot]
        score_largest_logarithm(classes, codes, counts, starts, known, table, totals, present, scores)
    else:
        ground = inputs.ground
        if formula == DISTANCE_OF_GROUPS:
            sum_group_work(classes, occurring_values, ground, slot, moving.sums, scores)
        else:
            sum_ordered_work(classes, occurring_values, ground, slot, moving, scores)
        score_distance(classes, known, ground.table[slot], ground.steps[slot], scores)


@compiled
def append_buckets(classes: int, scores: Array, edges: Array, end: int, width: Any, packed: Array) -> None:
    """Append to each packed signature the bucket of its score: the number of edges at or below it."""
    for c in range(classes):
        low, high = 0, end
        while low < high:
            middle = (low + high) // 2
            if edges[middle] <= scores[c]:
                low = middle + 1
            else:
                high = middle
        packed[c] = (packed[c] << width) | np.uint64(low)
