"""Reading of a relational spec: several tables with keys and references, checked, and their specs.

Format: ``docs/related-tables.md``. ``spec_reader`` reads the tables' specs; the subject and the
pseudonymization of each key, on which several tables must agree, are set here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from discreet.errors import InputError
from discreet.hierarchy.messages import quote_value
from discreet.model.identifiers.base import Pseudonymizer
from discreet.model.identifiers.methods import PerRelease, SharedKey
from discreet.model.registry import suggest_name
from discreet.model.relational_schema import RelatedTable, RelationalSpec
from discreet.model.release_kind import ReleaseUse, kind_of_model
from discreet.model.table_spec import Attribute, AttributeRole, TableSpec
from discreet.places.address import parse_path
from discreet.settings import Settings
from discreet.spec.attribute_section import read_pseudonymization
from discreet.spec.spec_reader import load_spec, read_spec_mapping
from discreet.spec.validation import format_key, make_section, validate_table

_TABLE_NAME = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


RelatedTableSection = make_section(
    "RelatedTableSection",
    RelatedTable,
    spec=str,
    key=(str | None, None),
    pseudonymization=(Any, None),
    references=dict[str, str],
)
RelationalDocument = make_section(
    "RelationalDocument",
    RelationalSpec,
    file_format=Literal["csv", "parquet"],
    tables=(dict[str, Any], ...),
)


def is_relational_spec(path: Path) -> bool:
    """Return whether a file is a spec of several tables."""
    try:
        return "tables" in read_spec_mapping(path)
    except InputError:
        return False


def load_relational_spec(path: Path, settings: Settings | None = None) -> RelationalSpec:
    """Load a relational spec from a TOML file, with the specs of its tables.

    Raises ``InputError`` with the file, the key, the value, and the allowed values.
    """
    label = str(path)
    document: Any = validate_table(RelationalDocument, read_spec_mapping(path), label=label, key=())
    tables: dict[str, Any] = {
        name: validate_table(RelatedTableSection, content, label=label, key=("tables", name))
        for name, content in document.tables.items()
    }
    _check_graph(tables, document.subjects, label)
    for name, table in tables.items():
        _check_model(table, document.joint_k, label, name)
    made = {}
    ways: dict[str, Pseudonymizer] = {}
    for name, table in tables.items():
        way = read_pseudonymization(
            table.pseudonymization, path.parent, label=label, key=("tables", name, "pseudonymization")
        )
        ways[name] = _key_method(way, label, name)
    for name in _in_reference_order(tables, label):
        made[name] = _load_related_table(name, tables, document.subjects, ways, path, settings)
    spec = RelationalSpec(**dict(document) | {"tables": tuple(made.values())}, path=path)
    _check_shifts(spec, label)
    return spec


def _key_method(way: Pseudonymizer | None, label: str, name: str) -> Pseudonymizer:
    """Return the pseudonymization of a key; ``per-release`` becomes one random key shared by all tables."""
    if way is None or isinstance(way, PerRelease):
        return SharedKey()
    if not way.is_injective:
        raise InputError(
            f"{label}: {format_key(('tables', name, 'pseudonymization'))} is {way.name}, "
            "which maps several keys to one",
            allowed="per-release, keyed-hash, pseudonym",
        )
    return way


def _load_related_table(
    name: str,
    tables: Mapping[str, Any],
    subjects: str,
    ways: Mapping[str, Pseudonymizer],
    path: Path,
    settings: Settings | None,
) -> RelatedTable:
    """Load a table with its spec, and set the subject and the pseudonymization of its keys."""
    table = tables[name]
    spec_path = path.parent / parse_path(table.spec)
    key_of_people = tables[subjects].key
    assert key_of_people is not None
    own = [column for column, other in table.references.items() if other == subjects]
    subject = own[0] if own else key_of_people
    spec = load_spec(spec_path, settings, subject=subject)
    published = {column: ways[other] for column, other in table.references.items()}
    if table.key is not None:
        published[table.key] = ways[name]
    published[subject] = ways[subjects]
    spec = with_key_pseudonyms(spec, published)
    if name == subjects and not spec.source.date_shifts:
        # Each row is one person here, so any model and criterion works without a subject.
        spec = replace(spec, source=replace(spec.source, subject=None))
    return RelatedTable(name, **dict(table) | {"spec": spec, "pseudonymization": ways[name]})


def with_key_pseudonyms(spec: TableSpec, ways: Mapping[str, Pseudonymizer]) -> TableSpec:
    """Return the spec with the pseudonymization of its keys; raise ``InputError`` if it declares another."""
    attributes = {attribute.name: attribute for attribute in spec.attributes}
    for name, way in ways.items():
        known = attributes.get(name)
        if known is not None and known.role is not AttributeRole.IDENTIFIER:
            raise InputError(
                f"{spec.label}: the key {quote_value(name)} has the role {known.role}",
                allowed='keys whose role is "identifier", or that the spec does not list',
            )
        if known is not None and known.pseudonymization is not None:
            raise InputError(
                f"{spec.label}: attributes.{name}.pseudonymization together with a relational spec, "
                "which sets it for all tables",
                advice="Remove it, and set it as pseudonymization of the table whose key is "
                f"{quote_value(name)}.",
            )
        attributes[name] = replace(known or Attribute(name, AttributeRole.IDENTIFIER), pseudonymization=way)
    source = replace(spec.source, pseudonymizations={**spec.source.pseudonymizations, **ways})
    return replace(spec, source=source, attributes=tuple(attributes.values()))


def _check_model(table: Any, joint_k: int | None, label: str, name: str) -> None:
    """Raise ``InputError`` for a model that does not support several tables."""
    if table.model is None:
        return
    key = format_key(("tables", name, "model"))
    kind_of_model(table.model).require_support(ReleaseUse.RELATE, f"{label}: {key}")
    if joint_k is not None:
        raise InputError(
            f"{label}: {key} = {quote_value(table.model)} together with joint_k = {joint_k}",
            allowed="together with levels, which stay the same while people are taken out",
            advice="Remove model, or joint_k.",
        )
    if table.accept_relaxation is not None:
        raise InputError(
            f"{label}: {key} together with accept_relaxation, which applies to levels",
            advice="Remove one of them.",
        )


def _check_graph(tables: Mapping[str, Any], subjects: str, label: str) -> None:
    """Raise ``InputError`` unless the tables form a tree under the subjects' table, each with its keys."""
    if subjects not in tables:
        raise InputError(
            f"{label}: subjects = {quote_value(subjects)}, which is not a table",
            allowed=", ".join(tables),
            advice=suggest_name(subjects, list(tables)),
        )
    people = tables[subjects]
    if people.key is None or people.references:
        raise InputError(
            f"{label}: {format_key(('tables', subjects))} is the subjects' table, and has "
            f"{'no key' if people.key is None else 'references'}",
            allowed="a key, the column that names a person, and no references",
        )
    for name, table in tables.items():
        key = ("tables", name)
        if not _TABLE_NAME.fullmatch(name):
            raise InputError(
                f"{label}: {format_key(key)} cannot be the name of a file",
                allowed="letters, digits, _ and - in the name of a table",
            )
        for column, other in table.references.items():
            _check_reference((*key, "references", column), column, other, table, tables, label)
        others = [other for other in table.references.values() if other != subjects]
        if name != subjects and (not table.references or len(others) > 1 or len(table.references) > 2):
            raise InputError(
                f"{label}: {format_key(key)} references {', '.join(table.references.values()) or 'no table'}",
                allowed="the subjects' table, or one other table, or these two: every row has one parent "
                "row, and so belongs to one person",
            )


def _check_reference(
    key: tuple[str, ...],
    column: str,
    other: str,
    table: Any,
    tables: Mapping[str, Any],
    label: str,
) -> None:
    if other not in tables:
        raise InputError(
            f"{label}: {format_key(key)} = {quote_value(other)}, which is not a table",
            allowed=", ".join(tables),
            advice=suggest_name(other, list(tables)),
        )
    if tables[other].key is None:
        raise InputError(
            f"{label}: {format_key(key)} = {quote_value(other)}, which has no key",
            advice=f'Give key = "COLUMN" in [tables.{other}]: the column whose values '
            f"{quote_value(column)} contains.",
        )
    if column == table.key:
        raise InputError(
            f"{label}: {format_key(key)} for the table's own key",
            allowed="a key that names the table's rows, and others that name rows elsewhere",
            advice="Leave out key where no table references this one; let others reference "
            f"{quote_value(other)}.",
        )


def _in_reference_order(tables: Mapping[str, Any], label: str) -> list[str]:
    """Return the tables' names, each after those that it references; raise ``InputError`` for a cycle."""
    result: list[str] = []
    while len(result) < len(tables):
        ready = [
            name
            for name, table in tables.items()
            if name not in result and all(other in result for other in table.references.values())
        ]
        if not ready:
            left = [name for name in tables if name not in result]
            raise InputError(
                f"{label}: the references of {', '.join(left)} form a cycle",
                allowed="tables that reference one another without a cycle, down to the subjects' table",
            )
        result += ready
    return result


def _check_shifts(spec: RelationalSpec, label: str) -> None:
    """Raise ``InputError`` if the dates of a person would be shifted by different numbers of days."""
    first = None
    for table in spec.tables:
        for column, shift in table.spec.source.date_shifts.items():
            first = first or (table.name, column, shift)
            if shift != first[2]:
                raise InputError(
                    f"{label}: the dates of '{column}' in {table.name} are shifted by other days or another "
                    f"key than those of '{first[1]}' in {first[0]}",
                    allowed="one number of days and one key for all tables, so that the intervals between "
                    "dates of a person are preserved",
                )
