"""A document as aligned plain text of a given width."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from discreet.printing.document import Column, Document, Grid, Line, Tone

_GAP = "  "
_SMALLEST_SHRUNK = 10
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
DEFAULT_WIDTH = 100


def plain_text(document: Document, width: int = DEFAULT_WIDTH) -> str:
    """The whole document, lines joined."""
    return "\n".join(text for text, _ in toned_lines(document, width))


def toned_lines(document: Document, width: int) -> Iterator[tuple[str, Tone]]:
    """Every line of text with its tone; no line is wider than ``width`` but for verbatim ones.

    In a grid that does not fit, titles and the cells of shrinking columns wrap; where that is not enough it
    is shown as one record per row.
    """
    for block in document:
        if isinstance(block, Line):
            yield from ((text, block.tone) for text in _wrapped(block, width))
        else:
            yield from _grid_lines(block, width)


def printable(text: str) -> str:
    """The text without control characters, so that a cell cannot command a terminal: they show as escapes."""
    if text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in _UNPRINTABLE else c for c in text
    )


def cells_wide(text: str) -> int:
    """How many terminal cells a text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _wrapped(line: Line, width: int) -> list[str]:
    text = printable(line.text)
    if line.verbatim or cells_wide(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(text, max(width, 20), subsequent_indent=indent, break_on_hyphens=False)


def _grid_lines(grid: Grid, width: int) -> Iterator[tuple[str, Tone]]:
    columns = tuple(replace(column, title=printable(column.title)) for column in grid.columns)
    rows = [[printable(cell) for cell in row] for row in grid.rows]
    widths = _fitting_widths(columns, rows, width)
    if widths is None:
        yield from ((text, Tone.PLAIN) for text in _records(columns, rows, width))
        return
    if any(column.title for column in columns):
        titles = [column.title for column in columns]
        yield from ((text, Tone.HEADING) for text in _row(columns, titles, widths))
        yield _GAP.join("─" * w for w in widths), Tone.PLAIN
    for row in rows:
        yield from ((text, Tone.PLAIN) for text in _row(columns, row, widths))


def _fitting_widths(columns: tuple[Column, ...], rows: list[list[str]], width: int) -> list[int] | None:
    widths = [
        max([cells_wide(column.title), *(cells_wide(row[i]) for row in rows)])
        for i, column in enumerate(columns)
    ]
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    least = [
        max(
            max(cells_wide(word) for word in column.title.split(" ")),
            _SMALLEST_SHRUNK if column.shrinks else max([0, *(cells_wide(row[i]) for row in rows)]),
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


def _row(columns: tuple[Column, ...], cells: list[str], widths: list[int]) -> Iterator[str]:
    """A row's lines: one, or as many as its longest cell wraps to."""
    wrapped = [_cell_lines(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for number in range(max(len(lines) for lines in wrapped)):
        parts = []
        for column, lines, width in zip(columns, wrapped, widths, strict=True):
            text = lines[number] if number < len(lines) else ""
            padding = " " * (width - cells_wide(text))
            parts.append(padding + text if column.right else text + padding)
        yield _GAP.join(parts).rstrip()


def _cell_lines(text: str, width: int) -> list[str]:
    """A cell in lines no wider than ``width``, broken at blanks where there are any."""
    lines, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cells_wide(joined) <= width:
            line = joined
            continue
        lines += [line] if line else []
        while cells_wide(word) > width:
            kept = _prefix(word, width)
            lines.append(kept)
            word = word[len(kept) :]
        line = word
    return [*lines, line]


def _prefix(text: str, width: int) -> str:
    """The longest start of a text that fits, up to a hyphen where it has one; one character at least."""
    end = 1
    while end < len(text) and cells_wide(text[: end + 1]) <= width:
        end += 1
    hyphen = text.rfind("-", 1, end) + 1
    return text[: hyphen or end]


def _records(columns: tuple[Column, ...], rows: list[list[str]], width: int) -> Iterator[str]:
    """Each row on lines of its own: the first cell (a number with its title), then the others with theirs."""
    widest = max(cells_wide(column.title) for column in columns)
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
                yield f"  {title}{' ' * (title_width - cells_wide(title))}  {text}".rstrip()
