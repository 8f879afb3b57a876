"""The partitions that are compared, by the names of the tables and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.model.permutation import GroupPartition, GroupRequirement
from discreet.permutation.partitions import PartitionStrategy, partition
from discreet.reproduce.context import Context
from discreet.reproduce.permutation.microdata import Microdata

GENERALIZATION = "generalization"
OPTIMIZED = (
    PartitionStrategy.MIN_SUM,
    PartitionStrategy.CONTIGUOUS_MIN_MAX,
    PartitionStrategy.MIN_MAX,
    PartitionStrategy.QI_AWARE,
)
RANDOM = PartitionStrategy.RANDOM
K, E = 5, 500
SEED = 2026
_DRAWS, _QUICK_DRAWS = 10, 3


def requirement(k: int = K, e: int = E) -> GroupRequirement:
    """(k,e) in the losses' unit."""
    return GroupRequirement(k, Decimal(e))


def grouped(
    data: Microdata, strategy: PartitionStrategy, asked: GroupRequirement, seed: int = SEED
) -> GroupPartition:
    """The groups of a strategy, which draws from a seed here: an experiment is to come out again."""
    codes: NDArray[np.int64] | None = data.codes if strategy is PartitionStrategy.QI_AWARE else None
    return partition(
        data.column,
        asked,
        strategy,
        quasi_identifiers=codes,
        draw=np.random.default_rng(seed).permutation,
    )


Partitions = Mapping[str, Sequence[NDArray[np.int64]]]
"""The groups of each row, by the partition's name; several where a strategy was drawn several times."""


def partitions(
    context: Context,
    data: Microdata,
    classes: NDArray[np.int64],
    optimized: Sequence[PartitionStrategy] = OPTIMIZED,
) -> Partitions:
    """Groups by generalization (``classes``, a label per row of ``data``), optimized and random ones."""
    found: dict[str, Sequence[NDArray[np.int64]]] = {GENERALIZATION: (classes,)}
    for strategy in (*optimized, RANDOM):
        found[str(strategy)] = drawn(context, data, strategy, requirement())
    return found


def drawn(
    context: Context, data: Microdata, strategy: PartitionStrategy, asked: GroupRequirement
) -> Sequence[NDArray[np.int64]]:
    """The groups of one strategy; several draws of random ones, to be averaged."""
    draws = 1 if strategy is not RANDOM else _QUICK_DRAWS if context.quick else _DRAWS
    return tuple(grouped(data, strategy, asked, SEED + draw).groups for draw in range(draws))
