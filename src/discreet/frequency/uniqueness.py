"""How far quasi-identifiers single rows out, one by one and together, before anything is generalized."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.frequency.rollup import roll_up
from discreet.model.frequency_set import FrequencySet


@dataclass(frozen=True)
class AttributeUniqueness:
    """What one quasi-identifier adds.

    ``values`` occur, ``null_rows`` have none; ``unique_alone`` rows have a value that no other row has;
    ``unique_without`` rows would still be unique if this attribute were generalized to its top.
    """

    attribute: str
    values: int
    null_rows: int
    unique_alone: int
    unique_without: int


@dataclass(frozen=True)
class Uniqueness:
    """Row types of a table: how many there are, how large, how many hold one row.

    ``class_sizes`` maps a number of rows to the number of row types that have so many.
    """

    rows: int
    row_types: int
    unique_rows: int
    class_sizes: Mapping[int, int]
    attributes: tuple[AttributeUniqueness, ...]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values, for ``--json``."""
        return {
            "rows": self.rows,
            "row_types": self.row_types,
            "unique_rows": self.unique_rows,
            "class_sizes": {str(size): number for size, number in self.class_sizes.items()},
            "attributes": [vars(attribute) for attribute in self.attributes],
            "warnings": list(self.warnings),
        }


def uniqueness_of(frequency_set: FrequencySet) -> Uniqueness:
    """The uniqueness of a table's rows. Cost: a sort of the row types per quasi-identifier."""
    sizes, numbers = np.unique(frequency_set.counts, return_counts=True)
    attributes = tuple(_attribute(frequency_set, i) for i in range(len(frequency_set.hierarchies)))
    return Uniqueness(
        rows=frequency_set.rows,
        row_types=frequency_set.row_types,
        unique_rows=int((frequency_set.counts == 1).sum()),
        class_sizes=dict(zip(sizes.tolist(), numbers.tolist(), strict=True)),
        attributes=attributes,
        warnings=tuple(_warnings(frequency_set, attributes)),
    )


def _attribute(frequency_set: FrequencySet, place: int) -> AttributeUniqueness:
    hierarchy = frequency_set.hierarchies[place]
    rows = np.zeros(hierarchy.null_code + 1, dtype=np.int64)
    np.add.at(rows, frequency_set.codes[:, place], frequency_set.counts)
    without = tuple(h.height if i == place else 0 for i, h in enumerate(frequency_set.hierarchies))
    return AttributeUniqueness(
        attribute=hierarchy.attribute,
        values=int((rows[:-1] > 0).sum()),
        null_rows=int(rows[-1]),
        unique_alone=int((rows == 1).sum()),
        unique_without=int((roll_up(frequency_set, without).counts == 1).sum()),
    )


def _warnings(frequency_set: FrequencySet, attributes: tuple[AttributeUniqueness, ...]) -> list[str]:
    rows = frequency_set.rows
    found = []
    if frequency_set.dropped:
        found.append(f"{frequency_set.dropped:,} rows with NULL were left out.")
    for a in attributes:
        if 2 * a.unique_alone > rows:
            found.append(
                f"'{a.attribute}' alone singles out {a.unique_alone:,} of {rows:,} rows: an identifier?"
            )
        if a.values + (a.null_rows > 0) == 1:
            found.append(f"'{a.attribute}' is the same in every row.")
        if a.null_rows:
            found.append(f"'{a.attribute}' is NULL in {a.null_rows:,} rows, which count as one value.")
    return found
