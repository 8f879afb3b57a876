"""Embedded engine: DuckDB in this process, with bounded memory, threads and temporary files.

No extension is installed or loaded over a network; rows beyond the memory limit are spilled to an owner-only
folder. Formats that DuckDB cannot write are written by a library. ``LocalExport`` is the mixin by which
server engines store and write results locally.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.engines import failures
from discreet.engines.base import ColumnData, SourceTable
from discreet.engines.duckdb import database
from discreet.engines.duckdb.database import (
    Buffers,
    RowOrderSetting,
    initialize_session,
    load_driver,
    register_rows,
)
from discreet.engines.engine_mixins import ContextMixin, SequentialGroupsMixin
from discreet.engines.files.dataframes import PythonTable
from discreet.engines.files.delimited_text import DelimitedText, check_no_byte_order_mark
from discreet.engines.files.json_lines import JsonLines, malformed_json_error
from discreet.engines.files.output_files import (
    WRITABLE_STATISTICS_FORMATS,
    Codebook,
    DatabaseTable,
    NewTable,
    copy_statement,
    write_database_tables,
)
from discreet.engines.files.sources import Reader, open_reader
from discreet.engines.process_resources import RunningStatement, TemporaryFolder
from discreet.engines.source_query import SourceQuery, find_integer_columns, source_column_names
from discreet.errors import DiscreetError, InputError, InternalError
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.cell_expressions import ENUMERATED, LIST, column_name, is_floating
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.quoting import identifier, literal

if TYPE_CHECKING:
    import duckdb


RunStatement = Callable[[str, Callable[[Any], Any]], Any]

LIBRARY_FORMATS = ("sqlite", *WRITABLE_STATISTICS_FORMATS)


def write_through_library(
    run: RunStatement,
    query: str,
    path: Path,
    file_format: str,
    columns: Sequence[str] | None,
    codebook: Codebook,
) -> None:
    """Write a query's result in its order to an existing empty file; ``run`` runs a statement.

    The caller must preserve the order of rows until the end, also for DESCRIBE, whose rows are the columns.
    """
    described = run(f"DESCRIBE {query}", lambda result: result.fetchall())
    if file_format == "sqlite":
        from discreet.engines.files import sqlite_file

        release = sqlite_file.sqlite_release(query, described, columns)
        run(release.query, lambda result: sqlite_file.write_sqlite_file(path, release, result.fetchmany))
        return
    from discreet.engines.files import statistics_export

    names = [str(row[0]) for row in described] if columns is None else columns
    typed = list(zip(names, (str(row[1]) for row in described), strict=True))
    texts = run(statistics_export.text_query(query, len(typed)), lambda result: result.fetchnumpy())
    statistics_export.write_statistics_file(path, file_format, typed, texts, codebook)


T = TypeVar("T")

_WIDE = 1000
"""Number of columns above which a source is wide."""
_ON_ONE_THREAD = 100_000
"""Number of in-memory rows up to which DuckDB uses one thread, which preserves their order."""


class DuckdbEngine(SequentialGroupsMixin, ContextMixin):
    """DuckDB as an ``Engine``, as a context manager. Not thread-safe."""

    name: str = "duckdb"
    url: str | None = None

    def __init__(self, settings: Settings) -> None:
        self._failure: type[Exception] = load_driver().Error
        self._limit, self._threads = settings.memory_limit, settings.threads
        self._buffers = Buffers(settings.memory_limit)
        self.order = RowOrderSetting(lambda statement: self._connection.execute(statement))
        self._temporary = TemporaryFolder()
        self._folder = self._temporary.path
        self._spill, self._closed = self._folder / "spill", False
        self._readers: dict[str, Reader] = {}
        self._serial: set[str] = set()
        self._written: dict[str, SourceQuery] = {}
        self._disabled: set[str] = set()
        self._opened = 0
        try:
            self._database = database.acquire_database(
                self._buffers.limit, settings.threads, str(self._spill)
            )
            self._connection = self._database.cursor()
            initialize_session(self._connection)
        except self._failure as error:
            self._temporary.remove()
            raise failures.from_start_error(error, limit=self._limit) from None

    def open_source(self, source: SourceSpec) -> SourceTable:
        """Make a source's rows available as a view with columns ``c0``, ``c1``, … (see ``Engine``)."""
        self._opened += 1
        name = f"source_{self._opened}"
        with self.order.preserved():
            reader = open_reader(source, name, self._folder, self.fetch_rows, source.label, self._spool)
        check_no_byte_order_mark(reader.columns, reader.label)
        self._readers[name] = reader
        try:
            if isinstance(reader, PythonTable):
                self._guarded(lambda: register_rows(self._connection, reader.name, reader.rows), reader.label)
            self.execute(self._view(name))
            columns = source_column_names(source, reader.columns)
            types = dict(zip(columns, self._types(name, reader), strict=True))
            self._disable_optimizers(types)
            integer_columns = find_integer_columns(self.fetch_rows, source, identifier(name), columns, types)
            written = SourceQuery.of(source, columns, types, integer_columns)
            if not written.is_plain:
                self._written[name] = written
                self.execute(self._view(name))
        except DiscreetError:
            del self._readers[name]
            self._written.pop(name, None)
            raise
        return SourceTable(
            relation=identifier(name),
            columns=columns,
            types=written.types,
            label=reader.label,
            null_values=source.null_values,
            written=written.strict_formats,
        )

    def _disable_optimizers(self, types: Mapping[str, str]) -> None:
        """Disable the optimizers that misread a source's columns or plan too long, while the engine is open.

        Parquet statistics may exclude NaN (pyarrow's do), and DuckDB 2.0.0 trusts them: for the cells NaN and
        5.0 it finds both below 1e308, and isnan(NaN) is false.
        """
        if len(types) > _WIDE:
            # Planning time with these optimizers is quadratic in the columns: for 10,000 columns, a sort
            # takes 30 s with the first, and one CASE per column takes 50 s with the second.
            self._disabled |= {"compressed_materialization", "statistics_propagation"}
        elif any(map(is_floating, types.values())):
            self._disabled |= {"statistics_propagation"}
        if self._disabled:
            self.execute(f"SET disabled_optimizers = {literal(','.join(sorted(self._disabled)))}")

    def close_source(self, table: SourceTable) -> None:
        """Close an opened source; its file may be removed afterwards (see ``Engine``)."""
        name = table.relation.strip('"')
        reader = self._readers.pop(name, None)
        self._serial.discard(name)
        self._written.pop(name, None)
        self.execute(f"DROP VIEW IF EXISTS {table.relation}")
        if isinstance(reader, DelimitedText | JsonLines) and reader.path.parent == self._folder:
            reader.path.unlink(missing_ok=True)
        if isinstance(reader, PythonTable):
            self._guarded(lambda: self._connection.unregister(reader.name), reader.label)
        if isinstance(reader, DatabaseTable):
            self.execute(f"DETACH {identifier(reader.alias)}")

    @property
    def dialect(self) -> Dialect:
        """DuckDB's dialect."""
        return DUCKDB

    def execute(self, statement: str) -> None:
        """Run one statement that returns no rows."""
        self._run(statement, lambda _: None)

    def create_table(self, name: str, query: str, *, shared: bool = False) -> None:
        """Create a temporary table of a query's result (see ``Engine``)."""
        del shared
        self._guarded(lambda: self._buffers.follow(self._connection), self._label())
        self.execute(f"CREATE OR REPLACE TEMP TABLE {identifier(name)} AS {query}")

    def drop_table(self, name: str) -> None:
        """Drop a temporary table if it exists."""
        self.execute(f"DROP TABLE IF EXISTS {identifier(name)}")

    def keep_result(self, name: str, query: str) -> DuckdbEngine:
        """Store a query's result as a temporary table (see ``Engine``)."""
        self.create_table(name, query)
        return self

    def column_types(self, query: str) -> tuple[str, ...]:
        """Return the house types of a query's columns (see ``Engine``).

        DESCRIBE returns one row per column, in arbitrary order unless row order is preserved: beyond 2,048
        columns (DuckDB's vector size) types would be assigned to the wrong columns.
        """
        with self.order.preserved():
            described = self.fetch_rows(f"DESCRIBE {query}")
        return tuple(ENUMERATED if row[1].startswith(ENUMERATED) else row[1] for row in described)

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return a small result row by row."""
        return self._run(query, lambda result: result.fetchall())

    def fetch_arrays(self, query: str) -> dict[str, NDArray[Any]]:
        """Return a large result of NULL-free numbers column by column."""
        arrays = self._run(query, lambda result: result.fetchnumpy())
        for name, array in arrays.items():
            if isinstance(array, np.ma.MaskedArray):
                if array.mask.any():
                    raise InternalError(f"NULL in column {name} of an array query")
                arrays[name] = array.data
        return arrays

    def load_table(self, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> None:
        """Create a temporary table from columns of equal length, in their order (see ``Engine``)."""
        self._load(f"CREATE OR REPLACE TEMP TABLE {identifier(name)} AS", name, columns)

    def load_parts(self, name: str, parts: Iterable[ColumnData]) -> None:
        """Create a temporary table from arrays in parts, in their order (see ``Engine``)."""
        begun = False
        for columns in parts:
            table = identifier(name)
            statement = f"INSERT INTO {table}" if begun else f"CREATE OR REPLACE TEMP TABLE {table} AS"
            self._load(statement, name, columns)
            begun = True

    def _load(self, statement: str, name: str, columns: ColumnData) -> None:
        """Run a statement that reads rows from memory."""
        arrays, selected = {}, []
        for i, (column, values) in enumerate(columns.items()):
            numbers = isinstance(values, np.ndarray) and values.dtype.kind in "iufb"
            arrays[column_name(i)] = values if numbers else np.array(values, dtype=object)
            cell = column_name(i) if numbers else f"CAST({column_name(i)} AS VARCHAR)"
            selected.append(f"{cell} AS {identifier(column)}")
        label = f"{name} in memory"  # differs from the table's own name
        self._guarded(lambda: register_rows(self._connection, label, arrays), name)
        self._guarded(lambda: self._buffers.follow(self._connection), name)
        try:
            rows = len(next(iter(columns.values()), ()))
            with self.order.preserved() if rows > _ON_ONE_THREAD else nullcontext():
                self.execute(f"{statement} SELECT {', '.join(selected)} FROM {identifier(label)}")
        finally:
            self._guarded(lambda: self._connection.unregister(label), name)

    def write_file(
        self,
        query: str,
        path: Path,
        file_format: str,
        columns: Sequence[str] | None = None,
        codebook: Codebook | None = None,
        types: Sequence[str] | None = None,
    ) -> None:
        """Write a query's result to a new owner-only file (see ``Engine``), which a failure removes.

        Raises ``InputError`` if the file exists or cannot be created, or if its format cannot have such
        column names.
        """
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise failures.from_os_error(error, path) from None
        try:
            with self._writing():
                if file_format in LIBRARY_FORMATS:
                    write_through_library(
                        self._run, query, path, file_format, columns, codebook or Codebook()
                    )
                else:
                    self.execute(copy_statement(query, path, file_format, columns, types))
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def write_database(
        self, path: Path, tables: Mapping[str, NewTable], statements: Sequence[str] = ()
    ) -> None:
        """Write a new owner-only DuckDB file of tables, in their queries' order, and views."""
        with self._writing():
            write_database_tables(self.execute, path, tables, statements)

    def confirm_rows(self, table: SourceTable, rows: int) -> None:
        """Raise ``InputError`` unless a file of delimited text or JSON lines has ``rows`` records."""
        reader = self._reader(table)
        written = self._written.get(table.relation.strip('"'))
        if not isinstance(reader, DelimitedText | JsonLines):
            return
        if written is not None and written.filters_rows:
            rows = self.fetch_rows(f"SELECT count(*) FROM {reader.relation()}")[0][0]
        if not reader.has_records(rows):
            raise InputError(
                f"{table.label}: {rows:,} records could be read; the file has more",
                advice="Quote cells according to RFC 4180, or convert the file to Parquet.",
            )

    def locate(self, table: SourceTable, name: str, value: str) -> str:
        """Return where a cell text first occurs in a column (see ``Engine``); another scan."""
        reader = self._reader(table)
        if isinstance(reader, DelimitedText) and value:
            line = reader.line_of(table.position(name), value)
            if line is not None:
                return f"line {line}"
        places = f"SELECT row_number() OVER () AS place, {table.text(name)} AS v FROM {table.relation}"
        with self.order.preserved():
            found = self.fetch_rows(f"SELECT min(place) FROM ({places}) WHERE v = {literal(value)}")
        return f"row {found[0][0]}"

    def leave_room(self, size: int) -> None:
        """Spill buffers to the disk until ``size`` bytes of arrays fit (see ``Engine``)."""
        if not self._guarded(lambda: self._buffers.leave_room(self._connection, size), self._label()):
            raise failures.out_of_memory(self._limit)

    def interrupt(self) -> None:
        """Stop the statement that another thread runs (see ``Engine``)."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the connection and remove temporary files; a second call does nothing."""
        self._connection.close()
        if not self._closed:
            self._closed = True
            database.release_database(
                self._database, keep=not (self._spill.exists() or self._buffers.grown())
            )
        self._readers.clear()
        self._temporary.remove()

    def _spool(self, rows: Any, columns: int, path: Path) -> None:
        """Write the rows of a stream, which can be read only once, to a new Parquet file."""
        names = [column_name(i) for i in range(columns)]
        source = f"stream AS t({', '.join(names)})"
        self._guarded(lambda: register_rows(self._connection, "stream", rows), "the stream")
        try:
            types = self.column_types(f"SELECT * FROM {source}")
            # Parquet truncates intervals to milliseconds, and intervals are only ever used as texts.
            cells = (f"{n}::VARCHAR" if t == "INTERVAL" else n for n, t in zip(names, types, strict=True))
            self.write_file(f"SELECT {', '.join(cells)} FROM {source}", path, "parquet", names)
        finally:
            self._guarded(lambda: self._connection.unregister("stream"), "the stream")

    def _reader(self, table: SourceTable) -> Reader:
        return self._readers[table.relation.strip('"')]

    def _view(self, name: str) -> str:
        """Return the statement that creates the view of an opened source's rows."""
        rows = self._readers[name].relation(serial=name in self._serial)
        written = self._written.get(name)
        query = f"SELECT * FROM {rows}" if written is None else written.query(rows, DUCKDB)
        return f"CREATE OR REPLACE TEMP VIEW {identifier(name)} AS {query}"

    def _types(self, name: str, reader: Reader) -> tuple[str, ...]:
        """Return the house types of a reader's columns, in order."""
        if isinstance(reader, DelimitedText):
            return ("VARCHAR",) * len(reader.columns)
        kinds = (
            ("VARCHAR",) * len(reader.columns)
            if isinstance(reader, JsonLines)
            else self.column_types(f"SELECT * FROM {identifier(name)}")
        )
        nested = reader.nested if isinstance(reader, JsonLines | PythonTable) else frozenset()
        return tuple(
            LIST if column in nested else kind for column, kind in zip(reader.columns, kinds, strict=True)
        )

    def _run(self, statement: str, consume: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Run a statement; repeat it with serial readers if parallel ones fail.

        Parallel scans of delimited text occasionally take quoted line ends for record borders and fail;
        serial scans do not.
        """
        label = self._label()
        try:
            with failures.translate_interrupt(), RunningStatement(self.interrupt):
                self.order.apply_setting()
                return consume(self._connection.execute(statement))
        except self._failure as error:
            if not self._read_serially(error):
                raise self._translated(error, label) from None
        except MemoryError:
            raise failures.out_of_memory(self._limit) from None
        return self._guarded(lambda: consume(self._connection.execute(statement)), label)

    def _guarded(self, action: Callable[[], T], label: str) -> T:
        try:
            with failures.translate_interrupt(), RunningStatement(self.interrupt):
                return action()
        except self._failure as error:
            raise self._translated(error, label) from None
        except MemoryError:
            raise failures.out_of_memory(self._limit) from None

    def _read_serially(self, error: Exception) -> bool:
        """Switch delimited-text readers to serial; return False if none switches or the error is another."""
        parallel = [
            name
            for name, reader in self._readers.items()
            if isinstance(reader, DelimitedText) and name not in self._serial
        ]
        if not parallel or "CSV" not in str(error):
            return False
        self._serial.update(parallel)
        for name in parallel:
            view = self._view(name)
            self._guarded(lambda view=view: self._connection.execute(view), self._label())  # type: ignore[misc]
        return True

    def _translated(self, error: Exception, label: str) -> DiscreetError:
        text = str(error)
        for reader in self._readers.values():
            if isinstance(reader, DelimitedText) and "CSV" in text and str(reader.path) in text:
                return reader.fault()
        if "Malformed JSON" in text or "maximum_object_size" in text:
            for reader in self._readers.values():
                if isinstance(reader, JsonLines) and str(reader.path) in text:
                    return malformed_json_error(reader.path, reader.label)
        return failures.from_engine_error(error, limit=self._limit, label=label)

    def _label(self) -> str:
        return next((reader.label for reader in reversed(self._readers.values())), "the source")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write in order, with one thread.

        With two threads, a join returns the rows of a table in another order: some hundred of 1.5 million
        rows out of place even for ten labels (2.0.0). Two threads that write enumerated columns to Parquet
        race (seen in 1.4.5, 1.5.6 and 2.0.0): about one cell in forty million is empty, or the file is
        unreadable. One thread takes no more processor time (docs/decisions/0011).
        """
        self._guarded(lambda: self._buffers.follow(self._connection), self._label())
        with self.order.preserved():
            self.execute("SET threads = 1")
            try:
                yield
            finally:
                self.execute(f"SET threads = {self._threads}")


class LocalExport(ContextMixin, ABC):
    """Mixin for an ``Engine`` that stores and writes fetched results on this machine.

    The embedded engine is created when it is first needed; an engine's ``close`` and ``interrupt`` must call
    those of this class as well.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedded: DuckdbEngine | None = None

    @abstractmethod
    def fetched(self, query: str) -> AbstractContextManager[str]:
        """Fetch a query's rows into owner-only files, and yield the query by which DuckDB reads them."""

    def keep_result(self, name: str, query: str) -> DuckdbEngine:
        """Copy a query's result into the embedded engine and return that engine (see ``Engine``)."""
        embedded = self._embedded_engine()
        with self.fetched(query) as rows:
            embedded.create_table(name, rows)
        return embedded

    def write_file(
        self,
        query: str,
        path: Path,
        file_format: str,
        columns: Sequence[str] | None = None,
        codebook: Codebook | None = None,
        types: Sequence[str] | None = None,
    ) -> None:
        """Write a query's result to a new owner-only file on this machine (see ``Engine``)."""
        del types  # the fetched files have their own types
        with self.fetched(query) as rows:
            self._embedded_engine().write_file(rows, path, file_format, columns, codebook)

    def write_database(
        self, path: Path, tables: Mapping[str, NewTable], statements: Sequence[str] = ()
    ) -> None:
        """Write a new owner-only DuckDB file on this machine (see ``Engine``)."""
        with ExitStack() as stack:
            rows = {
                name: NewTable(stack.enter_context(self.fetched(table.query)), table.columns)
                for name, table in tables.items()
            }
            self._embedded_engine().write_database(path, rows, statements)

    def interrupt(self) -> None:
        """Stop the statement of the embedded engine."""
        embedded = self._embedded  # another thread may close it meanwhile
        if embedded is not None:
            embedded.interrupt()

    def close(self) -> None:
        """Close the embedded engine; a second call does nothing."""
        embedded, self._embedded = self._embedded, None
        if embedded is not None:
            embedded.close()

    def _embedded_engine(self) -> DuckdbEngine:
        if self._embedded is None:
            self._embedded = DuckdbEngine(self._settings)
        return self._embedded
