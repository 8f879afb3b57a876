"""Warnings about a table's rows that every verb repeats: undeclared persons, unique insensitive values.

``init`` examines a table before it has a spec; later verbs check the opened table under its spec and repeat
the warnings that the spec records. All verbs share the texts about persons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.engines.base import Engine, SourceTable
from discreet.engines.column_scans import count_single_values
from discreet.engines.source_tables import open_source_table
from discreet.model.coded_warnings import (
    FEW_PEOPLE,
    CodedWarning,
    source_single_values_warning,
    unique_warnings,
)
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.profile.column_profile import is_readable
from discreet.profile.person_keys import (
    MOST_CANDIDATES,
    PersonKey,
    PersonKeys,
    candidate_rank,
    find_person_keys,
    find_repeating_columns,
    find_trait_columns,
    may_identify_persons,
)


def warn_about_persons(people: PersonKeys) -> list[str]:
    """Return warnings for a table without a spec: which column becomes the subject, or could."""
    person = people.person
    found = []
    if person is not None and person.can_be_subject:
        found.append(
            f"{_repetition_text(person)} {_constant_traits_text(person)} the same within each value, so it "
            f"identifies people: the spec sets subject = {_toml_text(person.column)} in [source], and k "
            "counts people and not rows."
        )
    elif person is not None:
        found.append(_incomplete_key_warning(person))
    if people.units:
        groups = "groups" if len(people.units) == 1 else "group"
        found.append(
            f"{_quoted_names(people.units)} {groups} people, as households do: finding one member finds "
            "the others. discreet attack --by households measures that."
        )
    return found + [warn_about_repeating_key(key) for key in people.suspected]


def warn_about_repeating_key(key: PersonKey) -> CodedWarning:
    """Return a warning that a column repeats, although neither its values nor rows are declared as people."""
    if not key.can_be_subject:
        return _incomplete_key_warning(key)
    if key.is_found_in_rows:
        text = (
            f"{_repetition_text(key)} {_constant_traits_text(key)} the same within each value, so it "
            "identifies people: set"
        )
    else:
        text = f"{_repetition_text(key)} If it names the person, set"
    return CodedWarning(
        FEW_PEOPLE,
        f"{text} subject = {_toml_text(key.column)} in [source], so that k counts people and not rows. Where "
        "each row is a person, set rows_are_people = true there.",
    )


def warn_about_uncounted_persons(key: PersonKey, why: str) -> CodedWarning:
    """Return a warning that the classes' numbers of distinct values of a key were not counted."""
    return CodedWarning(FEW_PEOPLE, f"{warn_about_repeating_key(key)} Groups were not counted by it: {why}.")


def comment_on_persons(people: PersonKeys) -> dict[str, tuple[str, ...]]:
    """Return comments of a spec by the key of ``[source]`` that they precede; "" is after the last key."""
    person, first = people.person, people.first
    if person is not None and person.can_be_subject:
        text = (
            f"The person: {person.filled:,} rows have {person.values:,} values, "
            f"{_constant_traits_text(person)} the same within each.",
            "k counts people. Where each row is a person, write rows_are_people = true, and the reason.",
        )
        return {"subject": text}
    if first is None:
        return {}
    known = (
        f"'{first.column}' repeats: {first.filled:,} rows have {first.values:,} values. Declare the persons:",
        f"subject = {_toml_text(first.column)}",
        "rows_are_people = true",
    )
    return {"": known}


def _incomplete_key_warning(key: PersonKey) -> CodedWarning:
    return CodedWarning(
        FEW_PEOPLE,
        f"{_repetition_text(key)} It identifies people, and {key.nulls:,} rows have no value of it: fill or "
        f"remove these, then set subject = {_toml_text(key.column)} in [source], so that k counts people and "
        "not rows.",
    )


def _repetition_text(key: PersonKey) -> str:
    counted = f"{key.filled:,} rows have {key.values:,} values, one of them {key.most:,} times"
    return f"'{key.column}' repeats: {counted}."


def _constant_traits_text(key: PersonKey) -> str:
    return f"{_quoted_names(key.traits)} {'is' if len(key.traits) == 1 else 'are'}"


def _toml_text(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _quoted_names(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


_MOST_UNLISTED = 24
_MOST_INSENSITIVE = 1_000

TableCheck: TypeAlias = Callable[[Engine, SourceTable, TableSpec], Iterable[CodedWarning]]
"""Check of an opened table under its spec. A check without a column to check makes no query."""


def check_insensitive_values(engine: Engine, table: SourceTable, spec: TableSpec) -> Iterator[CodedWarning]:
    """Count the rows that have a unique value in a column that is published unchanged."""
    roles = spec.published_roles(table.columns)
    names = [name for name, role in roles.items() if role is AttributeRole.INSENSITIVE]
    names = [name for name in names if name not in spec.source.pseudonymizations][:_MOST_INSENSITIVE]
    if not names:
        return
    rows = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation}")[0][0])
    for found in count_single_values(engine, table, names, (), rows):
        if found.unique_rows:
            yield source_single_values_warning(found.column, found.unique_rows, rows)


def repeat_recorded_warnings(engine: Engine, table: SourceTable, spec: TableSpec) -> Iterator[CodedWarning]:
    """Repeat the warnings that the spec records."""
    del engine, table
    yield from (CodedWarning("noticed", text, private=True) for text in spec.source.warnings)


TABLE_CHECKS: tuple[TableCheck, ...] = (repeat_recorded_warnings, check_insensitive_values)
"""Checks in the order of their warnings, which follow those about persons."""


@dataclass(frozen=True)
class TableFindings:
    """Warnings about the rows of a table, and the columns that identify people if the spec has no subject.

    The warnings are for the publisher; a ``private`` warning names values of single rows, and neither a
    manifest nor a report repeats it.
    """

    warnings: tuple[CodedWarning, ...]
    people: PersonKeys


def check_table(engine: Engine, spec: TableSpec) -> TableFindings:
    """Run every check on the table of a spec; raise ``InputError`` if the source cannot be read."""
    with open_source_table(engine, spec.source) as table:
        people = find_undeclared_persons(engine, table, spec)
        key = people.first
        key_warnings = () if key is None else (warn_about_repeating_key(key),)
        others = (warning for check in TABLE_CHECKS for warning in check(engine, table, spec))
        return TableFindings(unique_warnings((*key_warnings, *others)), people)


def find_undeclared_persons(engine: Engine, table: SourceTable, spec: TableSpec) -> PersonKeys:
    """Find columns that identify people, unless the spec declares a subject or that rows are people.

    Candidates are the identifiers and the columns that are published unchanged; without any identifier also
    the columns that the spec does not list. Cost: one scan of these columns, and one GROUP BY for each that
    repeats.
    """
    if spec.source.subject is not None or spec.source.rows_are_people:
        return PersonKeys()
    listed = {attribute.name for attribute in spec.attributes}
    outside = (AttributeRole.IDENTIFIER, AttributeRole.INSENSITIVE)
    names = [attribute.name for attribute in spec.attributes if attribute.role in outside]
    if not spec.with_role(AttributeRole.IDENTIFIER):
        names += [name for name in table.columns if name not in listed]
    names = [name for name in names if may_identify_persons(name) and is_readable(table, name)]
    repeating = find_repeating_columns(engine, table, sorted(names, key=candidate_rank)[:_MOST_UNLISTED])
    if not repeating:
        return PersonKeys()
    traits = [name for name in find_trait_columns(table) if name not in repeating]
    return find_person_keys(engine, table, repeating[:MOST_CANDIDATES], traits)
