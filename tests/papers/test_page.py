"""Tables, sections and the Markdown page."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.printing.rendering import render_text
from papers.comparison import Comparison, Deviation, Judge, Verdict
from papers.section import (
    ComparedTable,
    Plot,
    Section,
    count_verdicts,
    page_text,
    prepare_folder,
    write_page,
    write_plots,
)

JUDGE = Judge.of([Deviation("t", "H1", 207, Decimal("208.67"), "A misprint.")])
TABLE = ComparedTable(
    "t",
    "Averages",
    ("height", "QI 3", "seconds"),
    (
        ("0", JUDGE.compare("t", "H0", 554.0, 554), Comparison("H0, s", 0.5)),
        ("1", JUDGE.compare("t", "H1", 208.667, 207), Comparison("H1, s", 0.25, 3, about=True)),
        ("2|*", JUDGE.compare("t", "H2", 50, 28), ""),
    ),
    "A note.",
)
SECTION = Section("Suppression", "Read so.", (TABLE,), (Plot("fall", "It falls", "<svg/>", "Look."),))


def test_table_shows_computed_printed_and_mark() -> None:
    assert TABLE.texts() == (
        ("0", "554 / 554 ✓", "0.5"),
        ("1", "208.7 / 207 [1]", "0.25 / ~3"),
        ("2|*", "50 / 28 ✗", ""),
    )
    assert TABLE.footnotes() == ("A note.", "[1] A misprint.")
    table = ComparedTable("t", "Times", ("k", "s"), (("2", Comparison("2", 0.123456)),))
    assert table.texts() == (("2", "0.123"),)
    assert count_verdicts([SECTION]) == {
        Verdict.SAME: 1,
        Verdict.KNOWN: 1,
        Verdict.DIFFERENT: 1,
        Verdict.NONE: 2,
    }


def test_terminal_output_contains_text_table_notes_and_plot() -> None:
    text = render_text(SECTION.document())
    assert text.splitlines()[0] == "Suppression"
    for part in ("Read so.", "Averages", "208.7 / 207 [1]", "[1] A misprint.", "Plot fall.svg: It falls"):
        assert part in text


def test_page_contains_sections_and_plots(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "deep"
    prepare_folder(folder)
    write_plots(folder, SECTION)
    write_plots(folder, SECTION)  # overwrites the plots of an earlier run
    page = write_page(folder, "A paper", "Somebody: Something.", [SECTION])
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "fall.svg"]
    assert (folder / "fall.svg").read_text(encoding="utf-8") == "<svg/>"
    text = page.read_text(encoding="utf-8")
    assert text == page_text("A paper", "Somebody: Something.", [SECTION])
    for part in (
        "# A paper",
        "1 of 3 printed figures come out the same, 1 differ for a known reason.",
        "1 differ and no reason is known",
        "## Suppression",
        "| height | QI 3 | seconds |\n|---|---:|---:|\n| 0 | 554 / 554 ✓ | 0.5 |",
        r"| 2\|\* | 50 / 28 ✗ |  |",
        "[1] A misprint.",
        "**It falls**\n\n![It falls](fall.svg)\n\nLook.",
    ):
        assert part in text


def test_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be used"):
        prepare_folder(tmp_path / "file" / "folder")
