"""The grouping power of each level of each attribute (paper 000, partial lattices; science N5).

A level is judged with its attribute at that level and every other attribute at level 0: γ is the average
group size there, and μ is γ divided by the γ of the level below. Level 0 has nothing below it and takes
``1/μ`` of level 1. Large groups suppress little, so the two predict how much a level will help.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import Lattice


@dataclass(frozen=True)
class GroupingPower:
    """One level's number of groups, γ (``average_size``, in rows) and μ (``relative_importance``)."""

    attribute: str
    level: int
    groups: int
    average_size: float
    relative_importance: float


def grouping_power(lattice: Lattice, rows: int, classes: NDArray[np.int64]) -> tuple[GroupingPower, ...]:
    """The grouping power of every level, attributes in the lattice's order, each from level 0 up.

    ``classes`` holds the number of classes of every node in mixed-radix order. A table without rows has
    γ = 0 and μ = 1 throughout; the only level of an attribute of height 0 has μ = 1.
    """
    return tuple(
        power
        for attribute, height, stride in zip(
            lattice.attributes, lattice.heights, lattice.strides, strict=True
        )
        for power in _attribute_powers(attribute, rows, classes[: height * stride + 1 : stride].tolist())
    )


def _attribute_powers(attribute: str, rows: int, groups: list[int]) -> list[GroupingPower]:
    """``groups`` by level; γ(h) / γ(h - 1) = groups(h - 1) / groups(h), as the rows are the same."""
    gains = [below / here if here else 1.0 for below, here in pairwise(groups)]
    first = 1.0 / gains[0] if gains else 1.0
    return [
        GroupingPower(attribute, level, count, rows / count if count else 0.0, importance)
        for level, (count, importance) in enumerate(zip(groups, [first, *gains], strict=True))
    ]
