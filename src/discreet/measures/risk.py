"""Re-identification risk of an attacker who knows that the person is in the table (prosecutor model)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ProsecutorRisk:
    """The chance of guessing a row's person right: ``1 / class size``.

    ``highest`` is that of the smallest class, ``mean`` the average over all rows (classes / rows), and
    ``unique_share`` the share of rows that are alone in their class. All lie in 0 … 1.
    """

    highest: float
    mean: float
    unique_share: float


def prosecutor_risk(
    class_sizes: NDArray[np.int64], numbers: NDArray[np.int64] | None = None
) -> ProsecutorRisk:
    """The risk from class sizes in rows, each at least 1.

    ``numbers`` says how many classes have each size; without it there is one of each. A table without rows
    has no risk: all zero.
    """
    occurring = np.ones(len(class_sizes), dtype=np.int64) if numbers is None else numbers
    sizes, occurring = class_sizes[occurring > 0], occurring[occurring > 0]
    rows = int((sizes * occurring).sum())
    if rows == 0:
        return ProsecutorRisk(highest=0.0, mean=0.0, unique_share=0.0)
    return ProsecutorRisk(
        highest=1.0 / int(sizes.min()),
        mean=int(occurring.sum()) / rows,
        unique_share=int(occurring[sizes == 1].sum()) / rows,
    )
