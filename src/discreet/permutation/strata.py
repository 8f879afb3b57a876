"""Rows that stay in their database: how many of them have each value (and row type), and who goes where.

Rows of one value are alike to a partition that looks at values alone, and rows of one value and one row type
to any. Such rows make a *stratum*. A partition is made of as many *places* as there are rows, stratum by
stratum; what goes back to the database is how many of each stratum's rows belong to each group (*parts*). A
part that is all of its stratum is *whole*: nothing is drawn about which rows it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InternalError
from discreet.permutation.sensitive import CodedTexts
from discreet.sql import permuted as sql
from discreet.sql.recode import key_name


@dataclass(frozen=True, eq=False)
class Strata:
    """The strata of a held table, by number: ``table`` has them in the engine.

    ``codes`` (strata,) are of the value, -1 for NULL; ``leaf_codes`` (strata, quasi-identifiers) of the row
    type, with no column where strata do not tell them apart; ``counts`` (strata,) are rows.
    """

    table: str
    codes: NDArray[np.int64]
    leaf_codes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def keys(self) -> int:
        """The quasi-identifiers by which strata are told apart."""
        return int(self.leaf_codes.shape[1])

    @property
    def of_places(self) -> NDArray[np.int64]:
        """The stratum of each place."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def parts(
        self, groups: NDArray[np.int64], places: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], ...]:
        """Stratum, group, first seat and rows of each part, given the group of all places, or of some.

        A stratum's parts take its seats 0, 1, … one after the other.
        """
        of_places = self.of_places if places is None else self.of_places[places]
        span = int(groups.max(initial=0)) + 1
        if len(self.counts) * span >= 1 << 62:
            raise InternalError(f"{len(self.counts)} strata in {span} groups are too many to be numbered")
        pairs, rows = np.unique(of_places * span + groups, return_counts=True)
        strata, found = np.divmod(pairs, span)
        before = np.cumsum(rows) - rows
        starts = np.searchsorted(strata, strata)
        return strata, found, before - before[starts], rows.astype(np.int64)

    def whole(self, strata: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which parts (of these strata, with so many rows) are all the rows of their stratum."""
        return np.equal(self.counts[strata], rows)


def count_strata(
    engine: Engine, tables: TemporaryTables, held: str, text: str, coded: CodedTexts, keys: int, rows: int
) -> Strata:
    """Count the strata of a held table by the value whose text is ``text``, and by ``keys`` leaf codes.

    What is fetched is a frequency set. ``InternalError`` where it is not one of ``rows`` rows.
    """
    table = tables.create(sql.strata(held, text, coded.table, keys))
    found = engine.fetch_arrays(sql.strata_in_order(table, keys))
    counts = found[sql.ROWS].astype(np.int64)
    leaf_codes = np.empty((len(counts), keys), dtype=np.int64)
    for i in range(keys):
        leaf_codes[:, i] = found[key_name(i)]
    if int(counts.sum()) != rows:
        raise InternalError(f"the strata have {int(counts.sum())} rows, and the table {rows}")
    return Strata(table, found[sql.CODE].astype(np.int64), leaf_codes, counts)
