"""Manual edits: every edit yields a sound table over the same leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.draft import MOST_PROBLEMS, HierarchyDraft, find_row_problems
from discreet.hierarchy.level_table import check_coverage, hierarchy_from_rows
from tests.drawing import some_of

FLAT = HierarchyDraft(tuple((leaf, "*") for leaf in "abcdef"))


def is_sound(draft: HierarchyDraft) -> bool:
    hierarchy = hierarchy_from_rows("x", draft.rows, origin="test")
    again = HierarchyDraft.of(hierarchy)
    return find_row_problems(draft.rows) == () and again.rows == draft.rows


def test_group_in_a_flat_hierarchy_inserts_a_level() -> None:
    found = FLAT.group(0, ["b", "e"], "G")
    assert found.rows == (
        ("a", "a", "*"), ("b", "G", "*"), ("c", "c", "*"), ("d", "d", "*"), ("e", "G", "*"), ("f", "f", "*"),
    )  # fmt: skip


def test_groups_are_moved_renamed_and_dissolved() -> None:
    draft = FLAT.group(0, ["a", "b"], "G").group(0, ["c", "d"], "H").group(1, ["G", "H"], "GH")
    assert draft.height == 3
    assert {row[0]: row[1:] for row in draft.move(0, ["f"], "H").rows}["f"] == ("H", "GH", "*")
    assert {row[0]: row[1:] for row in draft.rename(1, "G", "first").rows}["a"] == ("first", "GH", "*")
    assert {row[0]: row[1:] for row in draft.ungroup(1, "G").rows}["b"] == ("b", "GH", "*")
    assert draft.remove_level(1).rows[0] == ("a", "GH", "*")
    assert draft.add_level(0).rows[0] == ("a", "a", "G", "GH", "*")
    assert {row[0]: row[1:] for row in draft.add_values(["z", "a"]).rows}["z"] == ("z", "z", "*")


def test_group_of_all_may_take_a_members_name() -> None:
    draft = FLAT.group(0, ["a", "b"], "G")
    assert draft.group(0, ["a", "b"], "a").rows[:2] == (("a", "a", "*"), ("b", "a", "*"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.group(0, ["a"], "H"), "has a value 'H' already"),
        (lambda d: d.group(0, ["a"], " x"), "the name"),
        (lambda d: d.group(0, ["a"], "*"), "the name"),
        (lambda d: d.group(0, ["z"], "Z"), "no value 'z'"),
        (lambda d: d.group(0, [], "Z"), "no value is chosen"),
        (lambda d: d.group(2, ["*"], "Z"), "level 2 cannot be changed"),
        (lambda d: d.move(0, ["a"], "nowhere"), "no value 'nowhere'"),
        (lambda d: d.move(1, ["G"], "*"), "level 1 cannot be changed"),
        (lambda d: d.rename(0, "a", "b"), "level 0 cannot be changed"),
        (lambda d: d.rename(1, "G", "H"), "already"),
        (lambda d: d.ungroup(2, "*"), "level 2 cannot be changed"),
        (lambda d: d.rename(1, "G", "c2").rename(1, "H", "a").ungroup(1, "c2"), "has a group 'a' already"),
        (lambda d: d.remove_level(2), "level 2 cannot be changed"),
        (lambda d: d.add_values(["G"]), "name of a new value"),
    ],
)
def test_impossible_changes_are_refused(change: object, message: str) -> None:
    draft = FLAT.group(0, ["a", "b"], "G").group(0, ["c", "d"], "H")
    before = draft.rows
    with pytest.raises(InputError, match=message):
        change(draft)  # type: ignore[operator]
    assert draft.rows == before


@given(data=st.data())
@hypothesis_settings(max_examples=some_of(60), deadline=None)
def test_any_run_of_changes_leaves_a_sound_table(data: st.DataObject) -> None:
    draft = FLAT
    for _ in range(data.draw(st.integers(1, 8))):
        draft = _changed(draft, data)
        assert is_sound(draft)
        assert [row[0] for row in draft.rows][:6] == list("abcdef")


def _changed(draft: HierarchyDraft, data: st.DataObject) -> HierarchyDraft:
    level = data.draw(st.integers(0, draft.height))
    labels = sorted({row[level] for row in draft.rows})
    chosen = data.draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
    name = data.draw(st.sampled_from(["a", "b", "G", "H", "I", "*"]))
    change = data.draw(
        st.sampled_from(["group", "move", "rename", "ungroup", "add_level", "remove_level", "add_values"])
    )
    try:
        if change == "group":
            return draft.group(level, chosen, name)
        if change == "move":
            return draft.move(level, chosen, name)
        if change == "rename":
            return draft.rename(level, chosen[0], name)
        if change == "ungroup":
            return draft.ungroup(level, chosen[0])
        if change == "add_values":
            return draft.add_values([name]) if name != "*" else draft
        return draft.add_level(level) if change == "add_level" else draft.remove_level(level)
    except InputError:
        return draft


# --- errors of a table ---

CELLS = st.sampled_from(["a", "b", "c", "*", ""])
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=5)
RECTANGLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=5)
)


@given(rows=st.one_of(TABLES, RECTANGLES), values=st.lists(st.sampled_from("abc"), unique=True))
@hypothesis_settings(max_examples=some_of(300), deadline=None)
def test_table_without_problems_is_accepted_as_hierarchy(rows: list[list[str]], values: list[str]) -> None:
    try:
        check_coverage(hierarchy_from_rows("x", rows, origin="test"), values)
        taken = True
    except InputError:
        taken = False
    assert (find_row_problems(rows, values) == ()) == taken


def test_each_problem_has_its_row_and_level() -> None:
    rows = [["a", "g", "x", "*"], ["b", "g", "y", "*"], ["a", "", "x", "T"]]
    found = [(p.row, p.level, p.message.partition(" ")[0]) for p in find_row_problems(rows, ["a", "z"])]
    assert found == [(2, 1, "an"), (2, 0, "the"), (2, 3, "a"), (1, 2, "'g'"), (None, 0, "a")]
    assert find_row_problems([]) != ()


def test_ragged_and_too_many_rows_are_reported() -> None:
    assert [(p.row, p.level) for p in find_row_problems([["a", "*"], ["b"]])] == [(1, None)]
    assert len(find_row_problems([["a", "*"], *[["b"]] * 200])) == MOST_PROBLEMS
