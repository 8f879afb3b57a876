"""The engine interface: executing SQL where the rows are, opened sources, and temporary tables.

``Engine`` is the protocol that every engine implements, ``SourceTable`` an opened source (relation, columns,
types, NULL texts), ``TemporaryTables`` a context that names tables uniquely and drops them at its end.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from discreet.engines.files.output_files import Codebook, NewTable
from discreet.errors import DiscreetError, InputError
from discreet.model.cell_format import CellFormat
from discreet.model.registry import suggest_name
from discreet.model.table_spec import SourceSpec
from discreet.sql.cell_expressions import cell_text, column_name, is_nested
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.quoting import qualified

ColumnData: TypeAlias = Mapping[str, Sequence[str | None] | NDArray[Any]]
"""Columns of equal length by name: texts, or arrays of numbers."""

GroupFunction: TypeAlias = Callable[[Mapping[str, NDArray[Any]]], ColumnData]
"""Function from the columns of one group to result columns.

It may be sent to another machine, so it must be picklable.
"""


@dataclass(frozen=True)
class SourceTable:
    """Opened source: a relation that SQL can name, and its columns in order.

    ``relation`` is SQL text (a quoted view or table name). ``columns`` are the source's own names, which may
    be empty or differ only in case; in SQL a column is named by its position, ``c0``, ``c1``, …, so always
    write ``column(name)``. ``types`` maps each column to its house type (``sql.dialect``). ``null_values``
    are cell texts read as NULL; ``text(name)`` applies them. ``written`` are the cell formats that cells may
    fail to match (``engines.source_query.check_cell_formats``). ``made_from`` is the opened source from which
    these rows were derived (``engines.column_replacement``), None for an original source. ``linked`` is True
    if a link left out rows of the source.
    """

    relation: str
    columns: tuple[str, ...]
    types: Mapping[str, str]
    label: str = "the source"
    null_values: tuple[str, ...] = ()
    dialect: Dialect = DUCKDB
    written: Mapping[str, CellFormat] = field(default_factory=dict)
    made_from: SourceTable | None = None
    linked: bool = False

    @property
    def unmodified(self) -> SourceTable:
        """Original opened source, which an engine can confirm and search."""
        return self if self.made_from is None else self.made_from

    def position(self, name: str) -> int:
        """Return the position of a column, from 0.

        Raises ``InputError`` if the source has no column of that name.
        """
        index = self._places.get(name)
        if index is not None:
            return index
        raise InputError(
            f"{self.label} has no column '{name}'",
            allowed=", ".join(f"'{column}'" for column in self.columns),
            advice=suggest_name(name, self.columns),
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.columns)}

    def check_flat(self, names: Iterable[str]) -> None:
        """Raise ``InputError`` if one of the named columns contains lists, maps or structures.

        Nested columns cannot be part of a release on any engine: engines write them differently, and their
        contents are not counted.
        """
        for name in names:
            self.position(name)
            if is_nested(self.types[name]):
                raise InputError(
                    f"{self.label}: column '{name}' contains nested values, which are not published",
                    allowed="text, numbers, dates or booleans",
                    advice='Convert it to text or flatten it first, or give it role = "identifier", which '
                    "leaves it out.",
                )

    def column(self, name: str, of: str = "") -> str:
        """Return the SQL of a column as stored; ``of`` is an alias of the relation."""
        return qualified(column_name(self.position(name)), of)

    def text(self, name: str, of: str = "") -> str:
        """Return the SQL expression of a column's cell text: NULL for NULL cells and for ``null_values``."""
        return cell_text(self.column(name, of), self.types[name], self.null_values, self.dialect)


class Engine(Protocol):
    """Engine protocol: executes SQL where the rows are stored.

    Every method raises one of the five kinds of ``errors``, never an exception of the engine's library:
    ``InputError`` if the source or a file is wrong, ``LimitReached`` if memory or disk is exhausted. Messages
    quote at most one value of the data.
    """

    @property
    def name(self) -> str:
        """Name of the engine's declaration (``engines.registry``)."""

    @property
    def url(self) -> str | None:
        """Address of the database that the engine works in, None if it has none."""

    @property
    def dialect(self) -> Dialect:
        """SQL dialect: how this engine's SQL differs from the common subset."""

    def open_source(self, source: SourceSpec) -> SourceTable:
        """Make a source's rows available to SQL without copying them.

        Cells are parsed by their columns' formats (``engines.source_query.SourceQuery``). Raises
        ``InputError`` if the source cannot be read.
        """

    def close_source(self, table: SourceTable) -> None:
        """Close an opened source and drop its relation; its file may be removed afterwards."""

    def execute(self, statement: str) -> None:
        """Run one statement that returns no rows."""

    def create_table(self, name: str, query: str, *, shared: bool = False) -> None:
        """Create a temporary table from a query's result, computed immediately and once, with statistics.

        A ``shared`` table is joined with a whole source, and its rows have no order. Where a database's
        parallel workers cannot read temporary tables, the engine stores a shared table so that they can.
        """

    def drop_table(self, name: str) -> None:
        """Drop a temporary table if it exists."""

    def keep_result(self, name: str, query: str) -> Engine:
        """Store a query's result as a temporary table of the embedded engine, and return that engine.

        Used for results that leave a database (frequency sets) and are processed locally. The embedded engine
        stores the result like any other table and returns itself; other engines copy the result and close the
        embedded engine when they are closed. Columns must be texts, integers or doubles.
        """

    @property
    def groups_at_once(self) -> int:
        """Number of groups that ``apply_to_groups`` processes concurrently."""

    def apply_to_groups(
        self,
        name: str,
        query: str,
        group: str,
        numbers: Sequence[int],
        function: GroupFunction,
        columns: Mapping[str, str],
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Create a temporary table from a function's results for each group of a query's rows.

        The query returns NULL-free numbers; ``group`` is its column of group numbers, and ``numbers`` lists
        all group numbers. ``function`` receives one group's columns and returns the columns that ``columns``
        names with their house types (``BIGINT`` or ``VARCHAR``). Engines that run Python next to the rows
        process the groups there and transfer none to this process. ``progress`` is called with the number of
        finished groups and the total. The function's own errors are raised unchanged or as ``InternalError``.
        """

    def column_types(self, query: str) -> tuple[str, ...]:
        """Return the house types of a query's columns without running it; empty if there is no house name."""

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return a small result row by row."""

    def fetch_arrays(self, query: str) -> dict[str, NDArray[Any]]:
        """Return a large result of NULL-free numbers column by column."""

    def load_table(self, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> None:
        """Create a temporary table from columns of equal length (texts, or arrays of numbers)."""

    def load_parts(self, name: str, parts: Iterable[ColumnData]) -> None:
        """Create a temporary table from parts with the same columns, concatenated in order.

        At least one part is required. Types are those of the first part's arrays.
        """

    def write_file(
        self,
        query: str,
        path: Path,
        file_format: str,
        columns: Sequence[str] | None = None,
        codebook: Codebook | None = None,
        types: Sequence[str] | None = None,
    ) -> None:
        """Write a query's result to a new owner-only file, in the query's order.

        ``file_format`` is ``csv``, ``parquet``, ``sqlite`` or a format of a statistics program. ``columns``
        are the names to write if they differ from the query's; ``codebook`` contains the value labels for
        formats that have them; ``types`` are the house types of the query's columns if known.
        """

    def write_database(
        self, path: Path, tables: Mapping[str, NewTable], statements: Sequence[str] = ()
    ) -> None:
        """Write a new owner-only DuckDB database file: tables, each in its query's order, then views.

        ``statements`` create the views and name the tables as readers of the file do. On failure no file is
        left.
        """

    def confirm_rows(self, table: SourceTable, rows: int) -> None:
        """Raise ``InputError`` unless a source has ``rows`` records.

        For formats whose reader can omit records silently (delimited text), the records are counted by a
        second method; for others this does nothing. Call it after a scan of all rows.
        """

    def locate(self, table: SourceTable, name: str, value: str) -> str:
        """Return where a cell text first occurs in a column, as ``line 17`` or ``row 16``; another scan."""

    def leave_room(self, size: int) -> None:
        """Reduce the engine's memory so that ``size`` bytes of arrays fit, until the next large statement.

        Raises ``LimitReached`` if they do not fit the memory limit even then.
        """

    def interrupt(self) -> None:
        """Stop the statement that another thread runs, if any; that thread gets an exception."""

    def close(self) -> None:
        """Release the engine's resources and temporary files."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *_error: object) -> None: ...


class TemporaryTables:
    """Temporary tables with unique names, dropped when the context ends."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._prefix = f"scratch_{secrets.token_hex(4)}"
        self._names: list[str] = []

    def new_name(self) -> str:
        """Return an unused name for a table that the caller creates."""
        self._names.append(f"{self._prefix}_{len(self._names)}")
        return self._names[-1]

    def load(self, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> str:
        """Load columns into a new table and return its name."""
        name = self.new_name()
        self._engine.load_table(name, columns)
        return name

    def load_parts(self, parts: Iterable[ColumnData]) -> str:
        """Load columns given in parts (see ``Engine.load_parts``) into a new table and return its name."""
        name = self.new_name()
        self._engine.load_parts(name, parts)
        return name

    def create(self, query: str, *, shared: bool = False) -> str:
        """Create a table from a query's result (``shared`` as in ``Engine``) and return its name."""
        name = self.new_name()
        self._engine.create_table(name, query, shared=shared)
        return name

    def drop(self, name: str) -> None:
        """Drop a table before the context ends."""
        self._engine.drop_table(name)

    def __enter__(self) -> TemporaryTables:
        return self

    def __exit__(self, *_error: object) -> None:
        for name in reversed(self._names):
            with suppress(DiscreetError):
                self._engine.drop_table(name)
        self._names.clear()
