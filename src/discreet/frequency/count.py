"""Counting the frequency set of a table: one scan of its rows, then arrays (papers 001 and 004; science M4).

Definition: the frequency set of a table holds each distinct combination of quasi-identifier values (a row
type) with its number of rows; here also the distinct values of each sensitive attribute in a row type, and
its subjects where the spec names one.

The engine groups the rows once by the raw cells of all these columns. What follows reads the groups only:
their distinct texts give the hierarchies, the hierarchies give codes, and groups with equal codes (there are
several per row type where sensitive values differ, or where two texts are both read as NULL) are merged.

Cost: the engine's GROUP BY, then, for g groups of d columns, about g·(12·d + 72) bytes and a few sorts of g
integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from uuid import uuid4

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import opened
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.frequency.encode import EncodedGroups, drop_null_rows, encode_hierarchies
from discreet.frequency.merge import row_types
from discreet.model.frequency_set import FrequencySet
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.settings import Settings
from discreet.sql import frequency as sql
from discreet.sql.names import identifier
from discreet.sql.source import canonical_text, cell_text, group_key, group_key_type, is_binary, is_nested


@dataclass(frozen=True)
class GroupingKeys:
    """The columns that rows are grouped by: quasi-identifiers, sensitive attributes, then the subject."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    subject: str | None

    @classmethod
    def of(cls, spec: TableSpec) -> GroupingKeys:
        """The columns of a spec; ``InputError`` where it names no quasi-identifier."""
        quasi_identifiers = tuple(a.name for a in spec.require_quasi_identifiers())
        return cls(quasi_identifiers, tuple(a.name for a in spec.sensitive), spec.source.subject)

    @property
    def encoded(self) -> tuple[str, ...]:
        """The columns whose values get codes of an enumerated type."""
        return self.quasi_identifiers + self.sensitive

    @property
    def grouped(self) -> tuple[str, ...]:
        """All of them."""
        return self.encoded if self.subject is None else (*self.encoded, self.subject)


def count_frequency_set(engine: Engine, spec: TableSpec, settings: Settings) -> FrequencySet:
    """The frequency set of a spec's table, its hierarchies built from the values that occur.

    Raises ``InputError`` for a source that cannot be read or has no rows (left), a column that is missing or
    holds nested or binary values, a value without a leaf, or a NULL subject; ``LimitReached`` where the
    groups would not fit the memory limit, before they are fetched.
    """
    keys = GroupingKeys.of(spec)
    with opened(engine, spec.source) as table:
        check_columns(table, spec, keys)
        encoded = _scan(engine, table, keys, settings)
        encoded, dropped = _apply_null_policy(encoded, spec)
        if keys.subject is not None:
            _check_subjects(encoded, spec, keys.subject)
        hierarchies, encoded = encode_hierarchies(encoded, spec, Locator(engine, table))
    return row_types(encoded, hierarchies, keys.sensitive, keys.subject, dropped)


def _scan(engine: Engine, table: SourceTable, keys: GroupingKeys, settings: Settings) -> EncodedGroups:
    """The groups of a table's rows, as numbers; the one scan, and nothing is left in the engine."""
    with _scratch(engine, len(keys.encoded)) as names:
        groups, rows = _group(engine, table, keys, names)
        engine.confirm_rows(table, rows)
        if not rows:
            raise InputError(f"{table.label} has no rows", allowed="at least one row below the header")
        _check_memory(groups, keys, settings)
        return _encode(engine, table, keys, names)


def _apply_null_policy(encoded: EncodedGroups, spec: TableSpec) -> tuple[EncodedGroups, int]:
    """The groups that the spec's policy keeps, and the number of rows that it drops."""
    if spec.source.nulls is not NullPolicy.DROP:
        return encoded, 0
    kept, dropped = drop_null_rows(encoded)
    if not kept.groups:
        raise nothing_left(spec, dropped)
    return kept, dropped


def nothing_left(spec: TableSpec, dropped: int) -> InputError:
    """What to raise where the NULL policy drops every row."""
    return InputError(
        f"each of the {dropped:,} rows of {spec.source.label} has NULL in a quasi-identifier or "
        "sensitive attribute, and none is left",
        advice='Set nulls = "value" in [source], or leave out the column that is empty.',
    )


@dataclass(frozen=True)
class Locator:
    """Says where in the source a value first occurs."""

    engine: Engine
    table: SourceTable

    def __call__(self, column: str, value: str) -> str:
        """The source's name and the line or row."""
        return f"{self.table.label}, {self.engine.locate(self.table, column, value)}"


@dataclass(frozen=True)
class _Names:
    """Names of temporary tables and types, of this count alone."""

    groups: str
    subjects: str
    types: tuple[str, ...]


@contextmanager
def _scratch(engine: Engine, columns: int) -> Iterator[_Names]:
    mark = uuid4().hex[:12]
    names = _Names(f"groups_{mark}", f"subjects_{mark}", tuple(f"values_{mark}_{i}" for i in range(columns)))
    try:
        yield names
    finally:
        with suppress(DiscreetError):
            for table in (names.groups, names.subjects):
                engine.execute(f"DROP TABLE IF EXISTS {identifier(table)}")
            for name in names.types:
                engine.execute(f"DROP TYPE IF EXISTS {identifier(name)}")


def check_columns(table: SourceTable, spec: TableSpec, keys: GroupingKeys) -> None:
    """Raise ``InputError`` for a listed column that is missing, or one that cannot be grouped by text."""
    for name in (*(a.name for a in spec.attributes), *(keys.grouped)):
        table.position(name)
    for name in keys.grouped:
        kind = table.types[name]
        if is_nested(kind) or is_binary(kind):
            held = "nested values" if is_nested(kind) else "bytes that are not declared to be text"
            raise InputError(
                f"{table.label}: column '{name}' holds {held} ({kind.partition('(')[0]})",
                allowed="text, numbers, dates or booleans",
                advice="Convert the column to text or flatten it first.",
            )


def _group(engine: Engine, table: SourceTable, keys: GroupingKeys, names: _Names) -> tuple[int, int]:
    """Group the rows, the one scan of the source; the number of groups and of rows."""
    columns = [group_key(table.column(name), table.types[name]) for name in keys.grouped]
    engine.execute(sql.group_rows(names.groups, table.relation, columns))
    groups, rows = engine.fetch_rows(sql.size_of(names.groups))[0]
    return int(groups), int(rows)


def _check_memory(groups: int, keys: GroupingKeys, settings: Settings) -> None:
    """Refuse what would not fit: codes as fetched and as kept, counts, and the keys of the sort."""
    columns = len(keys.grouped)
    needed = groups * (8 * len(keys.quasi_identifiers) + 4 * columns + 72)
    if needed > settings.memory_limit:
        raise LimitReached(
            f"{groups:,} distinct combinations of {columns} columns need about {needed:,} bytes, "
            f"but the memory limit is {settings.memory_limit:,}",
            advice="Raise DISCREET_MEMORY_LIMIT, name fewer quasi-identifiers or sensitive attributes, or "
            "coarsen the column with the most values before.",
        )


def _encode(engine: Engine, table: SourceTable, keys: GroupingKeys, names: _Names) -> EncodedGroups:
    """Fetch the groups as numbers: codes of the values in the order of ``values``, and rows."""
    texts = [
        canonical_text(sql.key_name(i), group_key_type(table.types[name]))
        for i, name in enumerate(keys.grouped)
    ]
    for name, text in zip(names.types, texts, strict=False):
        engine.execute(sql.value_type(name, names.groups, text))
    values = engine.fetch_rows(sql.values_of(names.types))[0]
    codes = [
        sql.value_code(text, name, len(occurring))
        for text, name, occurring in zip(texts, names.types, values, strict=False)
    ]
    query = sql.encoded_groups(names.groups, codes)
    if keys.subject is not None:
        place = len(keys.encoded)
        kind = group_key_type(table.types[keys.subject])
        subject = cell_text(sql.key_name(place), kind, table.null_values)
        engine.execute(sql.number_values(names.subjects, names.groups, subject))
        query = sql.encoded_groups(names.groups, codes, subjects=names.subjects, subject_text=subject)
    arrays = engine.fetch_arrays(query)
    encoded = EncodedGroups(
        attributes=keys.encoded,
        values=tuple(tuple(occurring) for occurring in values),
        codes=tuple(arrays[f"c{i}"] for i in range(len(codes))),
        rows=arrays[sql.COUNT],
        subjects=arrays.get("subject"),
    )
    return encoded.with_null_values(table.null_values)


def _check_subjects(encoded: EncodedGroups, spec: TableSpec, subject: str) -> None:
    assert encoded.subjects is not None
    nameless = int(encoded.rows[encoded.subjects < 0].sum())
    if nameless:
        raise nameless_subjects(spec, subject, nameless)


def nameless_subjects(spec: TableSpec, subject: str, rows: int) -> InputError:
    """What to raise where the subject is NULL in so many rows."""
    return InputError(
        f"{spec.source.label}: the subject column '{subject}' is NULL in {rows:,} rows",
        allowed="a subject in every row",
        advice="Fill or remove those rows: whose they are decides how many subjects a class has.",
    )
