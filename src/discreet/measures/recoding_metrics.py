"""Metrics of a recoding: granularity, usefulness and prosecutor risk.

Sources: ARX (granularity), Loukides and Shao 2008 and Bredereck et al. 2013 (usefulness). Granularity is 1 −
(sum of the losses (m − 1)/D) / (rows · Σ (1 − 1/D)) for cells of m of D leaves. Usefulness is the mean over
classes of the ranges or distinct values of their original rows, as shares of the table's. Risk is 1 / class
size.

Cost: one pass over the parts of the recoding, or the members of the classes, per attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.loss import leaf_counts
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy, order_leaves


def level_shares(hierarchy: GeneralizationHierarchy) -> NDArray[np.float64]:
    """Return (m − 1)/D of each level's value above each leaf and NULL, shape ``(height + 1, leaves + 1)``."""
    counts = np.stack([leaf_counts(hierarchy, level) for level in range(hierarchy.height + 1)])
    return (counts - 1) / len(hierarchy.leaves)


def max_loss(frequency_set: FrequencySet) -> float:
    """Return the loss of a row with every cell at its top: the sum over the attributes of 1 − 1/D."""
    return sum(1.0 - 1.0 / len(h.leaves) for h in frequency_set.hierarchies)


def recoding_granularity(frequency_set: FrequencySet, recoding: ClassRecoding) -> float:
    """Return the granularity of a release of classes; 1 for an empty table.

    A suppressed row loses everything.
    """
    retained = recoding.classes != SUPPRESSED
    classes, rows = recoding.classes[retained], recoding.rows[retained]
    lost = max_loss(frequency_set) * recoding.suppressed
    for i, cells in enumerate(recoding.cells):
        loss = (cells.sizes() - 1) / cells.leaves
        lost += float((loss[recoding.shown[classes, i]] * rows).sum())
    most = max_loss(frequency_set) * frequency_set.rows
    return 1.0 - lost / most if most else 1.0


_MAX_MARKS = 1 << 27
"""Maximum number of pairs of class and value that are marked in an array of bytes; more pairs are sorted."""

NumericValues = tuple[NDArray[np.float64] | None, ...]
"""For each attribute that counts as a number, the value of each code (NULL is last, as NaN); otherwise None.
"""


@dataclass(frozen=True, eq=False)
class OriginalMembers:
    """Original rows of each class: class ``classes[p]`` contains rows of ``row_types[p]``.

    Classes are numbered from 0 to ``number`` − 1. Suppressed rows, if any, form one of them.
    """

    classes: NDArray[np.int64]
    row_types: NDArray[np.int64]
    number: int

    @classmethod
    def of_recoding(cls, recoding: ClassRecoding) -> OriginalMembers:
        """Build from a recoding; classes with equal cells are one class in the release, and here."""
        class_of = np.zeros(0, np.int64)
        if recoding.class_count:
            class_of = np.unique(recoding.shown, axis=0, return_inverse=True)[1].reshape(-1)
        kinds = np.append(class_of, recoding.class_count)[recoding.classes]
        used = np.bincount(kinds, minlength=1) > 0
        return cls((np.cumsum(used) - 1)[kinds], recoding.row_types, int(np.count_nonzero(used)))

    def sizes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of each class, suppressed ones last, given the rows of each member."""
        result = np.zeros(self.number, np.int64)
        np.add.at(result, self.classes, rows)
        return result


def numeric_values(
    hierarchies: Sequence[GeneralizationHierarchy], declared: Mapping[str, bool] | None = None
) -> NumericValues:
    """Return each attribute's numeric values: if declared numeric, or undeclared with only numbers.

    Raises ``InputError`` if an attribute is declared numeric and has a leaf that is not a number.
    """
    return tuple(
        _numeric_values_of(hierarchy, (declared or {}).get(hierarchy.attribute)) for hierarchy in hierarchies
    )


def _numeric_values_of(
    hierarchy: GeneralizationHierarchy, declared: bool | None
) -> NDArray[np.float64] | None:
    found = None if declared is False else order_leaves(hierarchy).numbers
    if found is not None:
        return np.array([*(float(number) for number in found), np.nan])
    if declared:
        raise InputError(
            f"'{hierarchy.attribute}' is declared numeric, but has values that are not numbers",
            allowed="numeric = true where every value is a number",
            advice="Remove it; the values are counted then.",
        )
    return None


def compute_usefulness(
    frequency_set: FrequencySet, members: OriginalMembers, numbers: NumericValues
) -> float:
    """Return the usefulness of classes with known members; 0 without classes.

    A constant number costs nothing.

    Cost: one pass over the members per attribute.
    """
    if not members.number:
        return 0.0
    total = 0.0
    for i, values in enumerate(numbers):
        codes = frequency_set.codes[:, i]
        total += _distinct_shares(codes, members) if values is None else _range_shares(values[codes], members)
    return total / members.number


def _distinct_shares(codes: NDArray[np.int64], members: OriginalMembers) -> float:
    """Return the sum over classes of the distinct values as a share of the table's."""
    occurs = np.bincount(codes) > 0
    pairs = members.classes * len(occurs) + codes[members.row_types]
    if members.number * len(occurs) <= _MAX_MARKS:
        marks = np.zeros(members.number * len(occurs), np.bool_)
        marks[pairs] = True
        distinct = int(np.count_nonzero(marks))
    else:
        distinct = len(np.unique(pairs))
    return distinct / int(np.count_nonzero(occurs))


def _range_shares(values: NDArray[np.float64], members: OriginalMembers) -> float:
    """Return the sum over classes of the ranges as a share of the table's; NULL and constants add nothing."""
    known = ~np.isnan(values)
    width = float(np.ptp(values[known])) if known.any() else 0.0
    if not width:
        return 0.0
    low, high = np.full(members.number, np.inf), np.full(members.number, -np.inf)
    cell_codes = known[members.row_types]
    classes, found = members.classes[cell_codes], values[members.row_types[cell_codes]]
    np.minimum.at(low, classes, found)
    np.maximum.at(high, classes, found)
    ranged = high >= low
    return float((high[ranged] - low[ranged]).sum()) / width


@dataclass(frozen=True)
class ProsecutorRisk:
    """Probability of identifying the person of a row: ``1 / class size``.

    ``highest`` is that of the smallest class, ``mean`` the average over all rows (classes / rows), and
    ``unique_share`` the share of rows in classes of one row. All are between 0 and 1.
    """

    highest: float
    mean: float
    unique_share: float


def prosecutor_risk(class_sizes: NDArray[np.int64]) -> ProsecutorRisk:
    """Compute the risk from class sizes in rows, each at least 1; zero for a table without rows."""
    rows = int(class_sizes.sum())
    if rows == 0:
        return ProsecutorRisk(highest=0.0, mean=0.0, unique_share=0.0)
    return ProsecutorRisk(
        highest=1.0 / int(class_sizes.min()),
        mean=len(class_sizes) / rows,
        unique_share=int((class_sizes == 1).sum()) / rows,
    )
