"""Order-based hierarchies: groups of neighbours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.hierarchy.cell_values import sort_values, value_sort_key
from discreet.hierarchy.ordered_values import GROUP_LABELS, OrderHierarchy, group_label_column, range_label
from discreet.model.published_cells import parse_range_label
from tests.hierarchy.soundness import assert_sound, paths

GRADES = ("none", "low", "middle", "high", "extreme")


def test_sizes_over_an_explicit_order() -> None:
    source = OrderHierarchy(GRADES, sizes=(2, 4))
    hierarchy = source.build("pain", ["low", "none"])
    assert paths(hierarchy) == [
        "none;none … low;none … high;*",
        "low;none … low;none … high;*",
        "middle;middle … high;none … high;*",
        "high;middle … high;none … high;*",
        "extreme;extreme;extreme;*",
    ]
    assert not hierarchy.from_data


def test_fanouts() -> None:
    by_list = OrderHierarchy(GRADES, fanout=(2, 2)).build("pain", [])
    assert paths(by_list) == paths(OrderHierarchy(GRADES, sizes=(2, 4)).build("pain", []))
    repeated = OrderHierarchy(fanout=2).build("x", list("abcdefgh"))
    assert [len(level) for level in repeated.labels] == [8, 4, 2, 1]
    assert repeated.from_data
    assert OrderHierarchy(fanout=9).build("x", list("abc")).height == 1
    assert OrderHierarchy(fanout=3).build("x", []).height == 1


def test_the_data_is_ordered_by_size_and_naturally() -> None:
    hierarchy = OrderHierarchy(fanout=(3,)).build("x", ["10", "9", "-2.5", "ward 10", "ward 9", "1e1"])
    assert paths(hierarchy) == [
        "-2.5;-2.5 … 10;*",
        "9;-2.5 … 10;*",
        "10;-2.5 … 10;*",
        "1e1;1e1 … ward 10;*",
        "ward 9;1e1 … ward 10;*",
        "ward 10;1e1 … ward 10;*",
    ]


def test_sets() -> None:
    hierarchy = OrderHierarchy(sizes=(3,), label="set").build("x", list("abcd"))
    assert hierarchy.labels[1] == ("{a, b, c}", "d")
    assert GROUP_LABELS["set"]([str(n) for n in range(14)]) == "{0, 1, 2, … (14 values)}"
    assert range_label(["a"]) == GROUP_LABELS["set"](["a"]) == "a"


def test_two_sets_never_print_alike() -> None:
    """Two sets never have equal labels: a value with a comma is quoted, as in Mondrian's labels.

    Neither group then needs a number.
    """
    column = group_label_column(["a, b", "c", "a", "b, c"], [2, 2], "set")
    assert column == ['{"a, b", c}'] * 2 + ['{a, "b, c"}'] * 2
    many = group_label_column([*(f"a{n}" for n in range(9)), *(f"b, {n}" for n in range(9))], [9, 9], "set")
    assert set(many) == {"{a0, a1, a2, … (9 values)}", '{"b, 0", "b, 1", "b, 2", … (9 values)}'}


def test_two_ranges_never_print_alike() -> None:
    column = group_label_column(["a", "b … c", "a … b", "c", "a … b … c"], [2, 2, 1], "range")
    assert column == ['a … "b … c"'] * 2 + ['"a … b" … c'] * 2 + ["a … b … c"]


def test_groups_have_different_labels_whatever_the_values() -> None:
    sets = group_label_column([*(f"{n:02}" for n in range(9)), "{00, 01, 02, … (9 values)}"], [9, 1], "set")
    assert sets[-1] == "{00, 01, 02, … (9 values)} (2)"


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({}, "without sizes or fanout"),
        ({"sizes": (2,), "fanout": 2}, "both sizes and fanout"),
        ({"fanout": 1}, "order fanout 1"),
        ({"fanout": ()}, "order fanout none"),
        ({"fanout": (2, 0)}, "order fanout 0"),
        ({"sizes": (1,)}, "order size 1"),
        ({"sizes": (2, 3)}, "order size 3 after size 2: such groups do not nest"),
        ({"sizes": (4, 2)}, "order size 2 after size 4"),
        ({"fanout": 2, "label": "list"}, "order label 'list'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], part: str) -> None:
    with pytest.raises(InputError) as caught:
        OrderHierarchy(**options)  # type: ignore[arg-type]
    assert part in str(caught.value)


def test_wrong_values_are_refused() -> None:
    with pytest.raises(InputError, match=r"attribute 'pain'.*no leaf in groups.*'awful'"):
        OrderHierarchy(GRADES, fanout=2).build("pain", ["awful", "low"])
    with pytest.raises(InputError, match="leaf 'low' is repeated"):
        OrderHierarchy(("low", "high", "low"), fanout=2).build("pain", [])


TEXTS = st.text(st.sampled_from("ab1 …(2)"), min_size=1, max_size=8)


@given(st.sets(TEXTS, max_size=30), st.integers(2, 4), st.sampled_from(["range", "set"]))
def test_any_values_nest_in_groups_of_the_size(values: set[str], fanout: int, label: str) -> None:
    hierarchy = OrderHierarchy(fanout=fanout, label=label).build("x", sorted(values))  # type: ignore[arg-type]
    assert_sound(hierarchy, values)
    assert list(hierarchy.leaves) == sort_values(values)
    for level in range(hierarchy.height):
        size = fanout**level
        assert hierarchy.ancestors[level].tolist() == [place // size for place in range(len(values))]


@given(st.lists(st.one_of(st.text(max_size=6), st.integers().map(str)), unique=True), st.randoms())
def test_the_order_is_total(values: list[str], rng: object) -> None:
    assert sort_values(reversed(values)) == sort_values(values)
    whole = [v for v in values if v.lstrip("-").isascii() and v.lstrip("-").isdigit() and v.count("-") < 2]
    assert [int(v) for v in sort_values(whole)] == sorted(int(v) for v in whole)


ENDS = st.text(st.sampled_from('a" …\\'), min_size=1, max_size=7)


@given(st.tuples(ENDS, ENDS), st.tuples(ENDS, ENDS))
def test_the_ends_of_a_range_are_read_back(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert one in parse_range_label(range_label(one))
    assert one == other or range_label(one) != range_label(other)


@given(
    st.sampled_from(["0", "-0", "0.0", "0e0", "0E00", "+00", "a0", "0-0", "0:0 b", "Ä0", ".0", "0.", " 0"]),
    st.lists(st.text("0123456789", min_size=6, max_size=6), max_size=12, unique=True),
)
def test_values_of_one_form_are_in_the_order_of_all_values(form: str, digits: list[str]) -> None:
    def filled(numbers: str) -> str:
        given = iter(numbers)
        return "".join(next(given) if c == "0" else c for c in form)

    values = list({filled(numbers) for numbers in digits})
    assert sort_values(values) == sorted(values, key=value_sort_key)
    assert sort_values([*values, "x"]) == sorted([*values, "x"], key=value_sort_key)
