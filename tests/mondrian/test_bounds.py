"""The bounds of LeFevre et al. (2006): partitions without an allowable cut, and where the bounds fail."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import Cut, MondrianOptions, Tie
from discreet.mondrian.partition import partition_table
from discreet.settings import Settings
from tests.drawing import some_of
from tests.mondrian.numbered import random_table
from tests.oracle.random_tables import frequency_set_of


def line(attribute: str, leaves: int) -> GeneralizationHierarchy:
    ancestors = (np.arange(leaves), np.zeros(leaves, dtype=np.int64))
    return GeneralizationHierarchy(attribute, (tuple(map(str, range(leaves))), (TOP,)), ancestors, "numbers")


@pytest.mark.parametrize("tie", list(Tie))
def test_best_cuts_keep_the_bounds(tie: Tie, settings: Settings) -> None:
    tight = 0.0
    for seed in range(some_of(80)):
        random = np.random.default_rng(seed)
        table = random_table(random, attributes=4, rows=200, sensitive=0, leaves=int(random.integers(1, 9)))
        k = int(random.integers(1, 8))
        if table.rows < k:
            continue
        options = MondrianOptions(tie=tie)
        sizes = partition_table(table, Requirement(k), settings, options).class_rows()
        bound = 2 * len(table.attributes) * (k - 1) + int(table.counts.max())
        assert k <= sizes.min()
        assert sizes.max() <= bound
        assert k * table.rows <= (sizes**2).sum() <= bound * table.rows
        assert 1 <= table.rows / len(sizes) / k <= bound / k
        tight = max(tight, sizes.max() / bound)
    assert tight == 1


def test_a_class_may_reach_the_bound(settings: Settings) -> None:
    """A class may reach the bound.

    With d attributes, k - 1 points on each side of a point of m rows along each axis, no cut is allowable.
    """
    d, k, m = 3, 4, 5
    middle = [1] * d
    points = [tuple(middle)] * m
    for axis in range(d):
        for side in (0, 2):
            point = list(middle)
            point[axis] = side
            points += [tuple(point)] * (k - 1)
    table = frequency_set_of([line(f"q{i}", 3) for i in range(d)], [(point, ()) for point in points])
    assert table.rows == 2 * d * (k - 1) + m
    assert partition_table(table, Requirement(k), settings).class_count == 1
    more = frequency_set_of([line(f"q{i}", 3) for i in range(d)], [(p, ()) for p in [*points, (0, 1, 1)]])
    assert partition_table(more, Requirement(k), settings).class_count == 2


def test_medians_alone_may_miss_an_allowable_cut(settings: Settings) -> None:
    """Medians only may miss an allowable cut: the paper's greedy does not test all cuts."""
    rows = [((0,), ())] + [((1,), ())] * 5 + [((2,), ())] * 4
    table = frequency_set_of([line("q", 3)], rows)
    requirement = Requirement(4)
    assert partition_table(table, requirement, settings, MondrianOptions(cut=Cut.MEDIAN)).class_count == 2
    table = frequency_set_of([line("q", 3)], [((0,), ())] * 4 + [((1,), ())] * 5 + [((2,), ())])
    assert partition_table(table, requirement, settings, MondrianOptions(cut=Cut.MEDIAN)).class_count == 1
    assert partition_table(table, requirement, settings).class_rows().tolist() == [4, 6]


def test_relaxed_classes_have_k_to_2k_minus_1_rows(settings: Settings) -> None:
    for seed in range(some_of(60)):
        random = np.random.default_rng(seed)
        table = random_table(random, attributes=3, rows=200, sensitive=0, leaves=4)
        k = int(random.integers(1, 8))
        if table.rows >= k:
            sizes = partition_table(
                table, Requirement(k), settings, MondrianOptions(relaxed=True)
            ).class_rows()
            assert k <= sizes.min()
            assert sizes.max() <= max(2 * k - 1, 1)


def test_a_single_dimension_may_keep_nearly_all_rows_together(settings: Settings) -> None:
    """A single dimension may keep nearly all rows together (Theorem 3).

    Once x is cut, k rows at the ends of y forbid every cut of y for all of x.
    """
    k, ys = 5, 40
    rows = (
        [((0, 0), ())] + [((0, ys - 1), ())] * (k - 1) + [((1, y), ()) for y in range(ys) for _ in range(3)]
    )
    table = frequency_set_of([line("x", 2), line("y", ys)], rows)
    column = {x: [y for (value, y), _ in rows if value == x] for x in (0, 1)}
    for cut in range(ys - 1):
        sides = [sum(y <= cut for y in held) for held in column.values()]
        crossed = [(n, len(held) - n) for n, held in zip(sides, column.values(), strict=True)]
        assert any(0 < min(sides) < k for sides in crossed)
    assert len(column[1]) == len(rows) - k
    sizes = partition_table(table, Requirement(k), settings).class_rows()
    assert sizes.max() <= 2 * 2 * (k - 1) + 3
