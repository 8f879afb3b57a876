"""Taxonomies: nested names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.nested_groups import TaxonomyGroup, TaxonomyHierarchy
from tests.hierarchy.soundness import assert_sound, paths


def build(tree: object, *values: str) -> list[str]:
    hierarchy = TaxonomyHierarchy.of(tree).build("work", values)
    assert_sound(hierarchy, values)
    return paths(hierarchy)


def test_tables_and_lists() -> None:
    tree = {"Gov": {"High": ["Federal"], "Low": ["State", "Local"]}, "Other": {"Private": ["Firm"]}}
    assert build(tree, "State") == [
        "Federal;High;Gov;*",
        "State;Low;Gov;*",
        "Local;Low;Gov;*",
        "Firm;Private;Other;*",
    ]


def test_unequal_depth_repeats_the_leaf_upwards() -> None:
    assert build(["None", {"Gov": ["Federal", {"Low": ["State", "Local"]}]}]) == [
        "None;None;None;*",
        "Federal;Federal;Gov;*",
        "State;Low;Gov;*",
        "Local;Low;Gov;*",
    ]


def test_groups_without_a_name() -> None:
    assert build([["a", "b"], ["c", ["d", "e"]]]) == [
        "a;a;{a, b};*",
        "b;b;{a, b};*",
        "c;c;{c, d, e};*",
        "d;{d, e};{c, d, e};*",
        "e;{d, e};{c, d, e};*",
    ]


def test_a_list_of_leaves_alone() -> None:
    assert build(["a", "b"]) == ["a;*", "b;*"]


def test_a_leaf_may_be_called_like_its_group() -> None:
    assert build({"Europe": ["Europe", "France"]}) == ["Europe;Europe;*", "France;Europe;*"]


@pytest.mark.parametrize(
    ("tree", "parts"),
    [
        (3, ["under *", "'3' is not a group"]),
        ("Gov", ["'Gov' is not a group"]),
        ({}, ["under *", "empty group"]),
        ({"Gov": []}, ["under * > Gov", "empty group"]),
        ({"Gov": [[]]}, ["under * > Gov", "empty group"]),
        ({"Gov": "Federal"}, ["under * > Gov", "'Federal' is not a group"]),
        ({"Gov": {"Low": [3]}}, ["under * > Gov > Low", "'3' is not a text", "quotes"]),
    ],
)
def test_a_wrong_tree_is_refused(tree: object, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        TaxonomyHierarchy.of(tree)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("tree", "values", "parts"),
    [
        (
            {"A": ["x"], "B": ["x"]},
            [],
            ["the taxonomy of 'work', * > B > x", "is repeated", "* > A > x"],
        ),
        ({"A": {"C": ["x"]}, "B": {"C": ["y"]}}, [], ["* > B > C > y", "'C' of level 1", "'B'", "'A'"]),
        ({"A": ["x"]}, ["y"], ["attribute 'work'", "no leaf in taxonomy", "'y'"]),
        ({"": ["x"]}, [], ["empty value ''"]),
    ],
)
def test_a_wrong_taxonomy_is_refused_when_it_is_built(
    tree: object, values: list[str], parts: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        TaxonomyHierarchy.of(tree).build("work", values)
    for part in parts:
        assert part in str(caught.value)


def test_the_parsed_tree_is_a_value() -> None:
    tree = TaxonomyHierarchy.of({"A": ["x", {"B": ["y"]}]})
    assert tree.members == (TaxonomyGroup("A", ("x", TaxonomyGroup("B", ("y",)))),)
    assert hash(tree) == hash(TaxonomyHierarchy(tree.members))


NAMES = st.integers(0, 10**6).map("n{}".format)
TREES = st.recursive(
    st.lists(NAMES, min_size=1, max_size=4),
    lambda inner: st.one_of(
        st.lists(st.one_of(NAMES, inner), min_size=1, max_size=4),
        st.dictionaries(NAMES, inner, min_size=1, max_size=4),
    ),
    max_leaves=15,
)


@given(TREES)
def test_any_tree_is_sound_or_refused(tree: Any) -> None:
    try:
        hierarchy = TaxonomyHierarchy.of(tree).build("x", [])
    except InputError:
        return
    assert_sound(hierarchy)
