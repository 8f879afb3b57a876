"""Metrics as a table: name, value, unit, and which way is better."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from discreet.measures.metrics import Better, MetricValue
from discreet.printing.document import Column, Grid

_DASH = "–"


def metric_grid(metrics: Sequence[MetricValue]) -> Grid:
    """One row per metric that is defined here."""
    columns = (
        Column("metric"),
        Column("value", right=True),
        Column("unit"),
        Column("better"),
    )
    rows = tuple(
        (
            m.metric.title,
            number_text(m.value),
            m.metric.unit,
            "" if m.metric.better is Better.NEITHER else str(m.metric.better),
        )
        for m in metrics
    )
    return Grid(columns, rows)


def number_text(value: float | int | None) -> str:
    """A number for people: whole ones in full, others to four places or five digits."""
    if value is None:
        return _DASH
    if not isfinite(value):
        return "infinite"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}" if abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:,.4f}" if abs(value) < 1e9 else f"{value:.4g}"
