"""Full-domain generalizations with distinct l-diversity, as groups of rows and as boxes of leaf codes.

The paper names neither the algorithm's cost nor the node that it took. Here every node of the lattice is
evaluated, and of those that meet l the one with the most classes is taken: the most favourable choice for
generalization, whose errors come from classes that are too large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import NoSolution
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.reproduce.permutation.microdata import Microdata

Masks = Mapping[int, NDArray[np.bool_]]
"""By place of a quasi-identifier the leaves that each query asks for, shape ``(queries, leaves)``."""


@dataclass(frozen=True, eq=False)
class Classes:
    """A generalization of ``data``: row i is in class ``labels[i]``, the box of leaf codes from ``low[c]`` to
    ``high[c]``, both of shape ``(classes, quasi-identifiers)``; ``dropped`` rows of the table are left out.
    """

    data: Microdata
    node: LatticeNode
    labels: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    dropped: int

    @property
    def count(self) -> int:
        """The number of classes."""
        return len(self.low)

    @property
    def levels(self) -> str:
        """The levels that are above 0, and which of them are the top."""
        parts = []
        for hierarchy, level in zip(self.data.hierarchies, self.node, strict=True):
            if level:
                parts.append(f"{hierarchy.attribute} {'*' if level == hierarchy.height else level}")
        return ", ".join(parts) or "as it is"

    def meets(self, masks: Masks) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which classes lie inside each query, and which overlap it; shape ``(queries, classes)``."""
        queries = len(next(iter(masks.values())))
        certain = np.ones((queries, self.count), dtype=np.bool_)
        possible = certain.copy()
        for place, mask in masks.items():
            before = np.concatenate([np.zeros((queries, 1), dtype=np.int64), np.cumsum(mask, axis=1)], axis=1)
            low, high = self.low[:, place], self.high[:, place]
            covered = before[:, high + 1] - before[:, low]
            certain &= covered == high - low + 1
            possible &= covered > 0
        return certain, possible


def selected(data: Microdata, masks: Masks) -> NDArray[np.bool_]:
    """Which rows each query selects, shape ``(queries, rows)``."""
    found = np.ones((len(next(iter(masks.values()))), data.rows), dtype=np.bool_)
    for place, mask in masks.items():
        found &= mask[:, data.codes[:, place]]
    return found


def most_classes(
    data: Microdata, l: int, *, max_level: Mapping[str, int] | None = None, suppressed: float = 0.0
) -> Classes:
    """The generalization of most classes, lowest among equals, that leaves out at most a share of the rows.

    ``NoSolution`` where no node within ``max_level`` meets l.
    """
    evaluated = data.lattice
    lattice = evaluated.lattice
    places = np.arange(lattice.size)[:, None]
    levels = places // np.array(lattice.strides) % (np.array(lattice.heights) + 1)
    failing = evaluated.suppression(Requirement(l=l))
    kept = failing <= int(suppressed * data.rows)
    for place, hierarchy in enumerate(data.hierarchies):
        kept &= levels[:, place] <= (max_level or {}).get(hierarchy.attribute, hierarchy.height)
    if not kept.any():
        raise NoSolution(f"no generalization within these levels has l = {l}")
    nodes = np.flatnonzero(kept)
    order = np.lexsort((failing[nodes], levels[nodes].sum(axis=1), -evaluated.classes()[nodes]))
    return classes_at(data, tuple(levels[nodes[order[0]]].tolist()), l)


def classes_at(data: Microdata, node: LatticeNode, l: int) -> Classes:
    """The classes of a node; rows of those with fewer than ``l`` distinct losses are left out."""
    keys = np.stack(
        [
            h.ancestors[level][data.codes[:, i]]
            for i, (h, level) in enumerate(zip(data.hierarchies, node, strict=True))
        ],
        axis=1,
    )
    _, labels = np.unique(keys, axis=0, return_inverse=True)
    labels = labels.reshape(-1)
    pairs = np.unique(np.stack([labels, data.numbers], axis=1), axis=0)
    dropped = np.bincount(pairs[:, 0])[labels] < l
    kept, first, labels = np.unique(labels[~dropped], return_index=True, return_inverse=True)
    shown = keys[~dropped][first]
    low, high = np.empty((len(kept), len(node)), np.int64), np.empty((len(kept), len(node)), np.int64)
    for i, (hierarchy, level) in enumerate(zip(data.hierarchies, node, strict=True)):
        low[:, i] = np.searchsorted(hierarchy.ancestors[level], shown[:, i], side="left")
        high[:, i] = np.searchsorted(hierarchy.ancestors[level], shown[:, i], side="right") - 1
    return Classes(data.without(dropped), node, labels.reshape(-1), low, high, int(dropped.sum()))
