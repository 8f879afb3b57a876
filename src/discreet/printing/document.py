"""What a result says, apart from where it is shown: lines of prose and grids of cells.

One document serves a terminal (``printing.plain_text``), a notebook (``printing.printed``) and the command
line, which adds colour by tone. So a figure is worded once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isinf, isnan

from discreet.model.group_warnings import by_place


class Tone(StrEnum):
    """What a line means, for those who show it in colour."""

    PLAIN = "plain"
    HEADING = "heading"
    GOOD = "good"
    BAD = "bad"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True)
class Line:
    """One paragraph; ``verbatim`` text (a command to copy) is never wrapped."""

    text: str
    tone: Tone = Tone.PLAIN
    verbatim: bool = False


@dataclass(frozen=True)
class Column:
    """A grid's column: its title, and whether its cells are numbers and stand to the right.

    A column that ``shrinks`` gives way when the grid is too wide: its cells wrap.
    """

    title: str
    right: bool = False
    shrinks: bool = False


@dataclass(frozen=True)
class Grid:
    """An aligned table; every row has one cell per column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


Document = tuple[Line | Grid, ...]

BLANK = Line("")
_MOST_NAMES = 10
_SLACK = 1e-9
"""How far a sum of floating-point shares may exceed its whole."""
_LONG_LIST = re.compile(r"('[^']*'(?:, '[^']*'){9})((?:, '[^']*')+)")


def heading(text: str) -> Line:
    """A heading."""
    return Line(text, Tone.HEADING)


def warnings_of(texts: Sequence[str]) -> Document:
    """One line per warning, after a blank one; nothing where there is none. Long lists of names are cut."""
    return (BLANK, *warning_lines(texts)) if texts else ()


def answer_lines(answer: Document, warnings: Sequence[str]) -> tuple[Document, tuple[str, ...]]:
    """The first lines of an answer with the warnings about its groups, and the other warnings.

    That k counts rows of few people stands above the answer, that groups have one sensitive value under it.
    """
    above, under, behind = by_place(warnings)
    return (*warning_lines(above), *answer, *warning_lines(under)), behind


def warning_lines(texts: Sequence[str]) -> Document:
    """One line per warning."""
    return tuple(Line(f"Warning: {shortened(text)}", Tone.WARNING) for text in texts)


def shortened(text: str) -> str:
    """A sentence with a list of quoted names cut after the tenth; documents for programs have them all.

    >>> shortened("Left out: " + ", ".join(f"'q{i}'" for i in range(13)) + ".")
    "Left out: 'q0', 'q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7', 'q8', 'q9' and 3 more."
    """
    return _LONG_LIST.sub(lambda found: f"{found[1]} and {found[2].count(', ')} more", text)


def few_of(names: Sequence[str]) -> str:
    """Names in a list, the first ten of a longer one.

    >>> few_of([f"q{i}" for i in range(13)])
    'q0, q1, q2, q3, q4, q5, q6, q7, q8, q9 and 3 more'
    """
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: ``1 row``, ``30,162 rows``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def share(part: float, whole: float) -> str:
    """Format a part of a whole in percent; it never rounds to 0% or 100% unless it is.

    What is no part of the whole (less than nothing, or more than all of it) is written as the ratio that it
    is, never cut to 0% or 100%.

    >>> share(1, 8), share(1, 1_000_000), share(843, 100)
    ('12.5%', '<0.01%', '843%')
    """
    if whole <= 0 or part == 0:
        return "0%"
    if not -_SLACK <= part / whole <= 1 + _SLACK:
        return ratio(part / whole)
    percent = min(max(100 * part / whole, 0.0), 100.0)
    if percent in (0.0, 100.0):
        return f"{percent:.0f}%"
    if percent < 0.01:
        return "<0.01%"
    if percent > 99.99:
        return ">99.99%"
    return f"{percent:.2f}%" if percent < 10 else f"{percent:.1f}%" if percent < 99.95 else f"{percent:.2f}%"


def ratio(value: float | None) -> str:
    """Format a quotient in percent that may be negative or exceed 100%: an error, a gain, a gap.

    >>> ratio(8.43), ratio(-0.125), ratio(0.0042), ratio(None)
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


def rows_and_share(part: int, whole: int) -> str:
    """``285 (0.94%)``."""
    return f"{part:,} ({share(part, whole)})"
