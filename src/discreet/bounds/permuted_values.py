"""Conditions on permuted values: of a group's rows, so many have a value that meets one, which is not known.

Of a group of n rows v values meet a condition and h rows another one; so between max(0, h + v - n) and
min(h, v) rows meet both, h·v/n on the average, and any of the h rows may be among them (Zhang et al. 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.opening import OpenRelease
from discreet.bounds.permuted_files import PermutedFiles
from discreet.bounds.value_groups import Selected, ValueGroups
from discreet.engines.scratch import opened
from discreet.errors import InputError
from discreet.model.leaf_order import decimal_of
from discreet.queries.region import Box
from discreet.workload.counting import CountedColumns, count_columns

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PermutedValues:
    """The values of each group: ``rows[i]`` rows of group ``group[i]`` have ``texts[codes[i]]``, or NULL."""

    name: str
    texts: tuple[str, ...]
    group: NDArray[np.int64]
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    groups: int

    def meeting(self, region: Sequence[Box]) -> Mask:
        """Which lines have a value in a region, which bounds this column alone."""
        found = np.zeros(len(self.texts) + 1, dtype=np.bool_)
        for box in region:
            found |= box.get(self.name, True)
        return np.asarray(found[self.codes], dtype=np.bool_)

    def selected(self, rows: Selected, meets: Mask) -> Selected:
        """How many of the rows that are selected have a value that meets the condition too."""
        everything = np.bincount(self.group, self.rows, self.groups).astype(np.int64)
        having = np.bincount(self.group, self.rows * meets, self.groups).astype(np.int64)
        return Selected(
            np.maximum(0, rows.certain + having - everything),
            np.minimum(rows.possible, having),
            rows.expected * having / np.maximum(everything, 1),
        )

    def counted(self, meets: Mask) -> ValueGroups:
        """The values that meet a condition, to be counted; all others as if they were NULL."""
        known = meets & (self.codes < len(self.texts))
        return ValueGroups.of_counts(self.group, self.rows, known, self.groups)

    def measured(self, meets: Mask) -> ValueGroups:
        """The same as numbers."""
        numbers: list[Decimal | None] = [*(decimal_of(text) for text in self.texts), None]
        values = [
            numbers[code] if met else None
            for code, met in zip(self.codes.tolist(), meets.tolist(), strict=True)
        ]
        return ValueGroups.of(self.group, self.rows, values, self.groups)


def values_of(release: OpenRelease, permuted: PermutedFiles, numbers: Mapping[str, int]) -> PermutedValues:
    """The values of each group, whose name in the release ``numbers`` maps to its place."""
    counted = _counted(release, permuted)
    number_of = np.array([numbers.get(name, -1) for name in counted.texts[0]], dtype=np.int64)
    group = number_of[counted.codes[:, 0]]
    if (group < 0).any():
        raise InputError(
            f"the values of '{permuted.facts.sensitive}' name a group that the release does not have",
            advice="A file was changed after it was published; discreet audit tells more.",
        )
    return PermutedValues(
        permuted.facts.sensitive, counted.texts[1], group, counted.codes[:, 1], counted.rows, len(numbers)
    )


def _counted(release: OpenRelease, permuted: PermutedFiles) -> CountedColumns:
    columns = [permuted.facts.group_column, permuted.facts.sensitive]
    if permuted.values is None:
        return count_columns(release.engine, release.data, columns, release.settings)
    with opened(release.engine, permuted.values) as table:
        return count_columns(release.engine, table, columns, release.settings)
