"""Microdata of the permutation experiments, their generalizations with l-diversity, and their partitions.

The paper names neither the cost of its generalization nor the node. Here all nodes are evaluated, and of
those that meet l the one with the most classes is taken: it favours generalization most, since the errors of
generalization come from large classes. Partitions are optimized, random, or the classes of the
generalization.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import NoSolution
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.model.release_kind import GroupPartition, GroupRequirement, SensitiveColumn
from discreet.model.requirement import Requirement
from discreet.permutation.partition_strategies import PartitionStrategy
from discreet.permutation.partitions import partition_rows
from discreet.settings import Settings
from papers.reproduction import Context
from papers.synthetic_tables import SyntheticTable, generate_losses

LOSS_QUASI_IDENTIFIERS = (
    *("age", "sex", "race", "marital_status"),
    *("education", "native_country", "work_class", "occupation"),
)
LOSS_SENSITIVE = "capital_loss"


@dataclass(frozen=True, eq=False)
class Microdata:
    """Table in memory: ``codes`` (rows, quasi-identifiers) are leaf codes, ``numbers`` (rows,) the losses."""

    frequency_set: FrequencySet
    codes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    settings: Settings

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.numbers)

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """Hierarchies of the quasi-identifiers."""
        return self.frequency_set.hierarchies

    @cached_property
    def column(self) -> SensitiveColumn:
        """Losses as a sensitive column."""
        values, codes = np.unique(self.numbers, return_inverse=True)
        return SensitiveColumn(LOSS_SENSITIVE, codes.astype(np.int64), len(values), values)

    @cached_property
    def lattice(self) -> EvaluatedLattice:
        """Evaluated lattice of all full-domain generalizations, with l-diversity."""
        return evaluate_lattice(self.frequency_set, self.settings)

    def without(self, dropped: NDArray[np.bool_]) -> Microdata:
        """Drop some rows; hierarchies and lattice remain those of all rows."""
        return Microdata(self.frequency_set, self.codes[~dropped], self.numbers[~dropped], self.settings)


def adult_losses(context: Context, names: Sequence[str] = LOSS_QUASI_IDENTIFIERS) -> Microdata:
    """Return the rows of Adult (30,162 without unknown values) whose capital loss is not 0."""
    source, folder = context.file("adult", "adult_30162.csv"), context.file("adult", "hierarchies_incognito")
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": str((folder / f"{name}.csv").absolute())}
        for name in names
    }
    with source.open(encoding="utf-8", newline="") as text:
        rows = [row for row in csv.DictReader(text) if row[LOSS_SENSITIVE] != "0"]
    path = context.scratch / f"losses-{len(names)}.csv"
    with path.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow((*names, LOSS_SENSITIVE))
        writer.writerows([row[name] for name in (*names, LOSS_SENSITIVE)] for row in rows)
    return _open_microdata(context, path, attributes, rows)


def synthetic_losses(context: Context, rows: int, deviation: float) -> Microdata:
    """Generate people whose loss follows their age with some deviation; age is the only quasi-identifier."""
    return age_losses(context, generate_losses(rows, deviation), f"synthetic-{deviation:g}")


def age_losses(context: Context, table: SyntheticTable, name: str) -> Microdata:
    """Open a table with the quasi-identifier ``age`` and the loss, written to the scratch folder."""
    path = context.scratch / f"{name}.csv"
    table.write_csv(path)
    arrays = table.arrays()
    cells = [
        {"age": age, LOSS_SENSITIVE: loss}
        for age, loss in zip(arrays["age"].tolist(), arrays[LOSS_SENSITIVE].tolist(), strict=True)
    ]
    return _open_microdata(context, path, {"age": table.attributes()["age"]}, cells)


def _open_microdata(
    context: Context, path: Path, attributes: Mapping[str, Any], rows: Sequence[Mapping[str, str]]
) -> Microdata:
    opened = context.table(path, {**attributes, LOSS_SENSITIVE: {"role": "sensitive"}})
    table = opened.frequency_set
    codes = [
        np.array([hierarchy.code_of_leaf[row[hierarchy.attribute]] for row in rows], dtype=np.int64)
        for hierarchy in table.hierarchies
    ]
    numbers = np.array([int(row[LOSS_SENSITIVE]) for row in rows], dtype=np.int64)
    return Microdata(table, np.stack(codes, axis=1), numbers, context.settings)


LeafMasks = Mapping[int, NDArray[np.bool_]]
"""Leaves that each query selects, shape ``(queries, leaves)``, by position of the quasi-identifier."""


@dataclass(frozen=True, eq=False)
class BoxClasses:
    """Generalization of ``data``: row i is in class ``labels[i]``.

    Class c is the box of leaf codes from ``low[c]`` to ``high[c]``, both of shape
    ``(classes, quasi-identifiers)``. ``dropped`` is the number of suppressed rows, which ``data`` omits.
    """

    data: Microdata
    node: LatticeNode
    labels: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    dropped: int

    @property
    def count(self) -> int:
        """Number of classes."""
        return len(self.low)

    @property
    def levels(self) -> str:
        """Text of the levels above 0; ``*`` marks the top."""
        parts = []
        for hierarchy, level in zip(self.data.hierarchies, self.node, strict=True):
            if level:
                parts.append(f"{hierarchy.attribute} {'*' if level == hierarchy.height else level}")
        return ", ".join(parts) or "as it is"

    def meets(self, masks: LeafMasks) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the classes inside each query and those that overlap it; shape ``(queries, classes)``."""
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


def select_rows(data: Microdata, masks: LeafMasks) -> NDArray[np.bool_]:
    """Return the rows that each query selects, shape ``(queries, rows)``."""
    found = np.ones((len(next(iter(masks.values()))), data.rows), dtype=np.bool_)
    for place, mask in masks.items():
        found &= mask[:, data.codes[:, place]]
    return found


def generalize_to_most_classes(
    data: Microdata, l: int, *, max_level: Mapping[str, int] | None = None, suppressed: float = 0.0
) -> BoxClasses:
    """Generalize to the node with the most classes, the lowest on ties.

    At most the share ``suppressed`` of the rows is suppressed. Raises ``NoSolution`` if no node within
    ``max_level`` meets l.
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
    return classes_at_node(data, tuple(levels[nodes[order[0]]].tolist()), l)


def classes_at_node(data: Microdata, node: LatticeNode, l: int) -> BoxClasses:
    """Return the classes of a node; rows in classes with fewer than ``l`` distinct losses are suppressed."""
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
    return BoxClasses(data.without(dropped), node, labels.reshape(-1), low, high, int(dropped.sum()))


GENERALIZATION = "generalization"
OPTIMIZED = (
    PartitionStrategy.MIN_SUM,
    PartitionStrategy.CONTIGUOUS_MIN_MAX,
    PartitionStrategy.MIN_MAX,
    PartitionStrategy.QI_AWARE,
)
RANDOM = PartitionStrategy.RANDOM
DEFAULT_K, DEFAULT_E = 5, 500
PERMUTATION_SEED = 2026
_DRAWS, _QUICK_DRAWS = 10, 3


def permutation_requirement(k: int = DEFAULT_K, e: int = DEFAULT_E) -> GroupRequirement:
    """Return (k,e) in the unit of the losses."""
    return GroupRequirement(k, Decimal(e))


def group_rows(
    data: Microdata, strategy: PartitionStrategy, asked: GroupRequirement, seed: int = PERMUTATION_SEED
) -> GroupPartition:
    """Group the rows by a strategy; random choices use a seed, which makes experiments repeatable."""
    codes: NDArray[np.int64] | None = data.codes if strategy is PartitionStrategy.QI_AWARE else None
    return partition_rows(
        data.column,
        asked,
        strategy,
        quasi_identifiers=codes,
        draw=np.random.default_rng(seed).permutation,
    )


Partitions = Mapping[str, Sequence[NDArray[np.int64]]]
"""Group of each row, by the partition's name; several arrays for a strategy that was drawn several times."""


def compute_partitions(
    context: Context,
    data: Microdata,
    classes: NDArray[np.int64],
    optimized: Sequence[PartitionStrategy] = OPTIMIZED,
) -> Partitions:
    """Return groups by generalization, by the optimized strategies, and random ones.

    ``classes`` is the label of each row of ``data`` under the generalization.
    """
    found: dict[str, Sequence[NDArray[np.int64]]] = {GENERALIZATION: (classes,)}
    for strategy in (*optimized, RANDOM):
        found[str(strategy)] = draw_partitions(context, data, strategy, permutation_requirement())
    return found


def draw_partitions(
    context: Context, data: Microdata, strategy: PartitionStrategy, asked: GroupRequirement
) -> Sequence[NDArray[np.int64]]:
    """Return the groups of one strategy; several draws for random groups, whose errors are averaged."""
    draws = 1 if strategy is not RANDOM else _QUICK_DRAWS if context.quick else _DRAWS
    return tuple(group_rows(data, strategy, asked, PERMUTATION_SEED + draw).groups for draw in range(draws))
