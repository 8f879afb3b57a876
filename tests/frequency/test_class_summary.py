"""Class summaries, checked against plain sets of leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.published_cells import set_label
from discreet.model.requirement import Requirement
from tests.drawing import some_of
from tests.mondrian.numbered import random_table
from tests.oracle.random_tables import frequency_set_of


def given(attribute: str, *levels: tuple[str, ...]) -> GeneralizationHierarchy:
    """Return a hierarchy from levels listed leaf by leaf."""
    labels = tuple(tuple(dict.fromkeys(level)) for level in levels)
    ancestors = tuple(
        np.array([names.index(value) for value in level]) for names, level in zip(labels, levels, strict=True)
    )
    return GeneralizationHierarchy(attribute, labels, ancestors, "given")


def table_of(hierarchy: GeneralizationHierarchy, *codes: int) -> FrequencySet:
    return frequency_set_of([hierarchy], [((code,), ()) for code in codes])


def labels(recoding: ClassRecoding) -> list[str | None]:
    return [recoding.cells[0].labels[cell] for cell in recoding.shown[:, 0].tolist()]


def recoded(
    table: FrequencySet, classes: list[int], summary: Summary, *, by_tree: bool = False
) -> ClassRecoding:
    model = RecodingModel.ORDERED_MULTI
    return classes_to_recoding(table, np.array(classes), Requirement(1), model, summary, by_tree=by_tree)


TOWNS = given(
    "town",
    ("Bonn", "Kiel", "Linz", "Wien"),
    ("north", "north", "south", "south"),
    (TOP, TOP, TOP, TOP),
)
AGES = given("age", ("9", "10", "5", "30"), (TOP, TOP, TOP, TOP))


def test_summaries_of_texts_have_their_labels() -> None:
    table = table_of(TOWNS, 0, 1, 2, 3)
    for summary, expected in (
        (Summary.RANGES, ["Bonn … Kiel", "Linz", "Wien"]),
        (Summary.MEANS, ["Bonn … Kiel", "Linz", "Wien"]),
        (Summary.SETS, ["{Bonn, Kiel}", "Linz", "Wien"]),
        (Summary.LCA, ["north", "Linz", "Wien"]),
    ):
        assert labels(recoded(table, [0, 0, 1, 2], summary)) == expected
    assert labels(recoded(table, [0, 1, 1, 2], Summary.LCA)) == ["Bonn", TOP, "Wien"]


def test_groups_that_interleave_cover_fewer_values_than_ranges() -> None:
    """Groups that interleave: Linz is between Bonn and Kiel, so north covers fewer towns than the range."""
    apart = replace(TOWNS, leaf_ranks=np.array([0, 2, 1, 3]))
    table = table_of(apart, 0, 1, 2, 3)
    assert labels(recoded(table, [0, 0, 1, 1], Summary.RANGES)) == ["Bonn … Kiel", "Linz … Wien"]
    found = recoded(table, [0, 0, 0, 1], Summary.RANGES).cells[0]
    assert found.cover(np.array([0, 0, 0, 0]), np.arange(4)).tolist() == [True, True, True, False]
    for classes, expected in (
        ([0, 0, 1, 1], ["north", "south"]),
        ([0, 1, 0, 1], ["Bonn … Linz", "Kiel … Wien"]),
        ([0, 0, 0, 0], ["Bonn … Wien"]),
    ):
        shown = recoded(table, classes, Summary.RANGES, by_tree=True)
        assert labels(shown) == expected
        held = shown.shown[:, 0][np.array(classes)]
        assert shown.cells[0].cover(held, np.arange(4)).all()
        assert shown.cells[0].sizes().tolist() == [4 if len(expected) == 1 else 2] * len(expected)
    assert labels(recoded(table_of(apart, 0, 4), [0, 0], Summary.RANGES, by_tree=True)) == [TOP]


def test_ranges_of_numbers_are_in_order_of_value() -> None:
    """Numbers are ordered by value, not by text.

    Of the leaves 9, 10, 5, 30, the range 5 … 10 covers the first three, 9 … 30 two intervals of codes.
    """
    table = table_of(AGES, 0, 1, 2, 3)
    found = recoded(table, [0, 0, 0, 1], Summary.RANGES)
    assert labels(found) == ["5 … 10", "30"]
    found = recoded(table_of(AGES, 0, 3), [0, 0], Summary.RANGES)
    assert labels(found) == ["9 … 30"]
    cells = found.cells[0]
    assert list(zip(cells.first.tolist(), cells.last.tolist(), strict=True)) == [(0, 1), (3, 3)]
    means = frequency_set_of([AGES], [((2,), ())] * 2 + [((0,), ())] + [((3,), ())])
    assert labels(recoded(means, [0, 0, 1], Summary.MEANS)) == ["6.33 (5 … 9)", "30"]


def test_only_null_is_null_and_null_with_values_is_the_top() -> None:
    table = table_of(TOWNS, 0, 4, 3)
    for summary in Summary:
        assert labels(recoded(table, [0, 1, 2], summary)) == ["Bonn", None, "Wien"]
        found = recoded(table, [0, 0, 1], summary)
        assert labels(found) == [TOP, "Wien"]
        cell = found.shown[0, 0]
        assert (found.cells[0].first[cell], found.cells[0].last[cell]) == (0, 4)


def test_cells_of_one_label_are_merged() -> None:
    """Cells with equal labels become one: a leaf named like a range is ambiguous, so it covers both."""
    tricky = given("q", ("a", "b", "a … b"), (TOP, TOP, TOP))
    found = recoded(table_of(tricky, 0, 1, 2), [0, 0, 1], Summary.RANGES)
    assert labels(found) == ["a … b", "a … b"]
    assert found.cells[0].labels == ("a … b",)
    assert (found.cells[0].first.tolist(), found.cells[0].last.tolist()) == ([0], [2])


def test_set_labels_quote_leaves() -> None:
    assert set_label(["a, b", "c", 'say "d"']) == '{"a, b", c, "say \\"d\\""}'
    assert set_label(["{x}"]) == "{x}"


def test_summaries_warn_of_what_they_reveal() -> None:
    table = table_of(AGES, 0, 1, 2, 3)
    assert recoded(table, [0, 0, 1, 1], Summary.LCA).warnings == ()
    assert "which values occur" in recoded(table, [0, 0, 1, 1], Summary.SETS).warnings[0]
    assert "Ranges end at values" in recoded(table, [0, 0, 1, 1], Summary.RANGES).warnings[0]
    warnings = recoded(table, [0, 0, 1, 2], Summary.MEANS).warnings
    assert "in 1 of 3 classes, of at most 3 rows" in warnings[1]
    assert "in 2 of 3 classes the range is a single value" in warnings[2]
    assert not any(value in sentence for sentence in warnings for value in ("'9'", "'10'", "'30'"))


@pytest.mark.parametrize("summary", list(Summary))
def test_cells_cover_their_rows_under_distinct_labels(summary: Summary) -> None:
    for seed in range(some_of(36)):
        random = np.random.default_rng(seed)
        table = random_table(random, attributes=3, rows=30, sensitive=0)
        size = int(random.integers(1, table.row_types + 1))
        drawn = random.integers(0, size, table.row_types)
        classes = np.unique(drawn, return_inverse=True)[1] - int(random.random() < 0.3)
        found = classes_to_recoding(table, classes, Requirement(1), RecodingModel.ORDERED_MULTI, summary)
        assert found.suppressed == table.counts[classes == SUPPRESSED].sum()
        for i, (cells, hierarchy) in enumerate(zip(found.cells, table.hierarchies, strict=True)):
            assert len(set(cells.labels)) == len(cells.labels)
            kept = found.classes != SUPPRESSED
            codes = table.codes[found.row_types[kept], i]
            assert cells.cover(found.shown[found.classes[kept], i], codes).all()
            for number in range(found.class_count):
                held = set(table.codes[found.row_types[found.classes == number], i].tolist())
                label = cells.labels[found.shown[number, i]]
                assert (label is None) == (held == {hierarchy.null_code})
                assert len(held) > 1 or label is None or label == hierarchy.leaves[held.pop()]


def test_parts_that_do_not_add_up_are_an_internal_error() -> None:
    table = table_of(TOWNS, 0, 1)
    model = RecodingModel.RELAXED_MULTI
    with pytest.raises(InternalError, match="add up"):
        classes_to_recoding(table, np.array([0, 0]), Requirement(1), model, rows=np.array([1, 2]))
    with pytest.raises(InternalError, match="without a gap"):
        classes_to_recoding(table, np.array([0, 2]), Requirement(1), model)
