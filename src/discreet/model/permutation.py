"""Values of (k,e)-anonymity (Zhang et al. 2007): a sensitive column, what is required, a partition."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

NULL = -1
"""The code of a row without a sensitive value."""


@dataclass(frozen=True)
class GroupRequirement:
    """(k,e)-anonymity (definition 5): a group has at least k distinct values, and a range of at least e.

    NULL is no value. Where people have several rows, k of its distinct values are of k different people
    (``permutation.people``). ``e`` is in the attribute's unit; 0 leaves distinct l-diversity with
    l = k, the only choice for values that are no numbers.
    """

    k: int
    e: Decimal = Decimal(0)

    def __str__(self) -> str:
        return f"k={self.k}, e={self.e}"


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """One sensitive attribute of every row.

    ``codes``, shape ``(rows,)``, count the ``distinct`` values from 0, or are ``NULL``; every value occurs.
    ``numbers``, shape ``(distinct,)``, ascend strictly and are integers in units of 10^-``scale``, or floats;
    None where the values are no numbers, which then stand in the order of their texts. Texts of one number
    are one value; no text is held, for each row may have one of its own.
    ``subjects``, shape ``(rows,)``, number the people whose rows they are, where people have several.
    """

    attribute: str
    codes: NDArray[np.signedinteger[Any]]
    distinct: int
    numbers: NDArray[np.int64] | NDArray[np.float64] | None
    scale: int = 0
    subjects: NDArray[np.int64] | None = None

    @property
    def rows(self) -> int:
        """All rows, those without a value included."""
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class GroupPartition:
    """Every row belongs to one group; which rows of a group get which of its values is drawn later.

    ``groups``, shape ``(rows,)``, holds 0, …, ``group_count`` - 1, each at least once. ``strategy`` names how
    it was found; ``error`` is its value of the strategy's objective: the sum of the groups' ranges, that
    weighted by rows, or the maximum, in units of the attribute (None where it has no such objective).
    ``optimal``: no partition has less, of neighbours for a contiguous strategy. ``first``, where given, is
    met by a group that holds the smallest value.
    """

    strategy: str
    requirement: GroupRequirement
    groups: NDArray[np.signedinteger[Any]]
    group_count: int
    error: Decimal | None = None
    optimal: bool = False
    first: GroupRequirement | None = None
    warnings: tuple[str, ...] = ()
