"""Plot of the history: a small panel per benchmark, each figure as a share of its goal by commit."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.history import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MET, _MISSED = "#0072B2", "#D55E00"
_COLUMNS, _WIDTH, _HEIGHT = 4, 2.5, 1.7
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "discreet",
    "font.sans-serif": ["DejaVu Sans", "sans-serif"],  # each text names them all
    "font.size": 7.0,
    "axes.titlesize": 7.5,
}


def drawn(runs: Sequence[Run]) -> str:
    """Draw the SVG; a figure above the line of 1 missed its goal."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(run.name for run in runs if any(figure.goal for figure in run.figures)))
    with matplotlib.rc_context(rc={**matplotlib.rcParamsDefault, "backend": "svg", **_STYLE}):
        rows = -(-len(names) // _COLUMNS)
        picture = Figure(figsize=(_COLUMNS * _WIDTH, max(rows, 1) * _HEIGHT), layout="constrained")
        FigureCanvasSVG(picture)
        for place, name in enumerate(names, start=1):
            axes = picture.add_subplot(rows, _COLUMNS, place)
            _panel(axes, name, [run for run in runs if run.name == name])
        out = io.StringIO()
        picture.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, facecolor="white")
    told = "<title>Each figure as a share of its goal, by recorded commit</title>"
    svg = re.sub(r"<!DOCTYPE[^>]*>\s*", "", out.getvalue())
    svg = re.sub(r"(\d\.\d\d)\d+", r"\1", svg)  # a hundredth of a point is seen by nobody
    return re.sub(r"(<svg\b[^>]*)>", rf'\1 role="img">{told}', svg, count=1)


def _panel(axes: Axes, name: str, runs: Sequence[Run]) -> None:
    axes.set_title(name)
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.axhline(1.0, color="#222222", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(runs)), [run.commit[:7] for run in runs])
    axes.set_xlim(-0.5, len(runs) - 0.5)
    by_figure: dict[str, list[tuple[int, float]]] = {}
    for place, run in enumerate(runs):
        for figure in run.figures:
            if figure.share is not None:
                by_figure.setdefault(figure.name, []).append((place, figure.share))
    for points in by_figure.values():
        axes.plot(*zip(*points, strict=True), color="#BBBBBB", linewidth=0.8, zorder=1)
    # All points of a kind in one call, since each call repeats its marker in the SVG.
    every = [point for points in by_figure.values() for point in points]
    for missed in (False, True):
        points = [(place, share) for place, share in every if (share > 1) == missed]
        if points:
            colour, marker = (_MET, _MISSED)[missed], "o^"[missed]
            axes.plot(*zip(*points, strict=True), marker, color=colour, markersize=3.5)
