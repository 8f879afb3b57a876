"""Grouping power, computed by hand; the paper's table is in tests/golden."""

from __future__ import annotations

import numpy as np

from discreet.measures.grouping_power import GroupingPower, grouping_power
from discreet.model.lattice import Lattice


def test_each_level_is_judged_with_all_others_at_zero() -> None:
    """Levels are judged with all others at zero: nodes 00 … 21 have 8, 6, 4, 3, 1, 1 classes of 16 rows."""
    lattice = Lattice(("age", "sex"), (2, 1))
    assert grouping_power(lattice, 16, np.array([8, 6, 4, 3, 1, 1])) == (
        GroupingPower("age", 0, 8, 2.0, 0.5),
        GroupingPower("age", 1, 4, 4.0, 2.0),
        GroupingPower("age", 2, 1, 16.0, 4.0),
        GroupingPower("sex", 0, 8, 2.0, 6 / 8),
        GroupingPower("sex", 1, 6, 16 / 6, 8 / 6),
    )


def test_an_attribute_of_height_zero_improves_nothing() -> None:
    assert grouping_power(Lattice(("sex",), (0,)), 4, np.array([2])) == (
        GroupingPower("sex", 0, 2, 2.0, 1.0),
    )


def test_a_table_without_rows_has_no_groups() -> None:
    assert grouping_power(Lattice(("sex",), (1,)), 0, np.array([0, 0])) == (
        GroupingPower("sex", 0, 0, 0.0, 1.0),
        GroupingPower("sex", 1, 0, 0.0, 1.0),
    )
