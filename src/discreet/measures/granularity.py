"""Granularity: how much of the values' detail a release keeps, from 0 to 1 (as ARX reports it).

A cell that stands for m of the D leaves of its hierarchy has the share m/D, a suppressed cell the share 1.
ARX averages the shares over rows and attributes and normalises after averaging, so that 1 means leaves
everywhere and 0 tops everywhere: with (m − 1)/D for the loss of a cell,

    granularity = 1 − (sum of the losses) / (rows · sum over the attributes of (1 − 1/D)).

It is not the mean of (m − 1)/(D − 1), which weighs attributes of few leaves more; that one is
``measures.loss``. NULL below the top stands for itself alone, and joins the top value there.

Cost: one pass over the parts of the recoding, per attribute.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode


def level_shares(hierarchy: GeneralizationHierarchy) -> NDArray[np.float64]:
    """(m − 1)/D of each level's value above each leaf (and NULL), shape ``(height + 1, leaves + 1)``."""
    leaves = len(hierarchy.leaves)
    shares = np.zeros((hierarchy.height + 1, leaves + 1))
    for level in range(hierarchy.height + 1):
        ancestors = hierarchy.ancestors[level]
        shares[level, :leaves] = (np.bincount(ancestors)[ancestors] - 1) / leaves
    shares[-1, leaves] = (leaves - 1) / leaves
    return shares


def most_loss(frequency_set: FrequencySet) -> float:
    """The loss of a row whose every cell is at its top: the sum over the attributes of 1 − 1/D."""
    return sum(1.0 - 1.0 / len(h.leaves) for h in frequency_set.hierarchies)


def granularity(frequency_set: FrequencySet, recoding: ClassRecoding) -> float:
    """The granularity of a release of classes; a suppressed row loses everything. 1 for an empty table."""
    kept = recoding.classes != SUPPRESSED
    classes, rows = recoding.classes[kept], recoding.rows[kept]
    lost = most_loss(frequency_set) * recoding.suppressed
    for i, cells in enumerate(recoding.cells):
        loss = (cells.sizes() - 1) / cells.leaves
        lost += float((loss[recoding.shown[classes, i]] * rows).sum())
    return _share_kept(frequency_set, lost)


def granularity_of_node(frequency_set: FrequencySet, node: LatticeNode, failing: NDArray[np.bool_]) -> float:
    """The granularity of a full-domain release; row types that are ``failing`` are suppressed."""
    rows = np.where(failing, 0, frequency_set.counts)
    lost = most_loss(frequency_set) * int(frequency_set.counts[failing].sum())
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        lost += float((level_shares(hierarchy)[node[i]][frequency_set.codes[:, i]] * rows).sum())
    return _share_kept(frequency_set, lost)


def _share_kept(frequency_set: FrequencySet, lost: float) -> float:
    most = most_loss(frequency_set) * frequency_set.rows
    return 1.0 - lost / most if most else 1.0
