"""A smaller problem with the same optimum: dominated cells, alike row types, separate components.

**Dominance.** A cell goes where another holds all of its row types and costs no more per row (of two that
hold the same at the same cost, the later one goes). All rows of the first can move to the second, which then
holds at least as many; the order is strict, so chains of dominance end in a cell that stays.

**Alike row types.** Row types that fit exactly the same remaining cells become one with the sum of their
rows: any division of the sum serves, since each member fits each of those cells. Row types that fit no cell
cost the outlier cost and leave the problem.

**Components.** Row types and cells form a bipartite graph; its connected components share nothing but the
outliers, and are solved by themselves.

Cost: of dominance, one sort of all pairs of cells that share a row type, where these are few enough; else
only cells with equal row types are compared. Of the rest, sorts of the pairs of row type and cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.patterns.exact_cells import CellCover

_MOST_CELL_PAIRS = 60_000_000
_CHUNK = 4_000_000


@dataclass(frozen=True, eq=False)
class Component:
    """One independent part: alike row types with their rows, and the cells that they fit.

    ``rows[i]`` rows of part type i; ``costs[c]`` and ``cells[c]`` the cost and the number (in the cover) of
    cell c. Pair p says that part type ``types[p]`` fits cell ``places[p]``; pairs ascend by cell, then type.
    The row types of part type i are ``originals[bounds[i]:bounds[i + 1]]``.
    """

    rows: NDArray[np.int64]
    costs: NDArray[np.int64]
    cells: NDArray[np.int64]
    types: NDArray[np.int64]
    places: NDArray[np.int64]
    bounds: NDArray[np.int64]
    originals: NDArray[np.int64]

    @property
    def pairs(self) -> int:
        """Pairs of part type and cell: the size of the problem."""
        return len(self.types)


@dataclass(frozen=True, eq=False)
class Reduced:
    """The components, largest first, the cover they speak of, and the row types that fit no cell."""

    cover: CellCover
    components: tuple[Component, ...]
    placeless: NDArray[np.int64]


def reduce_cover(cover: CellCover, counts: NDArray[np.int64], *, split: bool = True) -> Reduced:
    """Drop dominated cells, join alike row types, and split into components.

    With ``split=False`` there is one component, and cells are taken as they are.
    """
    if split:
        cover = undominated(cover)
    types = len(counts)
    degree = np.bincount(cover.members, minlength=types)
    placed = np.flatnonzero(degree)
    part_of = _alike(cover, types)
    parts = int(part_of.max(initial=-1)) + 1
    first = np.full(parts, types, np.int64)
    np.minimum.at(first, part_of[placed], placed)
    leads = np.zeros(types, np.bool_)
    leads[first] = True
    inside = leads[cover.members]
    pair_cell, pair_part = cover.cell_of_pair()[inside], part_of[cover.members[inside]]
    rows = np.bincount(part_of[placed], weights=counts[placed], minlength=parts).astype(np.int64)
    label = _labels(pair_cell, pair_part, cover.cell_count, parts)
    if not split:
        label[:] = 0
    components = _split(cover, label, pair_cell, pair_part, rows, part_of)
    return Reduced(cover, components, np.flatnonzero(degree == 0))


def undominated(cover: CellCover) -> CellCover:
    """The cover without the cells that another dominates."""
    cover = cover.kept(~_repeated(cover))
    by_type = _by_type(cover)
    shared = int((np.diff(by_type.starts).astype(np.float64) ** 2).sum())
    if shared > _MOST_CELL_PAIRS:
        return cover
    return cover.kept(~_contained(cover, by_type))


@dataclass(frozen=True, eq=False)
class _ByType:
    """The cells of each row type, ascending, in compressed-row form."""

    starts: NDArray[np.int64]
    cells: NDArray[np.int64]


def _by_type(cover: CellCover) -> _ByType:
    order = np.argsort(cover.members, kind="stable")
    lengths = np.bincount(cover.members)
    return _ByType(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), cover.cell_of_pair()[order])


def _repeated(cover: CellCover) -> NDArray[np.bool_]:
    """Cells whose row types an earlier cell has, all of them and no others; earlier cells cost no more."""
    lead = _first_equal(cover.offsets, cover.members)
    return np.asarray(lead != np.arange(cover.cell_count))


def _first_equal(offsets: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each list of compressed rows the first list that has a given list's items, in its order.

    Lists are bucketed by random sums, and then compared with the first of the bucket item by item; one that
    only has the same sums is taken to be different, which is safe.
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


def _contained(cover: CellCover, by_type: _ByType) -> NDArray[np.bool_]:
    """Cells all of whose row types are in one other cell that costs no more and comes before it in the order.

    Equal cells are gone already, so the other cell holds more row types; the order is (cost, more rows).
    """
    cells = cover.cell_count
    lengths = np.diff(cover.offsets)
    degree = np.diff(by_type.starts)
    found = np.zeros(cells, np.bool_)
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
        gathered, place = np.unique(np.concatenate([gathered, keys]), return_inverse=True)
        tally = np.bincount(place, weights=np.concatenate([tally, times]), minlength=len(gathered))
    left = gathered // max(cells, 1)
    found[left[tally == lengths[left]]] = True
    return found


def _chunks(work: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of positions whose work adds up to about a chunk each."""
    ends = np.cumsum(work)
    cuts = np.searchsorted(ends, np.arange(_CHUNK, int(ends[-1]) + 1 if len(ends) else 1, _CHUNK)) + 1
    edges = np.unique(np.concatenate([[0], cuts, [len(work)]]))
    return [(int(a), int(b)) for a, b in pairwise(edges.tolist())]


def _alike(cover: CellCover, types: int) -> NDArray[np.int64]:
    """The part type of each row type, numbered from 0; −1 for those that fit no cell."""
    by_type = _by_type(cover)
    lead = _first_equal(by_type.starts, by_type.cells)
    fits = np.diff(by_type.starts) > 0
    found = np.full(types, -1, np.int64)
    found[: len(lead)][fits] = np.unique(lead[fits], return_inverse=True)[1]
    return found


def _labels(
    pair_cell: NDArray[np.int64], pair_part: NDArray[np.int64], cells: int, parts: int
) -> NDArray[np.int64]:
    """The component of each cell: the smallest cell number that can be reached from it."""
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


def _split(
    cover: CellCover,
    label: NDArray[np.int64],
    pair_cell: NDArray[np.int64],
    pair_part: NDArray[np.int64],
    rows: NDArray[np.int64],
    part_of: NDArray[np.int64],
) -> tuple[Component, ...]:
    """The components, by falling number of pairs."""
    order = np.argsort(label[pair_cell], kind="stable")
    _, starts, lengths = np.unique(label[pair_cell][order], return_index=True, return_counts=True)
    originals = np.argsort(part_of, kind="stable")
    originals = originals[np.count_nonzero(part_of < 0) :]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(part_of[originals], minlength=len(rows)))])
    found = []
    for component in np.argsort(-lengths, kind="stable"):
        pairs = order[starts[component] : starts[component] + lengths[component]]
        cells, places = np.unique(pair_cell[pairs], return_inverse=True)
        parts, types = np.unique(pair_part[pairs], return_inverse=True)
        groups = [originals[bounds[p] : bounds[p + 1]] for p in parts]
        found.append(
            Component(
                rows=rows[parts],
                costs=cover.costs[cells],
                cells=cells.astype(np.int64),
                types=types.astype(np.int64),
                places=places.astype(np.int64),
                bounds=np.cumsum([0, *(len(g) for g in groups)]).astype(np.int64),
                originals=np.concatenate(groups),
            )
        )
    return tuple(found)
