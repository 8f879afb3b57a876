"""Documents as HTML: every text is escaped, and there is no script."""

from __future__ import annotations

from discreet.printing.document import Column, Document, Grid, Line, Tone
from discreet.printing.rendering import Printable, render_html, render_text
from discreet.results.publish_result import ReleaseIntersection, describe_intersections

EVIL = '<script>alert("x")</script>'


def test_lines_and_cells_are_escaped() -> None:
    grid = Grid((Column(EVIL), Column("rows", right=True)), ((EVIL, "1"),))
    html = render_html((Line(EVIL, Tone.HEADING), Line(EVIL), Line(EVIL, verbatim=True), grid))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 5


def test_numbers_are_right_aligned() -> None:
    html = render_html((Grid((Column("name"), Column("rows", right=True)), (("age", "7"),)),))
    assert '<td style="padding:2px 10px;text-align:right">7</td>' in html
    assert '<th style="padding:2px 10px;text-align:left">name</th>' in html


class OptionResult(Printable):
    """A result that names an option, a command, and text that stays unchanged."""

    def document(self) -> Document:
        return (
            Line("Publish with --previous-release RELEASE."),
            Line("discreet audit --sql"),
            Line("--previous-release", verbatim=True),
        )


def test_python_output_names_python_options() -> None:
    shown = "Publish with previous_releases=RELEASE.\ndiscreet audit --sql\n--previous-release"
    assert str(OptionResult()) == repr(OptionResult()) == shown
    assert "<p>Publish with previous_releases=RELEASE.</p>" in OptionResult()._repr_html_()


def test_uncompared_releases_are_listed_once_per_reason() -> None:
    names = ["a table", "july.csv", "a table", "june.csv"]
    reasons = ["in memory", "gone", "in memory", "gone"]
    intersections = tuple(ReleaseIntersection(n, "", reason=r) for n, r in zip(names, reasons, strict=True))
    text = render_text(describe_intersections(intersections))
    assert "Not compared with a table (2 times): in memory.\n" in text
    assert text.endswith("Not compared with july.csv, june.csv: gone.")
