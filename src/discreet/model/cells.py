"""The distinct published cells of one attribute, and the leaves that each covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.hierarchy import GeneralizationHierarchy


@dataclass(frozen=True, eq=False)
class Cells:
    """What is shown for one quasi-identifier: labels, each with the leaf codes it stands for.

    Cell ``i`` reads ``labels[i]`` (None is NULL) and covers the leaf codes of the intervals
    ``first[j] … last[j]`` (both inclusive) for j in ``offsets[i] … offsets[i + 1] - 1``, disjoint and
    ascending. A hierarchy's value and a range of leaves in code order are one interval each, a set is
    several. NULL has the code after the last leaf, ``leaves``. ``weights``, shape ``(leaves + 1,)``, say how
    much of what a cell stands for each code is, where codes are not values of equal weight.
    """

    attribute: str
    leaves: int
    labels: tuple[str | None, ...]
    offsets: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None

    def sizes(self) -> NDArray[np.int64]:
        """The leaves under each cell, shape ``(cells,)``: NULL counts for itself only where it is alone."""
        widths = np.minimum(self.last, self.leaves - 1) - self.first + 1
        sums = np.concatenate([[0], np.cumsum(widths)])
        found: NDArray[np.int64] = sums[self.offsets[1:]] - sums[self.offsets[:-1]]
        return np.maximum(found, 1)

    def cover(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each cell covers the leaf code beside it, shape ``(n,)`` for n pairs."""
        found = np.zeros(len(cells), dtype=np.bool_)
        starts, ends = self.offsets[cells], self.offsets[cells + 1]
        for step in range(int((ends - starts).max(initial=0))):
            place = starts + step
            here = place < ends
            at = np.where(here, place, 0)
            found |= here & (self.first[at] <= codes) & (codes <= self.last[at])
        return found


def shows_leaves(cells: Cells, hierarchy: GeneralizationHierarchy) -> bool:
    """Whether every cell is one leaf's own text, or NULL for NULL alone."""
    if (np.diff(cells.offsets) != 1).any() or (cells.first != cells.last).any():
        return False
    own = (*hierarchy.leaves, None)
    pairs = zip(cells.labels, cells.first[cells.offsets[:-1]].tolist(), strict=True)
    return all(label == own[code] for label, code in pairs)


def shows_derived(cells: Cells, hierarchy: GeneralizationHierarchy) -> bool:
    """Whether a cell that stands for several leaves, though not for all, has a text derived from the data.

    The values of a hierarchy that was there before are not; ranges, sets and means of leaves are.
    """
    between = (cells.sizes() > 1) & (cells.sizes() < len(hierarchy.leaves))
    known = set() if hierarchy.from_data else {label for level in hierarchy.labels for label in level}
    return any(cells.labels[i] not in known for i in np.flatnonzero(between).tolist())
