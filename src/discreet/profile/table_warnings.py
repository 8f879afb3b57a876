"""Warnings about the rows of a table under its spec, which every verb repeats.

``init`` looks at a table before it has a spec. A later verb reads only the spec, so a fault of the rows that
``init`` noticed must be found again from the rows or be written into the spec. Each check here looks at an
opened table under its spec; ``discreet inspect``, ``negotiate`` and ``publish`` report the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import opened
from discreet.engines.single_values import single_values
from discreet.model.coded_warning import CodedWarning, told_once
from discreet.model.group_warnings import source_rows_singled_out
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.profile.person_keys import (
    MOST_CANDIDATES,
    PersonKeys,
    find_person_keys,
    likeliness,
    may_number,
    repeating_columns,
    trait_columns,
)
from discreet.profile.person_warnings import repeating_key
from discreet.sql.source import is_binary, is_nested

_MOST_UNLISTED = 24
_MOST_INSENSITIVE = 1_000

Check: TypeAlias = Callable[[Engine, SourceTable, TableSpec], Iterable[CodedWarning]]
"""Look at an opened table under its spec. A check without a column to look at makes no query."""


def insensitive_values(engine: Engine, table: SourceTable, spec: TableSpec) -> Iterator[CodedWarning]:
    """Count the rows whose value of a column that is published unchanged no other row has."""
    roles = spec.published_roles(table.columns)
    names = [name for name, role in roles.items() if role is AttributeRole.INSENSITIVE]
    names = [name for name in names if name not in spec.source.ways][:_MOST_INSENSITIVE]
    if not names:
        return
    rows = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation}")[0][0])
    for found in single_values(engine, table, names, (), rows):
        if found.alone:
            yield source_rows_singled_out(found.column, found.alone, rows)


def recorded(engine: Engine, table: SourceTable, spec: TableSpec) -> Iterator[CodedWarning]:
    """Repeat what the spec records of the rows."""
    del engine, table
    yield from (CodedWarning("noticed", text, private=True) for text in spec.source.warnings)


CHECKS: tuple[Check, ...] = (recorded, insensitive_values)
"""The checks, in the order of their warnings, behind those about people."""


@dataclass(frozen=True)
class TableFindings:
    """Warnings about the rows of a table, and the columns that identify people where the spec has no subject.

    The warnings are for the publisher; one that is ``private`` names values of single rows, and neither a
    manifest nor a report repeats it.
    """

    warnings: tuple[CodedWarning, ...]
    people: PersonKeys


def table_findings(engine: Engine, spec: TableSpec) -> TableFindings:
    """Run every check on the table of a spec; ``InputError`` where the source cannot be read."""
    with opened(engine, spec.source) as table:
        people = undeclared_people(engine, table, spec)
        key = people.first
        told = () if key is None else (repeating_key(key),)
        others = (warning for check in CHECKS for warning in check(engine, table, spec))
        return TableFindings(told_once((*told, *others)), people)


def undeclared_people(engine: Engine, table: SourceTable, spec: TableSpec) -> PersonKeys:
    """Look for columns that identify people, where neither a subject nor rows are declared to be people.

    Candidates are the identifiers and what is published unchanged; without any identifier the columns that
    the spec does not list. Cost: a scan of these columns, and where one repeats a GROUP BY for each.
    """
    if spec.source.subject is not None or spec.source.rows_are_people:
        return PersonKeys()
    listed = {attribute.name for attribute in spec.attributes}
    outside = (AttributeRole.IDENTIFIER, AttributeRole.INSENSITIVE)
    names = [attribute.name for attribute in spec.attributes if attribute.role in outside]
    if not spec.with_role(AttributeRole.IDENTIFIER):
        names += [name for name in table.columns if name not in listed]
    names = [name for name in names if may_number(name) and _is_readable(table, name)]
    repeating = repeating_columns(engine, table, sorted(names, key=likeliness)[:_MOST_UNLISTED])
    if not repeating:
        return PersonKeys()
    traits = [name for name in trait_columns(table) if name not in repeating]
    return find_person_keys(engine, table, repeating[:MOST_CANDIDATES], traits)


def _is_readable(table: SourceTable, name: str) -> bool:
    kind = table.types.get(name)
    return kind is not None and not (is_nested(kind) or is_binary(kind))
