"""Documents as HTML: every text escaped, no script."""

from __future__ import annotations

from discreet.printing.document import Column, Grid, Line, Tone
from discreet.printing.printed import notebook_html

EVIL = '<script>alert("x")</script>'


def test_lines_and_cells_are_escaped() -> None:
    grid = Grid((Column(EVIL), Column("rows", right=True)), ((EVIL, "1"),))
    html = notebook_html((Line(EVIL, Tone.HEADING), Line(EVIL), Line(EVIL, verbatim=True), grid))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 5


def test_numbers_stand_to_the_right() -> None:
    html = notebook_html((Grid((Column("name"), Column("rows", right=True)), (("age", "7"),)),))
    assert '<td style="padding:2px 10px;text-align:right">7</td>' in html
    assert '<th style="padding:2px 10px;text-align:left">name</th>' in html
