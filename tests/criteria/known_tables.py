"""Classes of a sensitive attribute with an order, numbers or a hierarchy, for tests of criteria."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.hierarchy.level_table import LevelsHierarchy
from discreet.model.criteria.base import Criterion
from discreet.model.criterion_inputs import ClassValues, SensitiveAttribute

PATHS = {
    "flu": ("flu", "lungs", "chest", "*"),
    "ulcer": ("ulcer", "stomach", "belly", "*"),
    "angina": ("angina", "heart", "chest", "*"),
    "gout": ("gout", "foot", "foot", "*"),
    "asthma": ("asthma", "lungs", "chest", "*"),
    "cancer": ("cancer", "stomach", "belly", "*"),
}
"""Illnesses in the publisher's order, in which the groups of both levels interleave."""
WAGES = ("9", "10", "12.5", "40", "-3", "100")
HIERARCHY = LevelsHierarchy.of({value: path[1:] for value, path in PATHS.items()})

Classes = list[list[str]]


def known(table: Sequence[str]) -> SensitiveAttribute:
    """Return the attribute of a column: illnesses with their hierarchy, wages as numbers."""
    texts = sorted(set(table))
    rows = np.array([list(table).count(text) for text in texts], dtype=np.int64)
    illness = bool(texts) and texts[0] in PATHS
    return SensitiveAttribute.of(texts, rows, HIERARCHY.build("ill", texts) if illness else None)


def in_order(of: SensitiveAttribute) -> list[str]:
    """Return the values in the attribute's order: numbers by size, illnesses in the publisher's order."""
    if of.values and of.values[0] not in PATHS:
        return sorted(of.values, key=Fraction)
    return [value for value in PATHS if value in of.values]


def scores(criterion: Criterion, classes: Classes, table: Sequence[str]) -> list[int]:
    """Return each class's score; each class has two additional rows with a NULL value."""
    of = known(table)
    pairs = [
        (number, of.values.index(value), held.count(value))
        for number, held in enumerate(classes)
        for value in sorted(set(held))
    ]
    owners, codes, counts = np.array(pairs, np.int64).reshape(-1, 3).T
    distinct = np.bincount(owners, minlength=len(classes))
    sizes = np.array([len(held) + 2 for held in classes])
    values = ClassValues(distinct, owners, codes, counts, of)
    return list(map(int, criterion.scores(sizes, values)))
