"""Drawing a chart: matplotlib's SVG, the same for the same chart, readable on light and dark pages.

Colours are those of Okabe and Ito, which the colour-blind tell apart; every series has a marker of its own
too. The chart lies on a white card. Texts stay texts; the picture has a title and a description as metadata,
which the page around it shows, holds no date, and loads nothing. For one version of matplotlib equal charts
give equal bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from discreet.errors import InputError
from discreet.plots.chart import Mark, Panel, Scale, Series
from discreet.plots.looks import Look, looks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _RULE, _CARD, _BOX = "#222222", "#D9D9D9", "#FFFFFF", "#0072B2"
_PANEL_WIDTH, _PANEL_HEIGHT, _LEGEND_ROW = 4.6, 3.2, 0.24
_SINGLE_WIDTH = 6.4
_PANELS_PER_ROW = 2
_TWO_DECADES = 100.0
_SMALL = 2.0
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "discreet",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.use_mathtext": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
}


def picture(title: str, panels: Sequence[Panel], *, description: str = "") -> str:
    """The SVG text of one chart of one or several panels, which share their legend.

    The title is the picture's own, for whoever cannot see it, and is not drawn: a page has it once.

    A series looks as its name says (``plots.looks``), here and in every other chart. ``InputError`` where
    there is no panel, or where matplotlib is not installed.
    """
    if not panels:
        raise InputError(f"the chart '{title}' has no panel", allowed="one panel or more")
    matplotlib = _matplotlib()
    with matplotlib.rc_context(rc={**matplotlib.rcParamsDefault, "backend": "svg", **_STYLE}):
        figure = _figure(panels)
        out = io.StringIO()
        # Date, Creator: what would differ from day to day and from version to version.
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, facecolor=_CARD)
    return _titled(out.getvalue(), title, description)


def lines(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    x_scale: Scale = Scale.LINEAR,
    y_scale: Scale = Scale.LINEAR,
    x_ticks: Sequence[float] = (),
    description: str = "",
) -> str:
    """One panel of lines with markers, as SVG text."""
    panel = Panel(tuple(series), x_label, y_label, x_scale=x_scale, y_scale=y_scale, x_ticks=tuple(x_ticks))
    return picture(title, [panel], description=description)


def scatter(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    x_scale: Scale = Scale.LINEAR,
    y_scale: Scale = Scale.LINEAR,
    description: str = "",
) -> str:
    """One panel of points, as SVG text."""
    panel = Panel(tuple(series), x_label, y_label, mark=Mark.POINTS, x_scale=x_scale, y_scale=y_scale)
    return picture(title, [panel], description=description)


def require_matplotlib() -> None:
    """Raise ``InputError`` where matplotlib is not installed, before any work is done for a chart."""
    _matplotlib()


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise InputError(
            "plots need matplotlib, which is not installed",
            advice="Install the extra: pip install 'discreet[plots]'.",
        ) from error
    return matplotlib


def _figure(panels: Sequence[Panel]) -> Figure:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    names = list(dict.fromkeys(s.name for panel in panels for s in panel.series))
    legend = len(names) > 1
    columns = min(len(panels), _PANELS_PER_ROW)
    rows = -(-len(panels) // columns)
    width = _SINGLE_WIDTH if columns == 1 else columns * _PANEL_WIDTH
    legend_columns = _legend_columns(names, width)
    foot = 0.12 + (-(-len(names) // legend_columns) * _LEGEND_ROW if legend else 0.0)
    height = rows * _PANEL_HEIGHT + foot
    figure = Figure(figsize=(width, height))
    FigureCanvasSVG(figure)
    room = (0.01, foot / height, 0.98, 1 - (foot + 0.04) / height)
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=room, h_pad=0.08, w_pad=0.08))
    handles: dict[str, Any] = {}
    looks = looks_of(names)
    for place, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(rows, columns, place)
        handles |= {k: v for k, v in _draw(axes, panel, looks).items() if k not in handles}
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


def _legend_columns(names: Sequence[str], width: float) -> int:
    """As many columns as fit, a letter being about a fifteenth of an inch, in rows about equally long."""
    widest = max((len(name) for name in names), default=1) * 0.075 + 0.6
    fitting = max(1, min(len(names), int(width / widest)))
    rows = -(-max(len(names), 1) // fitting)
    return -(-max(len(names), 1) // rows)


def _draw(axes: Axes, panel: Panel, looks: Mapping[str, Look]) -> dict[str, Any]:
    """Draw a panel and return a legend's handle by series."""
    from matplotlib.ticker import MaxNLocator

    axes.set_axisbelow(True)
    axes.grid(True, axis="y" if panel.mark is Mark.BARS else "both", color=_RULE, linewidth=0.6)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.title:
        axes.set_title(panel.title)
    handles = _bars(axes, panel, looks) if panel.mark is Mark.BARS else _points(axes, panel, looks)
    _set_scale(axes, "x", panel.x_scale)
    _set_scale(axes, "y", panel.y_scale)
    if panel.mark is Mark.BARS:
        axes.set_xticks(range(len(panel.categories)), panel.categories)
    elif panel.x_ticks:
        axes.set_xticks(panel.x_ticks, [f"{tick:g}" for tick in panel.x_ticks])
        axes.xaxis.minorticks_off()
    elif panel.x_scale is Scale.LINEAR and all(x.is_integer() for s in panel.series for x in s.x):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 5, 10]))
    return handles


def _points(axes: Axes, panel: Panel, looks: Mapping[str, Look]) -> dict[str, Any]:
    from matplotlib.patches import Rectangle

    for box in panel.boxes:
        corner = (box.left, box.bottom)
        size = (box.right - box.left, box.top - box.bottom)
        axes.add_patch(Rectangle(corner, *size, facecolor=_BOX, alpha=0.12, edgecolor=_BOX, linewidth=1.0))
        axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=_BOX, linewidth=1.0))
    handles = {}
    for series in panel.series:
        look = looks[series.name]
        style = "none" if panel.mark is not Mark.LINES else "--" if series.dashed else "-"
        # Points among boxes are many, and not to hide them.
        colour, width = (_INK, _SMALL) if panel.boxes else (look.colour, None)
        face = _CARD if series.dashed else colour
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


def _bars(axes: Axes, panel: Panel, looks: Mapping[str, Look]) -> dict[str, Any]:
    width = 0.8 / max(len(panel.series), 1)
    handles = {}
    for place, series in enumerate(panel.series):
        colour = looks[series.name].colour
        left = [x + (place - (len(panel.series) - 1) / 2) * width for x in series.x]
        handles[series.name] = axes.bar(
            left,
            series.y,
            width=width * 0.92,
            color=_CARD if series.dashed else colour,
            edgecolor=colour,
            hatch="//" if series.dashed else None,
        )
    return handles


def _set_scale(axes: Axes, which: str, scale: Scale) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    set_scale = axes.set_xscale if which == "x" else axes.set_yscale
    if scale is Scale.LOG:
        set_scale("log")
        least, most = axes.get_xlim() if which == "x" else axes.get_ylim()
        axis.set_minor_formatter(NullFormatter())
        if most / least < _TWO_DECADES:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    elif scale is Scale.COUNTS:
        set_scale("symlog", linthresh=1.0, linscale=0.4)
        (axes.set_xlim if which == "x" else axes.set_ylim)(0 if which == "x" else -0.15, None)
    if scale is not Scale.LINEAR:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    elif which == "y":
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


def _titled(svg: str, title: str, description: str) -> str:
    """Without the document type, and with title and description as the first elements of the picture."""
    svg = re.sub(r"<!DOCTYPE[^>]*>\s*", "", svg)
    told = f"<title>{escape(title)}</title>"
    if description:
        told += f"<desc>{escape(description)}</desc>"
    return re.sub(r"(<svg\b[^>]*)>", rf'\1 role="img">{_plain(told)}', svg, count=1)


def _plain(text: str) -> str:
    """The text as a replacement that names no group."""
    return text.replace("\\", r"\\")
