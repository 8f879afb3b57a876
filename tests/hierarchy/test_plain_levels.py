"""Level lists read without a CSV reader give the reader's hierarchy or error."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import settings as configured
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy import csv_file
from discreet.hierarchy.csv_file import FileHierarchy, parse_plain_levels

CELLS = st.sampled_from(
    ["a", "b", "", " ", "ü", "*", "12345678", "123456789", "12345678x", "€" * 9, '"', "\r", "\0"]
)
LINES = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6)


def built(path: Path, delimiter: str | None) -> tuple[object, ...] | str:
    try:
        found = FileHierarchy(path, delimiter).build("q", [])
    except InputError as error:
        return str(error)
    return found.labels, [level.tolist() for level in found.ancestors], found.notes


@configured(deadline=None)
@given(
    lines=LINES,
    trees=st.booleans(),
    delimiter=st.sampled_from([";", ",", "|"]),
    named=st.booleans(),
    last=st.sampled_from(["", "\n", "\n\n"]),
)
@example(lines=[["a", "b"], ["b", "b"]], trees=True, delimiter=";", named=False, last="\n")
def test_plain_levels_equal_those_of_the_reader(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[list[str]],
    trees: bool,
    delimiter: str,
    named: bool,
    last: str,
) -> None:
    if trees:
        lines = [[f"{number}{cells[0]}", cells[0], "*"] for number, cells in enumerate(lines)]
    path = tmp_path_factory.mktemp("plain") / "q.csv"
    path.write_bytes(("\n".join(delimiter.join(cells) for cells in lines) + last).encode())
    found = built(path, delimiter if named else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "parse_plain_levels", lambda *_: None)
        assert built(path, delimiter if named else None) == found


def test_cells_of_many_lengths_and_letters_are_distinct() -> None:
    leaves = [letter * length for length in range(1, 22) for letter in ("a", "é", "猫")]
    above = [leaf[: max(len(leaf) // 2, 1)] for leaf in leaves]
    levels = parse_plain_levels(
        "\n".join(f"{leaf},{up},*" for leaf, up in zip(leaves, above, strict=True)), ","
    )
    assert levels is not None
    assert levels[0].labels == tuple(leaves)
    assert [levels[1].value(row) for row in range(len(leaves))] == above


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a;*\nb",
        "a;*\n\nb;*",
        "a;*\na;*",
        "a;1\nb;2",
        'a;"*"',
        "a;*\r\nb;*",
        "a\0;*",
        "a" * 99 + ";*",
    ],
)
def test_ambiguous_texts_are_left_to_the_reader(text: str) -> None:
    assert parse_plain_levels(text, ";") is None
