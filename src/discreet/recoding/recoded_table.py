"""Applied recodings: coded rows in the engine, and the queries that publish them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.engines.base import Engine
from discreet.errors import InternalError
from discreet.model.search_result import SuppressionPolicy
from discreet.model.table_spec import AttributeRole
from discreet.recoding.published_columns import PublishedColumn
from discreet.sql import cell_expressions, recoded_classes, recoded_rows
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier
from discreet.sql.recoded_classes import LABELS_ALIAS, ClassCells


@dataclass(frozen=True, kw_only=True)
class RecodedTable(ABC):
    """Applied recoding: its rows in the engine and the queries that publish them.

    ``rows`` are the rows after the NULL policy, ``suppressed`` those of failing classes. ``subject`` is the
    coded table's column of subjects, if any; ``types`` are the canonical types of the published columns, if
    known. The tables exist in the engine until the context that made them ends.
    """

    source_columns: tuple[str, ...]
    columns: tuple[PublishedColumn, ...]
    rows: int
    suppressed: int
    suppression: SuppressionPolicy
    dialect: Dialect
    coded: str
    subject: str | None = None
    types: tuple[str, ...] | None = None

    @property
    def published_rows(self) -> int:
        """Number of rows that are published with their values."""
        return self.rows - self.suppressed

    @abstractmethod
    def query(self) -> str:
        """Return the query of the published rows in the order of a release, one result column per column."""

    @abstractmethod
    def unordered(self) -> str:
        """Return the query of the published rows without an order."""

    def class_cells(self) -> ClassCells | None:
        """Return the cells that rows share with their class; None unless one table of labels has them."""
        return None

    @abstractmethod
    def witness_query(self, names: Sequence[str]) -> str:
        """Return the query of the subjects of kept rows, after the texts of the columns ``names``; unordered.

        The last result column is true if every published cell of the row is ``*``.
        """


@dataclass(frozen=True, kw_only=True)
class CodedRows(RecodedTable):
    """Rows whose classes were counted in the engine, and the table ``failing`` of the classes that fail.

    Rows are sorted by their cells if ``types`` are known, else by the sort keys of ``coded``.
    """

    failing: str
    keys: int
    labels: tuple[tuple[int, str], ...]

    def query(self) -> str:
        """Return the query of the published rows (see ``RecodedTable``)."""
        if self.types is None:
            return self._rows(drawn=True)
        names = [f"c{i}" for i in range(len(self.columns))]
        key_indexes = [i for i, column in enumerate(self.columns) if _is_quasi_identifier(column)]
        return cell_expressions.sorted_by_cells(
            self.dialect, self.unordered(), self.types, names, key_indexes
        )

    def unordered(self) -> str:
        """Return the query of the published rows without an order."""
        return self._rows(drawn=False)

    def witness_query(self, names: Sequence[str]) -> str:
        """Return the query of the subjects of kept rows (see ``RecodedTable``)."""
        by_name = {column.name: column for column in self.columns}
        texts = [by_name[name].published_text for name in names]
        cells = [
            f"coalesce({column.published_text} = '{recoded_rows.STAR}', FALSE)" for column in self.columns
        ]
        starred = self.dialect.text(f"({' AND '.join(cells)})", "BOOLEAN")
        return self._published([*texts, f"t.{self.subject}", starred], drawn=False, star=False)

    def _rows(self, *, drawn: bool) -> str:
        star = self.suppression is SuppressionPolicy.STAR
        return self._published([column.published for column in self.columns], drawn=drawn, star=star)

    def _published(self, cells: Sequence[str], *, drawn: bool, star: bool) -> str:
        return recoded_rows.published_rows(
            self.dialect, self.coded, self.failing, self.keys, cells, self.labels, drawn=drawn, star=star
        )


def order_by_cells(engine: Engine, rows: CodedRows) -> CodedRows:
    """Return the same rows in the order of their cells."""
    return replace(rows, types=engine.column_types(rows.unordered()))


@dataclass(frozen=True, kw_only=True)
class ClassedRows(RecodedTable):
    """Rows whose classes were decided beforehand; ``labels`` names the table of their labels.

    ``coded`` contains exactly the published rows. The query ends with ``order``; without it the stored order
    is used.
    """

    labels: str
    order: str

    def query(self) -> str:
        """Return the query of the published rows (see ``RecodedTable``)."""
        return self._rows(identifier(self.labels), self.columns, self.order)

    def unordered(self) -> str:
        """Return the query of the published rows without an order."""
        return self._rows(identifier(self.labels), self.columns)

    def class_cells(self) -> ClassCells:
        """Return the cells that rows take from the table of labels, and their other cells."""
        published_cells = {i: c.published for i, c in enumerate(self.columns) if _is_quasi_identifier(c)}
        others = [column for column in self.columns if not _is_quasi_identifier(column)]
        cells = [column.published for column in others]
        if self.suppression is SuppressionPolicy.STAR:
            cells = [recoded_classes.star_suppressed(cell) for cell in cells]
        return ClassCells(
            self.labels,
            published_cells,
            lambda labels, name: self._rows(labels, others, "", f"{LABELS_ALIAS}.{name}"),
            cells,
            lambda aggregate: recoded_classes.sums_of_classes(self.coded, aggregate),
        )

    def _rows(self, labels: str, columns: Sequence[PublishedColumn], order: str = "", *first: str) -> str:
        """Build the query of the cells ``first`` and of ``columns``, over a relation of labels."""
        starred = self.suppression is SuppressionPolicy.STAR
        own = [*(False for _ in first), *(not _is_quasi_identifier(column) for column in columns)]
        return recoded_classes.published_classes(
            self.coded,
            labels,
            [*first, *(column.published for column in columns)],
            order=order,
            star=own if starred else (),
        )

    def witness_query(self, names: Sequence[str]) -> str:
        """Raise ``InternalError``: a table with subjects is counted in the engine."""
        raise InternalError(f"subjects requested for rows without subjects (columns {', '.join(names)})")


def _is_quasi_identifier(column: PublishedColumn) -> bool:
    return column.role is AttributeRole.QUASI_IDENTIFIER
