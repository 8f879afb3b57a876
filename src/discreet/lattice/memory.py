"""What evaluating a lattice would take, known before work begins."""

from __future__ import annotations

from math import isqrt

from discreet.errors import LimitReached
from discreet.kernels.histograms import SMALL_LIMIT
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice
from discreet.settings import Settings

_BYTES_PER_ENTRY = 8


def estimate_memory(lattice: Lattice, frequency_set: FrequencySet, sensitive: int) -> int:
    """Bytes that the histograms of all nodes and the rotation's buffers take at most, about.

    A node's histogram has no more entries than row types, and no more distinct class sizes than about the
    square root of twice the rows; distinct-value counts multiply that by a small number in practice, which
    the estimate takes as four per sensitive attribute.
    """
    number = 8 if frequency_set.rows >= 2**32 else 4
    dense = lattice.size * (SMALL_LIMIT + 1) * number
    sizes = min(frequency_set.row_types, isqrt(2 * frequency_set.rows) + 1)
    entries = min(frequency_set.row_types, sizes * 4**sensitive if sensitive else sizes // 4 + 1)
    sparse = lattice.size * entries * (2 + sensitive) * number // 4
    buffers = (len(lattice.heights) + 2) * frequency_set.row_types * (8 + number + 8 * sensitive)
    return dense + sparse + buffers


def check_memory(lattice: Lattice, frequency_set: FrequencySet, sensitive: int, settings: Settings) -> None:
    """Raise ``LimitReached`` with the estimate and what to do, where it is above the limit."""
    needed = estimate_memory(lattice, frequency_set, sensitive)
    if needed <= settings.memory_limit:
        return
    raise LimitReached(
        f"the lattice has {lattice.size:,} nodes over {frequency_set.row_types:,} row types;"
        f" evaluating it would take about {needed / 1e9:.1f} GB",
        allowed=f"{settings.memory_limit / 1e9:.1f} GB (--memory-limit, DISCREET_MEMORY_LIMIT)",
        advice="Raise the limit, leave a quasi-identifier out, or give hierarchies fewer levels.",
    )
