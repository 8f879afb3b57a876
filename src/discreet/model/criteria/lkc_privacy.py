"""LKC-privacy (Mohammed, Fung, Hung and Lee 2009): attackers with at most L known quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np

from discreet.errors import InputError
from discreet.model.criteria.base import Parameter
from discreet.model.criteria.release_level import SHARE_UNIT, CellsCriterion, Groups, Integers
from discreet.model.criterion_inputs import ClassStatistics
from discreet.model.option import OptionKind, option

MAX_COMBINATIONS = 2_000
"""Maximum number of combinations of quasi-identifiers; each requires a separate grouping."""

_DENSE = 4_000_000


@dataclass(frozen=True)
class LKCPrivacy(CellsCriterion):
    """Whatever L values an attacker knows, at least K rows match, and no sensitive value of them is likely.

    ``value`` is K, ``known`` L, and ``confidence`` C: in every group of rows that agree in at most L
    quasi-identifiers, the share of the rows of each sensitive value, among those that have one, is at most C.
    A group without any value fails; with C = 1 values are not restricted. The groups of fewer attributes are
    unions of those of more, so only those of L attributes (or of all) are judged. Merging classes without
    suppression merges groups, so the criterion is monotone then; with suppression no such property holds.
    """

    known: int = option(
        2, kind=OptionKind.WHOLE, least=1, most=64, help="L: an attacker knows at most this many attributes"
    )
    confidence: float = option(
        0.5,
        kind=OptionKind.DECIMAL,
        least=0.000001,
        most=1.0,
        help="C: at most this share of the matching rows has one sensitive value; 1 disables it",
    )

    name: ClassVar[str] = "lkc"
    title: ClassVar[str] = "LKC-privacy"
    citation: ClassVar[str] = "Mohammed, Fung, Hung and Lee (2009)"
    parameter: ClassVar[Parameter] = Parameter("at least this many rows match any L known values")
    monotone: ClassVar[bool] = True

    @property
    def of_every_attribute(self) -> bool:
        """True if a confidence below 1 is required of each sensitive attribute."""
        return self.confidence < 1

    @property
    def promises(self) -> bool:
        """True if it restricts sensitive values: a confidence below 1 is required."""
        return self.confidence < 1

    @property
    def _billionths(self) -> int:
        return int(np.floor(self.confidence * SHARE_UNIT * (1 + 1e-12)))

    def places(self, attributes: int) -> list[tuple[int, ...]]:
        """Return the combinations of attributes that are judged; raise ``InputError`` for too many."""
        size = min(self.known, attributes)
        number = comb(attributes, size)
        if number > MAX_COMBINATIONS:
            raise InputError(
                f"{self}: {size} of {attributes} quasi-identifiers make {number:,} combinations",
                allowed=f"at most {MAX_COMBINATIONS:,}",
                advice=f"Take a smaller {self.flag()}-known, or fewer quasi-identifiers.",
            )
        return list(combinations(range(attributes), size))

    def groups(self, facts: ClassStatistics) -> Groups:
        """Return the group of each class in every combination of attributes."""
        assert facts.cells is not None
        columns = [_dense(column) for column in facts.cells.T]
        numbered, first = [], 0
        for places in self.places(len(columns)):
            group = _grouped([columns[index] for index in places])
            numbered.append(group + first)
            first += int(group.max(initial=-1)) + 1
        of = np.array(numbered, np.int64).reshape(len(numbered), facts.classes)
        if not self.of_every_attribute:
            return Groups(of, first, facts.sizes)
        values = tuple(each for each in facts.values if each is not None)
        return Groups(of, first, facts.sizes, values, self._billionths)

    def audit_groups(self, rows: str, keys: Sequence[str], values: Sequence[str]) -> Sequence[str]:
        """Return a query for each combination and, with a confidence, each sensitive attribute."""
        result = []
        for places in self.places(len(keys)):
            columns = ", ".join(keys[index] for index in places)
            if not self.of_every_attribute:
                sizes = f"SELECT sum(number) AS n FROM {rows} GROUP BY {columns}"
                result.append(f"SELECT CAST(min(n) AS BIGINT) AS score FROM ({sizes}) AS sizes")
            for value in values if self.of_every_attribute else ():
                pairs = (
                    f"SELECT {columns}, {value} AS v, CAST(sum(number) AS BIGINT) AS n FROM {rows} "
                    f"GROUP BY {columns}, {value}"
                )
                sums = (
                    "SELECT CAST(sum(n) AS BIGINT) AS n, "
                    "CAST(coalesce(sum(n) FILTER (WHERE v IS NOT NULL), 0) AS BIGINT) AS known, "
                    "coalesce(max(n) FILTER (WHERE v IS NOT NULL), 0) AS most "
                    f"FROM ({pairs}) AS pairs GROUP BY {columns}"
                )
                likely = f"known = 0 OR CAST({SHARE_UNIT} AS BIGINT) * most > {self._billionths} * known"
                result.append(
                    f"SELECT min(CASE WHEN {likely} THEN 0 ELSE n END) AS score FROM ({sums}) AS sums"
                )
        return result


def _dense(column: Integers) -> Integers:
    """Return consecutive numbers from 0 for the distinct non-negative numbers of a column."""
    if int(column.max(initial=0)) > 4 * len(column) + 1_000:
        return np.unique(column, return_inverse=True)[1]
    taken = np.zeros(int(column.max(initial=0)) + 1, np.int64)
    taken[column] = 1
    return (np.cumsum(taken) - 1)[column]


def _grouped(columns: Sequence[Integers]) -> Integers:
    """Return the group of rows that agree in all columns of non-negative numbers.

    Groups are numbered from 0, possibly with gaps. Keys are renumbered whenever they would exceed a dense
    range.
    """
    keys, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size * width > _DENSE:
            keys = np.unique(keys, return_inverse=True)[1]
            size = int(keys.max(initial=-1)) + 1
        keys = keys * width + column
        size *= width
    return keys if size <= 4 * len(keys) else np.unique(keys, return_inverse=True)[1]
