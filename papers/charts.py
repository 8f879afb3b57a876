"""Charts as SVG text: panels of series, the style of each series by its name, and drawing by matplotlib.

A chart is declared as panels (lines, bars, points, boxes). Equal charts give equal bytes under one version of
matplotlib. A series has one colour (Okabe and Ito) and one marker in every chart. Texts remain text, title
and description are metadata, and the picture loads nothing. matplotlib is imported when a chart is drawn.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from discreet.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class AxisScale(StrEnum):
    """Scale of an axis; ``COUNTS`` is linear up to 1, so that 0 has a place, and logarithmic above."""

    LINEAR = "linear"
    LOG = "log"
    COUNTS = "counts"


class PanelMark(StrEnum):
    """Mark with which a panel draws its series."""

    LINES = "lines"
    BARS = "bars"
    POINTS = "points"
    BOXES = "boxes"


@dataclass(frozen=True)
class Series:
    """Named points; ``dashed`` marks a series that is printed in the paper or is a bound, not measured."""

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
        """Build a series from two sequences of equal length."""
        return cls(name, tuple(float(v) for v in x), tuple(float(v) for v in y), dashed)


@dataclass(frozen=True)
class PartitionBox:
    """Rectangle from ``(left, bottom)`` to ``(right, top)``: one class of a two-dimensional partition."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True)
class Panel:
    """One pair of axes with its series.

    ``categories`` name the positions of bars (series then have x = 0, 1, …); ``boxes`` are drawn below the
    points of a ``PanelMark.BOXES`` panel. ``x_ticks`` fixes the ticks on x.
    """

    series: tuple[Series, ...]
    x_label: str
    y_label: str
    title: str = ""
    mark: PanelMark = PanelMark.LINES
    x_scale: AxisScale = AxisScale.LINEAR
    y_scale: AxisScale = AxisScale.LINEAR
    categories: tuple[str, ...] = ()
    boxes: tuple[PartitionBox, ...] = ()
    x_ticks: tuple[float, ...] = ()


def bar_panel(
    categories: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    y_scale: AxisScale = AxisScale.LINEAR,
    dashed: Sequence[str] = (),
) -> Panel:
    """Build a panel of grouped bars: one group per category, with one bar per series.

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
        mark=PanelMark.BARS,
        y_scale=y_scale,
        categories=tuple(categories),
    )


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

SERIES_GROUPS: tuple[tuple[str, ...], ...] = (
    tuple(f"k = {k}" for k in (3, 10, 25, 50, 100, 150)),
    tuple(f"l = {l}" for l in (3, 6, 9, 10)),
    tuple(f"QI {size}" for size in (3, 4, 5, 6, 7, 8, 9)),
    tuple(f"height {height}" for height in range(8)),
    ("for k", "for l"),
    ("ours", "the paper's chart"),
    ("full", "partial", "with v_max at run time", "levels 0 and 1"),
    (
        *("samarati", "bottom-up", "bottom-up-rollup", "incognito"),
        *("incognito-superroots", "incognito-cube", "exhaustive"),
    ),
    ("building the cube", "searching"),
    (
        *("single-dimensional", "multidimensional, median", "multidimensional, best cut"),
        *("heuristic", "single-dimensional, greedy", "mondrian", "least possible", "proven bound"),
    ),
    (
        *("generalized", "permuted", "min-sum", "contiguous-min-max"),
        *("min-max", "qi-aware", "random", "generalization"),
    ),
)
"""Names that occur together in one chart; their position in the group selects colour and marker."""

_VARIANT = re.compile(r"(?P<name>.+), (printed|QID \d+)")


@dataclass(frozen=True)
class SeriesStyle:
    """Colour and marker of one series."""

    colour: str
    marker: str


SERIES_STYLES: Mapping[str, SeriesStyle] = {
    name: SeriesStyle(COLOURS[index], MARKERS[index])
    for group in SERIES_GROUPS
    for index, name in enumerate(group)
}


def series_styles(names: Sequence[str]) -> dict[str, SeriesStyle]:
    """Return the style of each series of one chart.

    ``incognito, printed`` and ``incognito, QID 5`` have the style of ``incognito``. Names without a style of
    their own take the unused ones in order; beyond eight the styles repeat.
    """
    known = {name: SERIES_STYLES[base] for name in names if (base := _base_name(name)) in SERIES_STYLES}
    free = [
        SeriesStyle(c, m)
        for c, m in zip(COLOURS, MARKERS, strict=True)
        if SeriesStyle(c, m) not in known.values()
    ]
    unnamed = [name for name in dict.fromkeys(names) if name not in known]
    every = free or [SeriesStyle(c, m) for c, m in zip(COLOURS, MARKERS, strict=True)]
    return known | {name: every[index % len(every)] for index, name in enumerate(unnamed)}


def _base_name(name: str) -> str:
    of_another = _VARIANT.fullmatch(name)
    return of_another["name"] if of_another else name


_TEXT_COLOUR, _GRID_COLOUR, _BACKGROUND, _BOX_COLOUR = "#222222", "#D9D9D9", "#FFFFFF", "#0072B2"
_PANEL_WIDTH, _PANEL_HEIGHT, _LEGEND_ROW = 4.6, 3.2, 0.24
_SINGLE_WIDTH = 6.4
_PANELS_PER_ROW = 2
_TWO_DECADES = 100.0
_SMALL_MARKER = 2.0
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "discreet",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.edgecolor": _TEXT_COLOUR,
    "axes.labelcolor": _TEXT_COLOUR,
    "text.color": _TEXT_COLOUR,
    "xtick.color": _TEXT_COLOUR,
    "ytick.color": _TEXT_COLOUR,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.use_mathtext": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
}


def draw_chart(title: str, panels: Sequence[Panel], *, description: str = "") -> str:
    """Return the SVG text of one chart with one or several panels and a common legend.

    The title is metadata for screen readers and is not drawn, since the page prints it. ``SERIES_STYLES``
    gives each series the same style in every chart. Raises ``InputError`` without a panel, or if matplotlib
    is not installed.
    """
    if not panels:
        raise InputError(f"the chart '{title}' has no panel", allowed="one panel or more")
    matplotlib = _matplotlib()
    with matplotlib.rc_context(rc={**matplotlib.rcParamsDefault, "backend": "svg", **_STYLE}):
        figure = _make_figure(panels)
        out = io.StringIO()
        # Date and Creator would differ from day to day and from version to version.
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, facecolor=_BACKGROUND)
    return _add_title(out.getvalue(), title, description)


def draw_lines(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    x_scale: AxisScale = AxisScale.LINEAR,
    y_scale: AxisScale = AxisScale.LINEAR,
    x_ticks: Sequence[float] = (),
    description: str = "",
) -> str:
    """Return one panel of lines with markers, as SVG text."""
    panel = Panel(tuple(series), x_label, y_label, x_scale=x_scale, y_scale=y_scale, x_ticks=tuple(x_ticks))
    return draw_chart(title, [panel], description=description)


def require_matplotlib() -> None:
    """Raise ``InputError`` if matplotlib is not installed, before a chart's data is computed."""
    _matplotlib()


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise InputError(
            "plots need matplotlib, which is not installed",
            advice="Install it: pip install matplotlib.",
        ) from error
    return matplotlib


def _make_figure(panels: Sequence[Panel]) -> Figure:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    names = list(dict.fromkeys(s.name for panel in panels for s in panel.series))
    legend = len(names) > 1
    columns = min(len(panels), _PANELS_PER_ROW)
    rows = -(-len(panels) // columns)
    width = _SINGLE_WIDTH if columns == 1 else columns * _PANEL_WIDTH
    legend_columns = _count_legend_columns(names, width)
    foot = 0.12 + (-(-len(names) // legend_columns) * _LEGEND_ROW if legend else 0.0)
    height = rows * _PANEL_HEIGHT + foot
    figure = Figure(figsize=(width, height))
    FigureCanvasSVG(figure)
    room = (0.01, foot / height, 0.98, 1 - (foot + 0.04) / height)
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=room, h_pad=0.08, w_pad=0.08))
    handles: dict[str, Any] = {}
    styles = series_styles(names)
    for index, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(rows, columns, index)
        handles |= {k: v for k, v in _draw_panel(axes, panel, styles).items() if k not in handles}
    if legend:
        found = [name for name in names if name in handles]
        figure.legend(
            [handles[name] for name in found],
            found,
            loc="lower center",
            bbox_to_anchor=(0.5, 0.06 / height),
            ncols=legend_columns,
            frameon=False,
            handlelength=2.2,
            columnspacing=1.6,
        )
    return figure


def _count_legend_columns(names: Sequence[str], width: float) -> int:
    """Return the number of legend columns that fit and give rows of about equal length.

    A letter is about a fifteenth of an inch wide.
    """
    widest = max((len(name) for name in names), default=1) * 0.075 + 0.6
    fitting = max(1, min(len(names), int(width / widest)))
    rows = -(-max(len(names), 1) // fitting)
    return -(-max(len(names), 1) // rows)


def _draw_panel(axes: Axes, panel: Panel, styles: Mapping[str, SeriesStyle]) -> dict[str, Any]:
    """Draw a panel and return the legend handle of each series."""
    from matplotlib.ticker import MaxNLocator

    axes.set_axisbelow(True)
    axes.grid(True, axis="y" if panel.mark is PanelMark.BARS else "both", color=_GRID_COLOUR, linewidth=0.6)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.title:
        axes.set_title(panel.title)
    handles = (
        _draw_bars(axes, panel, styles) if panel.mark is PanelMark.BARS else _draw_points(axes, panel, styles)
    )
    _set_scale(axes, "x", panel.x_scale)
    _set_scale(axes, "y", panel.y_scale)
    if panel.mark is PanelMark.BARS:
        axes.set_xticks(range(len(panel.categories)), panel.categories)
    elif panel.x_ticks:
        axes.set_xticks(panel.x_ticks, [f"{tick:g}" for tick in panel.x_ticks])
        axes.xaxis.minorticks_off()
    elif panel.x_scale is AxisScale.LINEAR and all(x.is_integer() for s in panel.series for x in s.x):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 5, 10]))
    return handles


def _draw_points(axes: Axes, panel: Panel, styles: Mapping[str, SeriesStyle]) -> dict[str, Any]:
    from matplotlib.patches import Rectangle

    for box in panel.boxes:
        corner = (box.left, box.bottom)
        size = (box.right - box.left, box.top - box.bottom)
        axes.add_patch(
            Rectangle(corner, *size, facecolor=_BOX_COLOUR, alpha=0.12, edgecolor=_BOX_COLOUR, linewidth=1.0)
        )
        axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=_BOX_COLOUR, linewidth=1.0))
    handles = {}
    for series in panel.series:
        look = styles[series.name]
        style = "none" if panel.mark is not PanelMark.LINES else "--" if series.dashed else "-"
        # Panels with boxes have many points, which must not hide the boxes.
        colour, width = (_TEXT_COLOUR, _SMALL_MARKER) if panel.boxes else (look.colour, None)
        face = _BACKGROUND if series.dashed else colour
        (handles[series.name],) = axes.plot(
            series.x,
            series.y,
            color=colour,
            marker=look.marker,
            markersize=width,
            linestyle=style,
            markerfacecolor=face,
        )
    if panel.boxes:
        axes.autoscale_view()
    return handles


def _draw_bars(axes: Axes, panel: Panel, styles: Mapping[str, SeriesStyle]) -> dict[str, Any]:
    width = 0.8 / max(len(panel.series), 1)
    handles = {}
    for index, series in enumerate(panel.series):
        colour = styles[series.name].colour
        left = [x + (index - (len(panel.series) - 1) / 2) * width for x in series.x]
        handles[series.name] = axes.bar(
            left,
            series.y,
            width=width * 0.92,
            color=_BACKGROUND if series.dashed else colour,
            edgecolor=colour,
            hatch="//" if series.dashed else None,
        )
    return handles


def _set_scale(axes: Axes, which: str, scale: AxisScale) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    set_scale = axes.set_xscale if which == "x" else axes.set_yscale
    if scale is AxisScale.LOG:
        set_scale("log")
        least, most = axes.get_xlim() if which == "x" else axes.get_ylim()
        axis.set_minor_formatter(NullFormatter())
        if most / least < _TWO_DECADES:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    elif scale is AxisScale.COUNTS:
        set_scale("symlog", linthresh=1.0, linscale=0.4)
        (axes.set_xlim if which == "x" else axes.set_ylim)(0 if which == "x" else -0.15, None)
    if scale is not AxisScale.LINEAR:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    elif which == "y":
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


def _add_title(svg: str, title: str, description: str) -> str:
    """Remove the document type, and insert title and description as the first elements of the picture."""
    svg = re.sub(r"<!DOCTYPE[^>]*>\s*", "", svg)
    text = f"<title>{escape(title)}</title>"
    if description:
        text += f"<desc>{escape(description)}</desc>"
    return re.sub(r"(<svg\b[^>]*)>", lambda start: f'{start[1]} role="img">{text}', svg, count=1)
