"""Granularity, checked by counting cells one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.measures.recoding_metrics import recoding_granularity
from discreet.model.class_recoding import SUPPRESSED, RecodingModel
from discreet.model.requirement import Requirement
from tests.drawing import some_of
from tests.oracle.random_tables import random_frequency_set


@pytest.mark.parametrize("seed", range(some_of(30)))
def test_granularity_is_one_less_the_normalised_mean_share(seed: int) -> None:
    random = np.random.default_rng(seed)
    frequency_set = random_frequency_set(random, attributes=3, height=3, leaves=6, rows=30, sensitive=0)
    if not frequency_set.row_types:
        return
    classes = random.integers(0, 4, frequency_set.row_types)
    classes = np.unique(classes, return_inverse=True)[1] - int(random.random() < 0.5)
    shown = list(Summary)[int(random.integers(4))]
    if shown is Summary.MEANS or (classes < 0).all():
        return
    recoding = classes_to_recoding(
        frequency_set, classes, Requirement(1), RecodingModel.CELL_GENERALIZATION, shown
    )
    shares, best, worst = Fraction(0), Fraction(0), Fraction(0)
    for t, count in enumerate(frequency_set.counts.tolist()):
        for i, cells in enumerate(recoding.cells):
            leaves = len(frequency_set.hierarchies[i].leaves)
            c = int(classes[t])
            covered = leaves
            if c != SUPPRESSED:
                cell = int(recoding.shown[c, i])
                spans = range(int(cells.offsets[cell]), int(cells.offsets[cell + 1]))
                held = {x for s in spans for x in range(int(cells.first[s]), int(cells.last[s]) + 1)}
                covered = max(len(held - {leaves}), 1)
            shares += count * Fraction(covered, leaves)
            best += count * Fraction(1, leaves)
            worst += count
    expected = 1 - (shares - best) / (worst - best) if worst > best else 1
    assert recoding_granularity(frequency_set, recoding) == pytest.approx(float(expected))
