"""Usefulness, in this one place, by Definitions 3 to 5 of Bredereck et al. (2013; Loukides and Shao 2008).

For each class the sum over the attributes of how far apart its original values are: the range as a share of
the table's range where the attribute counts as a number, the distinct values as a share of the table's where
it does not (NULL is a value of it). Then the mean over the classes, each counting once however many rows it
has: from 0 to the number of attributes, lower is better.

A class's rows are those that it was made of, not all that its cells cover. Where classes overlap, the
release does not tell which those are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.leaf_order import leaf_order

_MOST_MARKS = 1 << 27
"""Pairs of class and value that are marked in a field of bytes; more are sorted."""

Numbers = tuple[NDArray[np.float64] | None, ...]
"""Of each attribute that counts as a number the value of each code (NULL, the last: NaN), else None."""


@dataclass(frozen=True, eq=False)
class Members:
    """Which original rows each class was made of: class ``classes[p]`` has rows of ``row_types[p]``.

    Classes are numbered from 0 to ``number`` − 1. Suppressed rows, where there are any, are one of them.
    """

    classes: NDArray[np.int64]
    row_types: NDArray[np.int64]
    number: int

    @classmethod
    def of_recoding(cls, recoding: ClassRecoding) -> Members:
        """Those of a recoding; classes that show the same are one in the release, and here."""
        shown = np.zeros(0, np.int64)
        if recoding.class_count:
            shown = np.unique(recoding.shown, axis=0, return_inverse=True)[1].reshape(-1)
        kinds = np.append(shown, recoding.class_count)[recoding.classes]
        used = np.bincount(kinds, minlength=1) > 0
        return cls((np.cumsum(used) - 1)[kinds], recoding.row_types, int(np.count_nonzero(used)))

    def sizes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of each class, suppressed ones last, where ``rows`` are those of each member."""
        found = np.zeros(self.number, np.int64)
        np.add.at(found, self.classes, rows)
        return found


def numbers_of(
    hierarchies: Sequence[GeneralizationHierarchy], declared: Mapping[str, bool] | None = None
) -> Numbers:
    """Which attributes count as numbers: those declared so, else those of which every leaf is one.

    ``InputError`` where one is declared a number and has a leaf that is none.
    """
    return tuple(_numbers(hierarchy, (declared or {}).get(hierarchy.attribute)) for hierarchy in hierarchies)


def _numbers(hierarchy: GeneralizationHierarchy, declared: bool | None) -> NDArray[np.float64] | None:
    found = None if declared is False else leaf_order(hierarchy).numbers
    if found is not None:
        return np.array([*(float(number) for number in found), np.nan])
    if declared:
        raise InputError(
            f"'{hierarchy.attribute}' is said to be numeric, but has values that are no numbers",
            allowed="numeric = true where every value is a number",
            advice="Remove it; the values are counted then.",
        )
    return None


def only(names: Collection[str], of: Collection[str]) -> dict[str, bool]:
    """The declaration that these attributes are numbers and no other is."""
    return {name: name in names for name in of}


def usefulness_of(frequency_set: FrequencySet, members: Members, numbers: Numbers) -> float:
    """The usefulness of classes with known members; 0 where there is none. A constant number costs nothing.

    Cost: one pass over the members per attribute.
    """
    if not members.number:
        return 0.0
    total = 0.0
    for i, values in enumerate(numbers):
        codes = frequency_set.codes[:, i]
        total += _values_apart(codes, members) if values is None else _range_apart(values[codes], members)
    return total / members.number


def _values_apart(codes: NDArray[np.int64], members: Members) -> float:
    """Distinct values as a share of the table's, added up over the classes."""
    occurs = np.bincount(codes) > 0
    pairs = members.classes * len(occurs) + codes[members.row_types]
    if members.number * len(occurs) <= _MOST_MARKS:
        marks = np.zeros(members.number * len(occurs), np.bool_)
        marks[pairs] = True
        distinct = int(np.count_nonzero(marks))
    else:
        distinct = len(np.unique(pairs))
    return distinct / int(np.count_nonzero(occurs))


def _range_apart(values: NDArray[np.float64], members: Members) -> float:
    """Ranges as a share of the table's, added up over the classes; NULL (NaN) and constants add nothing."""
    known = ~np.isnan(values)
    width = float(np.ptp(values[known])) if known.any() else 0.0
    if not width:
        return 0.0
    low, high = np.full(members.number, np.inf), np.full(members.number, -np.inf)
    shown = known[members.row_types]
    classes, found = members.classes[shown], values[members.row_types[shown]]
    np.minimum.at(low, classes, found)
    np.maximum.at(high, classes, found)
    ranged = high >= low
    return float((high[ranged] - low[ranged]).sum()) / width
