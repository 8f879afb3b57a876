"""Prosecutor risk, computed by hand."""

from __future__ import annotations

import numpy as np

from discreet.measures.recoding_metrics import ProsecutorRisk, prosecutor_risk


def test_risk_of_class_sizes() -> None:
    risk = prosecutor_risk(np.array([1, 1, 3, 5]))
    assert risk == ProsecutorRisk(highest=1.0, mean=4 / 10, unique_share=2 / 10)


def test_sizes_may_come_with_the_number_of_classes() -> None:
    risk = prosecutor_risk(np.array([1, 2, 5]), np.array([0, 3, 2]))
    assert risk == ProsecutorRisk(highest=0.5, mean=5 / 16, unique_share=0.0)


def test_no_rows_no_risk() -> None:
    assert prosecutor_risk(np.array([], dtype=np.int64)) == ProsecutorRisk(0.0, 0.0, 0.0)
