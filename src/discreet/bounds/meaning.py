"""What the labels of a column may stand for: values that answer a query alike are one code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.model.cells import Cells
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.leaf_order import decimal_of
from discreet.workload.labels import cells_of_codes, read_cells

UNBOUNDED = (Decimal("-Infinity"), Decimal("Infinity"))
Ends = tuple[Decimal, Decimal] | None
"""The least and the largest number that a code may be, infinite where there is no end; None: no number."""


@dataclass(frozen=True, eq=False)
class Meaning:
    """The codes of a column, and which of them each of its labels covers.

    ``texts[c]`` stands for all values of code c; NULL has the code after the last. ``ends[c]`` are the
    numbers that they may be. ``note`` says what was taken for granted. ``half_units`` hold, by label that
    states a mean, the mean and half a unit of its last digit.
    """

    cells: Cells
    texts: tuple[str, ...]
    ends: tuple[Ends, ...]
    note: str | None = None
    means: dict[str, tuple[Decimal, float]] = field(default_factory=dict)

    @property
    def numbers(self) -> NDArray[np.bool_]:
        """Which codes are numbers, NULL last."""
        return np.array([*(end is not None for end in self.ends), False], dtype=np.bool_)


def exact(name: str, labels: Sequence[str | None]) -> Meaning:
    """A column that shows values."""
    texts = tuple(label for label in labels if label is not None)
    place = {text: code for code, text in enumerate(texts)}
    codes = [np.array([len(texts) if label is None else place[label]]) for label in labels]
    return Meaning(cells_of_codes(name, len(texts), labels, codes), texts, _own(texts))


def by_hierarchy(
    hierarchy: GeneralizationHierarchy, labels: Sequence[str | None], *, nullable: bool
) -> Meaning:
    """A column whose hierarchy is known; ``InputError`` for labels that cover none of its values."""
    read = read_cells(hierarchy, labels, nullable=nullable)
    means = {
        label: (Decimal(str(mean)), half)
        for label, mean, half in zip(labels, read.means.tolist(), read.half_units.tolist(), strict=True)
        if label is not None and mean == mean  # not NaN
    }
    return Meaning(read.cells, hierarchy.leaves, _own(hierarchy.leaves), means=means)


def _own(texts: Sequence[str]) -> tuple[Ends, ...]:
    numbers = (decimal_of(text) for text in texts)
    return tuple(None if number is None else (number, number) for number in numbers)
