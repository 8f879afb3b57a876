"""Compiled scores of classes, from the rows of each sensitive value in them, and their buckets.

A formula is the twin of a criterion's ``scores`` (``model.criteria``), step by step the same: sums run over
the values in ascending order, and the rounding is that of ``model.criteria.fixed_point``. Criteria name their
formula by a word of ``FORMULAS``; whoever adds one adds a function here, and a line to ``score``.
"""

from __future__ import annotations

from math import ceil, exp, floor, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.earth_movers import (
    Distribution,
    Ground,
    Moving,
    ground_of,
    work_in_order,
    work_of_groups,
)
from discreet.kernels.jit import compiled
from discreet.kernels.value_rows import Lanes, Occurring, lanes_of

Array = NDArray[Any]

ENTROPY, RECURSIVE, LARGEST_SHARE, LARGEST_GAIN, LARGEST_LOGARITHM = 0, 1, 2, 3, 4
DISTANCE_OF_GROUPS, DISTANCE_IN_ORDER = 5, 6
DISTANCES = EQUAL, ORDERED, HIERARCHICAL = "equal-distance", "ordered-distance", "hierarchical-distance"
FORMULAS = {
    "entropy": ENTROPY,
    "recursive": RECURSIVE,
    "largest-share": LARGEST_SHARE,
    "largest-gain": LARGEST_GAIN,
    "largest-logarithm": LARGEST_LOGARITHM,
    EQUAL: DISTANCE_OF_GROUPS,
    HIERARCHICAL: DISTANCE_OF_GROUPS,
    ORDERED: DISTANCE_IN_ORDER,
}
"""The formulas by the words that criteria use."""

UNIT, ROUNDING, NEVER, LARGEST_MEASURE = 10**9, 1e-12, -(2**62), 1e9
_UP, _DOWN = UNIT * (1 + ROUNDING), UNIT * (1 - ROUNDING)


class Scored(NamedTuple):
    """What scores are asked, each by its place in the arrays.

    ``formulas`` are numbers of ``FORMULAS``, ``places`` the sensitive attributes, ``numbers`` (shape
    ``(scores, 1)``) a formula's own. ``table`` (shape ``(scores, values)``) holds the whole table's rows by
    code, ``whole`` their sums and ``present`` how many are not 0. ``logarithms`` (shape ``(scores,
    numbers)``) are what a score takes for those of small numbers. ``ground`` is what distances ask of the
    table. ``edges[i, :ends[i]]`` part the scores into buckets.
    """

    lanes: Lanes
    formulas: Array
    places: Array
    numbers: Array
    table: Array
    whole: Array
    present: Array
    logarithms: Array
    ground: Ground
    edges: Array
    ends: Array


def scored_of_two() -> Scored:
    """The largest share of an attribute with two values: what the kernels are compiled with."""
    ones = np.ones(1, np.int64)
    return Scored(
        lanes=lanes_of([ones.repeat(2)]),
        formulas=LARGEST_SHARE * ones,
        places=0 * ones,
        numbers=np.zeros((1, 1)),
        table=np.ones((1, 2)),
        whole=np.ones(1),
        present=2 * ones,
        logarithms=np.zeros((1, 1)),
        ground=ground_of(
            [Distribution(np.ones(2, np.int64), np.arange(2), np.zeros((0, 2), np.int64), False)]
        ),
        edges=np.zeros((1, 2), np.int64),
        ends=ones,
    )


@compiled
def at_least(measure: float) -> int:
    """``fixed_point.at_least``."""
    return floor(min(measure, LARGEST_MEASURE) * _UP)


@compiled
def at_most(measure: float) -> int:
    """``fixed_point.at_most``."""
    return -ceil(min(measure, LARGEST_MEASURE) * _DOWN)


@compiled
def less_than(measure: float) -> int:
    """``fixed_point.less_than``."""
    return -floor(min(measure, LARGEST_MEASURE) * _UP) - 1


@compiled
def logarithm(number: int, small: Array, corrected: bool) -> float:
    """The logarithm that an estimator takes; beyond ``small`` by its formula."""
    if number < len(small):
        return float(small[number])
    if not corrected:
        return log(float(number))
    half = float(number // 2)
    return log(2 * half) + 1 / 24 / half**2 - 7 / 960 / half**4


@compiled
def entropies(
    classes: int, counts: Array, starts: Array, known: Array, small: Array, corrected: bool, scores: Array
) -> None:
    """``EntropyDiversity``: as many equally frequent values as are as uncertain."""
    for c in range(classes):
        if known[c] == 0:
            scores[c] = 0
            continue
        spread = 0.0
        for i in range(starts[c], starts[c + 1]):
            spread += counts[i] * logarithm(counts[i], small, corrected)
        alike = exp(logarithm(known[c], small, corrected) - spread / known[c])
        scores[c] = at_least(min(alike, float(starts[c + 1] - starts[c])) if corrected else alike)


@compiled
def quotients(
    classes: int, counts: Array, starts: Array, known: Array, least: int, top: Array, scores: Array
) -> None:
    """``RecursiveDiversity``: the most frequent value beside the ``least``-th and rarer."""
    kept = least - 1
    for c in range(classes):
        if starts[c + 1] - starts[c] < least:
            scores[c] = NEVER
            continue
        for place in range(kept):
            top[place] = 0
        for i in range(starts[c], starts[c + 1]):
            count = counts[i]
            for place in range(kept):
                if count > top[place]:
                    count, top[place] = top[place], count
        rest = known[c]
        for place in range(kept):
            rest -= top[place]
        scores[c] = less_than(top[0] / rest)


@compiled
def largest_shares(classes: int, counts: Array, starts: Array, known: Array, scores: Array) -> None:
    """``AlphaDeassociation``: the most frequent value's share."""
    for c in range(classes):
        most = 0
        for i in range(starts[c], starts[c + 1]):
            most = max(most, counts[i])
        scores[c] = at_most(most / known[c]) if known[c] > 0 else NEVER


@compiled
def largest_gains(
    classes: int,
    codes: Array,
    counts: Array,
    starts: Array,
    known: Array,
    table: Array,
    whole: float,
    bounded: bool,
    scores: Array,
) -> None:
    """``BetaLikeness``: the largest gain of a share over the table's; ``bounded`` by -ln of that, too."""
    for c in range(classes):
        fails = known[c] == 0
        largest = 0.0
        for i in range(starts[c], starts[c + 1]):
            held = table[codes[i]]
            theirs = float(known[c]) * held
            if held == 0:
                fails = True
                continue
            gain = max(counts[i] * whole - theirs, 0.0) / theirs
            if bounded and gain > -log(held / whole) * (1 + ROUNDING):
                fails = True
            largest = max(largest, gain)
        scores[c] = NEVER if fails else at_most(largest)


@compiled
def largest_logarithms(
    classes: int,
    codes: Array,
    counts: Array,
    starts: Array,
    known: Array,
    table: Array,
    whole: float,
    present: int,
    scores: Array,
) -> None:
    """``DeltaDisclosure``: the largest logarithm of shares' factors; all values must occur."""
    for c in range(classes):
        fails = known[c] == 0 or starts[c + 1] - starts[c] < present
        largest = 1.0
        if not fails:
            for i in range(starts[c], starts[c + 1]):
                mine = counts[i] * whole
                theirs = float(known[c]) * table[codes[i]]
                if theirs == 0:
                    fails = True
                    break
                largest = max(largest, mine / theirs, theirs / mine)
        scores[c] = NEVER if fails else less_than(log(largest))


@compiled
def distances(classes: int, known: Array, table: int, steps: int, scores: Array) -> None:
    """``TCloseness``: what ``scores`` holds as work becomes the distance, rounded."""
    for c in range(classes):
        parts = max(known[c] * float(max(table, 1)) * steps, 1.0)
        scores[c] = at_most(scores[c] / parts) if known[c] > 0 else NEVER


@compiled
def score(
    asked: Scored, place: int, classes: int, found: Occurring, top: Array, moving: Moving, scores: Array
) -> None:
    """One score of some classes whose values are ``found``."""
    formula = asked.formulas[place]
    chosen = asked.numbers[place, 0]
    codes, counts, starts, known = found.codes, found.counts, found.starts, found.known
    table, whole = asked.table[place], asked.whole[place]
    if formula == ENTROPY:
        entropies(classes, counts, starts, known, asked.logarithms[place], chosen > 0, scores)
    elif formula == RECURSIVE:
        quotients(classes, counts, starts, known, int(chosen), top, scores)
    elif formula == LARGEST_SHARE:
        largest_shares(classes, counts, starts, known, scores)
    elif formula == LARGEST_GAIN:
        largest_gains(classes, codes, counts, starts, known, table, whole, chosen > 0, scores)
    elif formula == LARGEST_LOGARITHM:
        present = asked.present[place]
        largest_logarithms(classes, codes, counts, starts, known, table, whole, present, scores)
    else:
        ground = asked.ground
        if formula == DISTANCE_OF_GROUPS:
            work_of_groups(classes, found, ground, place, moving.sums, scores)
        else:
            work_in_order(classes, found, ground, place, moving, scores)
        distances(classes, known, ground.table[place], ground.steps[place], scores)


@compiled
def append_buckets(classes: int, scores: Array, edges: Array, end: int, width: Any, packed: Array) -> None:
    """Pack beside what is packed the number of edges at or below each score."""
    for c in range(classes):
        low, high = 0, end
        while low < high:
            middle = (low + high) // 2
            if edges[middle] <= scores[c]:
                low = middle + 1
            else:
                high = middle
        packed[c] = (packed[c] << width) | np.uint64(low)
