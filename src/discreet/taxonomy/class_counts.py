"""Classes of row types: which of them fail a requirement, and their cost by C_DM or C_AVG.

Both costs are sums over classes by their rows, with lower bounds for classes that may be divided further.
Bayardo and Agrawal (2005) bound C_DM by the rows of each finest class, k at least. Here a class of n rows
is divided into at most n // k classes, and equal ones cost least, so classes of k to 2k - 1 rows have
their final cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, NoSolution
from discreet.frequency.encoding import pack_columns
from discreet.frequency.fact_counter import FactCounter
from discreet.frequency.rollup import count_matching_people
from discreet.model.class_recoding import RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import (
    Requirement,
    failing_mask,
    is_growing,
    is_monotone,
    require_growing,
    require_monotone,
)


class ClassCounts:
    """Judges classes of a frequency set's row types.

    ``InputError`` where subjects have several rows, or a criterion is asked of what is not sensitive.
    """

    def __init__(self, frequency_set: FrequencySet, requirement: Requirement) -> None:
        subjects = frequency_set.subjects
        if subjects is not None and subjects.size != frequency_set.rows:
            raise InputError(
                f"{subjects.size:,} subjects have {frequency_set.rows:,} rows, but this model needs one row "
                "per subject",
                allowed="a table with one row per subject, or levels that are negotiated (no --model)",
            )
        self.rows = frequency_set.counts
        self.requirement = requirement
        self._facts = FactCounter.of(frequency_set, requirement)

    def failing(
        self, class_of: NDArray[np.int64], classes: int, types: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """The classes that fail, shape ``(classes,)``; one without rows does not.

        ``class_of`` names the class of each row type in ``types``, or of all. O(row types + their values).
        """
        facts = self._facts.facts(class_of, classes, types)
        return failing_mask(self._facts.bound, facts) & (facts.sizes > 0)

    def suppressed(self, class_of: NDArray[np.int64], classes: int) -> NDArray[np.bool_]:
        """The classes that go, of classes of all row types: the release's criteria are looked at, too."""
        return self._facts.suppressed(class_of, classes)

    @property
    def needs_levels(self) -> bool:
        """Whether a criterion asks who matches a class, or what all show: of classes of levels alone."""
        return self._facts.of_population or self.requirement.of_cells is not None

    def suppressed_at(
        self, node: LatticeNode, class_of: NDArray[np.int64], shown: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """The classes of a node that go; ``shown`` (shape ``(classes, attributes)``) is what each shows."""
        facts = self._facts
        people = count_matching_people(facts.table, node, shown) if facts.of_population else None
        cells = shown if self.requirement.of_cells is not None else None
        return facts.suppressed(class_of, len(shown), people, cells)

    def failing_types(
        self, class_of: NDArray[np.int64], types: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Whether each row type is in a failing class."""
        return self.failing(class_of, int(class_of.max(initial=-1)) + 1, types)[class_of]

    def failing_rows(self, class_of: NDArray[np.int64], types: NDArray[np.int64] | None = None) -> int:
        """The rows of failing classes."""
        rows = self.rows if types is None else self.rows[types]
        return int(rows[self.failing_types(class_of, types)].sum())

    def require_merging(self, model: RecodingModel, limit: int) -> None:
        """Raise ``InputError`` for a criterion that may fail where the model's search merges classes.

        With a limit of suppressed rows, rows of failing classes join others. ``local`` recoding takes care of
        that, and full-domain recoding takes any criterion.
        """
        who = f"the {model} model"
        advice = "Use the full-domain model, which judges every node by itself."
        require_monotone(self.requirement, who, advice=advice)
        if limit or model is RecodingModel.CELL_SUPPRESSION:
            which = f"{who} with up to {limit:,} rows suppressed" if limit else who
            other = "Use the cell-generalization or the full-domain model"
            advice = f"{other}, or let no row be suppressed." if limit else f"{other}."
            require_growing(self.requirement, which, advice=advice)

    def require_solution(self, limit: int) -> None:
        """Raise ``NoSolution`` where even one class of all rows fails and may not be suppressed.

        Where that says nothing of smaller classes (``model.requirement``), it is not asked.
        """
        rows = int(self.rows.sum())
        everything = np.zeros(len(self.rows), dtype=np.int64)
        told = is_growing(self.requirement) or (limit == 0 and is_monotone(self.requirement))
        if not rows or (told and self.failing_rows(everything) > limit):
            raise NoSolution(
                f"not even one class of all {rows:,} rows meets {self.requirement}",
                allowed="a k of at most the rows, and an l of at most the sensitive values",
                advice="Ask for less. Nothing was written.",
            )


def number_classes_of_columns(
    columns: Sequence[NDArray[np.int64]], sizes: Sequence[int]
) -> NDArray[np.int64]:
    """The class of each row type: those that agree in every column, numbered from 0."""
    return np.unique(pack_columns(columns, sizes), return_inverse=True)[1]


IMPOSSIBLE_COST = 1 << 50
"""What stands for the impossible; the same as ``kernels.interval_pairs.BIG``."""

MOST_SQUARED_ROWS = 1 << 24
"""Rows whose square, summed, stays below ``BIG``."""

_Integers = NDArray[np.int64]


class ClassCost(StrEnum):
    """What is least at the optimum, by the names of the metrics."""

    C_DM = "c-dm"
    C_AVG = "c-avg"


@dataclass(frozen=True)
class ClassCostRule:
    """The cost of classes of a table of ``rows`` rows: k, and how many rows may be suppressed.

    C_DM adds n² for a class of n rows and ``rows`` for each suppressed one; C_AVG counts each class as -1.
    """

    cost: ClassCost
    k: int
    limit: int
    rows: int

    @property
    def penalty(self) -> int:
        """The cost of a suppressed row; 0 where classes are counted."""
        return self.rows if self.cost is ClassCost.C_DM else 0

    def bound(self, sizes: _Integers, finest: _Integers) -> _Integers:
        """A lower bound of what each class costs once it is divided further, ``BIG`` where it cannot stand.

        ``finest`` holds for each class the ``leaf_costs`` of the classes that all cuts would make of it.
        """
        short = (sizes > 0) & (sizes < self.k)
        parts = np.maximum(sizes // self.k, 1)
        if self.cost is ClassCost.C_AVG:
            found = -np.minimum(sizes // self.k, finest)
        else:
            even, odd = np.divmod(sizes, parts)
            found = np.maximum(even * even * (parts - odd) + (even + 1) ** 2 * odd, finest)
            if self.limit:
                left = np.clip(sizes - self.rows // 2, 0, self.limit)
                alone = left * self.rows + (sizes - left) ** 2
                found = np.where(parts > 1, np.maximum(sizes * sizes // parts, finest), alone)
        return np.where(short, np.where(sizes <= self.limit, sizes * self.penalty, IMPOSSIBLE_COST), found)

    def leaf_costs(self, counts: _Integers) -> _Integers:
        """What each finest class adds to ``finest``: each of its rows k at least; or one class."""
        return np.ones_like(counts) if self.cost is ClassCost.C_AVG else counts * np.maximum(counts, self.k)

    def value(self, cost: int) -> float:
        """The metric from the sum: C_DM itself, or C_AVG."""
        if self.cost is ClassCost.C_DM:
            return float(cost)
        return self.rows / max(-cost, 1) / self.k
