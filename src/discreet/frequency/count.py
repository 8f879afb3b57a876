"""Counting the frequency set of a table: one scan of its rows, then arrays (LeFevre et al. 2005).

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

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import confirm_all_read, opened
from discreet.engines.written import check_forms
from discreet.errors import InputError, LimitReached
from discreet.frequency.encode import (
    EncodedGroups,
    drop_null_rows,
    encode_hierarchies,
    encode_sensitive,
    rows_that_show_nothing,
)
from discreet.frequency.kept_groups import KeptGroups, kept_groups
from discreet.frequency.merge import row_types
from discreet.frequency.population import encode_together, with_people
from discreet.model.frequency_set import FrequencySet
from discreet.model.starred_cells import is_star
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.settings import Settings, memory_text
from discreet.sql import frequency as sql
from discreet.sql.names import literal
from discreet.sql.source import (
    any_null,
    canonical_text,
    cell_text,
    group_key,
    group_key_type,
    is_binary,
)
from discreet.sql.starred_cells import holds_stars, star_free

_BYTES_OF_VALUE = 500
"""Of a different value, beside its text: as an object, in tables of places, in hierarchies, as a number."""
_LEAST_OF_VALUES = 1 << 26
"""Values that take less are no matter, however small the limit is."""


@dataclass(frozen=True)
class GroupingKeys:
    """The columns that rows are grouped by: quasi-identifiers, sensitive attributes, then the subject.

    ``policed`` are sensitive attributes beside these that the NULL policy looks at.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    subject: str | None
    policed: tuple[str, ...] = ()

    @classmethod
    def of(cls, spec: TableSpec, sensitive: Collection[str] | None = None) -> GroupingKeys:
        """The columns of a spec, with some of its sensitive attributes (None: all).

        ``InputError`` where it names no quasi-identifier.
        """
        quasi_identifiers = tuple(a.name for a in spec.require_quasi_identifiers())
        every = tuple(a.name for a in spec.sensitive)
        chosen = tuple(name for name in every if sensitive is None or name in sensitive)
        dropping = spec.source.nulls is NullPolicy.DROP
        policed = tuple(name for name in every if dropping and name not in chosen)
        return cls(quasi_identifiers, chosen, spec.source.subject, policed)

    @property
    def encoded(self) -> tuple[str, ...]:
        """The columns whose values get codes of an enumerated type."""
        return self.quasi_identifiers + self.sensitive

    @property
    def grouped(self) -> tuple[str, ...]:
        """All of them."""
        return self.encoded if self.subject is None else (*self.encoded, self.subject)


def count_frequency_set(
    engine: Engine, spec: TableSpec, settings: Settings, sensitive: Collection[str] | None = None
) -> FrequencySet:
    """The frequency set of a spec's table, its hierarchies built from the values that occur.

    ``sensitive`` are the sensitive attributes whose values are counted (None: all); each makes more groups,
    and takes longer. NULL is policed in all of them. Where the spec names a population it is counted by the
    same SQL, in a scan of its own; hierarchies are then built from its values too.

    Raises ``InputError`` for a source that cannot be read or has no rows (left), a column that is missing or
    holds nested or binary values, a value without a leaf, a NULL subject, or a population that lacks some of
    the table's people; ``LimitReached`` where the groups would not fit the memory limit, before they are
    fetched.
    """
    keys = GroupingKeys.of(spec, sensitive)
    beside = spec.of_population
    with ExitStack() as stack:
        table, encoded, left_out = _groups(engine, stack, spec, keys, settings)
        if keys.subject is not None:
            _check_subjects(encoded, spec, keys.subject)
        locate = Locator(engine, table)
        if beside is None:
            hierarchies, encoded = encode_hierarchies(encoded, spec, locate)
        else:
            register, people, missing = _groups(engine, stack, beside, GroupingKeys.of(beside), settings)
            either = Locator(engine, table, also=register)
            hierarchies, encoded, people = encode_together(encoded, people, spec, either)
        known, encoded = encode_sensitive(encoded, spec, keys.sensitive, locate)
    counted = row_types(encoded, hierarchies, keys.sensitive, keys.subject, left_out.dropped, known=known)
    counted = replace(counted, set_apart=left_out.set_apart, starred=left_out.starred)
    if beside is None:
        return counted
    left = missing.dropped + missing.set_apart
    return with_people(counted, row_types(people, hierarchies, (), None, left), beside.source.label)


@dataclass(frozen=True)
class _LeftOut:
    """The rows that the NULL policy leaves out, and those that show nothing and are set apart before.

    ``starred`` are those of the others that have a star in a sensitive attribute, by its name.
    """

    dropped: int
    set_apart: int
    starred: Mapping[str, int]


def _groups(
    engine: Engine, stack: ExitStack, spec: TableSpec, keys: GroupingKeys, settings: Settings
) -> tuple[SourceTable, EncodedGroups, _LeftOut]:
    """A spec's table, opened for as long as the stack lasts, its groups, and the rows left out of them.

    Rows that show nothing and sensitive stars are read here as they lie, so that they are counted without a
    scan of their own.
    """
    table = stack.enter_context(opened(engine, replace(spec.source, star_free=(), set_apart=())))
    check_columns(table, spec, keys)
    check_forms(engine, table, spec.source)
    encoded = _scan(engine, table, keys, settings)
    nothing = rows_that_show_nothing(encoded, len(keys.quasi_identifiers), table.null_values)
    set_apart = int(encoded.rows[nothing].sum())
    if set_apart:
        encoded = encoded.only(~nothing)
        if not encoded.groups:
            raise nothing_shown(spec, set_apart)
    encoded = encoded.with_null_values(table.null_values, len(keys.encoded))
    starred = {}
    for place, name in enumerate(keys.sensitive, len(keys.quasi_identifiers)):
        stars = tuple(filter(is_star, encoded.values[place]))
        if stars:
            rows = dict(zip(encoded.values[place], encoded.rows_of_values(place), strict=False))
            starred[name] = int(sum(rows[star] for star in stars))
            encoded = encoded.with_nulls_at(place, stars)
    encoded, dropped = _apply_null_policy(encoded, spec)
    return table, encoded, _LeftOut(dropped, set_apart, starred)


def _scan(engine: Engine, table: SourceTable, keys: GroupingKeys, settings: Settings) -> EncodedGroups:
    """The groups of a table's rows, as numbers; the one scan, and nothing is left in the engine.

    Texts that are read as NULL still are texts.
    """
    columns, texts = _expressions(table, keys)
    most = _most_groups(keys, settings)
    with kept_groups(engine, table.relation, columns, texts, most) as kept:
        if kept.groups > most:
            raise _too_many(most, keys, settings)
        confirm_all_read(engine, table, kept.rows)
        if not kept.rows:
            raise InputError(f"{table.label} has no rows", allowed="at least one row below the header")
        _check_values(kept, keys, settings)
        found = kept.codes(last_is_subject=keys.subject is not None)
    return EncodedGroups(keys.encoded, found.values, found.codes, found.rows, found.subjects)


def _expressions(table: SourceTable, keys: GroupingKeys) -> tuple[list[str], list[str]]:
    """What rows are grouped by, and the text of each: encoded columns, the policy's sign, the subject.

    The policy's sign is NULL in rows that have NULL in a policed column.
    """
    dialect, kinds = table.dialect, [table.types[name] for name in keys.encoded]
    columns = [
        group_key(table.column(name), kind, dialect) for name, kind in zip(keys.encoded, kinds, strict=True)
    ]
    texts = [canonical_text(sql.key_name(i), group_key_type(kind), dialect) for i, kind in enumerate(kinds)]
    if keys.policed:
        policed = [
            star_free(table.text(name), "VARCHAR", dialect)
            if holds_stars(table.types[name])
            else table.text(name)
            for name in keys.policed
        ]
        columns.append(f"CASE WHEN NOT {any_null(policed)} THEN 'kept' END")
        texts.append(sql.key_name(len(texts)))
    if keys.subject is not None:
        kind = table.types[keys.subject]
        columns.append(group_key(table.column(keys.subject), kind, dialect))
        key = sql.key_name(len(texts))
        texts.append(cell_text(key, group_key_type(kind), table.null_values, dialect))
    return columns, texts


def _apply_null_policy(encoded: EncodedGroups, spec: TableSpec) -> tuple[EncodedGroups, int]:
    """The groups that the spec's policy keeps, and the number of rows that it drops."""
    if spec.source.nulls is not NullPolicy.DROP:
        return encoded, 0
    kept, dropped = drop_null_rows(encoded)
    if not kept.groups:
        raise nothing_left(spec, dropped)
    return kept, dropped


def nothing_shown(spec: TableSpec, rows: int) -> InputError:
    """Say that every row shows nothing."""
    return InputError(
        f"each of the {rows:,} rows of {spec.source.label} has * or NULL in every quasi-identifier, and none "
        "is left",
        allowed="rows that show a quasi-identifier",
        advice="Name columns that show something, or publish from the table as it was before.",
    )


def nothing_left(spec: TableSpec, dropped: int) -> InputError:
    """What to raise where the NULL policy drops every row."""
    return InputError(
        f"each of the {dropped:,} rows of {spec.source.label} has NULL in a quasi-identifier or "
        "sensitive attribute, and none is left",
        advice='Set nulls = "value" in [source], or leave out the column that is empty.',
    )


@dataclass(frozen=True)
class Locator:
    """Says where in the source a value first occurs; ``also`` is a table that may have it in its place."""

    engine: Engine
    table: SourceTable
    also: SourceTable | None = None

    def __call__(self, column: str, value: str) -> str:
        """The source's name and the line or row."""
        table = self.table
        if self.also is not None:
            named = f"{self.also.relation} WHERE {self.also.text(column)} = {literal(value)}"
            if self.engine.fetch_rows(f"SELECT count(*) FROM {named}")[0][0]:
                table = self.also
        return f"{table.label}, {self.engine.locate(table.as_it_lies, column, value)}"


def check_columns(table: SourceTable, spec: TableSpec, keys: GroupingKeys) -> None:
    """Raise ``InputError`` for a listed column that is missing, or one that cannot be grouped by text."""
    for name in (*(a.name for a in spec.attributes), *keys.grouped):
        table.position(name)
    table.check_flat((*keys.grouped, *keys.policed, *spec.published_roles(table.columns)))
    for name in (*keys.grouped, *keys.policed):
        kind = table.types[name]
        if is_binary(kind):
            raise InputError(
                f"{table.label}: column '{name}' holds bytes that are not declared to be text ({kind})",
                allowed="text, numbers, dates or booleans",
                advice="Convert the column to text first.",
            )


def _most_groups(keys: GroupingKeys, settings: Settings) -> int:
    """How many groups fit: codes as fetched and as kept, counts, and the keys of the sort."""
    return settings.memory_limit // _bytes_of_group(keys)


def _bytes_of_group(keys: GroupingKeys) -> int:
    return 8 * len(keys.quasi_identifiers) + 4 * len(keys.grouped) + 72


def _check_values(kept: KeptGroups, keys: GroupingKeys, settings: Settings) -> None:
    """Raise ``LimitReached`` where the different values would not fit, each of which Python holds by itself.

    No query is made where the groups are so few that it cannot be.
    """
    limit = max(settings.memory_limit, _LEAST_OF_VALUES)
    if kept.groups * len(keys.encoded) * _BYTES_OF_VALUE <= limit - kept.groups * _bytes_of_group(keys):
        return
    told = kept.texts_about(len(keys.encoded))
    needed = [int(values * (_BYTES_OF_VALUE + size)) for values, size in told]
    if sum(needed) + kept.groups * _bytes_of_group(keys) <= limit:
        return
    place = needed.index(max(needed))
    name, role = keys.encoded[place], "quasi-identifier"
    advice = "Coarsen the column before, or take it out of the quasi-identifiers. "
    if name in keys.sensitive:
        role = "sensitive attribute"
        advice = "Ask for k alone, publish by --model permutation, or round the values before. "
    raise LimitReached(
        f"the {role} '{name}' has about {told[place][0]:,} different values; all values would take about "
        f"{memory_text(sum(needed))}",
        allowed=f"{memory_text(settings.memory_limit)} (--memory-limit, DISCREET_MEMORY_LIMIT)",
        advice=f"{advice}Or raise the limit.",
    )


def _too_many(most: int, keys: GroupingKeys, settings: Settings) -> LimitReached:
    return LimitReached(
        f"the rows have more than {most:,} distinct combinations of {len(keys.grouped)} columns; each needs "
        f"about {_bytes_of_group(keys)} bytes, and the memory limit is {settings.memory_limit:,}",
        advice="Raise DISCREET_MEMORY_LIMIT, name fewer quasi-identifiers or sensitive attributes, or "
        "coarsen the column with the most values before. discreet search, and discreet publish with --level "
        "or --model mondrian, go on in the database.",
    )


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
