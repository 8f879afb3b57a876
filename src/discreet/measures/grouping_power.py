"""Grouping power of each level of each attribute (Pilalidou and Vassiliadis).

The grouping power of a level is measured with its attribute at that level and every other attribute at level
0: γ is the average group size, and μ is γ divided by γ of the level below. Level 0 has no level below and
takes ``1/μ`` of level 1. Large groups need little suppression, so both predict how much a level helps.

The importance of a node combines the scores of its levels. The paper weighs four scores of a level, γ, μ, γμ
and log2(γ)·μ, and adds them up (Γ, M, ΓM, Λ). It also tries their products, and finds that sums predict
better and that Λ predicts best. Importance is an integer in units of 2^-32 (of the score, or for products of
its logarithm), so that the order of addition does not affect equality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import log2

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import Lattice

_UNIT = 2**32
_PRODUCT = "-product"


@dataclass(frozen=True)
class GroupingPower:
    """Number of groups, γ (``average_size``, in rows) and μ (``relative_importance``) of one level."""

    attribute: str
    level: int
    groups: int
    average_size: float
    relative_importance: float


class ImportanceMetric(StrEnum):
    """Metrics of a node's importance: sums and products of the paper's four scores of its levels."""

    LAMBDA = "lambda"
    GAMMA = "gamma"
    MU = "mu"
    GAMMA_MU = "gamma-mu"
    LAMBDA_PRODUCT = "lambda-product"
    GAMMA_PRODUCT = "gamma-product"
    MU_PRODUCT = "mu-product"
    GAMMA_MU_PRODUCT = "gamma-mu-product"

    @property
    def multiplies(self) -> bool:
        """Return whether the scores of levels are multiplied; otherwise they are added."""
        return self.endswith(_PRODUCT)

    def score(self, power: GroupingPower) -> float:
        """Return the score of one level, at least 0."""
        size, gain = power.average_size, power.relative_importance
        if self.startswith("gamma-mu"):
            return size * gain
        if self.startswith("gamma"):
            return size
        return gain if self.startswith("mu") else log2(max(size, 1.0)) * gain

    def importance(self, power: GroupingPower) -> int:
        """Return the importance of one level in units of 2^-32; nodes add up those of their levels.

        In a product a score of 0 counts less than any other number; its logarithm is replaced by a finite
        number, so that the other levels still matter.
        """
        score = self.score(power)
        if not self.multiplies:
            return round(score * _UNIT)
        return round(log2(score) * _UNIT) if score > 0 else -(_UNIT**2)


def grouping_power(lattice: Lattice, rows: int, classes: NDArray[np.int64]) -> tuple[GroupingPower, ...]:
    """Return the grouping power of every level, attributes in the lattice's order, levels from 0 up.

    ``classes`` contains the number of classes of every node in mixed-radix order. A table without rows has γ
    = 0 and μ = 1 throughout; the only level of an attribute of height 0 has μ = 1.
    """
    groups = [
        classes[: height * stride + 1 : stride].tolist()
        for height, stride in zip(lattice.heights, lattice.strides, strict=True)
    ]
    return level_grouping_power(lattice, rows, groups)


def level_grouping_power(
    lattice: Lattice, rows: int, groups: Sequence[Sequence[int]]
) -> tuple[GroupingPower, ...]:
    """Return the grouping power of every level from its number of groups, ``groups[i][level]``.

    Attributes are in the lattice's order. γ(h) / γ(h - 1) = groups(h - 1) / groups(h), because the number of
    rows is the same.
    """
    found = []
    for attribute, counts in zip(lattice.attributes, groups, strict=True):
        gains = [below / here if here else 1.0 for below, here in pairwise(counts)]
        first = 1.0 / gains[0] if gains else 1.0
        for level, (count, gain) in enumerate(zip(counts, [first, *gains], strict=True)):
            found.append(GroupingPower(attribute, level, count, rows / count if count else 0.0, gain))
    return tuple(found)


def level_importance(
    lattice: Lattice, powers: Sequence[GroupingPower], metric: ImportanceMetric
) -> tuple[tuple[int, ...], ...]:
    """Return the importance of each level, ``[i][level]``, attributes in the lattice's order."""
    parts: dict[str, list[int]] = {name: [] for name in lattice.attributes}
    for power in powers:
        parts[power.attribute].append(metric.importance(power))
    return tuple(tuple(parts[name]) for name in lattice.attributes)
