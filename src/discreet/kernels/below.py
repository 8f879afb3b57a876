"""Rows to suppress at every node, summed in compiled passes over the histograms' entries."""

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


@compiled
def cumulate_diverse(
    signatures: Array, rows: Array, starts: Array, stops: Array, thresholds: Array, below: Array
) -> None:
    """Fill ``below[node, s]``: rows whose class fails thresholds on distinct values, or has s rows at most.

    ``thresholds[0]`` is of the signature's second part: the first sensitive attribute.
    """
    sizes = signatures[0]
    top = below.shape[1] - 1
    for node in range(len(below)):
        counts = below[node]
        for size in range(top + 1):
            counts[size] = 0
        for entry in range(starts[node], stops[node]):
            fails = False
            for part in range(len(thresholds)):
                fails |= signatures[part + 1, entry] < thresholds[part]
            if fails:
                counts[0] += rows[entry]
            elif sizes[entry] <= top:
                counts[sizes[entry]] += rows[entry]
        for size in range(1, top + 1):
            counts[size] += counts[size - 1]
