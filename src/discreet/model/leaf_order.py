"""The order of an attribute's leaves, along which ranges are taken.

Where every leaf is a number, leaves are ordered by value; otherwise in the publisher's order, that of the
lines of a hierarchy file or of the values of a list. Where groups interleave in it, a group is no range. NULL
comes last.
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
    numbers = _numbers(leaves)
    if numbers is None:
        return _order_of(hierarchy.codes_in_order, None)
    places = range(len(leaves))
    by_value = sorted(places, key=lambda c: (numbers[c], leaves[c]))
    return _order_of(np.array(by_value, dtype=np.int64), numbers)


def tree_order(hierarchy: GeneralizationHierarchy) -> LeafOrder:
    """The order of a hierarchy's leaves along its tree: numbers by value, others depth first."""
    numbers = _numbers(hierarchy.leaves)
    return leaf_order(hierarchy) if numbers is not None else _order_of(np.arange(len(hierarchy.leaves)), None)


def _order_of(codes: NDArray[np.int64], numbers: tuple[Decimal, ...] | None) -> LeafOrder:
    """The order of leaf codes, first to last, with NULL behind them."""
    code = np.append(codes, len(codes))
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
