"""Opening a source's rows as a table, and the digest of a table's distinct rows.

Context managers open a source as its spec says (linked rows and shifted dates; replaced identifiers only for
a release) and change a session setting for a block of statements. One GROUP BY returns the distinct rows with
their counts, from which an order-independent SHA-256 is computed (``sql.row_hashes``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from discreet.engines.base import Engine, SourceTable
from discreet.engines.base import TemporaryTables as TemporaryTables
from discreet.errors import DiscreetError, InputError
from discreet.model.table_spec import SourceSpec
from discreet.sql import row_hashes as sql
from discreet.sql.cell_expressions import canonical_text, column_name, group_key, group_key_type, is_text
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier


@contextmanager
def open_source_table(engine: Engine, source: SourceSpec) -> Iterator[SourceTable]:
    """Open a source's rows for the duration of the context: linked rows, with dates shifted as the spec says.

    Counting must see the rows that are published, so all counting opens them here; identifiers are replaced
    only for a release (``open_release_table``). Raises ``InputError`` if the source cannot be read.
    """
    with ExitStack() as stack:
        table = stack.enter_context(open_unmodified_table(engine, source))
        if source.link is not None:
            from discreet.engines.column_replacement import link_rows

            table = stack.enter_context(link_rows(engine, source.link, table))
        if source.date_shifts:
            from discreet.engines.column_replacement import shift_dates

            table = stack.enter_context(shift_dates(engine, source, table))
        yield table


@contextmanager
def open_unmodified_table(engine: Engine, source: SourceSpec) -> Iterator[SourceTable]:
    """Open a source's rows unmodified; raises ``InputError`` if the source cannot be read."""
    table = engine.open_source(source)
    try:
        yield table
    finally:
        with suppress(DiscreetError):
            engine.close_source(table)


def confirm_all_rows(engine: Engine, table: SourceTable, rows: int) -> None:
    """Raise ``InputError`` unless a source has ``rows`` records (``Engine.confirm_rows``).

    Linked rows are not checked: all records were confirmed when the keys were read
    (``release.related_tables``).
    """
    if not table.linked:
        engine.confirm_rows(table.unmodified, rows)


@contextmanager
def open_release_table(engine: Engine, source: SourceSpec) -> Iterator[SourceTable]:
    """Open a source's rows as they are published: identifiers that are not left out are replaced.

    Raises ``InputError`` also if a replacement equals a text of the column.
    """
    with open_source_table(engine, source) as table:
        if not source.pseudonymizations:
            yield table
            return
        from discreet.engines.column_replacement import replace_identifiers

        with replace_identifiers(engine, source, table) as replaced:
            yield replaced


@contextmanager
def session_setting(engine: Engine, setting: tuple[str, str] | None) -> Iterator[None]:
    """Run a statement at the start and another at the end of the context; None runs nothing.

    A failure of the second statement is suppressed: it would hide the error that ended the context, after
    which the session is closed.
    """
    if setting is None:
        yield
        return
    begin, end = setting
    engine.execute(begin)
    try:
        yield
    finally:
        with suppress(DiscreetError):
            engine.execute(end)


def read_text_table(engine: Engine, source: SourceSpec, described_by: SourceSpec | None = None) -> str | None:
    """Return the text of a one-cell table; None if the table does not exist or may not be read.

    Raises ``InputError`` for a table of another shape, and if ``described_by``, the table that the text
    describes, cannot be read either.
    """
    try:
        engine.close_source(engine.open_source(source))
    except InputError:
        if described_by is not None:
            engine.close_source(engine.open_source(described_by))
        return None
    with open_source_table(engine, source) as table:
        if len(table.columns) == 1:
            found = engine.fetch_rows(f"SELECT {table.text(table.columns[0])} FROM {table.relation} LIMIT 2")
            if len(found) == 1 and isinstance(found[0][0], str):
                return found[0][0]
    raise InputError(f"{source.label} contains no manifest", allowed="one row with one text")


_SAMPLED_ROWS = 1 << 16
"""Sample size, in rows, for the first count of distinct cells."""


@dataclass(frozen=True)
class DigestLines:
    """Lines of a digest: the rows that agree in all cells except the last column's share one line.

    ``entry`` is the SQL text of a distinct row in its line, ``joined`` the aggregate that joins all entries.
    """

    entry: str
    joined: str


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows of an opened table, in a temporary table made by one GROUP BY.

    ``table`` has the original column names, with types for which cells of equal text are equal; in SQL the
    additional column ``sql.row_hashes.DISTINCT_ROW_COUNT`` contains the number of occurrences of the row. If
    ``lines`` is given, the relation is not a table but a query sorted by all columns, to be run once.
    """

    engine: Engine
    table: SourceTable
    lines: DigestLines | None = None

    @classmethod
    def of(cls, engine: Engine, tables: TemporaryTables, table: SourceTable) -> DistinctRows:
        """Compute the distinct rows of an opened table, with its NULL texts; ``tables`` drops them."""
        keyed = _KeyedCells.of(table)
        name = tables.create(sql.distinct_row_counts(table.relation, keyed.keys))
        return cls(engine, keyed.counted(table, identifier(name)))

    @classmethod
    def from_sorted_rows(cls, engine: Engine, table: SourceTable) -> DistinctRows | None:
        """Return the distinct rows of a table that is already in the order of its cells, as a sorted query.

        Returns None if the engine gains nothing from sorted rows, or if the rows do not share lines as
        ``DigestLines`` describes.
        """
        dialect, keyed = engine.dialect, _KeyedCells.of(table).binary(engine.dialect)
        if dialect.sorted_groups is None or len(keyed.keys) == 1:
            return None
        key, kind, places = keyed.keys[-1], keyed.types[-1], range(len(keyed.keys))
        if not _few(engine, table.relation, key, _SAMPLED_ROWS):
            return None
        text = canonical_text(key, kind, dialect)
        found, length = engine.fetch_rows(sql.distinct_cell_count_and_length(table.relation, text))[0]
        if found > sql.MOST_LINE_CELLS:
            return None
        prefixed, joined = sql.length_prefixed(dialect, keyed.texts(dialect)[-1]), dialect.joined_in_order
        if length is not None and is_text(kind) and dialect.joined_as_sorted is not None:
            prefixed = sql.fixed_length_prefixed(int(length), column_name(len(places) - 1))
            joined = dialect.joined_as_sorted
        rows = sql.distinct_row_counts(table.relation, keyed.keys)
        ordered = f"({rows} ORDER BY {', '.join(map(column_name, places))}) AS counted"
        return cls(
            engine, keyed.counted(table, ordered), DigestLines(sql.counted_cell(dialect, prefixed), joined)
        )

    def digest(self, lines: str | None = None) -> str:
        """Return the order-independent SHA-256 of the table's rows (``sql.row_hashes``).

        ``lines`` is a query that returns the ``h`` of each line, if the lines are computed already.
        """
        if lines is not None:
            return _fetched(self.engine, sql.lines_digest(self.engine.dialect, lines))
        relation, types = self.table.relation, tuple(self.table.types.values())
        keyed = _KeyedCells(tuple(map(column_name, range(len(types)))), types)
        together = _line_column(self.engine, keyed, relation)
        texts = keyed.texts(self.engine.dialect)
        return _fetched(self.engine, sql.rows_digest(self.engine.dialect, relation, texts, together))


@dataclass(frozen=True)
class _KeyedCells:
    """Expressions over a relation under which cells of equal text are equal, by column, with their types."""

    keys: tuple[str, ...]
    types: tuple[str, ...]

    @classmethod
    def of(cls, table: SourceTable) -> _KeyedCells:
        """Return the expressions for an opened table, with its NULL texts."""
        if table.null_values:
            return cls(tuple(map(table.text, table.columns)), ("VARCHAR",) * len(table.columns))
        kinds = [(table.column(name), table.types[name]) for name in table.columns]
        return cls(
            tuple(group_key(column, kind, table.dialect) for column, kind in kinds),
            tuple(group_key_type(kind) for _, kind in kinds),
        )

    def binary(self, dialect: Dialect) -> _KeyedCells:
        """Return a copy in which texts are sorted by code points."""
        keys = zip(self.keys, self.types, strict=True)
        sorted_keys = (dialect.binary_order.format(k) if is_text(kind) else k for k, kind in keys)
        return replace(self, keys=tuple(sorted_keys))

    def counted(self, table: SourceTable, relation: str) -> SourceTable:
        """Return the table with the relation of its distinct rows."""
        types = dict(zip(table.columns, self.types, strict=True))
        return replace(table, relation=relation, types=types, null_values=(), written={})

    def texts(self, dialect: Dialect) -> tuple[str, ...]:
        """Return the cell texts of the grouped columns."""
        return tuple(canonical_text(column_name(i), kind, dialect) for i, kind in enumerate(self.types))


def _line_column(engine: Engine, keyed: _KeyedCells, relation: str) -> int | None:
    """Return the position of the last column with few distinct cells; None if there is none.

    A sample is counted before all rows, because counting all rows of a column with many distinct cells is
    slow.
    """
    for index in reversed(range(len(keyed.keys))):
        key = keyed.keys[index]
        if all(_few(engine, relation, key, rows) for rows in (_SAMPLED_ROWS, None)):
            return index
    return None


def _few(engine: Engine, relation: str, key: str, rows: int | None) -> bool:
    return bool(engine.fetch_rows(sql.distinct_cell_count(relation, key, rows))[0][0] <= sql.MOST_LINE_CELLS)


def table_digest(engine: Engine, source: SourceSpec, first: Sequence[str] = ()) -> str:
    """Return the order-independent SHA-256 of a table's rows; ``first`` as in ``opened_table_digest``."""
    with open_source_table(engine, source) as table:
        return opened_table_digest(engine, table, first)


def opened_table_digest(engine: Engine, table: SourceTable, first: Sequence[str] = ()) -> str:
    """Return the order-independent SHA-256 of an opened table's rows (``sql.row_hashes``).

    Parameters
    ----------
    engine : Engine
        Engine that opened the table.
    table : SourceTable
        Table whose rows are hashed, with its NULL texts applied.
    first : sequence of str
        Columns in whose order the rows are stored; such rows are sorted faster.

    Returns
    -------
    str
        SHA-256 of the rows as a multiset.

    Notes
    -----
    Cost: one GROUP BY of all columns in the engine, and up to two counts of distinct cells per column to
    find a column whose cells share a line.
    """
    dialect, keyed = table.dialect, _KeyedCells.of(table)
    keys, texts = list(keyed.keys), keyed.texts(dialect)
    together = _line_column(engine, keyed, table.relation)
    # Text comparison may follow the collation of a language, which is slower than hashing.
    sorted_first = not any(map(is_text, keyed.types))
    order = _order(table.columns, first, together) if sorted_first else ()
    entered: Sequence[int] = ()
    if together is not None and order and dialect.joined_as_sorted is not None:
        keys[together] = sql.sortable_cell(
            dialect, canonical_text(keys[together], keyed.types[together], dialect)
        )
        entered = order
    counted = f"({sql.distinct_row_counts(table.relation, keys, order)}) AS counted"
    return _fetched(engine, sql.rows_digest(dialect, counted, texts, together, entered))


def _order(columns: Sequence[str], first: Sequence[str], together: int | None) -> tuple[int, ...]:
    """Return all positions: ``first``, then the others, last the column whose cells share a line."""
    begun = [columns.index(name) for name in first if name in columns]
    places = dict.fromkeys([*begun, *range(len(columns))])
    last = () if together is None else (together,)
    return (*(index for index in places if index != together), *last)


def _fetched(engine: Engine, query: str) -> str:
    return str(engine.fetch_rows(query)[0][0])
