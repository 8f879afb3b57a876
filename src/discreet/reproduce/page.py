"""A reproduction as files: one Markdown page, and its plots as SVG beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.errors import InputError
from discreet.printing.document import Line
from discreet.reproduce.comparison import Comparison
from discreet.reproduce.section import ComparedTable, Section, tally_lines
from discreet.verbs.files import write_text

PAGE = "README.md"


def prepare_folder(folder: Path) -> None:
    """Make the output folder where it is missing; ``InputError`` where that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"the folder {folder} cannot be used: {reason}", advice="Choose another one with --output."
        ) from error


def write_plots(folder: Path, section: Section) -> None:
    """Write the section's plots, over those of an earlier run."""
    for plot in section.plots:
        write_text(folder / f"{plot.name}.svg", plot.svg, overwrite=True)


def write_page(folder: Path, title: str, source: str, sections: Sequence[Section]) -> Path:
    """Write the page, over that of an earlier run, and return its path."""
    path = folder / PAGE
    write_text(path, page_text(title, source, sections), overwrite=True)
    return path


def page_text(title: str, source: str, sections: Sequence[Section]) -> str:
    """The page: the paper, the tally, then section by section."""
    lines = [f"# {title}", "", source, ""]
    lines += [line.text for line in tally_lines(sections) if isinstance(line, Line)]
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
    """The section; what its heading or a table above says already is not said again over a table or plot."""
    told = {section.title}

    def title_lines(title: str) -> list[str]:
        new = title not in told
        told.add(title)
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
    return [head, rule, *("| " + " | ".join(_escaped(t) for t in row) + " |" for row in table.texts())]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")
