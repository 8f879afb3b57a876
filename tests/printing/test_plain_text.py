"""Documents as text: aligned, within the width, without terminal control sequences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.printing.document import Column, Grid, Line
from discreet.printing.rendering import display_width, escape_control_characters, render_text

GRID = Grid(
    (Column("name"), Column("rows", right=True), Column("where from", shrinks=True)),
    (("age", "30,162", "hierarchies/age.csv"), ("marital_status", "7", "value → *")),
)


def test_grid_is_aligned_and_numbers_are_right_aligned() -> None:
    assert render_text((GRID,), 80).splitlines() == [
        "name              rows  where from",
        "──────────────  ──────  ───────────────────",
        "age             30,162  hierarchies/age.csv",
        "marital_status       7  value → *",
    ]


def test_shrinking_column_wraps_first() -> None:
    assert render_text((GRID,), 38).splitlines()[2:] == [
        "age             30,162  hierarchies/ag",
        "                        e.csv",
        "marital_status       7  value → *",
    ]


def test_grid_too_wide_for_wrapping_is_shown_as_records() -> None:
    assert render_text((GRID,), 30).splitlines() == [
        "age",
        "  rows        30,162",
        "  where from  hierarchies/age.",
        "              csv",
        "marital_status",
        "  rows        7",
        "  where from  value → *",
    ]


def test_prose_wraps_and_commands_do_not() -> None:
    prose = Line("one two three four five six seven")
    command = Line("  discreet negotiate people.toml --k 10", verbatim=True)
    assert render_text((prose, command), 20).splitlines() == [
        "one two three four",
        "five six seven",
        "  discreet negotiate people.toml --k 10",
    ]


def test_wide_characters_count_as_two_cells_and_combining_ones_as_none() -> None:
    grid = Grid((Column("city"), Column("n", right=True)), (("東京", "1"), ("Cafe\u0301", "22")))
    assert [display_width(line) for line in render_text((grid,), 80).splitlines()] == [8, 8, 8, 8]


def test_control_characters_show_as_escapes() -> None:
    assert escape_control_characters("a\x1b[31mred\n\u202e") == "a\\x1b[31mred\\n\\u202e"
    assert "\x1b" not in render_text((Grid((Column("\x1b[2J"),), (("\x1b]0;title\x07",),)),), 80)


@hypothesis_settings(deadline=None)
@given(
    st.lists(st.lists(st.text(max_size=30), min_size=3, max_size=3), min_size=1, max_size=5),
    st.integers(20, 120),
)
def test_no_line_is_wider_than_the_width(cells: list[list[str]], width: int) -> None:
    columns = (Column("a"), Column("b", right=True), Column("c", shrinks=True))
    rows = tuple((row[0][:6], row[1], row[2]) for row in cells)
    lines = render_text((Grid(columns, rows), Line("word " * 30)), width).splitlines()
    first_cells = {escape_control_characters(row[0]) for row in rows}
    assert all(display_width(line) <= width or line in first_cells for line in lines if line.isascii())


def test_long_words_break_behind_a_hyphen() -> None:
    grid = Grid(
        (Column("n", right=True), Column("education", shrinks=True)), (("7", "Without-post-secondary"),)
    )
    assert render_text((grid,), 20).splitlines()[2:] == ["7  Without-post-", "   secondary"]


def test_number_of_a_record_keeps_its_title() -> None:
    grid = Grid((Column("rows", right=True), Column("municipality-of-residence")), (("1,234", "x" * 30),))
    assert render_text((grid,), 30).splitlines()[0] == "rows 1,234"
