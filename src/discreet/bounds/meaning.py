"""What the labels of a column may stand for: values that answer a query alike are one code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.model.cells import Cells
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.leaf_order import decimal_of
from discreet.workload.labels import cells_of_codes, read_cells
from discreet.workload.occurring_labels import occurring_leaves

UNBOUNDED = (Decimal("-Infinity"), Decimal("Infinity"))
Ends = tuple[Decimal, Decimal] | None
"""The least and the largest number that a code may be, infinite where there is no end; None: no number."""


@dataclass(frozen=True, eq=False)
class Meaning:
    """The codes of a column, and which of them each of its labels covers.

    ``texts[c]`` stands for all values of code c; NULL has the code after the last. ``ends[c]`` are the
    numbers that they may be. ``note`` says what was taken for granted. ``means`` hold, by label that states
    a mean, the mean and half a unit of its last digit. ``occurring`` are, by label, the codes that occur in
    every class which shows it: the ends of a range, the members of a set; labels of one value have none.
    """

    cells: Cells
    texts: tuple[str, ...]
    ends: tuple[Ends, ...]
    note: str | None = None
    means: dict[str, tuple[Decimal, float]] = field(default_factory=dict)
    occurring: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

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
    hierarchy: GeneralizationHierarchy,
    labels: Sequence[str | None],
    *,
    nullable: bool,
    summary: str | None = None,
) -> Meaning:
    """A column whose hierarchy is known; ``InputError`` for labels that cover none of its values."""
    read = read_cells(hierarchy, labels, nullable=nullable)
    means = {
        label: (Decimal(str(mean)), half)
        for label, mean, half in zip(labels, read.means.tolist(), read.half_units.tolist(), strict=True)
        if label is not None and mean == mean  # not NaN
    }
    own = _own(hierarchy.leaves)
    known = {
        label: tuple(hierarchy.code_of_leaf[leaf] for leaf in leaves)
        for label in labels
        if label is not None and (leaves := occurring_leaves(label, summary, hierarchy))
    }
    return Meaning(read.cells, hierarchy.leaves, own, means=means, occurring=known)


def _own(texts: Sequence[str]) -> tuple[Ends, ...]:
    numbers = (decimal_of(text) for text in texts)
    return tuple(None if number is None else (number, number) for number in numbers)
