"""A metric: the share of the published rows that are in the largest class."""

from __future__ import annotations

from discreet.extending import Better, Metric, ReleasePair, register_metric


def largest_share(comparison: ReleasePair) -> float | None:
    """Return a share from 0 to 1; None if no row is published."""
    sizes = comparison.class_sizes
    published = sizes.rows - sizes.suppressed
    return (sizes.largest or 0) / published if published else None


LARGEST_SHARE = register_metric(
    Metric(
        name="largest-share",
        title="share of the largest class",
        definition="Rows of the largest class divided by published rows.",
        source="a recipe",
        unit="0 to 1",
        better=Better.LOWER,
        of=largest_share,
    )
)
