"""Levels given one by one."""

from __future__ import annotations

import pytest

from discreet.errors import InputError
from discreet.hierarchy.level_table import LevelsHierarchy
from tests.hierarchy.soundness import paths


def test_a_mapping_and_rows() -> None:
    rows = [["17", "15-19", "*"], ["20", "20-24", "*"]]
    mapping = {17: ["15-19", "*"], "20": ("20-24", "*")}
    for levels in (rows, tuple(map(tuple, rows)), iter(rows), mapping):
        source = LevelsHierarchy.of(levels)  # type: ignore[arg-type]
        assert paths(source.build("age", ["20"])) == ["17;15-19;*", "20;20-24;*"]
        assert (source.origin, source.from_data) == ("levels given one by one", False)


@pytest.mark.parametrize(
    ("levels", "parts"),
    [
        ({"a": "*"}, ["leaf 'a'", "'*' is not a list"]),
        (["a;*"], ["a row", "'a;*' is not a list"]),
        ([["a", 1.5]], ["'1.5' is not a text"]),
        ([["a", True]], ["'True' is not a text"]),
        ([["a", None]], ["'None' is not a text"]),
    ],
)
def test_wrong_levels_are_refused(levels: object, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        LevelsHierarchy.of(levels)  # type: ignore[arg-type]
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("levels", "values", "part"),
    [
        ([], [], "levels given one by one has no row"),
        ([["a", "*"], ["b"]], [], "the hierarchy of 'x', row 2: 1 column with leaf 'b'"),
        (
            {"a": ["*"]},
            ["b"],
            "attribute 'x': a value of the data has no leaf in levels given one by one: 'b'",
        ),
        ({"a": ["*"], "b": ["+"]}, [], "row 2, column 2 (level 1): a second top value '+'"),
    ],
)
def test_wrong_levels_are_refused_when_they_are_built(levels: object, values: list[str], part: str) -> None:
    with pytest.raises(InputError) as caught:
        LevelsHierarchy.of(levels).build("x", values)  # type: ignore[arg-type]
    assert part in str(caught.value)
