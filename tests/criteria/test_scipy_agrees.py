"""scipy agrees: earth mover's distances by linear programming and by formula, and entropies."""

from __future__ import annotations

import random
from collections import Counter
from math import exp

import numpy as np
import pytest

from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.criteria.t_closeness import TCloseness
from tests.criteria.known_tables import PATHS, WAGES, Classes, in_order, known, scores


def drawn(seed: int, values: list[str]) -> tuple[Classes, list[str]]:
    """Return some classes, and the table: their rows together with suppressed rows."""
    chance = random.Random(seed)
    classes = [chance.choices(values, k=chance.randrange(1, 12)) for _ in range(4)]
    table = [value for held in classes for value in held] + chance.choices(values, k=5)
    return classes, table


def shares(held: list[str], values: list[str]) -> np.ndarray:
    counts = Counter(held)
    return np.array([counts[value] / len(held) for value in values])


def least_work(mine: np.ndarray, theirs: np.ndarray, apart: np.ndarray) -> float:
    """Solve the transportation problem for any distances."""
    number = len(mine)
    rows = np.zeros((2 * number, number * number))
    for i in range(number):
        rows[i, i * number : (i + 1) * number] = 1
        rows[number + i, i::number] = 1
    # Imported here because every test process reads this file.
    optimize = pytest.importorskip("scipy.optimize")
    found = optimize.linprog(apart.ravel(), A_eq=rows, b_eq=np.concatenate([mine, theirs]), method="highs")
    return float(found.fun)


def apart_by(distance: str, values: list[str]) -> np.ndarray:
    """Return the distances between values by the definitions of Li et al. (2007)."""

    def between(i: int, j: int) -> float:
        if distance == "ordered":
            return abs(i - j) / max(len(values) - 1, 1)
        if distance == "equal" or i == j:
            return float(i != j)
        paths = PATHS[values[i]], PATHS[values[j]]
        return next(level for level in range(4) if paths[0][level] == paths[1][level]) / 3

    return np.array([[between(i, j) for j in range(len(values))] for i in range(len(values))])


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("seed", range(6))
def test_distances_are_the_least_work(distance: str, seed: int) -> None:
    classes, table = drawn(seed, list(PATHS))
    criterion = TCloseness(0.5, distance=distance)
    values = in_order(known(table))
    for held, score in zip(classes, scores(criterion, classes, table), strict=True):
        least = least_work(shares(held, values), shares(table, values), apart_by(distance, values))
        assert criterion.value_of(score) == pytest.approx(least, abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_ordered_distance_is_the_wasserstein_distance_of_positions(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    classes, table = drawn(seed, list(WAGES))
    criterion = TCloseness(0.5, distance="ordered")
    values = in_order(known(table))
    places = np.arange(len(values)) / max(len(values) - 1, 1)
    for held, score in zip(classes, scores(criterion, classes, table), strict=True):
        expected = stats.wasserstein_distance(places, places, shares(held, values), shares(table, values))
        assert criterion.value_of(score) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_entropy_l_is_the_exponential_of_the_entropy(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    classes, table = drawn(seed, list(PATHS))
    criterion = EntropyDiversity(2)
    for held, score in zip(classes, scores(criterion, classes, table), strict=True):
        expected = exp(stats.entropy(list(Counter(held).values())))
        assert criterion.value_of(score) == pytest.approx(expected, abs=1e-6)
