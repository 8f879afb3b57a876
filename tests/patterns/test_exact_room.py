"""Capacity cuts of cells that share rows: usable combinations are allowed and all others forbidden."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.patterns.components import ProblemComponent
from discreet.patterns.integer_program import CellLimits, find_cell_limits
from tests.drawing import some_of


def component_of(fits: list[list[int]], rows: list[int]) -> ProblemComponent:
    """Return a component of cells by the part types that fit them; every part type is one row type."""
    pair_cells, types = zip(*((cell, kind) for cell, kinds in enumerate(fits) for kind in kinds), strict=True)
    return ProblemComponent(
        rows=np.array(rows),
        costs=np.ones(len(fits), np.int64),
        cells=np.arange(len(fits)),
        types=np.array(types),
        pair_cells=np.array(pair_cells),
        bounds=np.arange(len(rows) + 1),
        originals=np.arange(len(rows)),
    )


def used_together(fits: list[list[int]], rows: list[int], k: int) -> set[frozenset[int]]:
    """Return the sets of cells with at least k rows, over all assignments of rows to a cell or to none."""
    owners = [kind for kind, many in enumerate(rows) for _ in range(many)]
    ways = [[None, *(cell for cell, kinds in enumerate(fits) if kind in kinds)] for kind in owners]
    return {
        frozenset(cell for cell in range(len(fits)) if chosen.count(cell) >= k) for chosen in product(*ways)
    }


def allowed(room: CellLimits, used: frozenset[int]) -> bool:
    counts = np.bincount(
        room.sets, weights=[cell in used for cell in room.cells.tolist()], minlength=len(room.most)
    )
    return bool((counts <= room.most).all())


@pytest.mark.parametrize("seed", range(some_of(40)))
def test_every_use_of_cells_has_room(seed: int) -> None:
    random = np.random.default_rng(seed)
    kinds, k = int(random.integers(2, 5)), int(random.integers(2, 4))
    fits = [np.flatnonzero(random.random(kinds) < 0.7).tolist() or [0] for _ in range(random.integers(2, 5))]
    rows = random.integers(1, 3, kinds).tolist()
    room = find_cell_limits(component_of(fits, rows), k)
    for used in used_together(fits, rows, k):
        assert allowed(room, used), (fits, rows, k, used)


def test_two_cells_that_share_too_much_are_not_used_together() -> None:
    room = find_cell_limits(component_of([[0, 1], [1, 2], [0, 2]], [1, 1, 1]), 2)
    assert all(allowed(room, frozenset({cell})) for cell in range(3))
    assert not any(allowed(room, frozenset(pair)) for pair in ((0, 1), (1, 2), (0, 2)))


def test_cells_inside_one_have_its_rows() -> None:
    room = find_cell_limits(component_of([[0], [1], [2], [0, 1, 2]], [2, 2, 1]), 2)
    assert allowed(room, frozenset({0, 1}))
    assert not allowed(room, frozenset({0, 1, 3}))


def test_too_many_shared_cells_are_left_to_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.patterns.integer_program._MOST_SHARED_PAIRS", 3)
    room = find_cell_limits(component_of([[0, 1], [1, 2], [0, 2]], [1, 1, 1]), 2)
    assert (len(room.sets), len(room.cells), len(room.most)) == (0, 0, 0)
