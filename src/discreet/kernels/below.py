"""Rows to suppress at every node, summed in one compiled pass over the histograms' entries."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from discreet.kernels.jit import compiled

Array = NDArray[Any]


@compiled
def sum_below(
    signatures: Array, rows: Array, starts: Array, stops: Array, thresholds: Array, totals: Array
) -> None:
    """Add to ``totals[node]`` the rows of entries with any part below its threshold (0: no threshold)."""
    for node in range(len(totals)):
        total = totals[node]
        for entry in range(starts[node], stops[node]):
            fails = False
            for part in range(len(thresholds)):
                fails |= signatures[part, entry] < thresholds[part]
            total += rows[entry] if fails else 0
        totals[node] = total
