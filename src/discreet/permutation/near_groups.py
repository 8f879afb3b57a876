"""A partition aware of quasi-identifiers: no row's error grows, and rows near in quasi-identifiers join.

Definition. It starts from the partition of the least sum of errors, and gives itself two freedoms.

1. Where a cut runs inside a value, the value's rows go to the side whose other rows they are nearer to.
2. Each group is divided along quasi-identifiers, from the top down, as long as both parts meet (k,e): at the
   median of the attribute with the widest normalized range, then of the next. Where the plain cut fails, one
   that is repaired is tried: each value that has two rows or more gives the side that lacks it the row
   nearest to the cut.

A part's range lies in its group's, so no row's error and no maximum error grows, and whatever a query
selects, its bounds over the parts lie within those over the whole. The *sum* over groups, in contrast, counts
a part as often as there are parts, and may grow. It must be let go: of two rows aged 20 and two aged 60, each
pair with the values 0 and 1, the one group of least sum, 1, answers a question on the young by [0, 2]; two
groups, of sum 2, answer it by 1.

Cost: for a group of n rows, d attributes and a depth of division h about n·d·h. The paper has nothing of this
kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.leaf_order import leaf_order
from discreet.permutation.draw import Draw
from discreet.permutation.min_sum import Need
from discreet.permutation.parts import Parts, groups_of_rows
from discreet.permutation.value_runs import ValueRuns

Rows = NDArray[np.int64]
Places = NDArray[np.float64]


def coordinates_of(
    hierarchies: Sequence[GeneralizationHierarchy], codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Each row's places in the order of the leaves: numbers by value, others as published, NULL last.

    ``codes``, shape ``(rows, attributes)``, are leaf codes.
    """
    places = np.empty(codes.shape, dtype=np.int64)
    for attribute, hierarchy in enumerate(hierarchies):
        places[:, attribute] = leaf_order(hierarchy).rank[codes[:, attribute]]
    return places


def near_groups(
    runs: ValueRuns, need: Need, parts: Parts, quasi_identifiers: NDArray[np.int64], draw: Draw
) -> NDArray[np.int64]:
    """The group of each row; ``parts`` is the partition to start from.

    ``quasi_identifiers``, shape ``(rows, attributes)``, are coordinates: numbers, or codes in an order in
    which neighbours are alike.
    """
    places = normalized(quasi_identifiers)
    groups = near_ties(runs, parts, places, groups_of_rows(runs, parts, draw))
    return divided(runs, need, places, groups)


def normalized(quasi_identifiers: NDArray[np.int64]) -> Places:
    """Coordinates as shares of each attribute's range in the table."""
    places = quasi_identifiers.astype(np.float64)
    if not len(places):
        return places
    spans = places.max(axis=0) - places.min(axis=0)
    shares: Places = (places - places.min(axis=0)) / np.where(spans > 0, spans, 1.0)
    return shares


def near_ties(runs: ValueRuns, parts: Parts, places: Places, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of a value that two groups hold, the nearer to each; how many go where stays."""
    groups = groups.copy()
    values, first, times = np.unique(parts.values, return_index=True, return_counts=True)
    for value, place in zip(values[times == 2].tolist(), first[times == 2].tolist(), strict=True):
        left, right = int(parts.groups[place]), int(parts.groups[place + 1])
        rows = np.flatnonzero(runs.codes == value)
        others = runs.codes != value
        towards = places[others & (groups == right)].mean(axis=0) - places[others & (groups == left)].mean(
            axis=0
        )
        order = rows[np.argsort(places[rows] @ towards, kind="stable")]
        groups[order] = np.repeat([left, right], parts.rows[place : place + 2])
    return groups


def divided(runs: ValueRuns, need: Need, places: Places, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every group divided along quasi-identifiers as long as both parts meet the requirement."""
    order = np.argsort(groups, kind="stable")
    waiting = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    divider = _Divider(runs, need, places)
    found = np.empty_like(groups)
    count = 0
    while waiting:
        rows = waiting.pop()
        halves = divider.halves(rows)
        if halves is None:
            found[rows] = count
            count += 1
        else:
            waiting += halves
    return found


@dataclass(frozen=True, eq=False)
class _Divider:
    """Finds a cut of a group's rows that leaves two groups."""

    runs: ValueRuns
    need: Need
    places: Places

    def halves(self, rows: Rows) -> tuple[Rows, Rows] | None:
        codes = self.runs.codes[rows]
        values, inner, counts = np.unique(codes, return_inverse=True, return_counts=True)
        valued = values >= 0
        # Both halves need k values, and a value of a single row is in one of them alone.
        if int(np.minimum(counts[valued], 2).sum()) < 2 * self.need.k:
            return None
        own = self.places[rows]
        widths = own.max(axis=0) - own.min(axis=0)
        attributes = [a for a in np.argsort(-widths, kind="stable").tolist() if widths[a] > 0]
        for repaired in (False, True):
            for attribute in attributes:
                right, cut = _median_cut(own[:, attribute])
                if repaired:
                    right = _repaired(right, np.abs(own[:, attribute] - cut), inner)
                if self._meets(values, inner[right]) and self._meets(values, inner[~right]):
                    return rows[~right], rows[right]
        return None

    def _meets(self, values: Rows, inner: Rows) -> bool:
        present = values[np.bincount(inner, minlength=len(values)) > 0]
        present = present[present >= 0]
        if len(present) < self.need.k:
            return False
        units = self.runs.units
        return units is None or int(units[present[-1]]) - int(units[present[0]]) >= self.need.e


def _median_cut(places: Places) -> tuple[NDArray[np.bool_], float]:
    """Which rows lie right of the cut nearest to the half, and where it is; both sides have rows."""
    ordered = np.sort(places)
    half = len(ordered) // 2
    above = int(np.searchsorted(ordered, ordered[half], side="right"))
    below = int(np.searchsorted(ordered, ordered[half], side="left"))
    at = above if below == 0 or (above < len(ordered) and above - half < half - below) else below
    cut = float(ordered[at - 1] + ordered[at]) / 2
    return places >= ordered[at], cut


def _repaired(right: NDArray[np.bool_], distances: Places, inner: Rows) -> NDArray[np.bool_]:
    """The sides with each value of several rows, NULL included, on both: its row nearest the cut moves."""
    size = int(inner.max()) + 1
    counts = np.bincount(inner, minlength=size)
    on_right = np.bincount(inner[right], minlength=size)
    missing = (counts > 1) & ((on_right == 0) | (on_right == counts))
    order = np.lexsort((distances, inner))
    # The first of each value's rows, which stand together and nearest first.
    nearest = order[np.cumsum(counts) - counts]
    moved = right.copy()
    moved[nearest[missing]] ^= True
    return moved
