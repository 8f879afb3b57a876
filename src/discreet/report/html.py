"""HTML elements and SVG bar charts of a report; every text that comes from a release is escaped here.

Charts follow the page's colours in light, dark and print, contain no script and load nothing. Every bar has
its number as text, so that a chart can be read without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from discreet.report.translation import Translator


@dataclass
class Numbering:
    """The numbers of figures and tables in one page, from 1, and the translator of its language."""

    translator: Translator
    figures: int = 0
    tables: int = 0

    def figure(self, picture: str, caption: str) -> str:
        """Return a numbered figure; ``picture`` is SVG text."""
        self.figures += 1
        number = escape(self.translator("Figure {number}.", number=self.figures))
        title = f"<b>{number}</b> {escape(caption)}"
        return f'<figure class="plot">{picture}<figcaption>{title}</figcaption></figure>'

    def table(
        self,
        caption: str,
        heads: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        numbers: Sequence[int] = (),
        note: str = "",
    ) -> str:
        """Return a numbered table; ``numbers`` are the indices of right-aligned columns."""
        self.tables += 1
        right = [' class="number"' if i in numbers else "" for i in range(len(heads))]
        head = "".join(
            f'<th scope="col"{side}>{escape(text)}</th>' for text, side in zip(heads, right, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<th scope="row"{side}>{escape(cell)}</th>' if i == 0 else f"<td{side}>{escape(cell)}</td>"
                for i, (cell, side) in enumerate(zip(row, right, strict=True))
            )
            + "</tr>"
            for row in rows
        )
        number = escape(self.translator("Table {number}.", number=self.tables))
        title = f"<caption><b>{number}</b> {escape(caption)}</caption>"
        foot = f'<p class="note">{escape(note)}</p>' if note else ""
        return (
            f'<div class="table"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
            f"{foot}</div>"
        )


def numbered_section(number: int | str, title: str, *parts: str) -> str:
    """Return a section with a number or a letter."""
    name = f"section-{number}"
    return (
        f'<section aria-labelledby="{name}"><h2 id="{name}"><span class="ordinal">{number}</span>'
        f"{escape(title)}</h2>{''.join(parts)}</section>"
    )


def subheading(text: str) -> str:
    """Return a heading within a section."""
    return f"<h3>{escape(text)}</h3>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph."""
    return f"<p{_class_attribute(kind)}>{escape(text)}</p>"


def code_block(text: str) -> str:
    """Return a preformatted text."""
    return f"<pre>{escape(text)}</pre>"


def bullet_list(texts: Iterable[str], kind: str = "") -> str:
    """Return a list of sentences; empty if there are none."""
    found = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul{_class_attribute(kind)}>{found}</ul>" if found else ""


def definition_list(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of names with their values."""
    found = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{found}</dl>'


def text_or_blank_lines(label: str, text: str | None, lines: int = 3) -> str:
    """Return the publisher's text, or blank lines to fill in by hand."""
    if text:
        body = "".join(f"<p>{escape(part)}</p>" for part in text.split("\n") if part.strip())
    else:
        body = '<span class="rule"></span>' * lines
    blank = "" if text else " blank"
    return f'<div class="written{blank}"><h3>{escape(label)}</h3>{body}</div>'


def signature_lines(lines: Iterable[str]) -> str:
    """Return labelled lines for signatures."""
    found = "".join(f"<div><span>{escape(line)}</span></div>" for line in lines)
    return f'<div class="signatures">{found}</div>'


def _class_attribute(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


_WIDTH = 720
_LETTER_WIDTH = 6.6
_ROW, _GAP, _BAR = 18, 12, 14


@dataclass(frozen=True)
class BarSeries:
    """Groups of bars: ``values[s][g]`` is the value of series s in group g, None for no bar.

    ``texts`` are the numbers written next to the bars, at the same indices.
    """

    groups: tuple[str, ...]
    series: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    texts: tuple[tuple[str, ...], ...]


def bar_chart(title: str, bars: BarSeries, *, most: float | None = None) -> str:
    """Return a chart of horizontal bars, a group per line; ``most`` is the value of the whole width."""
    left = max((len(group) for group in bars.groups), default=0) * _LETTER_WIDTH + 16
    right = max((len(text) for texts in bars.texts for text in texts), default=0) * _LETTER_WIDTH + 14
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
        parts.append(_svg_text(left - 8, middle, group, "label end"))
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
            parts.append(_svg_text(left + width + 6, y + _BAR - 3, bars.texts[s][g], "value"))
    return _svg(title, height, parts)


def column_chart(title: str, bars: BarSeries, *, x_title: str, y_title: str) -> str:
    """Return a chart of vertical bars, groups next to each other as in a histogram."""
    top, foot, left = (48 if len(bars.series) > 1 else 28), 46, 14
    height = 268
    floor = height - foot
    found = [v for values in bars.values for v in values if v is not None]
    tallest = max(found, default=0.0) or 1.0
    slot = (_WIDTH - left - 8) / max(len(bars.groups), 1)
    width = min(34.0, slot * 0.82 / len(bars.series))
    parts = [_legend(bars.series, left)] if len(bars.series) > 1 else []
    parts.append(_svg_text(left, top - 12, y_title, "label"))
    parts.append(f'<line class="axis" x1="{left}" y1="{floor}" x2="{_WIDTH - 8}" y2="{floor}"/>')
    for g, group in enumerate(bars.groups):
        centre = left + slot * (g + 0.5)
        parts.append(_svg_text(centre, floor + 17, group, "label middle"))
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
            parts.append(_svg_text(x + width / 2, floor - tall - 5, bars.texts[s][g], "value middle small"))
    parts.append(_svg_text(left + (_WIDTH - left - 8) / 2, height - 6, x_title, "label middle"))
    return _svg(title, height, parts)


def emphasize_single_series(svg: str) -> str:
    """Return a chart of a single series in the strong colour."""
    return svg.replace("<svg ", '<svg class="one" ', 1)


def _legend(series: Sequence[str], left: float) -> str:
    parts, x = [], left
    for s, name in enumerate(series):
        parts.append(f'<rect class="s{s + 1}" x="{x:.1f}" y="4" width="12" height="12" rx="2"/>')
        parts.append(_svg_text(x + 18, 14, name, "label"))
        x += 18 + len(name) * _LETTER_WIDTH + 24
    return "".join(parts)


def _svg_text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
