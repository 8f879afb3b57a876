"""Grids of metrics and of the strictest values of criteria.

Separate from ``document``, which must load without numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from discreet.measures.metrics import Better, MetricValue
from discreet.model.audit_report import StrictestValue
from discreet.printing.document import BLANK, Document, Grid, Line, make_columns

_MISSING = "–"


def metric_grid(metrics: Sequence[MetricValue]) -> Grid:
    """Return one row per metric that is defined."""
    columns = make_columns("metric", ">value", "unit", "better")
    rows = tuple(
        (
            m.metric.title,
            format_measure(m.value),
            m.metric.unit,
            "" if m.metric.better is Better.NEITHER else str(m.metric.better),
        )
        for m in metrics
    )
    return Grid(columns, rows)


def format_measure(value: float | int | None) -> str:
    """Format a number: whole ones in full, others to four decimals, large ones to four significant digits."""
    if value is None:
        return _MISSING
    if not isfinite(value):
        return "infinite"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}" if abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:,.4f}" if abs(value) < 1e9 else f"{value:.4g}"


_STRICTEST_TITLE = Line("Strictest value of each criterion that the file satisfies (no verdict):")
_COMPARISON_NOTE = (
    "Compared with the distribution of the published rows, which differs from the publisher's where rows are "
    "suppressed: {}."
)


def describe_strictest_values(values: Sequence[StrictestValue]) -> Document:
    """Return the strictest values, then the criteria without one by reason; empty unless requested."""
    if not values:
        return ()
    value_text = [one for one in values if one.reason is None]
    reasons: dict[str, list[str]] = {}
    for one in values:
        if one.reason is not None:
            reasons.setdefault(one.reason, []).append(_criterion_label(one))
    unmeasured = (
        Line(f"Not computed ({reason}): {', '.join(labels)}.") for reason, labels in reasons.items()
    )
    compared = dict.fromkeys(one.criterion.flag() for one in value_text if one.publisher is False)
    by_release = (Line(_COMPARISON_NOTE.format(", ".join(compared))),) if compared else ()
    return (
        BLANK,
        _STRICTEST_TITLE,
        *((_strictest_grid(value_text),) if value_text else ()),
        *by_release,
        *unmeasured,
    )


def _strictest_grid(value_text: Sequence[StrictestValue]) -> Grid:
    """Return a grid of the strictest values, without empty columns."""
    columns = make_columns("~criterion", "option", "~attribute", "~with", ">strictest value")
    rows = [
        (one.criterion.title, one.criterion.flag(), one.attribute or "", one.parts_text, one.value_text)
        for one in value_text
    ]
    filled = [index for index in range(len(columns)) if any(row[index] for row in rows)]
    return Grid(
        tuple(columns[index] for index in filled),
        tuple(tuple(row[index] for index in filled) for row in rows),
    )


def _criterion_label(one: StrictestValue) -> str:
    of = "" if one.attribute is None else f" of {one.attribute}"
    parts = f" ({one.parts_text})" if one.parts else ""
    return f"{one.criterion.flag()}{of}{parts}"
