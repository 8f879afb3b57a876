"""A document as a small piece of HTML for notebooks: escaped text, no script, no style sheet."""

from __future__ import annotations

from html import escape

from discreet.printing.document import Column, Document, Grid, Line, Tone
from discreet.printing.plain_text import printable

_CELL = "padding:2px 10px;text-align:{side}"


def notebook_html(document: Document) -> str:
    """The document's lines and grids, every text escaped."""
    return "\n".join(_line(block) if isinstance(block, Line) else _table(block) for block in document)


def _line(line: Line) -> str:
    text = escape(printable(line.text))
    if not text:
        return ""
    if line.verbatim:
        return f"<pre>{text}</pre>"
    return f"<p><strong>{text}</strong></p>" if line.tone is Tone.HEADING else f"<p>{text}</p>"


def _table(grid: Grid) -> str:
    head = "".join(_cell("th", column, column.title) for column in grid.columns)
    body = "\n".join(
        "<tr>"
        + "".join(_cell("td", column, cell) for column, cell in zip(grid.columns, row, strict=True))
        + "</tr>"
        for row in grid.rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _cell(tag: str, column: Column, text: str) -> str:
    style = _CELL.format(side="right" if column.right else "left")
    return f'<{tag} style="{style}">{escape(printable(text))}</{tag}>'
