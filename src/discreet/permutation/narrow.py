"""Whole numbers that count or place rows, in 32 bits where those hold them: half the memory of 64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.signedinteger[Any]]
"""int32 or int64. Whoever multiplies them takes int64."""

_MOST = 1 << 31


def narrow(size: int) -> type[np.signedinteger[Any]]:
    """The type that holds 0, …, ``size`` - 1, and -1.

    >>> narrow(1 << 31), narrow((1 << 31) + 1)
    (<class 'numpy.int32'>, <class 'numpy.int64'>)
    """
    return np.int32 if size <= _MOST else np.int64
