"""Spark as an engine, for tables beyond one machine.

SQL runs in a separate session; temporary tables are Parquet files behind views; rows are fetched only as
Arrow tables or as files for the embedded engine. Table identities come from the catalog.
"""

from __future__ import annotations

import re
import secrets
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import GroupFunction, SourceTable
from discreet.engines.declaration import Identity
from discreet.engines.duckdb.engine import LocalExport
from discreet.engines.engine_mixins import SingleLoadMixin
from discreet.engines.source_query import SourceQuery, find_integer_columns, source_column_names
from discreet.engines.spark import failures as spark_failures
from discreet.engines.spark.session import JobGroups, active_session_kept, open_sessions
from discreet.engines.spark.startup import quiet_imports
from discreet.engines.spark.storage import (
    SparkRows,
    SparkScratch,
    backticked_table,
    quoted_table,
    read_parquet_files,
    read_source_rows,
    refresh_table,
    write_catalog_table,
    write_parquet_folder,
)
from discreet.engines.spark.types import house_type, is_frame, reads_as_text
from discreet.errors import DiscreetError, InternalError
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.dialect import SPARK, Dialect
from discreet.sql.quoting import glob_literal, identifier

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame


_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")


def escape_backslashes(statement: str) -> str:
    r"""Escape the backslashes in a statement's string literals.

    Spark has a setting for plain backslashes, but with it a doubled quote remains two quotes.

    >>> print(escape_backslashes(r'''SELECT 'it''s a \d', "a\b"'''))
    SELECT 'it''s a \\d', "a\b"
    """
    if "\\" not in statement:
        return statement
    return _QUOTED.sub(lambda match: _escaped(match.group()), statement)


def _escaped(quoted: str) -> str:
    return quoted.replace("\\", "\\\\") if quoted.startswith("'") else quoted


_SIGNED = {1: np.int16, 2: np.int32, 4: np.int64, 8: np.int64}


def arrow_table(columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> Any:
    """Convert columns of equal length (texts, or arrays of numbers) to an Arrow table with Spark's types."""
    import pyarrow

    arrays = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
            signed = values.astype(_SIGNED[values.itemsize]) if values.dtype.kind == "u" else values
            arrays[name] = pyarrow.array(signed)
        else:
            arrays[name] = pyarrow.array(list(values), pyarrow.string())
    return pyarrow.table(arrays)


def store_arrow_table(table: Any, folder: Path) -> Path:
    """Write an Arrow table to a new Parquet file in a folder."""
    from pyarrow import parquet

    path = folder / f"loaded-{secrets.token_hex(4)}.parquet"
    parquet.write_table(table, path)
    return path


def cast_untyped_columns(frame: DataFrame) -> DataFrame:
    """Cast a frame's columns that contain only NULL literals to text, because files need a type."""
    untyped = [field.name for field in frame.schema.fields if field.dataType.typeName() == "void"]
    return (
        frame.withColumns({name: frame[_quoted(name)].cast("string") for name in untyped})
        if untyped
        else frame
    )


def is_constant_frame(frame: DataFrame) -> bool:
    """Return True if Spark computes a frame's rows while planning: loaded rows, at most with casts.

    No job runs for such rows, and every computation returns the same rows.
    """
    plans: Any = frame._jdf.queryExecution()
    return bool(plans.analyzed().deterministic()) and plans.optimizedPlan().nodeName() == "LocalRelation"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def parquet_query(files: Sequence[Path]) -> str:
    """Return the query by which the embedded engine reads Spark's files, in their order."""
    paths = ", ".join(glob_literal(path) for path in files)
    return f"SELECT * FROM read_parquet([{paths}], hive_partitioning=false)"


def grouped_frame(
    frame: DataFrame, group: str, function: GroupFunction, columns: Mapping[str, str]
) -> DataFrame:
    """Apply a function to each group of a frame lazily (see ``Engine.apply_to_groups``)."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    kinds = {"BIGINT": LongType(), "VARCHAR": StringType()}
    schema = StructType([StructField(name, kinds[house]) for name, house in columns.items()])
    arrow = _ArrowFunction(function, tuple(columns.items()))
    with warnings.catch_warnings():
        # Spark imports pandas before it sends Arrow data, and warns about newer versions, which are not used
        # here.
        warnings.simplefilter("ignore", FutureWarning)
        # Spark inspects the function's signature: a function without type hints receives an Arrow table.
        applied: DataFrame = frame.groupBy(group).applyInArrow(lambda table: arrow(table), schema)
    return applied


@dataclass(frozen=True)
class _ArrowFunction:
    """Function of numpy columns wrapped as a function of an Arrow table, as Spark calls it."""

    function: GroupFunction
    columns: tuple[tuple[str, str], ...]

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        import pyarrow

        columns: dict[str, Any] = {
            name: column.to_numpy() for name, column in zip(table.column_names, table.columns, strict=True)
        }
        found = self.function(columns)
        kinds = {"BIGINT": pyarrow.int64(), "VARCHAR": pyarrow.string()}
        arrays = [pyarrow.array(found[name], kinds[house]) for name, house in self.columns]
        return pyarrow.table(dict(zip((name for name, _ in self.columns), arrays, strict=True)))


T = TypeVar("T")

_BYTES_IN_PLANS = 16 * 2**20


class SparkEngine(SingleLoadMixin, LocalExport):
    """Spark as an ``Engine``, as a context manager. Not thread-safe.

    ``source`` determines the session: a DataFrame's own, else the active one, else a new one
    (``DISCREET_SPARK_MASTER``) that is kept for the process. Raises ``InputError`` if no session is
    available.
    """

    name: str = "spark"
    url: str | None = None

    def __init__(self, settings: Settings, source: SourceSpec | None = None) -> None:
        super().__init__(settings)
        self._label = "Spark" if source is None else source.label
        self._opened: dict[str, SparkRows] = {}
        self._places: dict[str, str] = {}
        self._tables: set[str] = set()
        self._number = 0
        frame = None if source is None or not is_frame(source.data) else source.data
        try:
            self._sessions = open_sessions(settings, frame)
            self._scratch = SparkScratch(self._sessions)
        except DiscreetError:
            raise
        except Exception as error:
            raise self._translated(error, opening=True) from None
        self._session = self._sessions.own
        self._jobs = JobGroups(self._session.sparkContext)

    @property
    def dialect(self) -> Dialect:
        """Spark's dialect, in ANSI mode."""
        return SPARK

    @property
    def groups_at_once(self) -> int:
        """Number of concurrent tasks according to the session."""
        return max(1, int(self._guarded(lambda: self._session.sparkContext.defaultParallelism)))

    def describe_table(self, table: str) -> list[tuple[str, str]]:
        """Return the publisher's catalog entry of a table as pairs of key and value."""
        name = backticked_table(table) if '"' in table else table

        def described() -> list[tuple[str, str]]:
            rows = self._sessions.user_session.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
            return [(str(row[0]), str(row[1])) for row in rows]

        return self._guarded(described, opening=True)

    def open_source(self, source: SourceSpec) -> SourceTable:
        """Make a source's rows available as a view with columns ``c0``, ``c1``, … (see ``Engine``)."""
        self._label = source.label
        self._number += 1
        name = f"source_{self._number}"

        def read() -> tuple[SparkRows, SourceQuery]:
            own = source.table in self._tables and source.data is None and source.path is None
            rows = read_source_rows(source, self._sessions, self._scratch, self._embedded_engine, own=own)
            columns = source_column_names(source, rows.columns)
            types = {new: rows.types[name] for new, name in zip(columns, rows.columns, strict=True)}
            rows = replace(rows, columns=columns, types=types)
            frame = rows.frame
            frame.createOrReplaceTempView(f"{name}_rows")
            integer_columns = find_integer_columns(
                self.fetch_rows, source, identifier(f"{name}_rows"), columns, types
            )
            written = SourceQuery.of(source, columns, types, integer_columns)
            if not written.is_plain:
                frame = self._sql(written.query(identifier(f"{name}_rows"), SPARK))
            # Spark resolves a frame's plan when the frame is created, so the view that named the rows in SQL
            # can go.
            self._session.catalog.dropTempView(f"{name}_rows")
            frame.createOrReplaceTempView(name)
            return replace(rows, subset=written.filters_rows), written

        rows, written = self._guarded(read, opening=True)
        self._opened[name] = rows
        return SourceTable(
            relation=identifier(name),
            columns=rows.columns,
            types=written.types,
            label=source.label,
            null_values=source.null_values,
            dialect=SPARK,
            written=written.strict_formats,
        )

    def close_source(self, table: SourceTable) -> None:
        """Close an opened source and remove its copy, if any (see ``Engine``)."""
        name = table.relation.strip('"')
        rows = self._opened.pop(name, None)
        if rows is None:
            return
        self._guarded(lambda: self._session.catalog.dropTempView(name))
        self._release(rows)

    def execute(self, statement: str) -> None:
        """Run one statement that returns no rows."""
        self._guarded(lambda: self._sql(statement))

    def create_table(self, name: str, query: str, *, shared: bool = False) -> None:
        """Create a temporary table of a query's result, computed once into files (see ``Engine``)."""
        del shared
        self._keep(name, lambda: self._sql(query))

    def drop_table(self, name: str) -> None:
        """Drop a temporary table and its files if it exists."""
        self._guarded(lambda: self._session.catalog.dropTempView(name))
        self._tables.discard(name)
        self._replace_place(name, None)

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
        """Create a temporary table from a function's results for each group, computed in the executors."""
        self._keep(name, lambda: grouped_frame(self._sql(query), group, function, columns))
        if progress is not None:
            progress(len(numbers), len(numbers))

    def column_types(self, query: str) -> tuple[str, ...]:
        """Return the house types of a query's columns (see ``Engine``)."""
        fields = self._guarded(lambda: self._sql(query).schema.fields)
        return tuple("" if reads_as_text(field.dataType) else house_type(field.dataType) for field in fields)

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return a small result row by row."""
        columns = [column.to_pylist() for column in self._arrow(query).columns]
        return list(zip(*columns, strict=True))

    def fetch_arrays(self, query: str) -> dict[str, NDArray[Any]]:
        """Return a large result of NULL-free numbers column by column."""
        table = self._arrow(query)
        result: dict[str, NDArray[Any]] = {}
        for name, column in zip(table.column_names, table.columns, strict=True):
            if column.null_count:
                raise InternalError(f"NULL in column {name} of an array query")
            decimal = str(column.type).startswith("decimal")
            array = (column.cast("float64") if decimal else column).to_numpy()
            result[name] = np.array(array)
        return result

    def load_table(self, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> None:
        """Create a temporary table from columns of equal length (texts, or arrays of numbers).

        A small table is part of the plans that use it; a large one is written to files.
        """
        table = arrow_table(columns)

        def load() -> str | None:
            if table.nbytes <= _BYTES_IN_PLANS:
                with quiet_imports(), active_session_kept(self._session):
                    self._session.createDataFrame(table).createOrReplaceTempView(name)
                return None
            stored_path = self._scratch.hand_over(store_arrow_table(table, self._scratch.folder))
            read_parquet_files(self._session, stored_path).createOrReplaceTempView(name)
            return stored_path

        self._replace_place(name, self._guarded(load))
        self._tables.add(name)

    def write_folder(self, query: str, folder: Path, columns: Sequence[str] | None = None) -> None:
        """Write a query's result to a new owner-only folder of Parquet files, in its order.

        Files are written to a hidden folder next to it, which is renamed at the end; every executor must
        reach the folder by this path. Raises ``InputError`` if the folder exists; on failure no file is left.
        """
        label, self._label = self._label, str(folder)
        try:
            self._guarded(lambda: write_parquet_folder(self._sql(query), folder, columns))
        finally:
            self._label = label

    def write_table(self, query: str, table: str, columns: Sequence[str] | None = None) -> None:
        """Write a query's result to a new table of the catalog; raises ``InputError`` if it exists."""
        label, self._label = self._label, f"the table {table}"
        try:
            self._guarded(lambda: write_catalog_table(self._sessions, self._sql(query), table, columns))
        finally:
            self._label = label

    def rename_table(self, old: str, new: str) -> None:
        """Rename a table of the catalog, within its schema."""
        self.execute(f"ALTER TABLE {quoted_table(old)} RENAME TO {quoted_table(new)}")
        self._guarded(lambda: refresh_table(self._sessions, new))

    def drop_catalog_table(self, table: str) -> None:
        """Drop a table of the catalog if it exists."""
        self.execute(f"DROP TABLE IF EXISTS {quoted_table(table)}")

    def has_table(self, table: str) -> bool:
        """Return True if the catalog has a table or view of that name (``schema.table``)."""
        return bool(self._guarded(lambda: self._session.catalog.tableExists(backticked_table(table))))

    def confirm_rows(self, table: SourceTable, rows: int) -> None:
        """Raise ``InputError`` unless a source that the embedded engine read has ``rows`` records."""
        opened = self._opened[table.relation.strip('"')]
        if opened.copied is not None:
            embedded = self._embedded_engine()
            if opened.subset:
                rows = embedded.fetch_rows(f"SELECT count(*) FROM {opened.copied.relation}")[0][0]
            embedded.confirm_rows(opened.copied, rows)

    def locate(self, table: SourceTable, name: str, value: str) -> str:
        """Return where a cell text first occurs in a column.

        Rows that Spark read have no order, so only the column is named.
        """
        copied = self._opened[table.relation.strip('"')].copied
        if copied is not None:
            return self._embedded_engine().locate(copied, name, value)
        return f"column '{name}'"

    def interrupt(self) -> None:
        """Stop the statement that another thread runs (see ``Engine``)."""
        self._jobs.cancel()
        super().interrupt()

    def close(self) -> None:
        """Drop all temporary tables and sources; the session stays. A second call does nothing."""
        for rows in self._opened.values():
            with suppress(DiscreetError):
                self._release(rows)
        self._opened.clear()
        self._places.clear()
        self._tables.clear()
        super().close()
        self._scratch.close()

    def _sql(self, statement: str) -> DataFrame:
        return self._session.sql(escape_backslashes(statement))

    def _keep(self, name: str, frame: Callable[[], DataFrame]) -> None:
        """Store a frame behind a view; an existing table of that name is replaced at the end.

        A frame of only loaded rows is not stored: it is part of the plans that use it.
        """

        def keep() -> str | None:
            found = cast_untyped_columns(frame())
            if is_constant_frame(found):
                found.createOrReplaceTempView(name)
                return None
            stored_path = self._scratch.store(found)
            read_parquet_files(self._session, stored_path, schema=found.schema).createOrReplaceTempView(name)
            return stored_path

        self._replace_place(name, self._guarded(keep))
        self._tables.add(name)

    def _replace_place(self, name: str, address: str | None) -> None:
        before = self._places.pop(name, None)
        if address is not None:
            self._places[name] = address
        if before is not None:
            self._scratch.remove(before)

    def _arrow(self, query: str) -> Any:
        def fetch() -> Any:
            with quiet_imports():
                return self._sql(query).toArrow()

        return self._guarded(fetch)

    @contextmanager
    def fetched(self, query: str) -> Iterator[str]:
        """Store a query's result in local files, and yield the query by which DuckDB reads them in order."""

        def fetch() -> tuple[str, list[Path]]:
            stored_path = self._scratch.store(cast_untyped_columns(self._sql(query)))
            return stored_path, self._scratch.files(stored_path)

        stored_path, files = self._guarded(fetch)
        try:
            yield parquet_query(files)
        finally:
            self._scratch.remove(stored_path)

    def _release(self, rows: SparkRows) -> None:
        if rows.shared is not None:
            self._guarded(lambda: self._session.catalog.dropGlobalTempView(str(rows.shared)))
        if rows.copied is not None and self._embedded is not None:
            self._embedded.close_source(rows.copied)
        if rows.address is not None:
            self._scratch.remove(rows.address)

    def _guarded(self, action: Callable[[], T], *, opening: bool = False) -> T:
        try:
            with self._jobs.one():
                return action()
        except DiscreetError:
            raise
        except Exception as error:
            raise self._translated(error, opening=opening) from None

    def _translated(self, error: Exception, *, opening: bool = False) -> DiscreetError:
        result = spark_failures.translate_error(
            error, limit=self._settings.memory_limit, label=self._label, opening=opening
        )
        if isinstance(result, InternalError) and self._sessions.is_stopped():
            return spark_failures.session_stopped_error()
        return result


_NAMED = ("Catalog", "Database", "Table")
_PLACES = ("Location", "Path")
_STATEMENT = "View Text"


def identities(engine: SparkEngine, source: SourceSpec) -> tuple[Identity, ...]:
    """Return the identities of the catalog table that a source names; empty for a DataFrame."""
    if source.table is None:
        return ()
    found: dict[Identity, None] = {}
    waiting, seen = [source.table], set[str]()
    while waiting:
        table = waiting.pop()
        if table in seen:
            continue
        seen.add(table)
        try:
            described = dict(engine.describe_table(table))
        except DiscreetError:
            continue  # a word of a view's statement that is no table name
        name = ".".join(described[key].casefold() for key in _NAMED if key in described)
        found |= {("table", f"spark {name or table.casefold()}"): None}
        found |= {
            ("path", f"{described[key].removeprefix('file:')}\n"): None for key in _PLACES if key in described
        }
        waiting += _words(described.get(_STATEMENT, ""))
    return tuple(found)


def _words(statement: str) -> list[str]:
    """Return the words of a view's statement that may name a table, with or without its database."""
    return sorted(set(re.findall(r"[\w$`]+(?:\.[\w$`]+)*", statement)))
