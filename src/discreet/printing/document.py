"""Documents: lines of prose and grids of cells, with the formats of numbers, shares and lists.

One document serves a terminal, a notebook and a page, so every number is formatted once. ``Tone`` is the
meaning of a line, for renderers with colour.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isinf, isnan

from discreet.model.coded_warnings import partition_warnings

_SYMBOL_START = re.compile(r"[^\W\d_](?=[-(=])|(?![aiAI])[^\W\d_](?![\w'’])|[\u0370-\u03ff]")


def capitalize(text: str) -> str:
    """Capitalize a text, unless it begins with a symbol or with a name that begins with one.

    Greek capitals look like Latin ones, and T is not t: the name of a criterion is never changed.

    >>> [capitalize(text) for text in ("the rows", "t-closeness", "α-deassociation", "a share")]
    ['The rows', 't-closeness', 'α-deassociation', 'A share']
    """
    return text if _SYMBOL_START.match(text) else text[:1].upper() + text[1:]


class Tone(StrEnum):
    """Meaning of a line, for renderers with colour."""

    PLAIN = "plain"
    HEADING = "heading"
    GOOD = "good"
    BAD = "bad"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True)
class Line:
    """Paragraph; ``verbatim`` text (a command to copy) is never wrapped."""

    text: str
    tone: Tone = Tone.PLAIN
    verbatim: bool = False


@dataclass(frozen=True)
class Column:
    """Column of a grid: its title, and ``right`` to align its cells on the right, as for numbers.

    A column that ``shrinks`` wraps its cells if the grid is too wide.
    """

    title: str
    right: bool = False
    shrinks: bool = False


def make_columns(*titles: str) -> tuple[Column, ...]:
    """Make columns from their titles: ``>`` before a title aligns on the right, then ``~`` lets it shrink.

    >>> make_columns("name", ">rows")[1]
    Column(title='rows', right=True, shrinks=False)
    """
    found = []
    for title in titles:
        name = title.removeprefix(">")
        found.append(Column(name.removeprefix("~"), right=name != title, shrinks=name.startswith("~")))
    return tuple(found)


@dataclass(frozen=True)
class Grid:
    """Aligned table; every row has one cell per column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


Document = tuple[Line | Grid, ...]

BLANK = Line("")
_MAX_NAMES = 10
_TOLERANCE = 1e-9
"""Largest excess of a sum of floating-point shares over its whole."""
_LONG_LIST = re.compile(r"('[^']*'(?:, '[^']*'){9})((?:, '[^']*')+)")


def heading_line(text: str) -> Line:
    """Return a heading."""
    return Line(text, Tone.HEADING)


def warning_block(texts: Sequence[str]) -> Document:
    """Return a blank line and one line per warning, with long lists of names cut; empty without warnings."""
    return (BLANK, *warning_lines(texts)) if texts else ()


def answer_lines(answer: Document, warnings: Sequence[str]) -> tuple[Document, tuple[str, ...]]:
    """Return an answer with the warnings about its groups, and the other warnings.

    The warning that k counts rows of few people is above the answer, the warning about homogeneous groups
    below it.
    """
    above, under, behind = partition_warnings(warnings)
    return (*warning_lines(above), *answer, *warning_lines(under)), behind


def warning_lines(texts: Sequence[str]) -> Document:
    """Return one line per warning."""
    return tuple(Line(f"Warning: {abbreviate_list(text)}", Tone.WARNING) for text in texts)


def abbreviate_list(text: str) -> str:
    """Cut a list of quoted names in a sentence after the tenth; JSON documents keep all names.

    >>> abbreviate_list("Left out: " + ", ".join(f"'q{i}'" for i in range(13)) + ".")
    "Left out: 'q0', 'q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7', 'q8', 'q9' and 3 more."
    """
    return _LONG_LIST.sub(lambda match: f"{match[1]} and {match[2].count(', ')} more", text)


def join_names(names: Sequence[str]) -> str:
    """Join names in a list, cut after the tenth.

    >>> join_names([f"q{i}" for i in range(13)])
    'q0, q1, q2, q3, q4, q5, q6, q7, q8, q9 and 3 more'
    """
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more


def format_quantity(number: int, noun: str, plural: str | None = None) -> str:
    """Format a number with its noun: ``1 row``, ``30,162 rows``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def format_share(part: float, total: float) -> str:
    """Format a part of a whole in percent; it rounds to 0% or 100% only if it is exactly that.

    A value outside the whole (negative or above it) is formatted as a ratio, never cut to 0% or 100%.

    >>> format_share(1, 8), format_share(1, 1_000_000), format_share(843, 100)
    ('12.5%', '<0.01%', '843%')
    """
    if total <= 0 or part == 0:
        return "0%"
    if not -_TOLERANCE <= part / total <= 1 + _TOLERANCE:
        return format_ratio(part / total)
    percent = min(max(100 * part / total, 0.0), 100.0)
    if percent in (0.0, 100.0):
        return f"{percent:.0f}%"
    if percent < 0.01:
        return "<0.01%"
    if percent > 99.99:
        return ">99.99%"
    return f"{percent:.2f}%" if percent < 10 else f"{percent:.1f}%" if percent < 99.95 else f"{percent:.2f}%"


def format_ratio(value: float | None) -> str:
    """Format a quotient in percent that may be negative or exceed 100%: an error, a gain, a gap.

    >>> format_ratio(8.43), format_ratio(-0.125), format_ratio(0.0042), format_ratio(None)
    ('843%', '-12.5%', '0.42%', '–')
    """
    if value is None or isnan(value):
        return "–"
    sign, percent = "-" if value < 0 else "", abs(100 * value)
    if isinf(percent):
        return f"{sign}infinite"
    if percent == 0:
        return "0%"
    if percent < 0.01:
        return f"{sign}<0.01%"
    return f"{sign}{percent:,.2f}%" if percent < 10 else f"{sign}{percent:,.{1 if percent < 100 else 0}f}%"


def format_rows(part: int, total: int) -> str:
    """Format rows with their share of a total: ``285 (0.94%)``."""
    return f"{part:,} ({format_share(part, total)})"
