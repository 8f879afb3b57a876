"""A good division of all attributes, to begin with: two attributes at a time are divided at least cost.

From no cuts at all, pairs of attributes are drawn and divided at their optimum while the others stay, until
no pair gains; then some cuts are taken out and it begins again, from the best so far (iterated local search,
a fixed seed). Every division on the way keeps to the limit, since the pair's own division did before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.merge import pack
from discreet.taxonomy.class_costs import BIG
from discreet.taxonomy.divided_table import DividedTable, Starts
from discreet.taxonomy.pair_solver import PairSolver

Whole = NDArray[np.int64]
Division = tuple[Starts, ...]
_SEED = 11
_STEPS = 1 << 23
"""Pairs of intervals times classes that are weighed at once; beyond, attributes are divided one at a time."""

_NODES = 2000


def good_division(
    table: DividedTable, solver: PairSolver, start: Division | None, rounds: int, ended: Callable[[], bool]
) -> tuple[int, Division]:
    """A division of small cost, after so many disturbed rounds or when ``ended``."""
    random = np.random.default_rng(_SEED)
    uncut: Division = tuple((0,) for _ in table.sizes)
    best, chosen = BIG, uncut
    for division in (uncut, *(() if start is None else (start,))):
        cost, found = _descend(table, solver, division, random, ended)
        if cost < best:
            best, chosen = cost, found
    for _ in range(rounds):
        if ended():
            break
        cost, found = _descend(table, solver, _disturbed(chosen, random), random, ended)
        if cost <= best:
            best, chosen = cost, found
    return best, chosen


def _disturbed(division: Division, random: np.random.Generator) -> Division:
    """Without the cuts of one or two attributes, or without a share of all."""
    number = len(division)
    if random.random() < 0.5:
        emptied = set(random.choice(number, size=min(number, int(random.integers(1, 3))), replace=False))
        return tuple((0,) if i in emptied else starts for i, starts in enumerate(division))
    kept = random.uniform(0.3, 0.8)
    return tuple((0, *(s for s in starts[1:] if random.random() < kept)) for starts in division)


def _descend(
    table: DividedTable,
    solver: PairSolver,
    division: Division,
    random: np.random.Generator,
    ended: Callable[[], bool],
) -> tuple[int, Division]:
    cost, chosen = BIG, list(division)
    number = len(chosen)
    pairs = list(combinations(range(number), 2)) or [(0, 0)]
    waiting = [pairs[i] for i in random.permutation(len(pairs))]
    while waiting and not (cost < BIG and ended()):
        pair = waiting.pop()
        found = _divided(table, solver, chosen, pair, cost)
        if found is None:
            continue
        cost, changed = found
        if all(chosen[i] == starts for i, starts in changed.items()):
            continue
        for i, starts in changed.items():
            chosen[i] = starts
        again = [other for other in pairs if other != pair and other not in waiting]
        waiting = [again[i] for i in random.permutation(len(again))] + waiting
    return cost, tuple(chosen)


def _divided(
    table: DividedTable, solver: PairSolver, chosen: Sequence[Starts], pair: tuple[int, int], cost: int
) -> tuple[int, dict[int, Starts]] | None:
    """The pair divided at its optimum, or its attributes in turn where that is too much; None: no gain."""
    i, j = pair
    counts = _rows_by(table, chosen, pair)
    wide, high = counts.shape[1:]
    if counts.shape[0] * wide * wide * high * high // 4 <= _STEPS:
        found = solver.divide(counts, cost, _NODES)
        return None if found.cost >= cost else (found.cost, {i: found.x, j: found.y})
    now, changed, gained = cost, {i: chosen[i], j: chosen[j]}, False
    for at in pair:
        alone = _rows_by(table, [changed.get(a, starts) for a, starts in enumerate(chosen)], (at,))
        found = solver.divide(alone, now, _NODES)
        if found.cost < now:
            now, gained = found.cost, True
            changed[at] = found.y
    return (now, changed) if gained else None


def _rows_by(table: DividedTable, chosen: Sequence[Starts], free: tuple[int, ...]) -> Whole:
    """Rows by class of the other attributes, and by the values of one or two free ones."""
    fixed = [a for a in range(len(chosen)) if a not in free and len(chosen[a]) > 1]
    columns = [np.searchsorted(np.array(chosen[a]), table.places[:, a], side="right") - 1 for a in fixed]
    keys = pack([np.zeros(len(table.counts), np.int64), *columns], [1, *(len(chosen[a]) for a in fixed)])
    occurring, class_of = np.unique(keys, return_inverse=True)
    i, j = (free[0], free[-1])
    x = table.places[:, i] if i != j else np.zeros(len(keys), np.int64)
    wide = table.sizes[i] if i != j else 1
    at = (class_of.ravel() * wide + x) * table.sizes[j] + table.places[:, j]
    size = len(occurring) * wide * table.sizes[j]
    return np.bincount(at, table.counts, minlength=size).astype(np.int64).reshape(-1, wide, table.sizes[j])
