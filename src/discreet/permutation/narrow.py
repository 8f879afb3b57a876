"""Whole numbers that count or place rows, in 32 bits where those hold them, and what memory they take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.signedinteger[Any]]
"""int32 or int64. Whoever multiplies them takes int64."""

AT_ONCE = 1 << 18
"""Rows that are looked at together: what is counted of them stays near the processor."""
_MOST = 1 << 31
_FEW = 50_000
_LOADED = 10**8
"""Bytes of what is loaded to compute with: compiled loops and their compiler."""


def narrow(size: int) -> type[np.signedinteger[Any]]:
    """The type that holds 0, …, ``size`` - 1, and -1.

    >>> narrow(1 << 31), narrow((1 << 31) + 1)
    (<class 'numpy.int32'>, <class 'numpy.int64'>)
    """
    return np.int32 if size <= _MOST else np.int64


def bytes_beside(rows: int, distinct: int, keys: int = 0) -> int:
    """Bytes that arrays take beside a column's while groups are found and values change places.

    ``keys`` are the quasi-identifiers that groups depend on. The most is taken where groups are told to rows,
    or where neighbours are counted.
    """
    whole, wide = np.dtype(narrow(rows + 1)).itemsize, np.dtype(np.int64).itemsize
    told = 3 * rows + 10 * distinct
    keyed = (3 * keys + 6) * rows if keys else 0
    return max(told, 9 * rows) * whole + keyed * wide + (_LOADED if rows > _FEW else 0)
