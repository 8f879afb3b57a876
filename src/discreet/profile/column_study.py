"""Study of a table's columns for choosing roles: proposal, coded values, uniqueness of column sets.

The rows are read once into a temporary table. Each column's distinct texts get codes in memory (4 bytes per
cell); rows of a database are grouped there and arrive as groups. Rows that agree in a set of columns form a
class; a row is unique if its class has one row. The search for the worst pairs and triples examines the sets
of the columns with the most values first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.registry import ENGINES
from discreet.engines.source_query import padded_names
from discreet.engines.source_tables import TemporaryTables, open_source_table
from discreet.errors import InputError, LimitReached
from discreet.hierarchy.cell_values import sort_values
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.profile.cell_format_inference import infer_formats
from discreet.profile.column_profile import ColumnProfile, column_batch_size, is_readable, profile_columns
from discreet.profile.heading_hints import IdentifierKind, kind_by_letter
from discreet.profile.hierarchy_proposal import HierarchyProposal, needs_values, propose_hierarchy
from discreet.profile.person_names import PERSON_NAMES_REASON, REFERENCED_NAMES_REASON
from discreet.profile.roles import identifier_kind
from discreet.profile.spec_inference import (
    check_has_rows,
    propose_for_table,
    reprofile_columns,
    without_decimal_mark,
)
from discreet.profile.spec_proposal import ProposedAttribute, SpecProposal
from discreet.sql.cell_expressions import batched, canonical_text, column_name
from discreet.sql.group_counts import (
    enum_type,
    enum_values,
    group_key_name,
    group_rows,
    groups_as_texts,
    value_code,
)
from discreet.sql.quoting import identifier

_FEW_ENTRIES = 10_000
"""Maximum number of entries whose texts are encoded in Python, many columns per statement.

Above it the engine encodes each column, which takes four statements per column, each as long as the table is
wide.
"""


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Columns of a table as integer codes; all columns have their entries in the same, unspecified order.

    ``values[i]`` are the distinct texts of column ``names[i]`` in order (numbers by size, texts naturally),
    without NULL. ``codes[i]`` has one entry per row: the index of its value, or ``len(values[i])`` for NULL.
    With ``weights``, an entry represents that number of rows.
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: tuple[NDArray[np.int32], ...]
    rows: int
    weights: NDArray[np.int64] | None = None

    @property
    def entries(self) -> int:
        """Length of each array in ``codes``."""
        return self.rows if self.weights is None else len(self.weights)

    def rows_of(self, keys: NDArray[Any], number: int) -> NDArray[np.int64]:
        """Count the rows of each key from 0 to ``number`` - 1; ``keys`` has one key per entry."""
        return np.bincount(keys, self.weights, minlength=number).astype(np.int64)

    def position(self, name: str) -> int:
        """Return the index of a column; raise ``InputError`` if no column has that name."""
        if name not in self.positions:
            raise InputError(
                f"the column {quote_value(name)} does not exist", allowed=quote_values(self.names, 20)
            )
        return self.positions[name]

    @cached_property
    def positions(self) -> dict[str, int]:
        """Index of each column."""
        return {name: index for index, name in enumerate(self.names)}

    def with_null_values(self, texts: Collection[str]) -> CodedColumns:
        """Return the same columns with some texts read as NULL, in every column."""
        values, codes = [], []
        for occurring, own in zip(self.values, self.codes, strict=True):
            remaining = [value for value in occurring if value not in texts]
            if len(remaining) < len(occurring):
                place_of = {value: index for index, value in enumerate(remaining)}
                positions = [place_of.get(value, len(remaining)) for value in occurring]
                own = np.array([*positions, len(remaining)], dtype=np.int32)[own]
            values.append(tuple(remaining))
            codes.append(own)
        return replace(self, values=tuple(values), codes=tuple(codes))

    def counts(self, name: str) -> NDArray[np.int64]:
        """Count the rows of each value of a column, then those of NULL; shape ``(values + 1,)``."""
        index = self.position(name)
        return self.rows_of(self.codes[index], len(self.values[index]) + 1)


def read_coded_columns(
    engine: Engine,
    table: SourceTable,
    *,
    memory_limit: int,
    progress: Callable[[int, int], None] | None = None,
    excluded: Collection[str] | None = None,
) -> CodedColumns:
    """Read the columns of an opened source that contain text, numbers, dates or booleans.

    Texts that the source reads as NULL are NULL. With ``excluded``, the engine groups the rows by all columns
    but those, and the result has groups as entries instead of rows. Raises ``LimitReached`` if the codes
    would take over a quarter of ``memory_limit`` bytes, and ``InputError`` if the source cannot be read.
    """
    dropped = excluded or ()
    names = tuple(name for name in table.columns if name not in dropped and is_readable(table, name))
    texts = [table.text(name) for name in names]
    with TemporaryTables(engine) as tables:
        if excluded is None:
            stored = tables.create(_rows_sql(table.relation, texts))
            rows = int(engine.fetch_rows(f"SELECT count(*) FROM {identifier(stored)}")[0][0])
            _check_memory(rows, len(names), memory_limit)
            return _encode_columns(engine, stored, names, rows, None, progress)
        most = memory_limit // 4 // (4 * len(names) + 8)
        stored = tables.new_name()
        groups = group_rows(table.relation, texts or ["1"])
        positions = [group_key_name(i) for i in range(len(names))]
        embedded = engine.keep_result(stored, groups_as_texts(groups, positions, most + 1))
        weights = embedded.fetch_arrays(f"SELECT n FROM {identifier(stored)} ORDER BY rowid")["n"]
        if len(weights) > most:
            raise _too_many_groups(most, len(names), memory_limit)
        result = _encode_columns(
            embedded, stored, names, int(weights.sum()), weights.astype(np.int64), progress
        )
        embedded.drop_table(stored)
        return result


def _rows_sql(relation: str, texts: Sequence[str]) -> str:
    named = ", ".join(f"{text} AS {group_key_name(i)}" for i, text in enumerate(texts))
    return f"SELECT {named} FROM {relation}"


def _encode_columns(
    engine: Engine,
    table: str,
    names: tuple[str, ...],
    rows: int,
    weights: NDArray[np.int64] | None,
    progress: Callable[[int, int], None] | None,
) -> CodedColumns:
    entries = rows if weights is None else len(weights)
    is_short = 0 < entries <= _FEW_ENTRIES
    values, codes = [], []
    for positions in batched(range(len(names)), column_batch_size(entries) if is_short else 1):
        several = (
            _encode_in_memory(engine, table, positions)
            if is_short
            else [_encode_in_engine(engine, table, positions[0])]
        )
        for occurring, own in several:
            values.append(occurring)
            codes.append(own)
        if progress is not None:
            progress(len(codes), len(names))
    return CodedColumns(names, tuple(values), tuple(codes), rows, weights)


def _encode_in_memory(
    engine: Engine, table: str, positions: Sequence[int]
) -> Iterator[tuple[tuple[str, ...], NDArray[np.int32]]]:
    """Yield the values and codes of some columns like ``_encode_in_engine``, from their texts."""
    columns = ", ".join(group_key_name(index) for index in positions)
    stored = engine.fetch_rows(f"SELECT {columns} FROM {identifier(table)} ORDER BY rowid")
    for texts in zip(*stored, strict=True):
        ordered = sort_values([*{text for text in texts if text is not None}])
        place_of = {value: number for number, value in enumerate(ordered)}
        codes = [place_of.get(text, len(ordered)) for text in texts]
        yield tuple(ordered), np.array(codes, dtype=np.int32)


def _encode_in_engine(engine: Engine, table: str, index: int) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return a column's values in order, and the code of each row in the table's stored order."""
    kind = f"{table}_values"
    column = group_key_name(index)
    # An ENUM type of the column's texts gives each row's code by a cast, without a join. Its values are in
    # the engine's order, so the codes are renumbered.
    engine.execute(enum_type(kind, table, column))
    try:
        found = [str(value) for value in engine.fetch_rows(enum_values([kind]))[0][0] or ()]
        code = value_code(column, kind, len(found))
        query = f"SELECT {code}::INTEGER AS c FROM {identifier(table)} ORDER BY rowid"
        stored = engine.fetch_arrays(query)["c"]
    finally:
        engine.execute(f"DROP TYPE IF EXISTS {identifier(kind)}")
    ordered = sort_values(found)
    place_of = {value: number for number, value in enumerate(ordered)}
    renumber = np.array([*(place_of[value] for value in found), len(found)], dtype=np.int32)
    return tuple(ordered), renumber[stored]


def _too_many_groups(most: int, columns: int, memory_limit: int) -> LimitReached:
    return LimitReached(
        f"the rows have more than {most:,} distinct combinations of {columns} columns, which need over a "
        f"quarter of the memory limit of {memory_limit:,} bytes",
        advice="Raise DISCREET_MEMORY_LIMIT, or leave columns out of the source.",
    )


def _check_memory(rows: int, columns: int, memory_limit: int) -> None:
    needed = 4 * rows * columns
    if needed > memory_limit // 4:
        raise LimitReached(
            f"{rows:,} rows of {columns} columns need {needed:,} bytes, over a quarter of the memory limit",
            advice="Raise DISCREET_MEMORY_LIMIT, or leave columns out of the source.",
        )


SIZE_THRESHOLDS = (2, 3, 5, 10)
"""Sizes below which classes are counted as small."""

MOST_ROWS_READ = 40_000_000
"""Approximate maximum number of rows that the search for the worst sets reads in total."""

FEWEST_SETS = 24
"""Minimum number of sets that the search examines."""


@dataclass(frozen=True)
class SetUniqueness:
    """Uniqueness of a set of columns: its ``distinct`` combinations and the sizes of their classes.

    ``below`` has, for each of ``SIZE_THRESHOLDS``, the rows in classes of fewer rows; ``smallest`` and
    ``mean`` are class sizes in rows.
    """

    columns: tuple[str, ...]
    rows: int
    distinct: int
    unique_rows: int
    smallest: int
    mean: float
    below: tuple[int, ...]

    @property
    def share(self) -> float:
        """Share of the rows that are unique."""
        return self.unique_rows / self.rows if self.rows else 0.0


@dataclass(frozen=True)
class MostIdentifyingSets:
    """The sets with the most unique rows among the ``sets_examined``, out of ``possible`` sets."""

    best: tuple[SetUniqueness, ...]
    sets_examined: int
    possible: int


def compute_uniqueness(columns: CodedColumns, names: Sequence[str]) -> SetUniqueness:
    """Compute the uniqueness of a set of columns; raise ``InputError`` for an unknown column."""
    positions = [columns.position(name) for name in dict.fromkeys(names)]
    return _uniqueness(columns, positions)


def find_most_identifying_sets(
    columns: CodedColumns, names: Sequence[str], size: int, *, best: int = 5
) -> MostIdentifyingSets:
    """Find the sets of ``size`` columns with the most unique rows; on ties, those with more combinations.

    Examines sets of the columns with the most values first, and at most about ``MOST_ROWS_READ`` rows in
    total. Raises ``InputError`` for a size below 1 or above the number of columns.
    """
    positions = [columns.position(name) for name in dict.fromkeys(names)]
    if not 1 <= size <= len(positions):
        raise InputError(f"sets of {size} of {len(positions)} columns", allowed=f"1 to {len(positions)}")
    ranked = sorted(positions, key=lambda index: (-len(columns.values[index]), index))
    most = max(FEWEST_SETS, MOST_ROWS_READ // max(1, columns.rows))
    found = [_uniqueness(columns, sorted(each)) for each in islice(combinations(ranked, size), most)]
    found.sort(key=lambda each: (-each.unique_rows, -each.distinct))
    return MostIdentifyingSets(tuple(found[:best]), len(found), comb(len(positions), size))


def _uniqueness(columns: CodedColumns, positions: Sequence[int]) -> SetUniqueness:
    sizes = count_class_sizes(columns, positions)
    below = tuple(int(sizes[sizes < threshold].sum()) for threshold in SIZE_THRESHOLDS)
    return SetUniqueness(
        columns=tuple(columns.names[index] for index in positions),
        rows=columns.rows,
        distinct=len(sizes),
        unique_rows=below[0],
        smallest=int(sizes.min()) if len(sizes) else 0,
        mean=columns.rows / len(sizes) if len(sizes) else 0.0,
        below=below,
    )


def count_class_sizes(columns: CodedColumns, positions: Sequence[int]) -> NDArray[np.int64]:
    """Return the rows of each class of the columns at ``positions``, unordered; one class without columns."""
    if not columns.rows:
        return np.empty(0, dtype=np.int64)
    keys, number = np.zeros(columns.entries, dtype=np.int64), 1
    few = max(1 << 16, 4 * columns.entries)
    for index in positions:
        size = len(columns.values[index]) + 1
        keys, number = keys * size + columns.codes[index], number * size
        # Keys are mixed-radix numbers: renumber them before they overflow; stop once all entries differ.
        if number > few:
            occurring, keys = np.unique(keys, return_inverse=True)
            keys, number = keys.astype(np.int64), len(occurring)
            if number == columns.entries:
                break
    sizes = columns.rows_of(keys, 1)
    return sizes[sizes > 0]


_EXAMPLES = 4


@dataclass(frozen=True, eq=False)
class ColumnStudy:
    """A table's columns: the proposal for each, and their codes.

    ``unreadable`` columns contain nested values or bytes, for which no role can be chosen. Of a table in a
    database only columns that are not proposed as identifiers are coded; the values of the others stay there.
    """

    proposal: SpecProposal
    coded: CodedColumns
    unreadable: tuple[str, ...]

    @cached_property
    def proposed(self) -> dict[str, ProposedAttribute]:
        """Proposed attribute of each column."""
        return {attribute.name: attribute for attribute in self.proposal.attributes}

    def with_null_values(self, texts: Collection[str]) -> ColumnStudy:
        """Return the same study with some texts read as NULL; the proposal is unchanged."""
        return replace(self, coded=self.coded.with_null_values(frozenset(texts))) if texts else self

    def kind(self, name: str) -> IdentifierKind | None:
        """Return the kind of identifier that a column holds, one of HIPAA's eighteen, or None."""
        by_values = (
            self.proposed[name].reason in (PERSON_NAMES_REASON, REFERENCED_NAMES_REASON)
            if name in self.proposed
            else False
        )
        return kind_by_letter("A") if by_values else identifier_kind(self._profile(name))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns except the unreadable ones, in the source's order."""
        return tuple(self.proposed)

    def is_coded(self, name: str) -> bool:
        """Return whether a column's values are in memory; raise ``InputError`` for an unknown column."""
        if name not in self.proposed:
            self.coded.position(name)
        return name in self.coded.positions

    def numbers(self, name: str) -> tuple[int, int, int, int]:
        """Return the number of values, and of rows with NULL, a unique value, and the most frequent value."""
        if not self.is_coded(name):
            profile = self._profile(name)
            return profile.distinct, profile.nulls, profile.once, profile.most
        counts = self.coded.counts(name)
        filled = counts[:-1]
        most = int(filled.max()) if len(filled) else 0
        return int((filled > 0).sum()), int(counts[-1]), int((filled == 1).sum()), most

    def examples(self, name: str) -> tuple[str, ...]:
        """Return the most frequent values of a column, at most four; none if the column is not coded."""
        if not self.is_coded(name):
            return ()
        counts = self.coded.counts(name)[:-1]
        values = self.coded.values[self.coded.position(name)]
        return tuple(values[index] for index in (-counts).argsort(kind="stable")[:_EXAMPLES] if counts[index])

    def hierarchy(self, name: str) -> HierarchyProposal:
        """Propose a hierarchy for a column, regardless of its proposed role."""
        profile = self._profile(name)
        values, counts = self.occurring(name) if needs_values(profile) else ((), ())
        return propose_hierarchy(profile, values, counts)

    def occurring(self, name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return a column's values in order and the rows of each, without NULL; empty if it is not coded."""
        if not self.is_coded(name):
            return (), ()
        counts = self.coded.counts(name)[:-1]
        return self.coded.values[self.coded.position(name)], tuple(int(count) for count in counts)

    def _profile(self, name: str) -> ColumnProfile:
        if name not in self.proposed:
            self.coded.position(name)
        return self.proposed[name].column


def study_columns(
    engine: Engine,
    source: SourceSpec,
    *,
    memory_limit: int,
    progress: Callable[[int, int], None] | None = None,
) -> ColumnStudy:
    """Study a source's columns; ``progress`` counts each column twice.

    Raises ``InputError`` if the source cannot be read or has no row, and ``LimitReached`` if its codes would
    not fit (see ``read_coded_columns``).
    """
    tell = progress or (lambda _done, _total: None)
    with ExitStack() as stack:
        tables = stack.enter_context(TemporaryTables(engine))
        table = stack.enter_context(open_source_table(engine, without_decimal_mark(source)))
        padded = padded_names(table.columns)
        if padded:
            source = replace(source, strip=True)
            table = stack.enter_context(open_source_table(engine, without_decimal_mark(source)))
        copy, unreadable = _copy_texts(table, tables)
        total = 2 * len(copy.columns)
        columns = check_has_rows(copy, profile_columns(engine, copy, lambda done, _: tell(done, total)))
        engine.confirm_rows(table, columns[0].rows)
        formats = infer_formats(engine, copy, columns, source)
        if formats.changes or source.decimal is not None:
            tables.drop(copy.relation.strip('"'))
            copy, _ = _copy_texts(
                stack.enter_context(open_source_table(engine, formats.applied(source))), tables
            )
            columns = reprofile_columns(engine, copy, columns, formats)
        proposal = propose_for_table(engine, copy, columns, formats, subject=source.subject)
        proposal = replace(proposal, padded_names=padded)
        coded = read_coded_columns(
            engine,
            copy,
            memory_limit=memory_limit,
            progress=lambda done, _: tell(total // 2 + done, total),
            excluded=None if ENGINES.named(engine.name).embedded else _proposed_identifiers(proposal),
        )
        tell(total, total)
    return ColumnStudy(proposal, coded, unreadable)


def _proposed_identifiers(proposal: SpecProposal) -> frozenset[str]:
    return frozenset(a.name for a in proposal.attributes if a.role is AttributeRole.IDENTIFIER)


def _copy_texts(table: SourceTable, tables: TemporaryTables) -> tuple[SourceTable, tuple[str, ...]]:
    """Copy the source's texts into a temporary table; also return the columns without texts."""
    names = tuple(name for name in table.columns if is_readable(table, name))
    texts = ", ".join(
        f"{canonical_text(table.column(name), table.types[name], table.dialect)} AS {column_name(index)}"
        for index, name in enumerate(names)
    )
    copy = tables.create(f"SELECT {texts} FROM {table.relation}")
    copied = SourceTable(
        relation=identifier(copy),
        columns=names,
        types=dict.fromkeys(names, "VARCHAR"),
        label=table.label,
        null_values=table.null_values,
        dialect=table.dialect,
    )
    return copied, tuple(name for name in table.columns if name not in names)
