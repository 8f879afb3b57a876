"""A recoding that was applied: coded rows in the engine, and the queries that publish them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InternalError
from discreet.model.recoding import SuppressionPolicy
from discreet.model.table_spec import AttributeRole
from discreet.recoding.columns import Column
from discreet.sql import recode, recode_classes
from discreet.sql.dialect import Dialect


@dataclass(frozen=True, kw_only=True)
class RecodedTable(ABC):
    """A recoding applied: how many rows there are, and how they are published.

    ``rows`` are the rows after the NULL policy, ``suppressed`` those of failing classes. ``subject`` is the
    coded table's column of subjects, where there are any. Where not ``counted``, the rows are those that the
    search saw, and the engine has not counted them again: whoever writes them compares what was written. The
    tables live in the engine until the context that made them ends.
    """

    source_columns: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: int
    suppressed: int
    suppression: SuppressionPolicy
    dialect: Dialect
    coded: str
    subject: str | None = None
    counted: bool = True

    @property
    def kept(self) -> int:
        """Rows that are published with their values."""
        return self.rows - self.suppressed

    @abstractmethod
    def query(self) -> str:
        """The published rows, one result column per entry of ``columns``, in a random order."""

    @abstractmethod
    def witness_query(self, names: Sequence[str]) -> str:
        """The subject of each row that is kept, behind the texts of the columns in ``names``; in no order.

        The last result column says whether every published cell of the row is ``*``.
        """


@dataclass(frozen=True, kw_only=True)
class CodedRows(RecodedTable):
    """Rows whose classes were counted in the engine, and the table ``failing`` of the classes that fail."""

    failing: str
    keys: int
    labels: tuple[tuple[int, str], ...]

    def query(self) -> str:
        """The published rows in the order of their sort keys (see ``RecodedTable``)."""
        star = self.suppression is SuppressionPolicy.STAR
        return self._published([column.published for column in self.columns], ordered=True, star=star)

    def witness_query(self, names: Sequence[str]) -> str:
        """The subject of each row that is kept (see ``RecodedTable``)."""
        by_name = {column.name: column for column in self.columns}
        texts = [by_name[name].published_text for name in names]
        cells = [f"coalesce({column.published_text} = '{recode.STAR}', FALSE)" for column in self.columns]
        starred = self.dialect.text(f"({' AND '.join(cells)})", "BOOLEAN")
        return self._published([*texts, f"t.{self.subject}", starred], ordered=False, star=False)

    def _published(self, cells: Sequence[str], *, ordered: bool, star: bool) -> str:
        return recode.published_rows(
            self.dialect,
            self.coded,
            self.failing,
            self.keys,
            cells,
            self.labels,
            ordered=ordered,
            star=star,
        )


@dataclass(frozen=True, kw_only=True)
class ClassedRows(RecodedTable):
    """Rows whose classes were known beforehand; ``labels`` names the table of what each class shows.

    ``coded`` is the SQL of a table or subquery with the rows that are published and no others; they go in the
    order of its column ``sort_key``, or as it has them.
    """

    labels: str
    sort_key: str | None

    def query(self) -> str:
        """The published rows (see ``RecodedTable``)."""
        starred = self.suppression is SuppressionPolicy.STAR
        own = [column.role is not AttributeRole.QUASI_IDENTIFIER for column in self.columns]
        return recode_classes.published_classes(
            self.dialect,
            self.coded,
            self.labels,
            [column.published for column in self.columns],
            sort_key=self.sort_key,
            star=own if starred else (),
        )

    def witness_query(self, names: Sequence[str]) -> str:
        """Never asked for: a table with subjects is counted in the engine."""
        raise InternalError(f"the subjects of {', '.join(names)} were asked of rows without subjects")
