"""How many cells the rows that they share have room for: what rounding down adds to the integer program.

A cell in use holds at least k rows. So of the cells whose row types have R rows together at most floor(R / k)
are in use. The program says so of whole numbers, its relaxation allows R / k: two cells of k rows that share
one of them may both be used, almost. Two families of such inequalities (Chvátal 1973) are written down, which
takes the bound of the relaxation most of the way to the optimum, before the solver looks for cuts by itself:

* **inside a cell**: the cells all of whose row types lie in one cell, itself included;
* **two cells** whose row types have fewer than 2k rows together: one at most.

Cost: one sort of all pairs of cells that share a row type; where these are too many there are none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.patterns.exact_reduce import Component

_MOST_CELL_PAIRS = 5_000_000


@dataclass(frozen=True, eq=False)
class Room:
    """Of the cells ``cells[e]`` with the same set ``sets[e]`` at most ``most[set]`` are in use."""

    sets: NDArray[np.int64]
    cells: NDArray[np.int64]
    most: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Shared:
    """Pairs of cells (a cell with itself too) with the part types and the rows that both have."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    types: NDArray[np.int64]
    rows: NDArray[np.int64]


def room_of(component: Component, k: int) -> Room:
    """The inequalities of a component, those that the relaxation does not have anyway."""
    shared = _shared(component)
    size = np.bincount(component.places, minlength=len(component.costs))
    rows = np.bincount(
        component.places, weights=component.rows[component.types], minlength=len(component.costs)
    ).astype(np.int64)
    inside = shared.types == size[shared.first]
    cells, around = shared.first[inside], shared.second[inside]
    within = np.bincount(around, minlength=len(component.costs))
    tighter = ((within > 1) & (rows % k > 0))[around]
    cells, around = cells[tighter], around[tighter]
    nested = inside | (shared.types == size[shared.second])
    few = rows[shared.first] + rows[shared.second] - shared.rows < 2 * k
    apart = np.flatnonzero(few & ~nested & (shared.first < shared.second))
    names, sets = np.unique(around, return_inverse=True)
    pairs = len(names) + np.arange(len(apart))
    return Room(
        np.concatenate([sets, pairs, pairs]),
        np.concatenate([cells, shared.first[apart], shared.second[apart]]),
        np.concatenate([rows[names] // k, np.ones(len(apart))]).astype(np.float64),
    )


def _shared(component: Component) -> _Shared:
    order = np.argsort(component.types, kind="stable")
    types, cells = component.types[order], component.places[order]
    degree = np.bincount(types, minlength=len(component.rows))
    if int((degree.astype(np.float64) ** 2).sum()) > _MOST_CELL_PAIRS:
        none = np.zeros(0, np.int64)
        return _Shared(none, none, none, none)
    starts = (np.cumsum(degree) - degree)[types]
    many = degree[types]
    ends = np.cumsum(many)
    first = np.repeat(cells, many)
    second = cells[np.repeat(starts - (ends - many), many) + np.arange(len(first))]
    both, place, times = np.unique(
        first * len(component.costs) + second, return_inverse=True, return_counts=True
    )
    held = np.bincount(place, weights=np.repeat(component.rows[types], many), minlength=len(both))
    return _Shared(
        both // len(component.costs),
        both % len(component.costs),
        times.astype(np.int64),
        held.astype(np.int64),
    )
