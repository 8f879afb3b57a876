"""Every error of a hierarchy table is found, and none in a sound one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.draft import MOST_PROBLEMS, find_row_problems
from discreet.hierarchy.level_table import check_coverage, hierarchy_from_rows
from tests.drawing import some_of

CELLS = st.sampled_from(["a", "b", "c", "*", ""])
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=5)
RECTANGLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=5)
)


@given(rows=st.one_of(TABLES, RECTANGLES), values=st.lists(st.sampled_from("abc"), unique=True))
@hypothesis_settings(max_examples=some_of(300), deadline=None)
def test_a_table_without_faults_is_one_that_is_taken(rows: list[list[str]], values: list[str]) -> None:
    try:
        check_coverage(hierarchy_from_rows("x", rows, origin="test"), values)
        taken = True
    except InputError:
        taken = False
    assert (find_row_problems(rows, values) == ()) == taken


def test_each_fault_has_its_place() -> None:
    rows = [["a", "g", "x", "*"], ["b", "g", "y", "*"], ["a", "", "x", "T"]]
    found = [(p.row, p.level, p.message.partition(" ")[0]) for p in find_row_problems(rows, ["a", "z"])]
    assert found == [(2, 1, "an"), (2, 0, "the"), (2, 3, "a"), (1, 2, "'g'"), (None, 0, "a")]
    assert find_row_problems([]) != ()


def test_ragged_rows_and_a_bound_on_their_number() -> None:
    assert [(p.row, p.level) for p in find_row_problems([["a", "*"], ["b"]])] == [(1, None)]
    assert len(find_row_problems([["a", "*"], *[["b"]] * 200])) == MOST_PROBLEMS
