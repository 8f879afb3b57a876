"""The embedded engine: DuckDB in this process, with its memory, threads and temporary files bounded.

Nothing is installed or loaded over a network; rows that do not fit the memory limit spill to an owner-only
folder that ``close`` removes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.engines import failures
from discreet.engines.base import Columns, SourceTable
from discreet.engines.closing import Closing
from discreet.engines.column_names import read_names
from discreet.engines.duckdb import databases
from discreet.engines.duckdb.driver import driver, register
from discreet.engines.duckdb.memory import Buffers
from discreet.engines.duckdb.other_files import OTHER_FORMATS, write_other
from discreet.engines.duckdb.session import RowOrder, begin
from discreet.engines.files.database_file import DatabaseTable, NewTable, write_tables
from discreet.engines.files.delimited_text import DelimitedText, check_mark
from discreet.engines.files.json_lines import JsonLines, malformed
from discreet.engines.files.python_table import PythonTable
from discreet.engines.files.sources import Reader, open_reader
from discreet.engines.files.statistics_kinds import Codebook
from discreet.engines.files.written_file import copy_statement
from discreet.engines.grouped import GroupAtATime
from discreet.engines.running import RunningStatement
from discreet.engines.temporary_folder import TemporaryFolder
from discreet.engines.written import AsWritten, whole_columns
from discreet.errors import DiscreetError, InputError, InternalError
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.names import identifier, literal
from discreet.sql.source import ENUMERATED, LIST, column_name, is_floating

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

_WIDE = 1000
"""With more columns than this a source is wide."""
_ON_ONE_THREAD = 100_000
"""Rows of memory that the engine's threads do not share, so that their order stays without asking for it."""


class DuckdbEngine(GroupAtATime, Closing):
    """DuckDB as an ``Engine``; a context manager. One thread at a time."""

    name: str = "duckdb"
    url: str | None = None

    def __init__(self, settings: Settings) -> None:
        self._failure: type[Exception] = driver().Error
        self._limit, self._threads = settings.memory_limit, settings.threads
        self._buffers = Buffers(settings.memory_limit)
        self.order = RowOrder(lambda statement: self._connection.execute(statement))
        self._temporary = TemporaryFolder()
        self._folder = self._temporary.path
        self._spill, self._closed = self._folder / "spill", False
        self._readers: dict[str, Reader] = {}
        self._serial: set[str] = set()
        self._written: dict[str, AsWritten] = {}
        self._disabled: set[str] = set()
        self._opened = 0
        try:
            self._database = databases.take(self._buffers.limit, settings.threads, str(self._spill))
            self._connection = self._database.cursor()
            begin(self._connection)
        except self._failure as error:
            self._temporary.remove()
            raise failures.at_start(error, limit=self._limit) from None

    def open_source(self, source: SourceSpec) -> SourceTable:
        """Make a source's rows available as a view, whose columns are ``c0``, ``c1``, … (see ``Engine``)."""
        self._opened += 1
        name = f"source_{self._opened}"
        with self.order.kept():
            reader = open_reader(source, name, self._folder, self.fetch_rows, source.label, self._spool)
        check_mark(reader.columns, reader.label)
        self._readers[name] = reader
        try:
            if isinstance(reader, PythonTable):
                self._guarded(lambda: register(self._connection, reader.name, reader.rows), reader.label)
            self._create_view(name)
            columns = read_names(source, reader.columns)
            types = dict(zip(columns, self._types(name, reader), strict=True))
            self._disable_optimizers(types)
            whole = whole_columns(self.fetch_rows, source, identifier(name), columns, types)
            written = AsWritten.of(source, columns, types, whole)
            if not written.as_it_stands:
                self._written[name] = written
                self._create_view(name)
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
            written=written.refusing,
        )

    def _disable_optimizers(self, types: Mapping[str, str]) -> None:
        """Disable the optimizers that misread a source's columns, or take too long, while the engine is open.

        Statistics of Parquet files leave NaN out (those of pyarrow do), and DuckDB 2.0.0 believes them: of the
        cells NaN and 5.0 it finds both below 1e308, and isnan(NaN) false.
        """
        if len(types) > _WIDE:
            # Planning a sort with the one, and a CASE for each column with the other, takes time by the
            # square of the columns: 30 s, and 50 s, of 10,000.
            self._disabled |= {"compressed_materialization", "statistics_propagation"}
        elif any(map(is_floating, types.values())):
            self._disabled |= {"statistics_propagation"}
        if self._disabled:
            self.execute(f"SET disabled_optimizers = {literal(','.join(sorted(self._disabled)))}")

    def close_source(self, table: SourceTable) -> None:
        """Forget an opened source, whose file may then go (see ``Engine``)."""
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
        """DuckDB's own."""
        return DUCKDB

    def execute(self, statement: str) -> None:
        """Run one statement that returns nothing."""
        self._run(statement, lambda _: None)

    def create_table(self, name: str, query: str, *, shared: bool = False) -> None:
        """Create a temporary table of a query's result (see ``Engine``)."""
        del shared
        self._guarded(lambda: self._buffers.follow(self._connection), self._label())
        self.execute(f"CREATE OR REPLACE TEMP TABLE {identifier(name)} AS {query}")

    def drop_table(self, name: str) -> None:
        """Drop a temporary table, if there is one of that name."""
        self.execute(f"DROP TABLE IF EXISTS {identifier(name)}")

    def keep_result(self, name: str, query: str) -> DuckdbEngine:
        """Keep a query's result as a temporary table (see ``Engine``)."""
        self.create_table(name, query)
        return self

    def column_types(self, query: str) -> tuple[str, ...]:
        """The house types of a query's columns (see ``Engine``).

        DESCRIBE has a row for each column, and loses their order where rows may lose theirs: beyond 2,048
        columns, the rows that the engine moves at once, columns would have each other's types.
        """
        with self.order.kept():
            described = self.fetch_rows(f"DESCRIBE {query}")
        return tuple(ENUMERATED if row[1].startswith(ENUMERATED) else row[1] for row in described)

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """A small result, row by row."""
        return self._run(query, lambda result: result.fetchall())

    def fetch_arrays(self, query: str) -> dict[str, NDArray[Any]]:
        """A large result of NULL-free numbers, column by column."""
        arrays = self._run(query, lambda result: result.fetchnumpy())
        for name, array in arrays.items():
            if isinstance(array, np.ma.MaskedArray):
                if array.mask.any():
                    raise InternalError(f"NULL in column {name} of an array query")
                arrays[name] = array.data
        return arrays

    def load_table(self, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> None:
        """Create a temporary table from columns of equal length (see ``Engine``), which keeps their order."""
        self._load(f"CREATE OR REPLACE TEMP TABLE {identifier(name)} AS", name, columns)

    def load_parts(self, name: str, parts: Iterable[Columns]) -> None:
        """Create a temporary table of arrays, part by part (see ``Engine``), which keeps their order."""
        begun = False
        for columns in parts:
            table = identifier(name)
            statement = f"INSERT INTO {table}" if begun else f"CREATE OR REPLACE TEMP TABLE {table} AS"
            self._load(statement, name, columns)
            begun = True

    def _load(self, statement: str, name: str, columns: Columns) -> None:
        """Run a statement that takes rows from memory."""
        arrays, selected = {}, []
        for i, (column, values) in enumerate(columns.items()):
            numbers = isinstance(values, np.ndarray) and values.dtype.kind in "iufb"
            arrays[column_name(i)] = values if numbers else np.array(values, dtype=object)
            cell = column_name(i) if numbers else f"CAST({column_name(i)} AS VARCHAR)"
            selected.append(f"{cell} AS {identifier(column)}")
        held = f"{name} in memory"  # a name that the table itself has not
        self._guarded(lambda: register(self._connection, held, arrays), name)
        self._guarded(lambda: self._buffers.follow(self._connection), name)
        try:
            rows = len(next(iter(columns.values()), ()))
            with self.order.kept() if rows > _ON_ONE_THREAD else nullcontext():
                self.execute(f"{statement} SELECT {', '.join(selected)} FROM {identifier(held)}")
        finally:
            self._guarded(lambda: self._connection.unregister(held), name)

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

        ``InputError`` where it is there already or cannot be made, or cannot have columns of such names.
        """
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise failures.from_os(error, path) from None
        try:
            with self._writing():
                if file_format in OTHER_FORMATS:
                    write_other(self._run, query, path, file_format, columns, codebook or Codebook())
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
            write_tables(self.execute, path, tables, statements)

    def confirm_rows(self, table: SourceTable, rows: int) -> None:
        """Raise ``InputError`` unless a file of delimited text or JSON lines has ``rows`` records."""
        reader = self._reader(table)
        written = self._written.get(table.relation.strip('"'))
        if not isinstance(reader, DelimitedText | JsonLines):
            return
        if written is not None and written.leaves_rows:
            rows = self.fetch_rows(f"SELECT count(*) FROM {reader.relation()}")[0][0]
        if not reader.has_records(rows):
            raise InputError(
                f"{table.label}: {rows:,} records could be read, which are not all of them",
                advice="Quote cells as RFC 4180 says, or convert the file to Parquet.",
            )

    def locate(self, table: SourceTable, name: str, value: str) -> str:
        """Where a cell text first occurs in a column (see ``Engine``); another scan."""
        reader = self._reader(table)
        if isinstance(reader, DelimitedText) and value:
            line = reader.line_of(table.position(name), value)
            if line is not None:
                return f"line {line}"
        places = f"SELECT row_number() OVER () AS place, {table.text(name)} AS v FROM {table.relation}"
        with self.order.kept():
            found = self.fetch_rows(f"SELECT min(place) FROM ({places}) WHERE v = {literal(value)}")
        return f"row {found[0][0]}"

    def leave_room(self, size: int) -> None:
        """Let go what ``size`` bytes of arrays would not fit beside, rows to the disk (see ``Engine``)."""
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
            databases.end(self._database, keep=not (self._spill.exists() or self._buffers.grown()))
        self._readers.clear()
        self._temporary.remove()

    def _spool(self, rows: Any, columns: int, path: Path) -> None:
        """Write the rows of a stream, which come once, to a new Parquet file as they come."""
        names = [column_name(i) for i in range(columns)]
        source = f"stream AS t({', '.join(names)})"
        self._guarded(lambda: register(self._connection, "stream", rows), "the stream")
        try:
            types = self.column_types(f"SELECT * FROM {source}")
            # Parquet's intervals end at milliseconds; nobody reads them but as texts.
            cells = (f"{n}::VARCHAR" if t == "INTERVAL" else n for n, t in zip(names, types, strict=True))
            self.write_file(f"SELECT {', '.join(cells)} FROM {source}", path, "parquet", names)
        finally:
            self._guarded(lambda: self._connection.unregister("stream"), "the stream")

    def _reader(self, table: SourceTable) -> Reader:
        return self._readers[table.relation.strip('"')]

    def _create_view(self, name: str) -> None:
        self.execute(self._view(name))

    def _view(self, name: str) -> str:
        """The statement that makes an opened source's rows a view."""
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
        """Run a statement, a second time with serial readers where parallel ones met a fault.

        Scanning threads take quoted line ends for record borders now and then, and fail; one thread does not.
        """
        label = self._label()
        try:
            with failures.interruptible(), RunningStatement(self.interrupt):
                self.order.tell()
                return consume(self._connection.execute(statement))
        except self._failure as error:
            if not self._read_serially(error):
                raise self._translated(error, label) from None
        except MemoryError:
            raise failures.out_of_memory(self._limit) from None
        return self._guarded(lambda: consume(self._connection.execute(statement)), label)

    def _guarded(self, action: Callable[[], T], label: str) -> T:
        try:
            with failures.interruptible(), RunningStatement(self.interrupt):
                return action()
        except self._failure as error:
            raise self._translated(error, label) from None
        except MemoryError:
            raise failures.out_of_memory(self._limit) from None

    def _read_serially(self, error: Exception) -> bool:
        """Let one thread read every file of delimited text; False where that is so already or unconcerned."""
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
                    return malformed(reader.path, reader.label)
        return failures.from_engine(error, limit=self._limit, label=label)

    def _label(self) -> str:
        return next((reader.label for reader in reversed(self._readers.values())), "the source")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write in order, by one thread.

        With two, a join gives back the rows of a table in another order, some hundred of 1.5 million out of
        place even beside ten labels (2.0.0); and two that write enumerated columns to Parquet race (seen in
        1.4.5, 1.5.6 and 2.0.0): about one cell in forty million comes out empty, or the file cannot be read.
        One thread takes no more processor time (docs/decisions/0011).
        """
        self._guarded(lambda: self._buffers.follow(self._connection), self._label())
        with self.order.kept():
            self.execute("SET threads = 1")
            try:
                yield
            finally:
                self.execute(f"SET threads = {self._threads}")
