"""Frequency set of a table, counted by one scan in the engine (LeFevre et al. 2005).

The engine groups rows by the raw cells of quasi-identifiers, sensitive attributes and subject. The groups are
staged in the embedded engine as texts and fetched as arrays of numbers. The memory limit is checked before
they are fetched. Cost: the GROUP BY, then about g·(12·d + 72) bytes for g groups of d columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_query import check_cell_formats
from discreet.engines.source_tables import confirm_all_rows, open_source_table
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.frequency.encoding import (
    EncodedGroups,
    build_row_types,
    drop_null_rows,
    encode_hierarchies,
    encode_sensitive,
    find_hidden_groups,
)
from discreet.frequency.rollup import attach_population, encode_together
from discreet.model.cell_format import is_star
from discreet.model.frequency_set import FrequencySet
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.settings import Settings, format_memory
from discreet.sql import group_counts as sql
from discreet.sql.cell_expressions import (
    any_null,
    can_hold_stars,
    canonical_text,
    cell_text,
    group_key,
    group_key_type,
    is_binary,
    null_stars,
)
from discreet.sql.quoting import identifier, literal

_MANY_TEXTS = 10_000
"""Number of distinct texts from which a key is encoded by a join instead of an enumerated type."""


@dataclass(frozen=True, eq=False)
class GroupCodes:
    """Groups as numbers.

    ``codes[i]`` are indices in ``values[i]``, the distinct texts of key i in no defined order, or
    ``len(values[i])`` for NULL. ``rows`` contains the rows of each group. ``subjects`` contains the number of
    its subject (-1 for NULL) if the last key is a subject.
    """

    values: tuple[tuple[str, ...], ...]
    codes: tuple[NDArray[np.int64], ...]
    rows: NDArray[np.int64]
    subjects: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class StagedGroups:
    """Table of the embedded engine with ``groups`` groups of ``rows`` rows, its ``keys`` as texts."""

    engine: Engine
    table: str
    keys: int
    groups: int
    rows: int

    def texts_about(self, keys: int) -> list[tuple[int, float]]:
        """Return the approximate number of distinct texts and their mean bytes for each of the first keys.

        Cost: one scan.
        """
        query = sql.text_statistics(self.table, [sql.group_key_name(i) for i in range(keys)])
        statistics = self.engine.fetch_rows(query)[0]
        return [(int(statistics[2 * i]), float(statistics[2 * i + 1])) for i in range(keys)]

    def codes(self, *, last_is_subject: bool = False) -> GroupCodes:
        """Fetch the groups as numbers.

        A subject gets no enumerated type, because a table may have as many subjects as rows.
        """
        texts = [sql.group_key_name(i) for i in range(self.keys)]
        subject = texts.pop() if last_is_subject else None
        types = [f"{self.table}_{text}" for text in texts]
        subjects = f"{self.table}_subjects"
        many = self._of_many_values(len(texts))
        joined = {index: types[index] for index in many}
        typed = [types[index] for index in range(len(texts)) if index not in joined]
        try:
            values = self._values(texts, types, joined)
            codes = [
                sql.joined_code(index, len(values[index]))
                if index in joined
                else sql.value_code(text, types[index], len(values[index]))
                for index, text in enumerate(texts)
            ]
            query = sql.encoded_groups(self.table, codes, joined=joined)
            if subject is not None:
                self.engine.create_table(subjects, sql.numbered_values(self.table, subject))
                query = sql.encoded_groups(
                    self.table, codes, joined=joined, subjects=subjects, subject_text=subject
                )
            arrays = self.engine.fetch_arrays(query)
        # Errors of the cleanup must not hide the original error.
        finally:
            with suppress(DiscreetError):
                for name in (subjects, *joined.values()):
                    self.engine.drop_table(name)
                for name in typed:
                    self.engine.execute(f"DROP TYPE IF EXISTS {identifier(name)}")
        return GroupCodes(
            values=values,
            codes=tuple(arrays[f"c{i}"] for i in range(len(codes))),
            rows=arrays[sql.GROUP_COUNT],
            subjects=arrays.get("subject"),
        )

    def _of_many_values(self, keys: int) -> list[int]:
        """Return the keys with so large a number of values that a join is faster than an enumerated type."""
        if self.groups < _MANY_TEXTS:
            return []
        return [index for index, (values, _) in enumerate(self.texts_about(keys)) if values >= _MANY_TEXTS]

    def _values(
        self, texts: Sequence[str], types: Sequence[str], joined: Mapping[int, str]
    ) -> tuple[tuple[str, ...], ...]:
        """Store the distinct texts of each key in an enumerated type or a table, and return them."""
        values: list[tuple[str, ...]] = [()] * len(texts)
        for index, (name, text) in enumerate(zip(types, texts, strict=True)):
            if index in joined:
                self.engine.create_table(name, sql.sorted_texts(self.table, text))
                found = self.engine.fetch_arrays(sql.texts_by_number(name))["v"]
                values[index] = tuple(found.tolist())
            else:
                self.engine.execute(sql.enum_type(name, self.table, text))
        few = [index for index in range(len(texts)) if index not in joined]
        if few:
            distinct_texts = self.engine.fetch_rows(sql.enum_values([types[index] for index in few]))[0]
            for index, occurring in zip(few, distinct_texts, strict=True):
                values[index] = tuple(occurring or ())
        return tuple(values)


@contextmanager
def stage_groups(
    engine: Engine, relation: str, keys: Sequence[str], texts: Sequence[str], most: int
) -> Iterator[StagedGroups]:
    """Stage the groups of a relation's rows by ``keys`` in the embedded engine; one scan.

    The table is dropped when the context ends. ``texts`` are the canonical texts of the keys, in terms of
    ``sql.group_key_name``. If there are more than ``most`` groups, ``most + 1`` are staged, and ``rows`` is
    undefined.
    """
    name = f"groups_{uuid4().hex[:12]}"
    query = sql.groups_as_texts(sql.group_rows(relation, keys), texts, most + 1)
    embedded = engine.keep_result(name, query)
    try:
        groups, rows = embedded.fetch_rows(sql.group_table_size(name))[0]
        yield StagedGroups(embedded, name, len(keys), int(groups), int(rows))
    finally:
        with suppress(DiscreetError):
            embedded.drop_table(name)


_BYTES_OF_VALUE = 500
"""Bytes of a distinct value in addition to its text: object, index tables, hierarchies, number."""
_LEAST_OF_VALUES = 1 << 26
"""Memory of values that is always allowed, however small the limit is."""


@dataclass(frozen=True)
class GroupingKeys:
    """Columns that rows are grouped by: quasi-identifiers, sensitive attributes, then the subject.

    ``policed`` are further sensitive attributes that the NULL policy checks.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    subject: str | None
    policed: tuple[str, ...] = ()

    @classmethod
    def of(cls, spec: TableSpec, sensitive: Collection[str] | None = None) -> GroupingKeys:
        """Return the columns of a spec, with some of its sensitive attributes (None: all).

        Raises ``InputError`` if the spec names no quasi-identifier.
        """
        quasi_identifiers = tuple(a.name for a in spec.require_quasi_identifiers())
        every = tuple(a.name for a in spec.sensitive)
        chosen = tuple(name for name in every if sensitive is None or name in sensitive)
        dropping = spec.source.nulls is NullPolicy.DROP
        policed = tuple(name for name in every if dropping and name not in chosen)
        return cls(quasi_identifiers, chosen, spec.source.subject, policed)

    @property
    def encoded(self) -> tuple[str, ...]:
        """Columns whose values are encoded."""
        return self.quasi_identifiers + self.sensitive

    @property
    def grouped(self) -> tuple[str, ...]:
        """All columns that rows are grouped by."""
        return self.encoded if self.subject is None else (*self.encoded, self.subject)


def count_frequency_set(
    engine: Engine, spec: TableSpec, settings: Settings, sensitive: Collection[str] | None = None
) -> FrequencySet:
    """Count the frequency set of a spec's table, with hierarchies built from the values that occur.

    If the spec names a population, it is counted by the same SQL in its own scan, and hierarchies include its
    values.

    Parameters
    ----------
    engine
        Engine that contains or reads the source.
    spec
        Source, attributes, subject and population.
    settings
        The memory limit.
    sensitive
        Sensitive attributes whose values are counted (None: all). Each increases the number of groups and the
        time. The NULL policy applies to all sensitive attributes of the spec.

    Returns
    -------
    The row types with their rows, sensitive values and hierarchies.

    Raises
    ------
    InputError
        For a source that cannot be read or has no rows (left), a column that is missing or contains nested or
        binary values, a value without a leaf, a NULL subject, or a population that lacks some of the table's
        people.
    LimitReached
        If the groups would not fit the memory limit, before they are fetched.

    Notes
    -----
    Cost: one GROUP BY in the engine, then about g·(12·d + 72) bytes for g groups of d columns.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan 2005: the frequency set.
    """
    keys = GroupingKeys.of(spec, sensitive)
    population_spec = spec.of_population
    with ExitStack() as stack:
        table, encoded, left_out = _group_table(engine, stack, spec, keys, settings)
        if keys.subject is not None:
            _check_subjects(encoded, spec, keys.subject)
        locate = ValueLocator(engine, table)
        if population_spec is None:
            hierarchies, encoded = encode_hierarchies(encoded, spec, locate)
        else:
            register, people, missing = _group_table(
                engine, stack, population_spec, GroupingKeys.of(population_spec), settings
            )
            either = ValueLocator(engine, table, also=register)
            hierarchies, encoded, people = encode_together(encoded, people, spec, either)
        known, encoded = encode_sensitive(encoded, spec, keys.sensitive, locate)
    counted = build_row_types(
        encoded, hierarchies, keys.sensitive, keys.subject, left_out.dropped, known=known
    )
    counted = replace(counted, set_apart=left_out.set_apart, starred=left_out.starred)
    if population_spec is None:
        return counted
    left = missing.dropped + missing.set_apart
    return attach_population(
        counted, build_row_types(people, hierarchies, (), None, left), population_spec.source.label
    )


@dataclass(frozen=True)
class _ExcludedRows:
    """Rows that the NULL policy drops, and rows without visible values, which are set apart before.

    ``starred`` maps a sensitive attribute to the number of the other rows with a star in it.
    """

    dropped: int
    set_apart: int
    starred: Mapping[str, int]


def _group_table(
    engine: Engine, stack: ExitStack, spec: TableSpec, keys: GroupingKeys, settings: Settings
) -> tuple[SourceTable, EncodedGroups, _ExcludedRows]:
    """Open a spec's table for the stack's lifetime; return it, its groups and the excluded rows.

    Rows without visible values and sensitive stars are read unfiltered, so that they are counted without an
    additional scan.
    """
    table = stack.enter_context(open_source_table(engine, replace(spec.source, star_free=(), set_apart=())))
    check_grouping_columns(table, spec, keys)
    check_cell_formats(engine, table, spec.source)
    encoded = _scan_groups(engine, table, keys, settings)
    nothing = find_hidden_groups(encoded, len(keys.quasi_identifiers), table.null_values)
    set_apart = int(encoded.rows[nothing].sum())
    if set_apart:
        encoded = encoded.only(~nothing)
        if not encoded.groups:
            raise no_visible_rows_error(spec, set_apart)
    encoded = encoded.with_null_values(table.null_values, len(keys.encoded))
    starred = {}
    for index, name in enumerate(keys.sensitive, len(keys.quasi_identifiers)):
        stars = tuple(filter(is_star, encoded.values[index]))
        if stars:
            rows = dict(zip(encoded.values[index], encoded.rows_of_values(index), strict=False))
            starred[name] = int(sum(rows[star] for star in stars))
            encoded = encoded.with_nulls_at(index, stars)
    encoded, dropped = _apply_null_policy(encoded, spec)
    return table, encoded, _ExcludedRows(dropped, set_apart, starred)


def _scan_groups(engine: Engine, table: SourceTable, keys: GroupingKeys, settings: Settings) -> EncodedGroups:
    """Return the groups of a table's rows as numbers, by one scan; leaves nothing in the engine.

    Texts of ``null_values`` are still texts here.
    """
    columns, texts = _grouping_expressions(table, keys)
    most = _group_limit(keys, settings)
    with stage_groups(engine, table.relation, columns, texts, most) as staged:
        if staged.groups > most:
            raise _group_limit_error(most, keys, settings)
        confirm_all_rows(engine, table, staged.rows)
        if not staged.rows:
            raise InputError(f"{table.label} has no rows", allowed="at least one row below the header")
        _check_values(staged, keys, settings)
        found = staged.codes(last_is_subject=keys.subject is not None)
    return EncodedGroups(keys.encoded, found.values, found.codes, found.rows, found.subjects)


def _grouping_expressions(table: SourceTable, keys: GroupingKeys) -> tuple[list[str], list[str]]:
    """Return the grouping expressions and the text of each: encoded columns, policy flag, subject.

    The policy flag is NULL in rows that have NULL in a policed column.
    """
    dialect, kinds = table.dialect, [table.types[name] for name in keys.encoded]
    columns = [
        group_key(table.column(name), kind, dialect) for name, kind in zip(keys.encoded, kinds, strict=True)
    ]
    texts = [
        canonical_text(sql.group_key_name(i), group_key_type(kind), dialect) for i, kind in enumerate(kinds)
    ]
    if keys.policed:
        policed = [
            null_stars(table.text(name), "VARCHAR", dialect)
            if can_hold_stars(table.types[name])
            else table.text(name)
            for name in keys.policed
        ]
        columns.append(f"CASE WHEN NOT {any_null(policed)} THEN 'kept' END")
        texts.append(sql.group_key_name(len(texts)))
    if keys.subject is not None:
        kind = table.types[keys.subject]
        columns.append(group_key(table.column(keys.subject), kind, dialect))
        key = sql.group_key_name(len(texts))
        texts.append(cell_text(key, group_key_type(kind), table.null_values, dialect))
    return columns, texts


def _apply_null_policy(encoded: EncodedGroups, spec: TableSpec) -> tuple[EncodedGroups, int]:
    """Return the groups that the spec's policy keeps, and the number of rows that it drops."""
    if spec.source.nulls is not NullPolicy.DROP:
        return encoded, 0
    retained, dropped = drop_null_rows(encoded)
    if not retained.groups:
        raise no_rows_left_error(spec, dropped)
    return retained, dropped


def no_visible_rows_error(spec: TableSpec, rows: int) -> InputError:
    """Return the error for a table in which no row shows a quasi-identifier."""
    return InputError(
        f"each of the {rows:,} rows of {spec.source.label} has * or NULL in every quasi-identifier, so no "
        "rows remain",
        allowed="rows with a visible quasi-identifier",
        advice="Name columns with visible values, or publish from the original table.",
    )


def no_rows_left_error(spec: TableSpec, dropped: int) -> InputError:
    """Return the error for a table in which the NULL policy drops every row."""
    return InputError(
        f"each of the {dropped:,} rows of {spec.source.label} has NULL in a quasi-identifier or sensitive "
        "attribute, so no rows remain",
        advice='Set nulls = "value" in [source], or leave out the column that is empty.',
    )


@dataclass(frozen=True)
class ValueLocator:
    """Locator of a value's first occurrence in the source; ``also`` is a second table that may contain it."""

    engine: Engine
    table: SourceTable
    also: SourceTable | None = None

    def __call__(self, column: str, value: str) -> str:
        """Return the source's name and the line or row."""
        table = self.table
        if self.also is not None:
            named = f"{self.also.relation} WHERE {self.also.text(column)} = {literal(value)}"
            if self.engine.fetch_rows(f"SELECT count(*) FROM {named}")[0][0]:
                table = self.also
        return f"{table.label}, {self.engine.locate(table.unmodified, column, value)}"


def check_grouping_columns(table: SourceTable, spec: TableSpec, keys: GroupingKeys) -> None:
    """Raise ``InputError`` for a listed column that is missing, or one that cannot be grouped by text."""
    for name in (*(a.name for a in spec.attributes), *keys.grouped):
        table.position(name)
    table.check_flat((*keys.grouped, *keys.policed, *spec.published_roles(table.columns)))
    for name in (*keys.grouped, *keys.policed):
        kind = table.types[name]
        if is_binary(kind):
            raise InputError(
                f"{table.label}: column '{name}' contains bytes without a declared text encoding ({kind})",
                allowed="text, numbers, dates or booleans",
                advice="Convert the column to text first.",
            )


def _group_limit(keys: GroupingKeys, settings: Settings) -> int:
    """Return the number of groups that fit: fetched codes, retained codes, counts and sort keys."""
    return settings.memory_limit // _bytes_of_group(keys)


def _bytes_of_group(keys: GroupingKeys) -> int:
    return 8 * len(keys.quasi_identifiers) + 4 * len(keys.grouped) + 72


def _check_values(staged: StagedGroups, keys: GroupingKeys, settings: Settings) -> None:
    """Raise ``LimitReached`` if the distinct values, each a Python object, would not fit.

    No query is made if the groups are few enough that the values fit in any case.
    """
    limit = max(settings.memory_limit, _LEAST_OF_VALUES)
    if staged.groups * len(keys.encoded) * _BYTES_OF_VALUE <= limit - staged.groups * _bytes_of_group(keys):
        return
    statistics = staged.texts_about(len(keys.encoded))
    needed = [int(values * (_BYTES_OF_VALUE + size)) for values, size in statistics]
    if sum(needed) + staged.groups * _bytes_of_group(keys) <= limit:
        return
    index = needed.index(max(needed))
    name, role = keys.encoded[index], "quasi-identifier"
    advice = "Coarsen the column first, or remove it from the quasi-identifiers. "
    if name in keys.sensitive:
        role = "sensitive attribute"
        advice = "Require only k, publish with --model permutation, or round the values first. "
    raise LimitReached(
        f"the {role} '{name}' has about {statistics[index][0]:,} different values; all values would take "
        f"about {format_memory(sum(needed))}",
        allowed=f"{format_memory(settings.memory_limit)} (--memory-limit, DISCREET_MEMORY_LIMIT)",
        advice=f"{advice}Or raise the limit.",
    )


def _group_limit_error(most: int, keys: GroupingKeys, settings: Settings) -> LimitReached:
    return LimitReached(
        f"the rows have more than {most:,} distinct combinations of {len(keys.grouped)} columns; each needs "
        f"about {_bytes_of_group(keys)} bytes, and the memory limit is {settings.memory_limit:,}",
        advice="Raise DISCREET_MEMORY_LIMIT, name fewer quasi-identifiers or sensitive attributes, or "
        "coarsen the column with the most values first. discreet search, and discreet publish with "
        "--level or --model mondrian, process such tables in the database.",
    )


def _check_subjects(encoded: EncodedGroups, spec: TableSpec, subject: str) -> None:
    assert encoded.subjects is not None
    nameless = int(encoded.rows[encoded.subjects < 0].sum())
    if nameless:
        raise null_subjects_error(spec, subject, nameless)


def null_subjects_error(spec: TableSpec, subject: str, rows: int) -> InputError:
    """Return the error for ``rows`` rows whose subject is NULL."""
    return InputError(
        f"{spec.source.label}: the subject column '{subject}' is NULL in {rows:,} rows",
        allowed="a subject in every row",
        advice="Fill or remove those rows: the subject of each row is needed to count the subjects of a "
        "class.",
    )
