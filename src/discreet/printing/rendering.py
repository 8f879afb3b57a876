"""Render documents as aligned text of a given width and as notebook HTML.

Control characters are escaped, so that a cell cannot command a terminal. ``Printable`` is the base class of
results: it renders ``document()`` for ``str``, ``repr`` and notebooks.
"""

from __future__ import annotations

import shutil
import textwrap
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import Any

from discreet.errors import python_wording
from discreet.printing.document import Column, Document, Grid, Line, Tone

_GAP = "  "
_MIN_SHRUNK_WIDTH = 10
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
DEFAULT_WIDTH = 100


def render_text(document: Document, width: int = DEFAULT_WIDTH) -> str:
    """Render a document as text."""
    return "\n".join(text for text, _ in render_lines(document, width))


def render_lines(document: Document, width: int) -> Iterator[tuple[str, Tone]]:
    """Yield every line of text with its tone; no line except verbatim ones is wider than ``width``.

    In a grid that does not fit, titles and the cells of shrinking columns wrap; if that is not enough, each
    row becomes a record.
    """
    for block in document:
        if isinstance(block, Line):
            yield from ((text, block.tone) for text in _wrap_line(block, width))
        else:
            yield from _grid_lines(block, width)


def escape_control_characters(text: str) -> str:
    """Escape the control characters of a text, so that a cell cannot command a terminal."""
    if text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in _UNPRINTABLE else c for c in text
    )


def display_width(text: str) -> int:
    """Count the terminal cells of a text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _wrap_line(line: Line, width: int) -> list[str]:
    text = escape_control_characters(line.text)
    if line.verbatim or display_width(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(text, max(width, 20), subsequent_indent=indent, break_on_hyphens=False)


def _grid_lines(grid: Grid, width: int) -> Iterator[tuple[str, Tone]]:
    columns = tuple(replace(column, title=escape_control_characters(column.title)) for column in grid.columns)
    rows = [[escape_control_characters(cell) for cell in row] for row in grid.rows]
    widths = _fitting_widths(columns, rows, width)
    if widths is None:
        yield from ((text, Tone.PLAIN) for text in _record_lines(columns, rows, width))
        return
    if any(column.title for column in columns):
        titles = [column.title for column in columns]
        yield from ((text, Tone.HEADING) for text in _row_lines(columns, titles, widths))
        yield _GAP.join("─" * w for w in widths), Tone.PLAIN
    for row in rows:
        yield from ((text, Tone.PLAIN) for text in _row_lines(columns, row, widths))


def _fitting_widths(columns: tuple[Column, ...], rows: list[list[str]], width: int) -> list[int] | None:
    widths = [
        max([display_width(column.title), *(display_width(row[i]) for row in rows)])
        for i, column in enumerate(columns)
    ]
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    least = [
        max(
            max(display_width(word) for word in column.title.split(" ")),
            _MIN_SHRUNK_WIDTH if column.shrinks else max([0, *(display_width(row[i]) for row in rows)]),
        )
        for i, column in enumerate(columns)
    ]
    while excess > 0:
        widest = max(range(len(widths)), key=lambda i: widths[i] - least[i])
        if widths[widest] <= least[widest]:
            return None
        widths[widest] -= 1
        excess -= 1
    return widths


def _row_lines(columns: tuple[Column, ...], cells: list[str], widths: list[int]) -> Iterator[str]:
    """Yield a row's lines: as many as its longest cell wraps to."""
    wrapped = [_cell_lines(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for number in range(max(len(lines) for lines in wrapped)):
        parts = []
        for column, lines, width in zip(columns, wrapped, widths, strict=True):
            text = lines[number] if number < len(lines) else ""
            padding = " " * (width - display_width(text))
            parts.append(padding + text if column.right else text + padding)
        yield _GAP.join(parts).rstrip()


def _cell_lines(text: str, width: int) -> list[str]:
    """Break a cell into lines no wider than ``width``, at blanks if possible."""
    lines, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if display_width(joined) <= width:
            line = joined
            continue
        lines += [line] if line else []
        while display_width(word) > width:
            prefix = _longest_prefix(word, width)
            lines.append(prefix)
            word = word[len(prefix) :]
        line = word
    return [*lines, line]


def _longest_prefix(text: str, width: int) -> str:
    """Return the longest prefix that fits, up to a hyphen if there is one; at least one character."""
    end = 1
    while end < len(text) and display_width(text[: end + 1]) <= width:
        end += 1
    hyphen = text.rfind("-", 1, end) + 1
    return text[: hyphen or end]


def _record_lines(columns: tuple[Column, ...], rows: list[list[str]], width: int) -> Iterator[str]:
    """Yield each row as a record: the first cell (a number with its title), then titles and cells."""
    widest = max(display_width(column.title) for column in columns)
    title_width = min(widest, max(width // 2, 8))
    cell_width = max(width - title_width - 2 * len(_GAP), 8)
    for row in rows:
        head = f"{columns[0].title} {row[0]}" if columns[0].right else row[0]
        yield from _cell_lines(head, max(width, 8))
        for column, cell in zip(columns[1:], row[1:], strict=True):
            titles = _cell_lines(column.title, title_width)
            lines = _cell_lines(cell, cell_width) if cell else []
            for number in range(max(len(titles), len(lines)) if lines else 0):
                title = titles[number] if number < len(titles) else ""
                text = lines[number] if number < len(lines) else ""
                yield f"  {title}{' ' * (title_width - display_width(title))}  {text}".rstrip()


_CELL_STYLE = "padding:2px 10px;text-align:{side}"


def render_html(document: Document) -> str:
    """Render a document as HTML, with every text escaped."""
    return "\n".join(
        _line_html(block) if isinstance(block, Line) else _table_html(block) for block in document
    )


def _line_html(line: Line) -> str:
    text = escape(escape_control_characters(line.text))
    if not text:
        return ""
    if line.verbatim:
        return f"<pre>{text}</pre>"
    return f"<p><strong>{text}</strong></p>" if line.tone is Tone.HEADING else f"<p>{text}</p>"


def _table_html(grid: Grid) -> str:
    head = "".join(_cell_html("th", column, column.title) for column in grid.columns)
    body = "\n".join(
        "<tr>"
        + "".join(_cell_html("td", column, cell) for column, cell in zip(grid.columns, row, strict=True))
        + "</tr>"
        for row in grid.rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _cell_html(tag: str, column: Column, text: str) -> str:
    style = _CELL_STYLE.format(side="right" if column.right else "left")
    return f'<{tag} style="{style}">{escape(escape_control_characters(text))}</{tag}>'


def record_as_json(record: object) -> dict[str, Any]:
    """Return the fields of a dataclass as a document: records by their ``as_json``, tuples as lists."""
    names = record.__dataclass_fields__  # type: ignore[attr-defined]
    return {name: _plain_value(getattr(record, name)) for name in names}


def _plain_value(value: Any) -> Any:
    if hasattr(value, "as_json"):
        return value.as_json()
    if isinstance(value, Mapping):
        return {key: _plain_value(item) for key, item in value.items()}
    return [_plain_value(item) for item in value] if isinstance(value, tuple) else value


class Record:
    """Dataclass whose document has its fields."""

    def as_json(self) -> dict[str, Any]:
        """Return the fields as a document."""
        return record_as_json(self)


class Printable(ABC):
    """Base class of results with a document."""

    @abstractmethod
    def document(self) -> Document:
        """Return the document to print."""

    def __str__(self) -> str:
        return render_text(
            _with_python_options(self.document()), shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return render_html(_with_python_options(self.document()))


def _with_python_options(document: Document) -> Document:
    """Return a document with Python's option names; lines with a ``discreet`` command stay unchanged."""
    return tuple(
        replace(block, text=python_wording(block.text))
        if isinstance(block, Line) and not block.verbatim and "discreet " not in block.text
        else block
        for block in document
    )
