"""How a criterion's score can be told to compiled code: a formula by its name, and the numbers in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Formula:
    """The word of a formula of ``kernels.class_scores``, its own number, and logarithms where it takes some.

    ``logarithms`` holds what the criterion takes for the logarithms of 0, 1, 2, … (that of 0 is never asked).
    """

    name: str
    number: float = 0.0
    logarithms: NDArray[np.float64] | None = None
