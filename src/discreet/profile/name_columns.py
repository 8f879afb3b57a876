"""Columns whose values are names of persons, whatever their heading, and texts in which names may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.engines.base import Engine, SourceTable
from discreet.model.table_spec import AttributeRole
from discreet.profile.columns import ColumnProfile, columns_at_once, grouped_texts
from discreet.profile.headings import means_person
from discreet.profile.names import NameHint, name_hint
from discreet.profile.person_names import are_names
from discreet.profile.record_paths import PERSON_TYPES, names_person, refers_to_thing, stem_of
from discreet.sql.cells import in_parts
from discreet.sql.names import literal
from discreet.sql.source import is_binary, is_nested

NAMES = "values look like names of persons (HIPAA A, names)"
"""The reason for which a column is an identifier whose heading says nothing of it."""

NAMES_BY_REFERENCE = "the names of persons that the record refers to (HIPAA A, names)"
"""The same of a ``display`` next to a ``reference``."""

FREE_TEXT = "free text, in which anything may be"
"""The reason for which a text that is the same in every row is not proposed as insensitive."""

_MOST_VALUES = 400
_LONG_TEXT, _MANY_WORDS = 60, 8

Role = tuple[AttributeRole, str]


def with_names(
    engine: Engine,
    table: SourceTable,
    columns: Sequence[ColumnProfile],
    roles: Sequence[Role],
    known: Sequence[str] = (),
) -> list[Role]:
    """Return the roles with identifiers where values are names of persons or free text.

    ``roles`` are those by headings and counts, with their reasons; those of ``known`` columns stay. Up to 400
    of the most frequent values are read of each column of texts that would be published, generalized or not.
    """
    read = [
        column
        for column, (role, _) in zip(columns, roles, strict=True)
        if column.name not in known and _is_read(table, column, role)
    ]
    values = _values(engine, table, read, columns[0].rows if columns else 0)
    types = _types_of_references(engine, table, [column.name for column in read])
    return [
        _role(column, role, values[column.name], types.get(column.name)) if column.name in values else role
        for column, role in zip(columns, roles, strict=True)
    ]


def _is_read(table: SourceTable, column: ColumnProfile, role: AttributeRole) -> bool:
    if role is AttributeRole.IDENTIFIER or column.distinct == 0:
        return False
    kind = table.types[column.name]
    return not (column.numbers or column.dates or column.codes or is_nested(kind) or is_binary(kind))


def _role(column: ColumnProfile, role: Role, values: Sequence[str], types: frozenset[str] | None) -> Role:
    """The role of a column of texts; ``types`` are those of the records that it is the ``display`` of."""
    if types is not None and _refers_to_person(column.name, types):
        return AttributeRole.IDENTIFIER, NAMES_BY_REFERENCE
    hint, _ = name_hint(column.name)
    of_persons = bool(means_person(column.name) or names_person(column.name))
    elsewhere = hint is NameHint.QUASI_IDENTIFIER and not of_persons
    if are_names(values, of_persons=of_persons, strict=elsewhere):
        return AttributeRole.IDENTIFIER, NAMES
    if role[0] is AttributeRole.INSENSITIVE and any(_is_free_text(value) for value in values):
        return AttributeRole.IDENTIFIER, FREE_TEXT
    return role


def _is_free_text(value: str) -> bool:
    return len(value) > _LONG_TEXT or len(value.split()) > _MANY_WORDS


def _refers_to_person(name: str, types: frozenset[str]) -> bool:
    """Whether a ``display`` is that of persons: by the references next to it, else by its path, else yes."""
    known = {kind for kind in types if kind[:1].isupper()}
    return bool(known & PERSON_TYPES) if known else not refers_to_thing(name)


def _types_of_references(
    engine: Engine, table: SourceTable, names: Sequence[str]
) -> Mapping[str, frozenset[str]]:
    """For each ``display`` next to a ``reference`` the types of the references' records, where they name one.

    ``Patient/17`` and ``https://a.example/fhir/Patient/17`` name a type, ``urn:uuid:…`` none.
    """
    by_stem = {stem: name for name in table.columns if (stem := stem_of(name, "reference"))}
    stems = {name: stem for name in names if (stem := stem_of(name, "display")) and stem in by_stem}
    found: dict[str, frozenset[str]] = {}
    for name, stem in stems.items():
        reference = by_stem[stem]
        kind = table.types[reference]
        values = [] if is_nested(kind) or is_binary(kind) else _most_frequent(engine, table, [reference])[0]
        found[name] = frozenset(
            value.rstrip("/").split("/")[-2] for value in values if "/" in value.rstrip("/")
        )
    return found


def _values(
    engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile], rows: int
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for some in in_parts([column.name for column in columns], columns_at_once(rows)):
        found |= dict(zip(some, _most_frequent(engine, table, some), strict=True))
    return found


def _most_frequent(engine: Engine, table: SourceTable, names: Sequence[str]) -> list[list[str]]:
    """The most frequent values of some columns, at most 400 of each."""
    found: list[list[str]] = [[] for _ in names]
    ranked = (
        "SELECT place, v, row_number() OVER (PARTITION BY place ORDER BY n DESC, v) AS r "
        f"FROM ({grouped_texts(table, names)}) AS g WHERE v <> {literal('')}"
    )
    for place, value in engine.fetch_rows(
        f"SELECT place, v FROM ({ranked}) AS ranked WHERE r <= {_MOST_VALUES}"
    ):
        found[int(place)].append(str(value))
    return found
