"""How good a recoding by patterns is: the paper's usefulness, types and sizes (002, section 3.3).

Usefulness is the mean over the classes of how far apart their original rows are: for each attribute the
distinct values as a share of the table's, or the range as a share of the table's range where the attribute
is numeric, added up. It lies between 0 and the number of attributes; lower is better. Each class counts
once, however many rows it has, and suppressed rows are one class more. It needs the classes' members:
classes of different patterns overlap, so the release alone does not tell it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.leaf_order import leaf_order


@dataclass(frozen=True)
class Quality:
    """Usefulness, the number of output row types, and their average and largest size in rows."""

    usefulness: float
    types: int
    average: float
    maximum: int


def quality(frequency_set: FrequencySet, recoding: ClassRecoding, numeric: Collection[str] = ()) -> Quality:
    """The paper's measures of a recoding; suppressed rows are one type more.

    ``numeric`` names the attributes whose range counts; ``InputError`` where one's values are no numbers.
    """
    classes = np.where(recoding.classes == SUPPRESSED, recoding.class_count, recoding.classes)
    if not len(classes):
        return Quality(0.0, 0, 0.0, 0)
    kinds, classes = np.unique(classes, return_inverse=True)
    sizes = np.zeros(len(kinds), np.int64)
    np.add.at(sizes, classes, recoding.rows)
    codes = frequency_set.codes[recoding.row_types]
    total = 0.0
    for j, name in enumerate(frequency_set.attributes):
        apart = _range_apart if name in numeric else _values_apart
        total += apart(frequency_set, j, classes, codes[:, j], len(kinds))
    return Quality(
        usefulness=total / len(kinds),
        types=len(kinds),
        average=float(sizes.mean()),
        maximum=int(sizes.max()),
    )


def _values_apart(
    frequency_set: FrequencySet, j: int, classes: NDArray[np.int64], codes: NDArray[np.int64], number: int
) -> float:
    """Distinct values as a share of the table's, added up over the classes; NULL is a value."""
    del number
    occurring = len(np.unique(frequency_set.codes[:, j]))
    pairs = np.unique(classes * (frequency_set.hierarchies[j].null_code + 1) + codes)
    return len(pairs) / max(occurring, 1)


def _range_apart(
    frequency_set: FrequencySet, j: int, classes: NDArray[np.int64], codes: NDArray[np.int64], number: int
) -> float:
    """Ranges as a share of the table's, added up over the classes; NULL and constants add nothing."""
    hierarchy = frequency_set.hierarchies[j]
    numbers = leaf_order(hierarchy).numbers
    if numbers is None:
        raise InputError(
            f"'{hierarchy.attribute}' has values that are no numbers", allowed="numeric attributes"
        )
    values = np.array([*(float(value) for value in numbers), np.nan])[codes]
    known = ~np.isnan(values)
    if not known.any() or float(np.ptp(values[known])) == 0.0:
        return 0.0
    low, high = np.full(number, np.inf), np.full(number, -np.inf)
    np.minimum.at(low, classes[known], values[known])
    np.maximum.at(high, classes[known], values[known])
    ranged = high >= low
    return float((high[ranged] - low[ranged]).sum() / np.ptp(values[known]))
