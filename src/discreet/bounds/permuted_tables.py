"""Tables of a permuted release: in the engine, in files, by name, and as arrays of group values.

If every row has an exact number, all columns of a help table follow from one column, the ordered values:
sums are differences of running sums, so 16 bytes per row are kept in memory. For a query the engine returns
the group and key of each matching row as one integer; a compiled loop counts them and looks up their
bounds.

Cost of a query with h hits: the scan (twice if keys that are not small integers are numbered first), and h
integers fetched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import LimitReached
from discreet.frequency.kernel_choice import choose_kernels
from discreet.kernels.numpy_twins import HitBounds, SortedGroupValues, bound_hits_twin
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import (
    HELP_FILE,
    HELP_NAME,
    ONE_TABLE_NAME,
    QUASI_IDENTIFIERS_NAME,
    PermutedRelease,
    ReleaseForm,
)
from discreet.model.table_spec import SourceSpec
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.permuted_query import (
    KEY_NUMBER_COLUMN,
    PACKED_COLUMN,
    KeyNumbers,
    PermutedTables,
    number_keys_by_value,
    select_key_ends,
    select_keys,
    select_numbered_keys,
    select_packed_hits,
)
from discreet.queries.select_query import ReleaseQuery, SelectedAggregate
from discreet.sql.cell_expressions import LONG_DIGITS, is_long, to_units
from discreet.sql.dialect import Dialect
from discreet.sql.help_table import GROUP_ROWS, GROUP_VALUES, HITS
from discreet.sql.quoting import identifier, literal, table_parts

_Integers = NDArray[np.int64]

_EXACT_DOUBLES = 1 << 53
"""Limit of sums that doubles represent exactly, as averages need."""
_MOST_GROUP_NUMBERS = 1 << 31
_BYTES_PER_ROW = 48
"""Bytes per row while values are sorted into their groups."""
_HITS_WORTH_COMPILING = 500_000


@dataclass(frozen=True, eq=False)
class GroupValueArrays:
    """Values of each group in units of the last of ``scale`` decimals, with the tables they belong to."""

    grouped: SortedGroupValues
    scale: int
    tables: PermutedTables

    def lines(self, engine: Engine, release_query: ReleaseQuery) -> list[tuple[Any, ...]]:
        """Return the result rows of the query rewritten by ``queries.permuted_query``, one per key."""
        with TemporaryTables(engine) as scratch:
            numbers = self._numbers(engine, release_query, scratch)
            last = self.grouped.first + len(self.grouped.starts)
            query = select_packed_hits(release_query, self.tables, engine.dialect, numbers, last)
            packed = engine.fetch_arrays(query)[PACKED_COLUMN]
        found = self._bounds(packed, numbers.bits, release_query, len(numbers.keys))
        met = [index for index in range(len(numbers.keys)) if found.hits[index] or not release_query.keys]
        return [self._line(release_query.aggregates, numbers.keys[index], found, index) for index in met]

    def _numbers(self, engine: Engine, release_query: ReleaseQuery, scratch: TemporaryTables) -> KeyNumbers:
        """Number the keys: by value if they are small integers, else in a temporary table of the engine."""
        if not release_query.keys:
            return KeyNumbers()
        if len(release_query.keys) == 1:
            (kind,) = engine.column_types(select_keys(release_query, self.tables))
            if is_long(kind):
                least, most = engine.fetch_rows(select_key_ends(release_query, self.tables))[0]
                numbers = number_keys_by_value(release_query, engine.dialect, kind, (least, most))
                if numbers is not None:
                    return numbers
        table = identifier(scratch.create(select_numbered_keys(release_query, self.tables, engine.dialect)))
        occurring = engine.fetch_rows(f"SELECT * FROM {table} ORDER BY {KEY_NUMBER_COLUMN}")
        return KeyNumbers(tuple(line[1:] for line in occurring), f"k.{KEY_NUMBER_COLUMN}", table)

    def _bounds(self, packed: NDArray[Any], bits: int, release_query: ReleaseQuery, keys: int) -> HitBounds:
        """Compute the bounds of the hits, by key.

        The kernel is specialized by the item size of the packed hits, so each size is compiled separately.
        """
        result, part = HitBounds.of_none(keys), f"hit-bounds-{packed.dtype.itemsize}"
        if not choose_kernels([part], "query", worth=len(packed) > _HITS_WORTH_COMPILING):
            bound_hits_twin(packed, bits, self.grouped, result)
            return result
        from discreet.kernels.hit_bounds import bound_hits
        from discreet.kernels.precompilation import mark_compiled

        with_ends = any(a.aggregate in (Aggregate.MIN, Aggregate.MAX) for a in release_query.aggregates)
        bound_hits(packed, bits, with_ends, self.grouped, result)
        mark_compiled(part)
        return result

    def _line(
        self, selected: Sequence[SelectedAggregate], key: tuple[Any, ...], hit_bounds: HitBounds, index: int
    ) -> tuple[Any, ...]:
        hits = int(hit_bounds.hits[index])
        sums = int(hit_bounds.sum_lower[index]), int(hit_bounds.sum_upper[index])
        expected = float(hit_bounds.expected[index]) / 10**self.scale
        ends = [Decimal(int(end)).scaleb(-self.scale) for end in hit_bounds.ends[index]]
        cells: dict[Aggregate, tuple[Any, ...]] = dict.fromkeys(Aggregate, (None, None, None))
        cells[Aggregate.COUNT] = hits, hits, float(hits)
        if hits:
            cells[Aggregate.SUM] = (*(Decimal(sum_).scaleb(-self.scale) for sum_ in sums), expected)
            cells[Aggregate.AVG] = (*(sum_ / 10**self.scale / hits for sum_ in sums), expected / hits)
            cells[Aggregate.MIN] = (*ends[:2], float(ends[2]))
            cells[Aggregate.MAX] = (*ends[3:5], float(ends[5]))
        return (*key, *(cell for aggregate in selected for cell in cells[aggregate.aggregate]))


def load_group_values(engine: Engine, tables: PermutedTables) -> GroupValueArrays | None:
    """Load the values of a release's groups from its help table.

    Returns None if some row has no value, if values are no exact numbers or their sums exceed 53 bits, if
    memory does not suffice, or if the help table's rows are not those of the release's groups.
    """
    if not tables.numeric or tables.has_null or tables.scale is None or tables.scale + 1 >= LONG_DIGITS:
        return None
    reading = _HelpTableReader(engine, tables, tables.scale)
    starts = reading.starts()
    if starts is None or not reading.is_exact():
        return None
    try:
        engine.leave_room(_BYTES_PER_ROW * int(starts[1][-1]))
    except LimitReached:
        return None
    grouped = reading.grouped(*starts)
    return None if grouped is None else GroupValueArrays(grouped, tables.scale, tables)


@dataclass(frozen=True)
class _HelpTableReader:
    """Reader of a help table, whose rows have no order: each contains its group and number of hits."""

    engine: Engine
    tables: PermutedTables
    scale: int

    @property
    def _group(self) -> str:
        return self.engine.dialect.identifier(self.tables.group_column)

    def starts(self) -> tuple[int, _Integers] | None:
        """Return the first group's number and the start of each group; None if groups or rows are incomplete.

        A complete help table has, for each group of n rows, n rows with the hits 1 … n.
        """
        same = [f"min({name}) = count(*) AND max({name}) = count(*)" for name in (GROUP_ROWS, GROUP_VALUES)]
        same += [f"min({HITS}) = 1 AND max({HITS}) = count(*) AND count({HITS}) = count(*)"]
        lines = self._counts(self.tables.help, f"CASE WHEN {' AND '.join(same)} THEN 1 ELSE 0 END")
        rows = self._counts(self.tables.release, "1")
        groups = lines["g"].astype(np.int64)
        if (
            not len(groups)
            or groups[0] < 0
            or groups[-1] + 1 >= _MOST_GROUP_NUMBERS
            or not lines["same"].all()
        ):
            return None
        alike = all(np.array_equal(lines[name], rows[name]) for name in ("g", "n"))
        if not alike or not np.array_equal(groups, groups[0] + np.arange(len(groups))):
            return None
        return int(groups[0]), np.concatenate(([0], np.cumsum(lines["n"]))).astype(np.int64)

    def _counts(self, relation: str, same: str) -> dict[str, NDArray[Any]]:
        """Count the rows of each group of a table; -1 is the group of rows without one."""
        group = f"coalesce({self._group}, -1)"
        columns = f"{group} AS g, count(*) AS n, {same} AS same"
        counted = self.engine.fetch_arrays(f"SELECT {columns} FROM {relation} AS t GROUP BY {group}")
        order = np.argsort(counted["g"])
        return {name: cells[order] for name, cells in counted.items()}

    def is_exact(self) -> bool:
        """Check that no value is NULL, and that no sum of values exceeds 53 bits."""
        summed = "count(*) FILTER (WHERE lowest IS NULL), sum(abs(lowest))"
        nulls, sums = self.engine.fetch_rows(f"SELECT {summed} FROM {self.tables.help} AS help")[0]
        return not nulls and sums * 10**self.scale < _EXACT_DOUBLES

    def grouped(self, first: int, starts: _Integers) -> SortedGroupValues | None:
        """Return the values; None if a group lacks a row for a number of hits, or values do not ascend."""
        dialect, rows = self.engine.dialect, int(starts[-1])
        cells = {n: dialect.cast(sql, "INTEGER") for n, sql in (("g", self._group), ("h", HITS))}
        cells["v"] = to_units(dialect, "lowest", self.scale)
        columns = ", ".join(f"{sql} AS {name}" for name, sql in cells.items())
        found = self.engine.fetch_arrays(f"SELECT {columns} FROM {self.tables.help} AS help")
        values = np.full(rows, _EXACT_DOUBLES, dtype=np.int64)
        values[starts[found["g"] - first] + (found["h"] - 1)] = found["v"]
        rises = values[1:] >= values[:-1]
        rises[starts[1:-1] - 1] = True
        if (values == _EXACT_DOUBLES).any() or not rises.all():
            return None
        return SortedGroupValues(first, starts, values, np.concatenate(([0], np.cumsum(values))))


HELP_BY_GROUP = "help by group"
_INTEGER_COLUMNS = ("hits", "values_lower", "values_upper", "group_rows", "group_values")


@dataclass(frozen=True, eq=False)
class PermutedReleaseTables:
    """Opened tables of the permuted release at ``address``.

    ``values`` is the source of the sensitive values, None if the data table contains them.
    ``engine_tables`` names copies in the engine: of ``data``, of ``help``, and of the help table by group.
    ``groups`` contains the values of each group as arrays, which answer queries without the help table.
    """

    address: ReleaseAddress
    file_format: str
    facts: PermutedRelease
    data: SourceTable
    help: SourceTable
    values: SourceSpec | None = None
    engine_tables: Mapping[str, str] = field(default_factory=dict)
    groups: GroupValueArrays | None = None

    @property
    def in_engine(self) -> PermutedTables:
        """Tables in the engine, with their original column names."""
        return PermutedTables.of(
            self.facts,
            self.engine_tables.get("data") or _named_relation(self.data, self._data_types),
            self.engine_tables.get(HELP_FILE) or _named_relation(self.help, self._help_types),
            self.engine_tables.get(HELP_BY_GROUP),
        )

    def stored(self, dialect: Dialect) -> PermutedTables:
        """Return the tables as SQL that reads the files or database directly, without discreet."""
        listed, address = self.facts.files[HELP_FILE], self.address
        helped = address.part(HELP_FILE, listed.file)
        return PermutedTables.of(
            self.facts,
            stored_relation(
                address, self.file_format, self.facts.table, self.data, self._data_types, dialect
            ),
            stored_relation(helped, self.file_format, listed.table, self.help, self._help_types, dialect),
        )

    def named(self, release: str | None = None, help_table: str | None = None) -> PermutedTables:
        """Return the tables by their names in a database (None: the names in a database file)."""
        two = self.facts.form is ReleaseForm.TWO_TABLES
        return PermutedTables.of(
            self.facts,
            release or (QUASI_IDENTIFIERS_NAME if two else ONE_TABLE_NAME),
            help_table or HELP_NAME,
        )

    @property
    def _data_types(self) -> dict[str, str]:
        return {self.facts.group_column: "BIGINT"} if self._is_text else {}

    @property
    def _help_types(self) -> dict[str, str]:
        """Types of the help table's columns for files without types."""
        if not self._is_text:
            return {}
        exact = "DOUBLE" if self.facts.scale is None else f"DECIMAL(38, {self.facts.scale})"
        integer_names = (self.facts.group_column, *_INTEGER_COLUMNS)
        return {name: "BIGINT" if name in integer_names else exact for name in self.help.columns}

    @property
    def _is_text(self) -> bool:
        return self.file_format in ("csv", "tsv")


def _named_relation(table: SourceTable, casts: Mapping[str, str]) -> str:
    """Return a source as a relation with its own column names, cast to the given types."""
    columns = [
        f"{table.dialect.cast(table.column(name), casts[name])} AS {identifier(name)}"
        if name in casts
        else f"{table.column(name)} AS {identifier(name)}"
        for name in table.columns
    ]
    return f"(SELECT {', '.join(columns)} FROM {table.relation})"


def stored_relation(
    address: ReleaseAddress,
    file_format: str,
    table: str | None,
    opened: SourceTable,
    types: Mapping[str, str],
    reader: Dialect,
) -> str:
    """Return SQL for a table of a database by its name, or for a file or folder by a reader function.

    ``table`` is a table of a DuckDB file, ``opened`` the release in the engine, ``reader`` the SQL dialect
    in which the files are read. Cells of CSV are texts except for the columns in ``types``; an empty cell
    without quotes is NULL. Wildcards in the path are escaped, because ``read_parquet`` and ``read_csv``
    read patterns.
    """
    if address.path is None:
        return ".".join(reader.identifier(part) for part in table_parts(str(address.table)))
    if table is not None:
        return identifier(table)
    if reader.parquet_folder is not None:
        return reader.parquet_folder.format(reader.identifier(str(address.path.absolute())))
    pattern = "/*.parquet" if address.path.is_dir() else ""
    path_pattern = literal(
        "".join(f"[{c}]" if c in "*?[" else c for c in str(address.path.absolute())) + pattern
    )
    if file_format == "parquet":
        return f"read_parquet({path_pattern})"
    if file_format == "sqlite":
        return f"sqlite_scan({literal(str(address.path.absolute()))}, 'release')"
    listed = ", ".join(f"{literal(name)}: {literal(types.get(name, 'VARCHAR'))}" for name in opened.columns)
    options = (
        "header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, "
        "auto_detect = false"
    )
    return f"read_csv({path_pattern}, columns = {{{listed}}}, {options})"
