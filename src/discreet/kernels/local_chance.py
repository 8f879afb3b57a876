"""Random numbers of the compiled annealing; ``kernels.local_anneal_twin`` draws the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.local_jit import compiled_lean

Array = NDArray[Any]
_LEFT, _RIGHT, _LAST, _DROPPED = np.uint64(13), np.uint64(7), np.uint64(17), np.uint64(11)
_UNIT = 1.0 / 2**53


@compiled_lean
def draw(state: Array) -> float:
    """The next number from 0 to below 1 (Marsaglia's xorshift of 64 bits); ``state``: a word, never 0."""
    x = state[0]
    x ^= x << _LEFT
    x ^= x >> _RIGHT
    x ^= x << _LAST
    state[0] = x
    # 53 bits are what a double holds: every value is exact, and 1 is never reached.
    return np.float64(x >> _DROPPED) * _UNIT
