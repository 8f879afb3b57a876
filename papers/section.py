"""Sections of a reproduction: tables of comparisons, plots, and the Markdown page with them.

The page is ``README.md`` in the output folder; its plots are SVG files in the same folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    format_quantity,
    heading_line,
)
from discreet.verbs.locations import write_text
from papers.comparison import Comparison, Verdict

Cell = str | Comparison
"""A label, or a figure compared with the printed one."""

_TICK, _CROSS = "✓", "✗"


@dataclass(frozen=True)
class ComparedTable:
    """Table of labels and comparisons; every row has one cell per column.

    ``name`` is the table's name in ``figures/*.toml`` and in JSON. ``note`` is a sentence below it.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All figures, row by row."""
        return tuple(cell for row in self.rows for cell in row if isinstance(cell, Comparison))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Distinct reasons of known deviations, in the order of their numbers."""
        return tuple(dict.fromkeys(c.reason for c in self.comparisons if c.reason))

    @property
    def is_compared(self) -> bool:
        """True if the paper prints any of the figures."""
        return any(c.printed is not None for c in self.comparisons)

    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Return the cells as texts: ``ours / printed ✓``, or only ours if the table prints nothing."""
        return tuple(tuple(self._text(cell) for cell in row) for row in self.rows)

    def _text(self, cell: Cell) -> str:
        if isinstance(cell, str):
            return cell
        if not self.is_compared or cell.printed is None:
            return f"{cell.ours_text}{self._mark(cell)}"
        return f"{cell.ours_text} / {cell.printed_text}{self._mark(cell)}"

    def _mark(self, cell: Comparison) -> str:
        if cell.verdict is Verdict.SAME:
            return f" {_TICK}"
        if cell.verdict is Verdict.DIFFERENT:
            return f" {_CROSS}"
        if cell.verdict is Verdict.KNOWN and cell.reason:
            return f" [{self.reasons.index(cell.reason) + 1}]"
        return ""

    def footnotes(self) -> tuple[str, ...]:
        """Return the note, then each reason with its number."""
        numbered = tuple(f"[{number}] {reason}" for number, reason in enumerate(self.reasons, start=1))
        return (*((self.note,) if self.note else ()), *numbered)

    def document(self) -> Document:
        """Return the table for a terminal."""
        right = [
            any(isinstance(row[place], Comparison) for row in self.rows) for place in range(len(self.columns))
        ]
        columns = tuple(Column(title, right=r) for title, r in zip(self.columns, right, strict=True))
        wrong = any(c.verdict is Verdict.DIFFERENT for c in self.comparisons)
        tone = Tone.BAD if wrong else Tone.PLAIN
        return (Line(self.title, tone), Grid(columns, self.texts()), *(Line(t) for t in self.footnotes()))

    def as_json(self) -> dict[str, Any]:
        """Return the table in the document of ``python -m papers NAME --json``."""
        rows = [[c if isinstance(c, str) else c.as_json() for c in row] for row in self.rows]
        return {
            "name": self.name,
            "title": self.title,
            "columns": list(self.columns),
            "rows": rows,
            "note": self.note,
        }


@dataclass(frozen=True)
class Plot:
    """Picture: file name without extension, title, SVG text, and caption."""

    name: str
    title: str
    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """Part of a reproduction, in reading order: text, tables, plots."""

    title: str
    text: str = ""
    tables: tuple[ComparedTable, ...] = ()
    plots: tuple[Plot, ...] = ()

    def document(self) -> Document:
        """Return the section for a terminal; a plot is represented by its title."""
        parts: list[Line | Grid] = [heading_line(self.title)]
        parts += [Line(self.text)] if self.text else []
        for table in self.tables:
            parts += [BLANK, *table.document()]
        parts += [BLANK] if self.plots else []
        parts += [Line(f"Plot {plot.name}.svg: {plot.title}", Tone.HINT) for plot in self.plots]
        return tuple(parts)

    def as_json(self) -> dict[str, Any]:
        """Return the section in the document of ``python -m papers NAME --json``."""
        return {
            "title": self.title,
            "text": self.text,
            "tables": [table.as_json() for table in self.tables],
            "plots": [f"{plot.name}.svg" for plot in self.plots],
        }


def all_comparisons(sections: Sequence[Section]) -> Iterator[Comparison]:
    """Yield every figure of some sections."""
    return (c for section in sections for table in section.tables for c in table.comparisons)


def count_verdicts(sections: Sequence[Section]) -> dict[Verdict, int]:
    """Count the figures of each verdict."""
    found = Counter(c.verdict for c in all_comparisons(sections))
    return {verdict: found[verdict] for verdict in Verdict}


def verdict_lines(sections: Sequence[Section]) -> Document:
    """Return the tally in words."""
    found = count_verdicts(sections)
    judged = sum(found[v] for v in (Verdict.SAME, Verdict.KNOWN, Verdict.DIFFERENT))
    if not judged:
        return (Line("Nothing of this is printed in the paper in a form that can be judged."),)
    lines = [
        Line(
            f"{found[Verdict.SAME]:,} of {format_quantity(judged, 'printed figure')} come out the same, "
            f"{found[Verdict.KNOWN]:,} differ for a known reason.",
            Tone.GOOD,
        )
    ]
    if found[Verdict.DIFFERENT]:
        lines.append(
            Line(f"{found[Verdict.DIFFERENT]:,} differ and no reason is known ({_CROSS}).", Tone.BAD)
        )
    return tuple(lines)


PAGE = "README.md"


def prepare_folder(folder: Path) -> None:
    """Create the output folder if it is missing; ``InputError`` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"the folder {folder} cannot be used: {reason}", advice="Choose another one with --output."
        ) from error


def write_plots(folder: Path, section: Section) -> None:
    """Write the section's plots and replace those of an earlier run."""
    for plot in section.plots:
        write_text(folder / f"{plot.name}.svg", plot.svg, overwrite=True)


def write_page(folder: Path, title: str, source: str, sections: Sequence[Section]) -> Path:
    """Write the page, replace that of an earlier run, and return its path."""
    path = folder / PAGE
    write_text(path, page_text(title, source, sections), overwrite=True)
    return path


def page_text(title: str, source: str, sections: Sequence[Section]) -> str:
    """Return the page: the paper, the tally, then section by section."""
    lines = [f"# {title}", "", source, ""]
    lines += [line.text for line in verdict_lines(sections) if isinstance(line, Line)]
    lines += [
        "",
        "A cell reads *ours / printed*: ✓ the same, [1] different for the reason below the table, "
        "✗ different, ~ printed and not to be judged by, ° printed of one of several solutions that are "
        "equally good, – nothing.",
    ]
    for section in sections:
        lines += _section_lines(section)
    return "\n".join(lines) + "\n"


def _section_lines(section: Section) -> list[str]:
    """Return the lines of a section; a title that was printed above is not repeated for a table or plot."""
    titles = {section.title}

    def title_lines(title: str) -> list[str]:
        new = title not in titles
        titles.add(title)
        return ["", f"**{title}**"] if new else []

    lines = ["", f"## {section.title}"]
    lines += ["", section.text] if section.text else []
    for table in section.tables:
        lines += [*title_lines(table.title), "", *_table_lines(table)]
        for note in table.footnotes():
            lines += ["", note]
    for plot in section.plots:
        lines += [*title_lines(plot.title), "", f"![{plot.title}]({plot.name}.svg)"]
        lines += ["", plot.caption] if plot.caption else []
    return lines


def _table_lines(table: ComparedTable) -> list[str]:
    places = range(len(table.columns))
    right = [any(isinstance(row[place], Comparison) for row in table.rows) for place in places]
    head = "| " + " | ".join(table.columns) + " |"
    rule = "|" + "|".join("---:" if r else "---" for r in right) + "|"
    return [head, rule, *("| " + " | ".join(_escape(t) for t in row) + " |" for row in table.texts())]


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")
