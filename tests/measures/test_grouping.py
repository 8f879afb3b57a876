"""Grouping power and prosecutor risk, computed by hand; the paper's table is in tests/golden."""

from __future__ import annotations

import numpy as np

from discreet.measures.grouping_power import GroupingPower, grouping_power
from discreet.measures.recoding_metrics import ProsecutorRisk, prosecutor_risk
from discreet.model.lattice import Lattice


def test_grouping_power_is_measured_with_other_attributes_at_level_zero() -> None:
    """Levels are judged with all others at zero: nodes 00 … 21 have 8, 6, 4, 3, 1, 1 classes of 16 rows."""
    lattice = Lattice(("age", "sex"), (2, 1))
    assert grouping_power(lattice, 16, np.array([8, 6, 4, 3, 1, 1])) == (
        GroupingPower("age", 0, 8, 2.0, 0.5),
        GroupingPower("age", 1, 4, 4.0, 2.0),
        GroupingPower("age", 2, 1, 16.0, 4.0),
        GroupingPower("sex", 0, 8, 2.0, 6 / 8),
        GroupingPower("sex", 1, 6, 16 / 6, 8 / 6),
    )
    assert grouping_power(Lattice(("sex",), (0,)), 4, np.array([2])) == (
        GroupingPower("sex", 0, 2, 2.0, 1.0),
    )
    assert grouping_power(Lattice(("sex",), (1,)), 0, np.array([0, 0])) == (
        GroupingPower("sex", 0, 0, 0.0, 1.0),
        GroupingPower("sex", 1, 0, 0.0, 1.0),
    )


def test_prosecutor_risk_equals_one_by_the_class_size() -> None:
    assert prosecutor_risk(np.array([1, 1, 3, 5])) == ProsecutorRisk(1.0, 4 / 10, 2 / 10)
    assert prosecutor_risk(np.array([1, 2, 5]), np.array([0, 3, 2])) == ProsecutorRisk(0.5, 5 / 16, 0.0)
    assert prosecutor_risk(np.array([], dtype=np.int64)) == ProsecutorRisk(0.0, 0.0, 0.0)
