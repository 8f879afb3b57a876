"""A recoding that was applied: coded rows in the engine, and the queries that publish them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.model.recoding import SuppressionPolicy
from discreet.recoding.columns import Column
from discreet.sql import recode


@dataclass(frozen=True)
class RecodedTable:
    """A recoding applied: the coded rows, the classes that fail, and how rows are published from them.

    ``rows`` are the rows after the NULL policy, ``suppressed`` those of failing classes. The tables live in
    the engine until the context that made them ends.
    """

    source_columns: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: int
    suppressed: int
    suppression: SuppressionPolicy
    coded: str
    failing: str
    keys: int
    labels: tuple[tuple[int, str], ...]
    subject: str | None

    @property
    def kept(self) -> int:
        """Rows that are published with their values."""
        return self.rows - self.suppressed

    def query(self) -> str:
        """The published rows, one result column per entry of ``columns``, in the order of their sort keys."""
        star = self.suppression is SuppressionPolicy.STAR
        return self._published([column.published for column in self.columns], ordered=True, star=star)

    def witness_query(self, names: Sequence[str]) -> str:
        """The subject of each row that is kept, behind the texts of the columns in ``names``; in no order.

        The last result column says whether every published cell of the row is ``*``.
        """
        by_name = {column.name: column for column in self.columns}
        texts = [by_name[name].published_text for name in names]
        cells = [f"coalesce({column.published_text} = '{recode.STAR}', FALSE)" for column in self.columns]
        starred = f"CAST({' AND '.join(cells)} AS VARCHAR)"
        return self._published([*texts, f"t.{self.subject}", starred], ordered=False, star=False)

    def _published(self, cells: Sequence[str], *, ordered: bool, star: bool) -> str:
        return recode.published_rows(
            self.coded, self.failing, self.keys, cells, self.labels, ordered=ordered, star=star
        )
