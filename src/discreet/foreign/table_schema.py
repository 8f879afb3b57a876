"""Frictionless: a Table Schema, and a table of a data package. https://specs.frictionlessdata.io"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import InputError
from discreet.foreign.described import (
    DescribedColumn,
    DescribedTable,
    date_form,
    number_form,
    one_of,
    only_plain,
    role_of,
)
from discreet.model.file_form import FileForm
from discreet.model.table_spec import AttributeRole
from discreet.model.written_form import WrittenForm

_READ_AS_WRITTEN = ("default", "any", None)
_DIALECT: Mapping[str, tuple[Any, ...]] = {
    "header": (True, None),
    "headerRows": ([1], None),
    "commentChar": ("", None),
    "commentRows": ([], None),
    "escapeChar": ("", None),
    "doubleQuote": (True, None),
    "skipRows": (0, None),
}


def package_table(package: Mapping[str, Any], table: str | None, label: str) -> DescribedTable:
    """A resource of a data package, by its name where there are several; ``InputError`` otherwise."""
    resources = package["resources"]
    names = [str(resource.get("name", "")) for resource in resources]
    resource = one_of(resources, names, table, label)
    paths = resource.get("path")
    if isinstance(paths, list) and len(paths) == 1:
        paths = paths[0]
    if not isinstance(paths, str):
        raise InputError(
            f"a resource of {label} has its rows in no file of its own",
            allowed='one path, as in "path": "people.csv"',
            advice="Several files of one table are named by a pattern: discreet init 'data/*.csv'.",
        )
    schema = resource.get("schema") or {"fields": []}
    if isinstance(schema, str):
        raise InputError(f"{label} names its schema {schema}", advice=f"init the data with --schema {schema}")
    dialect = resource.get("dialect") or {}
    only_plain(dialect, _DIALECT, label)
    found = schema_table(schema, label)
    form = FileForm(
        encoding=resource.get("encoding"),
        delimiter=dialect.get("delimiter"),
        quote=dialect.get("quoteChar"),
        null_values=found.form.null_values,
    )
    return DescribedTable(found.columns, paths, form, found.notes)


def schema_table(schema: Mapping[str, Any], label: str) -> DescribedTable:
    """The columns of a Table Schema; texts for missing values of any column hold for all."""
    notes: list[str] = []
    fields = schema["fields"]
    key = schema.get("primaryKey", [])
    keys = [key] if isinstance(key, str) else list(key)
    nulls = [*schema.get("missingValues", [""])]
    for each in fields:
        nulls += each.get("missingValues", [])
    texts = [text["value"] if isinstance(text, dict) else text for text in nulls]
    columns = tuple(_column(each, keys, notes, label) for each in fields)
    form = FileForm(null_values=tuple(dict.fromkeys(str(text) for text in texts if text != "")))
    return DescribedTable(columns, None, form, tuple(notes))


def _column(field: Mapping[str, Any], keys: Sequence[str], notes: list[str], label: str) -> DescribedColumn:
    name = str(field["name"])
    role, reason = role_of(field, label), f"as {label} says"
    unique = field.get("constraints", {}).get("unique")
    if role is None and (keys == [name] or unique):
        role = AttributeRole.IDENTIFIER
        reason = f"{'the primary key' if keys == [name] else 'unique'}, as {label} says"
    title = field.get("description") or field.get("title")
    return DescribedColumn(name, _written(field, name, notes), role, reason, title)


def _written(field: Mapping[str, Any], name: str, notes: list[str]) -> WrittenForm | None:
    kind, pattern = field.get("type"), field.get("format")
    if kind in ("number", "integer"):
        return number_form(field.get("decimalChar"), field.get("groupChar"), name, notes)
    if kind in ("date", "datetime") and pattern not in _READ_AS_WRITTEN:
        return date_form(str(pattern).removeprefix("fmt:"), name, notes)
    return None
