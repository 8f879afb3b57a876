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
"""What is made of one group's columns. It may be sent to another machine, so it must be picklable."""


@dataclass(frozen=True)
class SourceTable:
    """An opened source: a relation that SQL may name, and its columns in order.

    ``relation`` is SQL text (a quoted view or table name). ``columns`` are the source's own names, which may
    be empty or differ in case alone; in SQL a column goes by its place, ``c0``, ``c1``, …, so always write
    ``column(name)``. ``types`` maps a column to its type, by the house's names (``sql.dialect``).
    ``null_values`` are cell texts read as NULL, which ``text(name)`` applies. Cells with a written form are
    read by it; ``written`` are the forms that cells may have missed (``engines.source_query.check_forms``).
    ``made_from`` is the opened source that these rows were made from (``engines.column_replacement``), None
    where they are its own; ``linked`` says that they are not all of its rows.
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
        """The opened source itself, which an engine can confirm and search."""
        return self if self.made_from is None else self.made_from

    def position(self, name: str) -> int:
        """The place of a column, from 0; ``InputError`` where there is none of that name."""
        place = self._places.get(name)
        if place is not None:
            return place
        raise InputError(
            f"{self.label} has no column '{name}'",
            allowed=", ".join(f"'{column}'" for column in self.columns),
            advice=suggest_name(name, self.columns),
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.columns)}

    def check_flat(self, names: Iterable[str]) -> None:
        """Raise ``InputError`` for a column of lists, maps or structures among some.

        Such a column takes no part in a release, on any engine: none writes it as another does, and nothing
        counts what is in it.
        """
        for name in names:
            self.position(name)
            if is_nested(self.types[name]):
                raise InputError(
                    f"{self.label}: column '{name}' holds nested values, which are not published",
                    allowed="text, numbers, dates or booleans",
                    advice='Convert it to text or flatten it first, or give it role = "identifier", which '
                    "leaves it out.",
                )

    def column(self, name: str, of: str = "") -> str:
        """A column in SQL, as stored; ``of`` is an alias of the relation."""
        return qualified(column_name(self.position(name)), of)

    def text(self, name: str, of: str = "") -> str:
        """The SQL expression of a column's cell text, NULL where the cell is NULL or in ``null_values``."""
        return cell_text(self.column(name, of), self.types[name], self.null_values, self.dialect)


class Engine(Protocol):
    """Executes SQL where the rows live.

    Every method raises one of the five kinds of ``errors``, never an exception of the engine's own:
    ``InputError`` where the source or a file is wrong, ``LimitReached`` where memory or disk ran out.
    Messages name at most one value of the data.
    """

    @property
    def name(self) -> str:
        """The name of its declaration (``engines.registry``)."""

    @property
    def url(self) -> str | None:
        """The address of the database that it works in, None where there is none."""

    @property
    def dialect(self) -> Dialect:
        """How this engine's SQL differs from what the engines have in common."""

    def open_source(self, source: SourceSpec) -> SourceTable:
        """Make a source's rows available to SQL without a copy; ``InputError`` where it cannot be read.

        Cells are read by their columns' written forms: ``engines.source_query.AsWritten`` has the query.
        """

    def close_source(self, table: SourceTable) -> None:
        """Forget an opened source, whose file may then go; its relation is gone."""

    def execute(self, statement: str) -> None:
        """Run one statement that returns nothing."""

    def create_table(self, name: str, query: str, *, shared: bool = False) -> None:
        """Create a temporary table of a query's result, computed now and once; it knows its statistics.

        One that is ``shared`` is joined with a whole source, and its rows are in no order: where a database's
        workers cannot read what is temporary, they may read it.
        """

    def drop_table(self, name: str) -> None:
        """Drop a temporary table, if there is one of that name."""

    def keep_result(self, name: str, query: str) -> Engine:
        """Keep a query's result as a temporary table of the embedded engine, and return that engine.

        For what leaves a database (frequency sets) and is worked on here. The embedded engine itself keeps
        it like any other table, and returns itself; another engine copies it, and closes the embedded one
        with itself. Columns must be texts, whole numbers or doubles.
        """

    @property
    def groups_at_once(self) -> int:
        """How many groups ``apply_to_groups`` works on at a time."""

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
        """Create a temporary table of what a function makes of each group of a query's rows.

        The query gives NULL-free numbers; ``group`` is its column of group numbers, of which ``numbers`` are
        all. ``function`` gets one group's columns and returns those that ``columns`` names, with their house
        types (``BIGINT`` or ``VARCHAR``). Where Python runs beside the rows, groups are worked on there, and
        none of them comes here. ``progress`` may be told the groups done, and of how many. Errors of the
        function's own are raised as they are, or as ``InternalError``.
        """

    def column_types(self, query: str) -> tuple[str, ...]:
        """The house types of a query's columns, empty where the house has no name for one; it is not run."""

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """A small result, row by row."""

    def fetch_arrays(self, query: str) -> dict[str, NDArray[Any]]:
        """A large result of NULL-free numbers, column by column."""

    def load_table(self, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> None:
        """Create a temporary table from columns of equal length (texts, or arrays of numbers)."""

    def load_parts(self, name: str, parts: Iterable[ColumnData]) -> None:
        """The same of arrays that come in parts, at least one, of the same columns: one behind the other.

        Types are those of the first part's arrays.
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

        ``file_format`` is ``csv``, ``parquet``, ``sqlite`` or a statistics program's. ``columns`` are the
        names to write, where they differ from the query's; ``codebook`` has the labels for files that have
        such; ``types`` are those of the query's columns, where they are known.
        """

    def write_database(
        self, path: Path, tables: Mapping[str, NewTable], statements: Sequence[str] = ()
    ) -> None:
        """Write a new owner-only DuckDB database file: tables, each in its query's order, then views.

        ``statements`` make the views, and name the tables as a reader of the file does. On a failure nothing
        is left.
        """

    def confirm_rows(self, table: SourceTable, rows: int) -> None:
        """Raise ``InputError`` unless a source has ``rows`` records.

        Where the engine's reader is known to leave records out without a word (delimited text), they are
        counted by a second path; elsewhere this does nothing. Call it after a scan of all rows.
        """

    def locate(self, table: SourceTable, name: str, value: str) -> str:
        """Where a cell text first occurs in a column: ``line 17`` or ``row 16``; another scan."""

    def leave_room(self, size: int) -> None:
        """Hold so little that ``size`` bytes of arrays fit beside it, until the next large statement.

        ``LimitReached`` where they do not fit the memory limit whatever it lets go.
        """

    def interrupt(self) -> None:
        """Stop the statement that another thread runs, if any; it raises there."""

    def close(self) -> None:
        """Release the engine's resources and temporary files."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *_error: object) -> None: ...


class TemporaryTables:
    """Names of temporary tables, which are dropped when the context ends."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._prefix = f"scratch_{secrets.token_hex(4)}"
        self._names: list[str] = []

    def new_name(self) -> str:
        """A name that nothing else has, for a table that the caller creates."""
        self._names.append(f"{self._prefix}_{len(self._names)}")
        return self._names[-1]

    def load(self, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> str:
        """A new table with the given columns; its name."""
        name = self.new_name()
        self._engine.load_table(name, columns)
        return name

    def load_parts(self, parts: Iterable[ColumnData]) -> str:
        """A new table of columns that come in parts (as ``Engine.load_parts``); its name."""
        name = self.new_name()
        self._engine.load_parts(name, parts)
        return name

    def create(self, query: str, *, shared: bool = False) -> str:
        """A new table of a query's result (``shared`` as in ``Engine``); its name."""
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
