"""Real measures of classes as whole scores: how they are rounded, and when they equal a parameter.

A score counts billionths (``UNIT``), and larger is safer. It is rounded against the class and a parameter
against the publisher, so that a class never passes which does not meet the parameter; one that meets it
exactly passes wherever the parameter has at most nine decimals. What differs by less than a
trillionth of itself (``ROUNDING``) counts as equal, since floating-point numbers tell it no better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT = 10**9
"""Scores are told in parts of one: billionths."""

ROUNDING = 1e-12
"""What differs by a smaller share of itself is equal."""

NEVER = -(2**62)
"""The score of a class that no parameter is weak enough for: it has no value, say."""

_UP, _DOWN = UNIT * (1 + ROUNDING), UNIT * (1 - ROUNDING)
LARGEST_MEASURE = 1e9
"""Measures above it count as this, and no parameter may be larger."""


def at_least(measure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scores of measures that must be so large at least."""
    return np.floor(np.minimum(measure, LARGEST_MEASURE) * _UP).astype(np.int64)


def at_most(measure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scores of measures, none negative, that must be so large at most."""
    return -np.ceil(np.minimum(measure, LARGEST_MEASURE) * _DOWN).astype(np.int64)


def less_than(measure: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scores of measures, none negative, that must be smaller: by a billionth or more, as they are told."""
    return -np.floor(np.minimum(measure, LARGEST_MEASURE) * _UP).astype(np.int64) - 1


def least(value: float) -> int:
    """The threshold of a parameter that measures must reach."""
    return int(np.ceil(value * _DOWN))


def most(value: float) -> int:
    """The threshold of a parameter that measures must not exceed, or stay below."""
    return -int(np.floor(value * _UP))


def measured(score: int) -> float:
    """The parameter of a threshold: the inverse of ``least`` and of ``most``."""
    return min(abs(score) / UNIT, LARGEST_MEASURE)


def in_sql(rounding: str, measure: Any) -> str:
    """The same of an SQL expression of type double; ``rounding`` names one of the three functions above.

    The words are the common subset's of all engines.
    """
    held = f"least({measure}, {LARGEST_MEASURE!r})"
    if rounding == "at_most":
        return f"-CAST(ceil({held} * {_DOWN!r}) AS BIGINT)"
    score = f"CAST(floor({held} * {_UP!r}) AS BIGINT)"
    return score if rounding == "at_least" else f"-{score} - 1"
