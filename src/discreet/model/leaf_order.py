"""The order of an attribute's leaves, along which ranges are taken.

Where every leaf is a number, leaves are ordered by value; otherwise depth first, as the hierarchy numbers
them, so that each of its values is a range. NULL comes last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.model.hierarchy import GeneralizationHierarchy

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_MOST_DIGITS = 300


@dataclass(frozen=True, eq=False)
class LeafOrder:
    """The places of an attribute's leaf codes, and of NULL behind them.

    ``rank`` has one place per code (leaves, then NULL), ``code`` one code per place, both of shape
    ``(leaves + 1,)``. ``numbers`` are the leaves' values by code where all leaves are numbers, else None.
    """

    rank: NDArray[np.int64]
    code: NDArray[np.int64]
    numbers: tuple[Decimal, ...] | None

    @property
    def numeric(self) -> bool:
        """Whether leaves are ordered by value."""
        return self.numbers is not None


def leaf_order(hierarchy: GeneralizationHierarchy) -> LeafOrder:
    """The order of a hierarchy's leaves; leaves of equal value (``1`` and ``1.0``) go by their text."""
    leaves = hierarchy.leaves
    code = np.arange(len(leaves) + 1)
    numbers = _numbers(leaves)
    if numbers is not None:
        places = range(len(leaves))
        code[:-1] = sorted(places, key=lambda c: (numbers[c], leaves[c]))
    rank = np.empty_like(code)
    rank[code] = np.arange(len(code))
    for array in (rank, code):
        array.flags.writeable = False
    return LeafOrder(rank, code, numbers)


def decimal_of(text: str) -> Decimal | None:
    """The number that a leaf's text says, or None: plain decimals, blanks around them ignored.

    >>> decimal_of(" -3.50"), decimal_of("1,000")
    (Decimal('-3.50'), None)
    """
    stripped = text.strip()
    if len(stripped) > _MOST_DIGITS or not _DECIMAL.fullmatch(stripped):
        return None
    number = Decimal(stripped)
    return number if abs(number.adjusted()) <= _MOST_DIGITS else None


def _numbers(leaves: tuple[str, ...]) -> tuple[Decimal, ...] | None:
    found = []
    for leaf in leaves:
        number = decimal_of(leaf)
        if number is None:
            return None
        found.append(number)
    return tuple(found) if found else None
