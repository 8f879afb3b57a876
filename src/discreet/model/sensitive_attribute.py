"""What criteria are told of a sensitive attribute as a whole: its values, their order, and their rows.

``rows`` are the distribution that criteria compare classes with: that of the whole table as it was counted,
after the NULL policy. Rows that a search leaves out or suppresses stay in it, as do rows of other fragments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.leaf_order import decimal_of

_EXACT = Context(prec=1400)


@dataclass(frozen=True, eq=False)
class SensitiveAttribute:
    """A sensitive attribute in a table; codes count from 0 and NULL has none.

    ``values`` holds the text of each code and ``rows`` the table's rows that have it. ``ranks`` are the
    places of the codes in the attribute's order: numbers by value, else in the publisher's order of its
    hierarchy's leaves, else by text. ``numbers`` holds each code's number, None where a value is none.
    ``levels`` has shape ``(height + 1, codes)``: the group of each code at each level of its hierarchy, None
    without one.
    """

    values: tuple[str, ...]
    rows: NDArray[np.int64]
    ranks: NDArray[np.int64]
    numbers: NDArray[np.float64] | None = None
    levels: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        values: Sequence[str],
        rows: NDArray[np.int64],
        hierarchy: GeneralizationHierarchy | None = None,
    ) -> SensitiveAttribute:
        """From distinct texts, their rows, and a hierarchy with a leaf for each of them.

        Values of one number (``1`` and ``1.0``) are two values, and follow each other by their text.
        """
        decimals = [decimal_of(value) for value in values]
        numeric = bool(values) and None not in decimals
        levels = None
        keys: Sequence[Any] = values
        if hierarchy is not None:
            leaves = np.array([hierarchy.code_of_leaf[value] for value in values], dtype=np.int64)
            levels = np.array([ancestors[leaves] for ancestors in hierarchy.ancestors], dtype=np.int64)
            ranks = hierarchy.leaf_ranks
            keys = (leaves if ranks is None else ranks[leaves]).tolist()
        if numeric:
            keys = list(zip(decimals, values, strict=True))
        ranks = np.empty(len(values), dtype=np.int64)
        ranks[sorted(range(len(values)), key=keys.__getitem__)] = np.arange(len(values))
        numbers = np.array(decimals, dtype=np.float64) if numeric else None
        return cls(tuple(values), rows, ranks, numbers, levels)

    @cached_property
    def millionths(self) -> NDArray[np.int64] | None:
        """Each code's number above the smallest one, in millionths, rounded to the nearest; None without.

        It is exact for numbers of six decimals. What is more than four billions above counts as so much.
        """
        if self.numbers is None:
            return None
        exact = [decimal_of(value) or Decimal(0) for value in self.values]
        least = min(exact)
        above = (_EXACT.subtract(number, least).scaleb(6, _EXACT) for number in exact)
        whole = [int(_EXACT.to_integral_value(number)) for number in above]
        return np.array([min(number, 2**52) for number in whole], dtype=np.int64)

    @property
    def ordered(self) -> bool:
        """Whether its order means something: its values are numbers, or a hierarchy puts them in order."""
        return self.numbers is not None or self.levels is not None
