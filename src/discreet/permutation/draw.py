"""Random orders from the operating system's generator, which keeps no seed.

Whoever knows how values were permuted can undo it, and a seed is a way to know. Each place gets 64 random
bits as a sort key; equal keys, which would leave the old order standing, are drawn again.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from discreet.permutation.narrow import Whole, narrow

Draw = Callable[[int], Whole]
"""From n to an order of 0, …, n - 1, each as likely as any other."""

_BYTES = 8


def draw_order(n: int) -> Whole:
    """An order of 0, …, n - 1, each as likely as any other; nothing that could repeat it is kept."""
    while True:
        keys = np.frombuffer(os.urandom(n * _BYTES), dtype=np.uint64)
        order = np.argsort(keys)
        keys = keys[order]
        if not bool((keys[1:] == keys[:-1]).any()):
            return order.astype(narrow(n + 1), copy=False)
