"""Results that print as aligned text in a terminal and as small tables in a notebook."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from dataclasses import replace
from html import escape

from discreet.errors import in_python
from discreet.printing.document import Column, Document, Grid, Line, Tone
from discreet.printing.plain_text import DEFAULT_WIDTH, plain_text, printable

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


class Printed(ABC):
    """A result with a document."""

    @abstractmethod
    def document(self) -> Document:
        """What the result says."""

    def __str__(self) -> str:
        return plain_text(_in_python(self.document()), shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return notebook_html(_in_python(self.document()))


def _in_python(document: Document) -> Document:
    """The document with options in the words of Python; what names a command of ours stays as it is typed."""
    return tuple(
        replace(block, text=in_python(block.text))
        if isinstance(block, Line) and not block.verbatim and "discreet " not in block.text
        else block
        for block in document
    )
