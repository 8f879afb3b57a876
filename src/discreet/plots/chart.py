"""What a chart shows, apart from who draws it: panels of series, each with its axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from discreet.errors import InputError


class Scale(StrEnum):
    """How an axis runs; ``COUNTS`` is logarithmic above 1 and has a place for 0."""

    LINEAR = "linear"
    LOG = "log"
    COUNTS = "counts"


class Mark(StrEnum):
    """How a panel's series are drawn."""

    LINES = "lines"
    BARS = "bars"
    POINTS = "points"
    BOXES = "boxes"


@dataclass(frozen=True)
class Series:
    """Named points; ``dashed`` sets a line apart, a thing printed elsewhere from one that was measured."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    dashed: bool = False

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise InputError(
                f"series '{self.name}' has {len(self.x)} x and {len(self.y)} y", allowed="as many of each"
            )

    @classmethod
    def of(cls, name: str, x: Sequence[float], y: Sequence[float], *, dashed: bool = False) -> Series:
        """A series from any two sequences of equal length."""
        return cls(name, tuple(float(v) for v in x), tuple(float(v) for v in y), dashed)


@dataclass(frozen=True)
class Box:
    """A rectangle from ``(left, bottom)`` to ``(right, top)``: one class of a two-dimensional partition."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True)
class Panel:
    """One pair of axes with its series.

    ``categories`` name the places of bars (series then have x = 0, 1, …); ``boxes`` are drawn below the
    points of a ``Mark.BOXES`` panel. ``x_ticks`` fixes the places of ticks on x.
    """

    series: tuple[Series, ...]
    x_label: str
    y_label: str
    title: str = ""
    mark: Mark = Mark.LINES
    x_scale: Scale = Scale.LINEAR
    y_scale: Scale = Scale.LINEAR
    categories: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    x_ticks: tuple[float, ...] = ()


def bar_panel(
    categories: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    y_scale: Scale = Scale.LINEAR,
    dashed: Sequence[str] = (),
) -> Panel:
    """Groups of bars, one group per category, one bar of each group per series.

    The series named in ``dashed`` are hatched.
    """
    places = range(len(categories))
    return Panel(
        series=tuple(
            Series.of(name, places, values, dashed=name in dashed) for name, values in series.items()
        ),
        x_label=x_label,
        y_label=y_label,
        title=title,
        mark=Mark.BARS,
        y_scale=y_scale,
        categories=tuple(categories),
    )
