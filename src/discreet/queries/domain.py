"""The values that an attribute may have, and which of them a comparison selects.

A number compares with the number that a value's text says (``20`` equals ``20.0``); a value whose text says
no number is then unknown, as a failed cast is. A text compares with the text, character by character, so that
ISO dates are in order.

Values are ranked once, by number and by text; a comparison is then two bisections and one pass over ranks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.leaf_order import decimal_of
from discreet.queries.predicate import Atom, Interval, IsNull, Members


@dataclass(frozen=True, eq=False)
class Domain:
    """The texts of an attribute's values, by code; NULL has the code after the last."""

    attribute: str
    texts: tuple[str, ...]

    @property
    def null_code(self) -> int:
        """The code of NULL."""
        return len(self.texts)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The number that each text says, NaN for none, shape ``(values,)``."""
        return np.array([np.nan if n is None else float(n) for n in self._decimals], dtype=np.float64)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether there is a value, and every text says a number."""
        return bool(self.texts) and None not in self._decimals

    def selected(self, atom: Atom) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The codes of which a comparison is true and those of which it is false.

        Both have shape ``(values + 1,)``, NULL last.
        """
        true = np.zeros(self.null_code + 1, dtype=np.bool_)
        if isinstance(atom, IsNull):
            true[-1] = True
            return true, ~true
        if isinstance(atom, Members):
            known = self._select_members(atom, true)
        else:
            known = self._select_interval(atom, true)
        return true, known & ~true

    def _select_members(self, atom: Members, true: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Set what equals a member; which values are comparable with every member."""
        known = np.ones_like(true)
        known[-1] = False
        for value in atom.values:
            ordered = self._by_text if isinstance(value, str) else self._by_number
            place = bisect_left(ordered.values, value)
            if place < len(ordered.values) and ordered.values[place] == value:
                true[:-1] |= ordered.ranks == place
            known[:-1] &= ordered.ranks >= 0
        return known | true

    def _select_interval(self, atom: Interval, true: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Set what lies between the ends; which values are comparable with them."""
        is_text = isinstance(atom.low if atom.low is not None else atom.high, str)
        ordered = self._by_text if is_text else self._by_number
        first, last = 0, len(ordered.values)
        if atom.low is not None:
            first = (bisect_left if atom.low_closed else bisect_right)(ordered.values, atom.low)
        if atom.high is not None:
            last = (bisect_right if atom.high_closed else bisect_left)(ordered.values, atom.high)
        true[:-1] = (first <= ordered.ranks) & (ordered.ranks < last)
        return np.append(ordered.ranks >= 0, False)

    @cached_property
    def _decimals(self) -> tuple[Decimal | None, ...]:
        return tuple(decimal_of(text) for text in self.texts)

    @cached_property
    def _by_text(self) -> _Ordered:
        return _Ordered.of(self.texts)

    @cached_property
    def _by_number(self) -> _Ordered:
        return _Ordered.of(self._decimals)


@dataclass(frozen=True, eq=False)
class _Ordered:
    """The distinct values in order, and each code's place among them; -1 for none."""

    values: Sequence[Any]
    ranks: NDArray[np.int64]

    @classmethod
    def of(cls, values: Sequence[Any]) -> _Ordered:
        ordered = sorted({value for value in values if value is not None})
        rank = {value: place for place, value in enumerate(ordered)}
        ranks = [-1 if value is None else rank[value] for value in values]
        return cls(ordered, np.array(ranks, dtype=np.int64))
