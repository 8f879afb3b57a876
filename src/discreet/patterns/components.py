"""Independent components of the exact problem, and a lower bound of their cost by row prices.

Dominated cells are removed, row types that fit the same cells are merged, and the bipartite graph of row
types and cells is split into its connected components; the optimum does not change. Row prices are a
feasible solution of the dual of the integer program's relaxation: any k rows of a cell are worth at most
k times its cost. They are raised and lowered in rounds, then checked in whole numbers, so this bound is
exact arithmetic.

Cost: sorts of the pairs of row type and cell; dominance is limited to equal cells if there are too many
pairs.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.frequency.class_requirement import require_one_row_per_subject
from discreet.model.class_recoding import PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.patterns.exact_problem import (
    CellCover,
    build_pattern_table,
    cost_rounding,
    find_cells,
    require_only_k,
)
from discreet.settings import Settings

_MOST_CELL_PAIRS = 60_000_000
_CHUNK = 4_000_000


@dataclass(frozen=True, eq=False)
class ProblemComponent:
    """Connected component of the exact problem: part types with their rows, and the cells that they fit.

    A part type is a set of row types that fit the same cells. ``rows[i]`` are the rows of part type i;
    ``costs[c]`` and ``cells[c]`` the cost and the number (in the cover) of cell c. Pair p means that part
    type ``types[p]`` fits cell ``pair_cells[p]``; pairs ascend by cell, then type. The row types of part type
    i are ``originals[bounds[i]:bounds[i + 1]]``.
    """

    rows: NDArray[np.int64]
    costs: NDArray[np.int64]
    cells: NDArray[np.int64]
    types: NDArray[np.int64]
    pair_cells: NDArray[np.int64]
    bounds: NDArray[np.int64]
    originals: NDArray[np.int64]

    @property
    def pairs(self) -> int:
        """Number of pairs of part type and cell: the size of the problem."""
        return len(self.types)


@dataclass(frozen=True, eq=False)
class ReducedProblem:
    """Components, largest first, the cover that they refer to, and the row types that fit no cell."""

    cover: CellCover
    components: tuple[ProblemComponent, ...]
    uncovered: NDArray[np.int64]


def reduce_cover(cover: CellCover, counts: NDArray[np.int64], *, split: bool = True) -> ReducedProblem:
    """Drop dominated cells, merge row types that fit the same cells, and split into components.

    With ``split=False`` there is one component, and no cell is dropped.
    """
    if split:
        cover = remove_dominated(cover)
    types = len(counts)
    degree = np.bincount(cover.members, minlength=types)
    placed = np.flatnonzero(degree)
    part_of = _number_part_types(cover, types)
    parts = int(part_of.max(initial=-1)) + 1
    first = np.full(parts, types, np.int64)
    np.minimum.at(first, part_of[placed], placed)
    leads = np.zeros(types, np.bool_)
    leads[first] = True
    inside = leads[cover.members]
    pair_cell, pair_part = cover.cell_of_pair()[inside], part_of[cover.members[inside]]
    rows = np.bincount(part_of[placed], weights=counts[placed], minlength=parts).astype(np.int64)
    label = _label_components(pair_cell, pair_part, cover.cell_count, parts)
    if not split:
        label[:] = 0
    components = _split_components(cover, label, pair_cell, pair_part, rows, part_of)
    return ReducedProblem(cover, components, np.flatnonzero(degree == 0))


def remove_dominated(cover: CellCover) -> CellCover:
    """Drop the cells that another cell dominates."""
    # A cell with exactly the row types of an earlier one, which costs no more, is dropped first.
    first = _first_equal(cover.offsets, cover.members)
    cover = cover.restrict(first == np.arange(cover.cell_count))
    by_type = _cells_by_type(cover)
    shared = int((np.diff(by_type.starts).astype(np.float64) ** 2).sum())
    if shared > _MOST_CELL_PAIRS:
        return cover
    return cover.restrict(~_find_contained(cover, by_type))


@dataclass(frozen=True, eq=False)
class _CellsByType:
    """Cells of each row type, ascending, in compressed-row form."""

    starts: NDArray[np.int64]
    cells: NDArray[np.int64]


def _cells_by_type(cover: CellCover) -> _CellsByType:
    order = np.argsort(cover.members, kind="stable")
    lengths = np.bincount(cover.members)
    return _CellsByType(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), cover.cell_of_pair()[order]
    )


def _first_equal(offsets: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find, for each list of compressed rows, the first list with the same items in the same order.

    Lists are bucketed by random sums, and then compared with the first of the bucket item by item; a list
    with only the same sum is treated as different, which is safe.
    """
    lists, lengths = len(offsets) - 1, np.diff(offsets)
    random = np.random.default_rng(0)
    mark = random.integers(0, 2**63, int(items.max(initial=0)) + 1, dtype=np.int64).astype(np.uint64)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mark[items], dtype=np.uint64)])
    total = sums[offsets[1:]] - sums[offsets[:-1]]
    _, first, bucket = np.unique(
        np.stack([total, lengths.astype(np.uint64)]), axis=1, return_index=True, return_inverse=True
    )
    lead = np.asarray(first[bucket.ravel()], dtype=np.int64)
    shift = np.repeat(offsets[:-1][lead] - offsets[:-1], lengths)
    owner = np.repeat(np.arange(lists), lengths)
    different = items != items[np.minimum(np.arange(len(items)) + shift, max(len(items) - 1, 0))]
    unlike = np.zeros(lists, np.bool_)
    unlike[owner[different]] = True
    return np.where(unlike, np.arange(lists), lead)


def _find_contained(cover: CellCover, by_type: _CellsByType) -> NDArray[np.bool_]:
    """Mark cells whose row types are all in another cell that costs no more and precedes them.

    Equal cells are already removed, so the other cell contains more row types; the order is (cost, more
    rows).
    """
    cells = cover.cell_count
    lengths = np.diff(cover.offsets)
    degree = np.diff(by_type.starts)
    result = np.zeros(cells, np.bool_)
    gathered = np.zeros(0, np.int64)
    tally = np.zeros(0, np.int64)
    for low, high in _chunks(degree**2):
        own = degree[low:high]
        left = np.repeat(by_type.cells[by_type.starts[low] : by_type.starts[high]], np.repeat(own, own))
        block = np.repeat(by_type.starts[low:high], own**2)
        inner = np.arange(len(left)) - np.repeat(np.cumsum(own**2) - own**2, own**2)
        right = by_type.cells[block + inner % np.repeat(own, own**2)]
        better = (cover.costs[right] <= cover.costs[left]) & (lengths[right] > lengths[left])
        keys, times = np.unique(left[better] * cells + right[better], return_counts=True)
        gathered, inverse = np.unique(np.concatenate([gathered, keys]), return_inverse=True)
        tally = np.bincount(inverse, weights=np.concatenate([tally, times]), minlength=len(gathered))
    left = gathered // max(cells, 1)
    result[left[tally == lengths[left]]] = True
    return result


def _chunks(work: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Split positions into ranges whose work adds up to about one chunk each."""
    ends = np.cumsum(work)
    cuts = np.searchsorted(ends, np.arange(_CHUNK, int(ends[-1]) + 1 if len(ends) else 1, _CHUNK)) + 1
    edges = np.unique(np.concatenate([[0], cuts, [len(work)]]))
    return [(int(a), int(b)) for a, b in pairwise(edges.tolist())]


def _number_part_types(cover: CellCover, types: int) -> NDArray[np.int64]:
    """Number the part types from 0, and return that of each row type; −1 for those that fit no cell."""
    by_type = _cells_by_type(cover)
    lead = _first_equal(by_type.starts, by_type.cells)
    fits = np.diff(by_type.starts) > 0
    result = np.full(types, -1, np.int64)
    result[: len(lead)][fits] = np.unique(lead[fits], return_inverse=True)[1]
    return result


def _label_components(
    pair_cell: NDArray[np.int64], pair_part: NDArray[np.int64], cells: int, parts: int
) -> NDArray[np.int64]:
    """Label each cell with its component: the smallest cell number that is reachable from it."""
    label = np.arange(cells, dtype=np.int64)
    while True:
        of_part = np.full(parts, cells, np.int64)
        np.minimum.at(of_part, pair_part, label[pair_cell])
        joined = label.copy()
        np.minimum.at(joined, pair_cell, of_part[pair_part])
        joined = joined[joined]
        if np.array_equal(joined, label):
            return label
        label = joined


def _split_components(
    cover: CellCover,
    label: NDArray[np.int64],
    pair_cell: NDArray[np.int64],
    pair_part: NDArray[np.int64],
    rows: NDArray[np.int64],
    part_of: NDArray[np.int64],
) -> tuple[ProblemComponent, ...]:
    """Return the components by falling number of pairs."""
    order = np.argsort(label[pair_cell], kind="stable")
    _, starts, lengths = np.unique(label[pair_cell][order], return_index=True, return_counts=True)
    originals = np.argsort(part_of, kind="stable")
    originals = originals[np.count_nonzero(part_of < 0) :]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(part_of[originals], minlength=len(rows)))])
    found = []
    for component in np.argsort(-lengths, kind="stable"):
        pairs = order[starts[component] : starts[component] + lengths[component]]
        cells, pair_cells = np.unique(pair_cell[pairs], return_inverse=True)
        parts, types = np.unique(pair_part[pairs], return_inverse=True)
        groups = [originals[bounds[p] : bounds[p + 1]] for p in parts]
        found.append(
            ProblemComponent(
                rows=rows[parts],
                costs=cover.costs[cells],
                cells=cells.astype(np.int64),
                types=types.astype(np.int64),
                pair_cells=pair_cells.astype(np.int64),
                bounds=np.cumsum([0, *(len(g) for g in groups)]).astype(np.int64),
                originals=np.concatenate(groups),
            )
        )
    return tuple(found)


_PRICE_ROUNDS = 40
_PRICE_PARTS = 2**16
_RAISE_FACTORS = (2.0, 1.5, 1.2, 1.1, 1.05)
_Price = TypeVar("_Price", np.float64, np.int64)


def bound_component_by_prices(
    component: ProblemComponent, k: int, outlier_cost: int, *, deadline: float = np.inf
) -> int:
    """Bound the cost of the component's solutions from below, in steps, with checked row prices.

    Ends after ``_PRICE_ROUNDS`` rounds, when prices no longer rise, or at the deadline (``time.monotonic``).
    """
    prices = compute_row_prices(component, k, outlier_cost, deadline=deadline)
    return -(-int((prices * component.rows).sum()) // _PRICE_PARTS)


def compute_row_prices(
    component: ProblemComponent, k: int, outlier_cost: int, *, deadline: float = np.inf
) -> NDArray[np.int64]:
    """Compute the price of a row of each part type, in parts of a step (65,536 per step), checked."""
    prices = np.full(len(component.rows), float(outlier_cost))
    np.minimum.at(prices, component.types, component.costs[component.pair_cells].astype(np.float64))
    allowed = k * component.costs.astype(np.float64)
    worth = float((prices * component.rows).sum())
    for turn in range(_PRICE_ROUNDS):
        if time.monotonic() > deadline:
            break
        factor = _RAISE_FACTORS[min(turn // 3, len(_RAISE_FACTORS) - 1)]
        # Raise all prices, then scale each down by the tightest of its cells; dual feasibility is kept.
        raised = np.minimum(prices * factor, outlier_cost)
        dearest = _highest_prices(component, raised, k)
        ratio = np.ones(len(allowed))
        np.divide(allowed, dearest, out=ratio, where=dearest > allowed)
        least = np.ones(len(prices))
        np.minimum.at(least, component.types, ratio[component.pair_cells])
        prices = np.maximum(raised * least * (1 - 1e-12), 0.0)
        before, worth = worth, float((prices * component.rows).sum())
        if turn >= 3 * len(_RAISE_FACTORS) and worth <= before * (1 + 1e-6):
            break
    integers: NDArray[np.int64] = np.floor(prices * _PRICE_PARTS).astype(np.int64)
    if (_highest_prices(component, integers, k) > k * component.costs * _PRICE_PARTS).any():
        raise InternalError("prices of rows exceed the prices that their cells allow")
    return integers


def _highest_prices(component: ProblemComponent, prices: NDArray[_Price], k: int) -> NDArray[_Price]:
    """Sum the prices of the k dearest rows of each cell; a cell contains at least k."""
    of_pair = prices[component.types]
    order = np.lexsort((-of_pair, component.pair_cells))
    rows = component.rows[component.types][order]
    ends = np.cumsum(rows)
    starts = np.searchsorted(component.pair_cells, np.arange(len(component.costs)))
    before = ends - rows
    before -= np.repeat(before[starts], np.diff(np.append(starts, component.pairs)))
    taken = np.clip(k - before, 0, rows)
    result: NDArray[_Price] = np.add.reduceat(of_pair[order] * taken, starts)
    return result


def bound_by_prices(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    settings: Settings,
    *,
    time_limit: float | None = None,
) -> float:
    """Bound the cost of all assignments of rows to the mask's patterns from below; outliers cost all stars.

    ``time_limit`` (seconds) ends the rounds early, with a weaker bound. Raises ``InputError`` for a
    requirement other than k, ``LimitReached`` if the cells do not fit ``settings.memory_limit``.
    """
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    k = require_only_k(requirement)
    frequency_set = require_one_row_per_subject(frequency_set)
    table, _ = build_pattern_table(frequency_set, mask)
    reduced = reduce_cover(find_cells(table, k, settings.memory_limit), table.counts)
    steps = table.outlier_cost * int(table.counts[reduced.uncovered].sum())
    for component in reduced.components:
        steps += bound_component_by_prices(component, k, table.outlier_cost, deadline=deadline)
    return max(steps / table.steps - cost_rounding(mask, table) * table.rows, 0.0)
