"""Conversion of rows to a hierarchy: checks, order of leaves, messages."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.level_table import (
    check_coverage,
    hierarchy_from_columns,
    hierarchy_from_rows,
    ordered_leaves,
)
from discreet.model.hierarchy import GeneralizationHierarchy
from tests.hierarchy.soundness import assert_sound, paths


def rows_of(*lines: str) -> list[list[str]]:
    return [line.split(";") for line in lines]


def build(*lines: str) -> GeneralizationHierarchy:
    return hierarchy_from_rows("x", rows_of(*lines), origin="a table")


def test_leaves_are_depth_first_in_order_of_first_appearance() -> None:
    hierarchy = build("b;B;*", "a;A;*", "c;B;*", "d;C;*", "e;A;*")
    assert paths(hierarchy) == ["b;B;*", "c;B;*", "a;A;*", "e;A;*", "d;C;*"]
    assert hierarchy.labels == (("b", "c", "a", "e", "d"), ("B", "A", "C"), ("*",))
    assert [a.tolist() for a in hierarchy.ancestors] == [[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0] * 5]
    assert hierarchy.level_map(1).tolist() == [0, 0, 1, 1, 2, 3]
    assert hierarchy.level_map(2).tolist() == [0] * 6
    assert_sound(hierarchy)


def test_depth_first_over_several_levels() -> None:
    hierarchy = build("a;p;X;*", "b;q;Y;*", "c;r;X;*", "d;q;Y;*", "e;p;X;*")
    assert paths(hierarchy) == ["a;p;X;*", "e;p;X;*", "c;r;X;*", "b;q;Y;*", "d;q;Y;*"]
    assert_sound(hierarchy)


def test_name_may_recur_at_another_level() -> None:
    hierarchy = build("Preschool;Preschool;Low;*", "1st;Elementary;Low;*", "Low;Other;Other;*")
    assert hierarchy.height == 3
    assert_sound(hierarchy)


def test_top_other_than_star_is_noted() -> None:
    assert build("a;All").notes == ("The top value of 'x' is 'All', not '*'.",)
    assert build("a;*").notes == ()


def test_column_without_values_has_only_the_top() -> None:
    hierarchy = hierarchy_from_columns("x", [[], [], []], origin="a builder")
    assert hierarchy.labels == ((), (), ("*",))
    assert hierarchy.level_map(0).tolist() == [0]
    assert hierarchy.level_map(2).tolist() == [0]
    assert_sound(hierarchy)


BAD = {
    "no row": ([], ["a table has no row"]),
    "one column": (["a", "b"], ["a table has 1 column", "Male;*", "delimiter"]),
    "unequal rows": (
        ["a;A;*", "b;*"],
        ["line 2", "2 columns", "'b'", "line 1 has 3", "same number of levels"],
    ),
    "a leaf twice": (["a;A;*", "b;A;*", "a;B;*"], ["line 3, column 1 (level 0)", "'a'", "line 1"]),
    "an empty leaf": (["a;A;*", ";A;*"], ["line 2, column 1 (level 0)", "an empty value ''"]),
    "an empty level": (["a;A;*", "b;;*"], ["line 2, column 2 (level 1)", "an empty value ''", "leaf 'b'"]),
    "a delimiter at the end": (["a;*;", "b;*;"], ["line 1, column 3 (level 2)", "delimiter at the end"]),
    "two tops": (
        ["a;A;*", "b;B;all"],
        ["line 2, column 3 (level 2)", "'all'", "line 1 has '*'", "End every"],
    ),
    "two parents": (
        ["a;A;X;*", "b;B;X;*", "c;A;Y;*"],
        ["line 3, column 3 (level 2)", "'A' of level 1", "'Y'", "'X' at line 1", "one parent"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_table_is_refused(name: str) -> None:
    lines, parts = BAD[name]
    with pytest.raises(InputError) as caught:
        hierarchy_from_rows("x", rows_of(*lines), origin="a table", where=lambda row: f"line {row + 1}")
    for part in parts:
        assert part in str(caught.value)


def test_rows_without_a_file_are_named_by_the_attribute() -> None:
    with pytest.raises(InputError, match="the hierarchy of 'x', row 2, column 2"):
        build("a;*", "b;+")


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        (["a", "z"], ["attribute 'x'", "a value of the data has no leaf in a table", "'z'", "2 leaves"]),
        (["z", "y", "10", "9"], ["4 values of the data have", "'9', '10', 'y', 'z'"]),
        (["zzzzzz" * 20], ["…'"]),
        ([" A "], ["'a' differs in blanks"]),
        (["b\n"], ["'b\\n'", "'b' differs in blanks"]),
        ([""], ['Add "" to null_values']),
        (list("cdefghijk"), ["9 values", "'g' and 4 more"]),
    ],
)
def test_value_without_a_leaf_is_refused(values: list[str], parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        check_coverage(build("a;*", "b;*"), values)
    for part in parts:
        assert part in str(caught.value)


def test_numbers_that_differ_only_in_text_are_noted() -> None:
    hierarchy = build("17;*", "2174;*")
    for value, leaf in (("17.0", "17"), ("02174", "2174")):
        with pytest.raises(InputError, match=f"'{leaf}' differs in"):
            check_coverage(hierarchy, [value])


def test_empty_text_is_refused_as_value() -> None:
    with pytest.raises(InputError, match=r'attribute \'x\'.*Add "" to null_values'):
        ordered_leaves("x", ["a", ""])
    assert ordered_leaves("x", ["b", "10", "9", "a"]) == ["9", "10", "a", "b"]


@given(st.integers(1, 40), st.integers(1, 4), st.randoms(use_true_random=False))
def test_random_nesting_tables_are_sound(leaves: int, height: int, rng: random.Random) -> None:
    rows = [[f"v{leaf}"] for leaf in range(leaves)]
    for level in range(1, height):
        parents: dict[str, str] = {}
        for row in rows:
            row.append(parents.setdefault(row[-1], f"{level}.{rng.randrange(1 + leaves // (level + 1))}"))
    rng.shuffle(rows)
    rows = [[*row, "*"] for row in rows]
    hierarchy = hierarchy_from_rows("x", rows, origin="random")
    assert_sound(hierarchy)
    assert sorted(paths(hierarchy)) == sorted({";".join(row) for row in rows})


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), max_size=6))
def test_any_table_is_sound_or_refused(rows: list[list[str]]) -> None:
    try:
        hierarchy = hierarchy_from_rows("x", rows, origin="random")
    except InputError:
        return
    assert_sound(hierarchy)
    assert sorted(paths(hierarchy)) == sorted({";".join(row) for row in rows})
