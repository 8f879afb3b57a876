"""Charts of a report as SVG text: bars that follow the page's colours, in light, dark and print.

They hold no script, load nothing, and every bar says its number, so that a chart can be read without colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH = 720
_LETTER = 6.6
_ROW, _GAP, _BAR = 18, 12, 14


@dataclass(frozen=True)
class Bars:
    """Groups of horizontal bars: ``values[s][g]`` is that of series s in group g, None for no bar.

    ``texts`` are the numbers as they are written beside the bars, in the same places.
    """

    groups: tuple[str, ...]
    series: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    texts: tuple[tuple[str, ...], ...]


def bar_chart(title: str, bars: Bars, *, most: float | None = None) -> str:
    """Horizontal bars, a group per line; ``most`` is the value of the whole width."""
    left = max((len(group) for group in bars.groups), default=0) * _LETTER + 16
    right = max((len(text) for texts in bars.texts for text in texts), default=0) * _LETTER + 14
    top = 26 if len(bars.series) > 1 else 6
    group_height = _ROW * len(bars.series) + _GAP
    height = top + group_height * len(bars.groups) + 4
    room = _WIDTH - left - right
    found = [v for values in bars.values for v in values if v is not None]
    widest = most or max(found, default=0.0) or 1.0
    parts = [_legend(bars.series, left)] if len(bars.series) > 1 else []
    parts.append(f'<line class="axis" x1="{left:.1f}" y1="{top}" x2="{left:.1f}" y2="{height - 6}"/>')
    for g, group in enumerate(bars.groups):
        start = top + g * group_height + _GAP / 2
        middle = start + _ROW * len(bars.series) / 2 + 4
        parts.append(_text(left - 8, middle, group, "label end"))
        for s in range(len(bars.series)):
            value = bars.values[s][g]
            if value is None:
                continue
            y = start + s * _ROW + (_ROW - _BAR) / 2
            width = max(room * min(value / widest, 1.0), 1.0 if value > 0 else 0.0)
            parts.append(
                f'<rect class="s{s + 1}" x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" '
                f'height="{_BAR}" rx="2"/>'
            )
            parts.append(_text(left + width + 6, y + _BAR - 3, bars.texts[s][g], "value"))
    return _svg(title, height, parts)


def column_chart(title: str, bars: Bars, *, x_title: str, y_title: str) -> str:
    """Vertical bars, groups side by side; as a histogram is drawn."""
    top, foot, left = (48 if len(bars.series) > 1 else 28), 46, 14
    height = 268
    floor = height - foot
    found = [v for values in bars.values for v in values if v is not None]
    tallest = max(found, default=0.0) or 1.0
    slot = (_WIDTH - left - 8) / max(len(bars.groups), 1)
    width = min(34.0, slot * 0.82 / len(bars.series))
    parts = [_legend(bars.series, left)] if len(bars.series) > 1 else []
    parts.append(_text(left, top - 12, y_title, "label"))
    parts.append(f'<line class="axis" x1="{left}" y1="{floor}" x2="{_WIDTH - 8}" y2="{floor}"/>')
    for g, group in enumerate(bars.groups):
        centre = left + slot * (g + 0.5)
        parts.append(_text(centre, floor + 17, group, "label middle"))
        for s in range(len(bars.series)):
            value = bars.values[s][g]
            if not value:
                continue
            tall = max((floor - top - 8) * value / tallest, 1.0)
            x = centre + (s - len(bars.series) / 2) * width
            parts.append(
                f'<rect class="s{s + 1}" x="{x + 1:.1f}" y="{floor - tall:.1f}" width="{width - 2:.1f}" '
                f'height="{tall:.1f}" rx="2"/>'
            )
            parts.append(_text(x + width / 2, floor - tall - 5, bars.texts[s][g], "value middle small"))
    parts.append(_text(left + (_WIDTH - left - 8) / 2, height - 6, x_title, "label middle"))
    return _svg(title, height, parts)


def one_series(svg: str) -> str:
    """A chart of a single series, in the strong colour."""
    return svg.replace("<svg ", '<svg class="one" ', 1)


def _legend(series: Sequence[str], left: float) -> str:
    parts, x = [], left
    for s, name in enumerate(series):
        parts.append(f'<rect class="s{s + 1}" x="{x:.1f}" y="4" width="12" height="12" rx="2"/>')
        parts.append(_text(x + 18, 14, name, "label"))
        x += 18 + len(name) * _LETTER + 24
    return "".join(parts)


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
