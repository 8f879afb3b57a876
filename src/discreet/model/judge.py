"""Which classes fail a requirement: the one judge in arrays.

Whatever counts classes hands their facts over; nobody else compares them with a threshold. The compiled
kernels have a judge of their own, the engines one in SQL, and the audit its own by intent
(docs/decisions/0005).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_facts import ClassFacts
from discreet.model.criteria.base import Bound


def failing(bound: Sequence[Bound], facts: ClassFacts) -> NDArray[np.bool_]:
    """Whether each class fails one of the criteria, shape ``(classes,)``."""
    fails = np.zeros(facts.classes, np.bool_)
    for one in bound:
        fails |= one.scores(facts) < one.criterion.threshold
    return fails


def below(signatures: Sequence[NDArray[np.integer]], thresholds: Sequence[int | None]) -> NDArray[np.bool_]:
    """Whether classes of known scores fail; ``thresholds[i]`` is asked of the scores ``signatures[i]``."""
    fails = np.zeros(len(signatures[0]) if len(signatures) else 0, np.bool_)
    for scores, least in zip(signatures, thresholds, strict=True):
        if least is not None:
            fails |= scores < least
    return fails
