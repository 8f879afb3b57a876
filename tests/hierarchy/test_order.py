"""Order-based hierarchies: groups of neighbours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discreet.hierarchy.cell_values import sort_values, value_sort_key
from discreet.hierarchy.ordered_values import GROUP_LABELS, OrderHierarchy, group_label_column, range_label
from discreet.model.published_cells import parse_range_label
from tests.hierarchy.soundness import assert_sound


def test_fanout_is_applied_at_every_level() -> None:
    repeated = OrderHierarchy(fanout=2).build("x", list("abcdefgh"))
    assert [len(level) for level in repeated.labels] == [8, 4, 2, 1]
    assert repeated.from_data
    assert OrderHierarchy(fanout=9).build("x", list("abc")).height == 1


def test_set_label_lists_few_values_and_the_count() -> None:
    assert GROUP_LABELS["set"]([str(n) for n in range(14)]) == "{0, 1, 2, … (14 values)}"
    assert range_label(["a"]) == GROUP_LABELS["set"](["a"]) == "a"


def test_different_sets_have_different_labels() -> None:
    """Two sets never have equal labels: a value with a comma is quoted, as in Mondrian's labels.

    Neither group then needs a number.
    """
    column = group_label_column(["a, b", "c", "a", "b, c"], [2, 2], "set")
    assert column == ['{"a, b", c}'] * 2 + ['{a, "b, c"}'] * 2
    many = group_label_column([*(f"a{n}" for n in range(9)), *(f"b, {n}" for n in range(9))], [9, 9], "set")
    assert set(many) == {"{a0, a1, a2, … (9 values)}", '{"b, 0", "b, 1", "b, 2", … (9 values)}'}


def test_different_ranges_have_different_labels() -> None:
    column = group_label_column(["a", "b … c", "a … b", "c", "a … b … c"], [2, 2, 1], "range")
    assert column == ['a … "b … c"'] * 2 + ['"a … b" … c'] * 2 + ["a … b … c"]


def test_groups_have_different_labels_whatever_the_values() -> None:
    sets = group_label_column([*(f"{n:02}" for n in range(9)), "{00, 01, 02, … (9 values)}"], [9, 1], "set")
    assert sets[-1] == "{00, 01, 02, … (9 values)} (2)"


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
def test_order_is_total(values: list[str], rng: object) -> None:
    assert sort_values(reversed(values)) == sort_values(values)
    whole = [v for v in values if v.lstrip("-").isascii() and v.lstrip("-").isdigit() and v.count("-") < 2]
    assert [int(v) for v in sort_values(whole)] == sorted(int(v) for v in whole)


ENDS = st.text(st.sampled_from('a" …\\'), min_size=1, max_size=7)


@given(st.tuples(ENDS, ENDS), st.tuples(ENDS, ENDS))
def test_ends_of_a_range_label_are_parsed_back(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert one in parse_range_label(range_label(one))
    assert one == other or range_label(one) != range_label(other)


@given(
    st.sampled_from(["0", "-0", "0.0", "0e0", "0E00", "+00", "a0", "0-0", "0:0 b", "Ä0", ".0", "0.", " 0"]),
    st.lists(st.text("0123456789", min_size=6, max_size=6), max_size=12, unique=True),
)
def test_values_of_one_form_are_sorted_as_any_values(form: str, digits: list[str]) -> None:
    def filled(numbers: str) -> str:
        given = iter(numbers)
        return "".join(next(given) if c == "0" else c for c in form)

    values = list({filled(numbers) for numbers in digits})
    assert sort_values(values) == sorted(values, key=value_sort_key)
    assert sort_values([*values, "x"]) == sorted([*values, "x"], key=value_sort_key)
