"""Candidate nodes of Incognito: join, prune and edges (LeFevre et al. 2005, section 3.1.2).

The paper keeps nodes as rows of a table and makes those of i + 1 attributes from the survivors of i: a
self-join pairs survivors that agree in all but the last attribute, a hash tree prunes those of which some
subset of i attributes did not survive, and a query derives the edges, taking away by EXCEPT those that two
others imply.

Here the nodes of one *family* (a set of attributes) are an array of truth values, one axis per attribute, one
entry per combination of levels. A node is a candidate where each of its projections on i attributes survived:
one AND per subset, each spread over the axis that it lacks, which is join and prune at once. Survivors are
closed upward, and so are candidates; hence the edges that the query derives are those that raise one
attribute by one level, and they need not be stored. The tests compare both with the paper's queries.

Cost: one byte per node of a family; the number of attributes passes over them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Family = tuple[int, ...]
"""Positions of attributes in the lattice, ascending."""

Nodes = NDArray[np.bool_]
"""The nodes of a family: shape = levels searched of each of its attributes."""


def candidates(family: Family, levels: Sequence[int], survivors: Mapping[Family, Nodes]) -> Nodes:
    """The nodes of a family whose projections on all attributes but one survived.

    ``levels`` are the numbers of levels of all attributes of the lattice.
    """
    found = np.ones([levels[attribute] for attribute in family], dtype=np.bool_)
    if len(family) > 1:
        for axis in range(len(family)):
            found &= np.expand_dims(survivors[family[:axis] + family[axis + 1 :]], axis)
    return found


def roots(nodes: Nodes) -> Nodes:
    """The nodes to which no edge leads: none of their direct specializations is among ``nodes``."""
    reached = np.zeros_like(nodes)
    for axis in range(nodes.ndim):
        upper, lower = [slice(None)] * nodes.ndim, [slice(None)] * nodes.ndim
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        reached[tuple(upper)] |= nodes[tuple(lower)]
    found: Nodes = nodes & ~reached
    return found
