"""Precision by hand."""

from __future__ import annotations

import pytest

from discreet.measures.precision import precision_of_node
from discreet.model.lattice import Lattice

LATTICE = Lattice(("age", "race", "sex"), (4, 2, 0))


@pytest.mark.parametrize(
    ("node", "precision"), [((0, 0, 0), 1), ((1, 1, 0), 1 - 0.75 / 3), ((4, 2, 0), 1 / 3)]
)
def test_precision(node: tuple[int, ...], precision: float) -> None:
    assert precision_of_node(LATTICE, node) == pytest.approx(precision)
