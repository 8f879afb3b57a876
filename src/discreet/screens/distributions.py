"""How often each value occurs before, and after: what an analyst would draw of a release.

Before, the rows of the original are counted. After, each cell's rows are spread evenly over the leaves that
it covers, which is what an analyst has to assume. Leaves are shown at the lowest level with few enough
values; rows that are suppressed appear on neither bar of a release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.generalized_table import GeneralizedTable
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.verbs.addresses import ReleasePlace, address_of
from discreet.verbs.releases import manifest_beside
from discreet.workload.answerable import as_it_stands, read_release

if TYPE_CHECKING:
    from discreet.verbs.table import Table

MOST_VALUES = 24


@dataclass(frozen=True)
class Distribution:
    """One quasi-identifier: values of a level with the rows before, and the rows expected after.

    The last value is NULL where it occurs. ``level`` is the level that the values are of.
    """

    attribute: str
    level: int
    values: tuple[str | None, ...]
    before: tuple[int, ...]
    after: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """The distribution as lists."""
        return {
            "attribute": self.attribute,
            "level": self.level,
            "values": list(self.values),
            "before": list(self.before),
            "after": list(self.after),
        }


def distributions(table: Table, release: ReleasePlace) -> tuple[Distribution, ...]:
    """The distributions of a release beside its original; ``InputError`` where the release does not fit."""
    address = address_of(release)
    counted = table.frequency_set
    original = as_it_stands(counted)
    manifest = manifest_beside(address, table.settings)
    if manifest is not None and manifest.kind.data_table is not None:
        raise InputError(
            f"{address.name} is a database",
            allowed="a release that is a file of rows",
            advice="Ask it queries.",
        )
    with table.engine("Reading the release") as engine:
        found = read_release(
            engine,
            address.source(),
            table.spec,
            original,
            counted.hierarchies,
            table.settings,
        ).quasi_identifiers
    return tuple(
        _distribution(hierarchy, i, original.table, found) for i, hierarchy in enumerate(counted.hierarchies)
    )


def _distribution(
    hierarchy: GeneralizationHierarchy, place: int, before: GeneralizedTable, after: GeneralizedTable
) -> Distribution:
    level = next(
        (level for level, labels in enumerate(hierarchy.labels) if len(labels) <= MOST_VALUES),
        hierarchy.height,
    )
    labels: list[str | None] = list(hierarchy.labels[level])
    at = np.append(hierarchy.ancestors[level], len(labels))
    rows = np.bincount(at, _rows_of_leaves(before, place), minlength=len(labels) + 1)
    expected = np.bincount(at, _rows_of_leaves(after, place), minlength=len(labels) + 1)
    if rows[-1] or expected[-1]:
        labels.append(None)
    shown = len(labels)
    return Distribution(
        attribute=hierarchy.attribute,
        level=level,
        values=tuple(labels),
        before=tuple(round(x) for x in rows[:shown].tolist()),
        after=tuple(round(x, 3) for x in expected[:shown].tolist()),
    )


def _rows_of_leaves(table: GeneralizedTable, place: int) -> NDArray[np.float64]:
    """The rows expected of each leaf, then of NULL, shape ``(leaves + 1,)``."""
    cells = table.cells[place]
    rows = table.rows_of_cells(place).astype(np.float64)
    share = rows / np.maximum(cells.sizes(), 1)
    steps = np.zeros(cells.leaves + 2)
    numbers = np.diff(cells.offsets)
    each = np.repeat(share, numbers)
    with_null = (cells.last == cells.leaves) & (cells.first < cells.leaves)
    last = np.where(with_null, cells.leaves - 1, cells.last)
    np.add.at(steps, cells.first, each)
    np.add.at(steps, last + 1, -each)
    found: NDArray[np.float64] = np.maximum(np.cumsum(steps)[:-1].round(6), 0.0)
    return found
