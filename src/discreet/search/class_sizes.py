"""How many classes a node publishes, and their squared sizes, for many nodes at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluated import EvaluatedLattice
from discreet.lattice.some_nodes import SizedNodes
from discreet.model.judge import below
from discreet.model.requirement import Requirement


def sized_nodes(
    evaluated: EvaluatedLattice, requirement: Requirement, nodes: NDArray[np.int64], *, every: bool
) -> SizedNodes:
    """The sums of nodes' classes: of every one, or of those that are published."""
    counted = Requirement() if every else requirement
    classes, squares = class_size_sums(evaluated, counted, nodes)
    return SizedNodes(evaluated.suppression(counted)[nodes], classes, squares)


def class_size_sums(
    evaluated: EvaluatedLattice, requirement: Requirement, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of classes that are published, and the sum of their squared sizes, by node.

    Sizes must be rows, not subjects. A signature's rows divided by its size are its classes. Cost: a pass
    over the entries of all nodes.
    """
    released = evaluated.published_sums(requirement)
    if released is not None:
        return released[0][nodes], released[1][nodes]
    asked = requirement.thresholds(evaluated.scores, evaluated.sensitive_attributes)
    histograms, thresholds = evaluated.histograms.told(asked)
    sizes = histograms.signatures[0].astype(np.int64)
    fails = below(tuple(histograms.signatures), thresholds)
    rows = np.where(fails, 0, histograms.rows.astype(np.int64))
    starts, stops = histograms.starts[nodes], histograms.stops[nodes]
    classes = _sums(rows // np.maximum(sizes, 1), starts, stops)
    squares = _sums(rows * sizes, starts, stops)
    if histograms.partial:
        least = max(thresholds[0] or 1, 1)
        rows_of_size = np.diff(histograms.small[nodes].astype(np.int64), axis=1)[:, least - 1 :]
        small = np.arange(least, least + rows_of_size.shape[1])
        classes += (rows_of_size // small).sum(axis=1)
        squares += (rows_of_size * small).sum(axis=1)
    return classes, squares


def _sums(
    values: NDArray[np.int64], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The sums of stretches; a total beyond 64 bits wraps around, and the differences come out right."""
    totals = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=totals[1:])
    return totals[stops] - totals[starts]
