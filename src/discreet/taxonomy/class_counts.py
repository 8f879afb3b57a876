"""Classes of row types: their test against a requirement, and their cost by C_DM or C_AVG.

Both costs are sums over classes by their rows, with lower bounds for classes that may be divided further.
Bayardo and Agrawal (2005) bound C_DM by the rows of each finest class, at least k. Here a class of n rows
is divided into at most n // k classes, and equal ones cost least, so classes of k to 2k - 1 rows have their
final cost.
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
    """Evaluator of the classes of a frequency set's row types; ``table`` is the frequency set.

    Raises ``InputError`` if subjects have several rows, or a criterion is required of an attribute that is
    not sensitive.
    """

    def __init__(self, frequency_set: FrequencySet, requirement: Requirement) -> None:
        subjects = frequency_set.subjects
        if subjects is not None and subjects.size != frequency_set.rows:
            raise InputError(
                f"{subjects.size:,} subjects have {frequency_set.rows:,} rows, but this model needs one row "
                "per subject",
                allowed="a table with one row per subject, or levels that are negotiated (no --model)",
            )
        self.table = frequency_set
        self.rows = frequency_set.counts
        self.requirement = requirement
        self._facts = FactCounter.of(frequency_set, requirement)

    def failing(
        self, class_of: NDArray[np.int64], classes: int, types: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Return the classes that fail, shape ``(classes,)``; a class without rows does not fail.

        ``class_of`` contains the class of each row type in ``types``, or of all. Cost: O(row types + their
        values).
        """
        facts = self._facts.facts(class_of, classes, types)
        return failing_mask(self._facts.bound, facts) & (facts.sizes > 0)

    def suppressed(self, class_of: NDArray[np.int64], classes: int) -> NDArray[np.bool_]:
        """Return the suppressed classes among all classes; release-level criteria are evaluated, too."""
        return self._facts.suppressed(class_of, classes)

    @property
    def needs_levels(self) -> bool:
        """True if a criterion reads the matching population or cells, which only nodes' classes have."""
        return self._facts.of_population or self.requirement.of_cells is not None

    def suppressed_at(
        self, node: LatticeNode, class_of: NDArray[np.int64], cell_codes: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return the suppressed classes of a node.

        ``cell_codes``, shape ``(classes, attributes)``, contains the published cells of each class.
        """
        facts = self._facts
        people = count_matching_people(facts.table, node, cell_codes) if facts.of_population else None
        cells = cell_codes if self.requirement.of_cells is not None else None
        return facts.suppressed(class_of, len(cell_codes), people, cells)

    def failing_types(
        self, class_of: NDArray[np.int64], types: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Return for each row type whether it is in a failing class."""
        return self.failing(class_of, int(class_of.max(initial=-1)) + 1, types)[class_of]

    def failing_rows(self, class_of: NDArray[np.int64], types: NDArray[np.int64] | None = None) -> int:
        """Return the number of rows in failing classes."""
        rows = self.rows if types is None else self.rows[types]
        return int(rows[self.failing_types(class_of, types)].sum())

    def require_merging(self, model: RecodingModel, limit: int) -> None:
        """Raise ``InputError`` for a criterion that may fail after the model's search merges classes.

        With a limit of suppressed rows, rows of failing classes join others. ``local`` recoding handles
        this case, and full-domain recoding accepts any criterion.
        """
        who = f"the {model} model"
        advice = "Use the full-domain model, which evaluates each node separately."
        require_monotone(self.requirement, who, advice=advice)
        if limit or model is RecodingModel.CELL_SUPPRESSION:
            which = f"{who} with up to {limit:,} rows suppressed" if limit else who
            other = "Use the cell-generalization or the full-domain model"
            advice = f"{other}, or allow no suppressed rows." if limit else f"{other}."
            require_growing(self.requirement, which, advice=advice)

    def require_solution(self, limit: int) -> None:
        """Raise ``NoSolution`` if one class of all rows fails and may not be suppressed.

        The class of all rows is not tested if it implies nothing about smaller classes
        (``model.requirement``).
        """
        rows = int(self.rows.sum())
        everything = np.zeros(len(self.rows), dtype=np.int64)
        is_bounded = is_growing(self.requirement) or (limit == 0 and is_monotone(self.requirement))
        if not rows or (is_bounded and self.failing_rows(everything) > limit):
            raise NoSolution(
                f"all {rows:,} rows in one class do not meet {self.requirement}",
                allowed="a k of at most the rows, and an l of at most the sensitive values",
                advice="Relax the requirement. Nothing was written.",
            )


def number_classes_of_columns(
    columns: Sequence[NDArray[np.int64]], sizes: Sequence[int]
) -> NDArray[np.int64]:
    """Return the class of each row type, numbered from 0: row types that agree in every column share one."""
    return np.unique(pack_columns(columns, sizes), return_inverse=True)[1]


IMPOSSIBLE_COST = 1 << 50
"""Cost of an impossible division; equal to ``kernels.interval_pairs.INFEASIBLE_COST``."""

MOST_SQUARED_ROWS = 1 << 24
"""Number of rows whose summed squares stay below ``IMPOSSIBLE_COST``."""

_Integers = NDArray[np.int64]


class ClassCost(StrEnum):
    """Cost that is minimized, by the names of the metrics."""

    C_DM = "c-dm"
    C_AVG = "c-avg"


@dataclass(frozen=True)
class ClassCostRule:
    """Cost of the classes of a table with ``rows`` rows, k, and at most ``limit`` suppressed rows.

    C_DM adds n² for a class of n rows and ``rows`` for each suppressed row; C_AVG counts each class as -1.
    """

    cost: ClassCost
    k: int
    limit: int
    rows: int

    @property
    def penalty(self) -> int:
        """Cost of a suppressed row; 0 if classes are counted."""
        return self.rows if self.cost is ClassCost.C_DM else 0

    def bound(self, sizes: _Integers, finest: _Integers) -> _Integers:
        """Return a lower bound of the cost of each class after further division.

        It is ``IMPOSSIBLE_COST`` for a class that is not allowed. ``finest`` contains for each class the
        sum of the ``leaf_costs`` of the classes that all cuts would make of it.
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
                lower_bound = left * self.rows + (sizes - left) ** 2
                found = np.where(parts > 1, np.maximum(sizes * sizes // parts, finest), lower_bound)
        return np.where(short, np.where(sizes <= self.limit, sizes * self.penalty, IMPOSSIBLE_COST), found)

    def leaf_costs(self, counts: _Integers) -> _Integers:
        """Return each finest class's share of ``finest``: rows times max(rows, k) for C_DM, 1 for C_AVG."""
        return np.ones_like(counts) if self.cost is ClassCost.C_AVG else counts * np.maximum(counts, self.k)

    def value(self, cost: int) -> float:
        """Return the metric from the summed cost: C_DM itself, or C_AVG."""
        if self.cost is ClassCost.C_DM:
            return float(cost)
        return self.rows / max(-cost, 1) / self.k
