"""Descriptions of tables: Frictionless data packages and Table Schema, and metadata of CSV on the web (CSVW).

Each is read into one ``DescribedTable``: columns with formats and roles, file-reading options, and notes
about everything that is not converted. Sources: https://specs.frictionlessdata.io/table-schema and
https://www.w3.org/TR/tabular-metadata.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from discreet.errors import InputError
from discreet.model.cell_format import CellFormat, DatePattern
from discreet.model.json_documents import parse_json
from discreet.model.release_address import FileOptions
from discreet.model.table_spec import AttributeRole
from discreet.places.file_access import read_text


@dataclass(frozen=True)
class DescribedColumn:
    """A column: cell format, role with its reason if one follows, and title."""

    name: str
    written: CellFormat | None = None
    role: AttributeRole | None = None
    reason: str = ""
    title: str | None = None


@dataclass(frozen=True)
class DescribedTable:
    """A table: location of its rows as written, file-reading options, and columns.

    ``notes`` are sentences about declarations that were not converted.
    """

    columns: tuple[DescribedColumn, ...]
    data: str | None = None
    form: FileOptions = field(default_factory=FileOptions)
    notes: tuple[str, ...] = ()


def choose_table(tables: Sequence[Any], names: Sequence[str], table: str | None, label: str) -> Any:
    """Return the table of a name, or the only one; raise ``InputError`` if the choice is ambiguous."""
    if table is None and len(tables) == 1:
        return tables[0]
    if table not in names:
        fact = f"does not describe the table '{table}'"
        if table is None:
            fact = f"describes {len(tables)} tables, and no table was chosen"
        raise InputError(
            f"{label} {fact}",
            allowed="--table with one of " + ", ".join(names) if names else "one table at least",
        )
    return tables[names.index(table)]


def number_format(decimal: object, thousands: object, name: str, notes: list[str]) -> CellFormat | None:
    """Return a number format; None for plain numbers.

    A mark that is not supported adds a note; the format is then inferred from the file.
    """
    if decimal in (None, ".") and not thousands:
        return None
    try:
        return CellFormat(decimal=str(decimal or "."), thousands=str(thousands) if thousands else None)
    except InputError as error:
        notes.append(
            f"The format of '{name}' is inferred from the file, because {error.message} is not supported."
        )
        return None


def date_format(pattern: str, name: str, notes: list[str]) -> CellFormat | None:
    """Return a date format for a ``strptime`` pattern.

    A pattern that is not supported adds a note; the format is then inferred from the file.
    """
    try:
        short = "y" in DatePattern.parse(pattern).directives
        return CellFormat(dates=(pattern,), pivot=datetime.now(UTC).year if short else None)
    except InputError as error:
        notes.append(f"The format of '{name}' is inferred from the file: {error.message}.")
        return None


def declared_role(column: Mapping[str, Any], label: str) -> AttributeRole | None:
    """Return the role in a description written by discreet; raise ``InputError`` for an unknown one."""
    declared = column.get("discreet:role")
    if declared is None:
        return None
    if declared not in list(AttributeRole):
        raise InputError(f"the role '{declared}' in {label}", allowed=", ".join(AttributeRole))
    return AttributeRole(declared)


def check_plain_dialect(
    settings: Mapping[str, Any], usual: Mapping[str, tuple[Any, ...]], label: str
) -> None:
    """Raise ``InputError`` for a dialect setting that changes which rows there are; none is supported."""
    for key, values in usual.items():
        if key in settings and settings[key] not in values:
            raise InputError(
                f"{label} says {key} = {settings[key]!r}, which is not supported",
                allowed=f"{key} left out: a header in the first line, and a row in every other",
                advice="Write the file that way, or run init without its description.",
            )


CSVW_CONTEXT = "http://www.w3.org/ns/csvw"
"""Context that identifies CSVW metadata."""

_CSVW_DIALECT: Mapping[str, tuple[Any, ...]] = {
    "header": (True, None),
    "headerRowCount": (1, None),
    "commentPrefix": ("", None),
    "doubleQuote": (True, None),
    "skipRows": (0, None),
    "skipColumns": (0, None),
}
# Unicode date fields (UAX 35) as directives of strptime, which reads numbers with or without zeros.
_DATE_DIRECTIVES = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "M": "%m",
    "dd": "%d",
    "d": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "MMM": "%b",
    "MMMM": "%B",
}


def read_csvw_table(metadata: Mapping[str, Any], table: str | None, label: str) -> DescribedTable:
    """Read a table of the metadata, selected by its address if there are several.

    Raises ``InputError`` if the choice is ambiguous.
    """
    tables = metadata.get("tables", [metadata])
    found = choose_table(tables, [str(each.get("url", "")) for each in tables], table, label)
    notes: list[str] = []
    schema = found.get("tableSchema") or metadata.get("tableSchema") or {}
    dialect = {**metadata.get("dialect", {}), **found.get("dialect", {})}
    check_plain_dialect(dialect, _CSVW_DIALECT, label)
    inherited = {**_null_entry(metadata), **_null_entry(found), **_null_entry(schema)}
    described = [c for c in schema.get("columns", []) if not c.get("virtual")]
    nulls = [text for c in described for text in _as_texts({**inherited, **_null_entry(c)}.get("null", ""))]
    key = _as_texts(schema.get("primaryKey", []))
    form = FileOptions(
        encoding=dialect.get("encoding"),
        delimiter=dialect.get("delimiter"),
        quote=dialect.get("quoteChar"),
        null_values=tuple(dict.fromkeys(text for text in nulls if text)),
    )
    columns = tuple(_csvw_column(c, key, notes, label) for c in described)
    url = found.get("url")
    return DescribedTable(columns, None if url is None else unquote(str(url)), form, tuple(notes))


def strptime_pattern(text: str) -> str:
    """Convert a Unicode date format to ``strptime``'s directives; unknown ones are kept and refused later.

    >>> strptime_pattern("dd.MM.yyyy HH:mm")
    '%d.%m.%Y %H:%M'
    """
    return re.sub(r"([A-Za-z])\1*", lambda part: _DATE_DIRECTIVES.get(part[0], f"%{part[0]}"), text)


def _csvw_column(column: Mapping[str, Any], keys: list[str], notes: list[str], label: str) -> DescribedColumn:
    title = _first_title(column.get("titles"))
    key = str(column.get("name", ""))
    name = title or unquote(key)
    role, reason = declared_role(column, label), f"as {label} says"
    if role is None and key and keys == [key]:
        role, reason = AttributeRole.IDENTIFIER, f"the primary key, as {label} says"
    description = _first_title(column.get("dc:description") or column.get("rdfs:comment"))
    return DescribedColumn(name, _csvw_format(column, name, notes), role, reason, description)


def _csvw_format(column: Mapping[str, Any], name: str, notes: list[str]) -> CellFormat | None:
    kind = column.get("datatype", "string")
    if not isinstance(kind, dict):
        return None
    form = kind.get("format")
    if isinstance(form, dict):  # only numbers have a format object
        return number_format(form.get("decimalChar"), form.get("groupChar"), name, notes)
    if isinstance(form, str) and str(kind.get("base")).startswith("date"):
        return date_format(strptime_pattern(form), name, notes)
    return None


def _first_title(titles: object) -> str | None:
    """Return the first of one or several titles, in one language or several."""
    if isinstance(titles, dict):
        titles = next((titles[key] for key in titles if key != "@value"), titles.get("@value"))
    if isinstance(titles, list):
        titles = titles[0] if titles else None
    return None if titles is None else str(titles)


def _null_entry(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"null": of["null"]} if "null" in of else {}


def _as_texts(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


_DEFAULT_DATE_FORMATS = ("default", "any", None)
_PACKAGE_DIALECT: Mapping[str, tuple[Any, ...]] = {
    "header": (True, None),
    "headerRows": ([1], None),
    "commentChar": ("", None),
    "commentRows": ([], None),
    "escapeChar": ("", None),
    "doubleQuote": (True, None),
    "skipRows": (0, None),
}


def read_package_table(package: Mapping[str, Any], table: str | None, label: str) -> DescribedTable:
    """Read a resource of a data package, selected by its name if there are several.

    Raises ``InputError`` if the choice is ambiguous.
    """
    resources = package["resources"]
    names = [str(resource.get("name", "")) for resource in resources]
    resource = choose_table(resources, names, table, label)
    paths = resource.get("path")
    if isinstance(paths, list) and len(paths) == 1:
        paths = paths[0]
    if not isinstance(paths, str):
        raise InputError(
            f"a resource of {label} has no single file with its rows",
            allowed='one path, as in "path": "people.csv"',
            advice="Several files of one table are named by a pattern: discreet init 'data/*.csv'.",
        )
    schema = resource.get("schema") or {"fields": []}
    if isinstance(schema, str):
        raise InputError(f"{label} names its schema {schema}", advice=f"init the data with --schema {schema}")
    dialect = resource.get("dialect") or {}
    check_plain_dialect(dialect, _PACKAGE_DIALECT, label)
    found = read_schema_table(schema, label)
    form = FileOptions(
        encoding=resource.get("encoding"),
        delimiter=dialect.get("delimiter"),
        quote=dialect.get("quoteChar"),
        null_values=found.form.null_values,
    )
    return DescribedTable(found.columns, paths, form, found.notes)


def read_schema_table(schema: Mapping[str, Any], label: str) -> DescribedTable:
    """Read the columns of a Table Schema; missing-value texts of any column apply to all."""
    notes: list[str] = []
    fields = schema["fields"]
    key = schema.get("primaryKey", [])
    keys = [key] if isinstance(key, str) else list(key)
    nulls = [*schema.get("missingValues", [""])]
    for each in fields:
        nulls += each.get("missingValues", [])
    texts = [text["value"] if isinstance(text, dict) else text for text in nulls]
    columns = tuple(_schema_column(each, keys, notes, label) for each in fields)
    form = FileOptions(null_values=tuple(dict.fromkeys(str(text) for text in texts if text != "")))
    return DescribedTable(columns, None, form, tuple(notes))


def _schema_column(
    field: Mapping[str, Any], keys: Sequence[str], notes: list[str], label: str
) -> DescribedColumn:
    name = str(field["name"])
    role, reason = declared_role(field, label), f"as {label} says"
    unique = field.get("constraints", {}).get("unique")
    if role is None and (keys == [name] or unique):
        role = AttributeRole.IDENTIFIER
        reason = f"{'the primary key' if keys == [name] else 'unique'}, as {label} says"
    title = field.get("description") or field.get("title")
    return DescribedColumn(name, _schema_format(field, name, notes), role, reason, title)


def _schema_format(field: Mapping[str, Any], name: str, notes: list[str]) -> CellFormat | None:
    kind, pattern = field.get("type"), field.get("format")
    if kind in ("number", "integer"):
        return number_format(field.get("decimalChar"), field.get("groupChar"), name, notes)
    if kind in ("date", "datetime") and pattern not in _DEFAULT_DATE_FORMATS:
        return date_format(str(pattern).removeprefix("fmt:"), name, notes)
    return None


_LARGEST = 64 * 2**20


@dataclass(frozen=True)
class TableDescription:
    """A description's path, its table, and the location of the rows, None if it names none."""

    path: Path
    table: DescribedTable
    data: Path | None = field(default=None)


def is_description(data: object) -> bool:
    """Return whether data are the path of a description that names its rows: a package or CSVW.

    A Table Schema without rows is not one.
    """
    if not isinstance(data, str | Path) or Path(data).suffix.lower() != ".json":
        return False
    path = Path(data)
    if not path.is_file() or path.stat().st_size > _LARGEST:
        return False
    try:
        found = parse_json(read_text(path, str(path)))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and ("resources" in found or _is_csvw(found))


def read_description(path: Path, table: str | None = None) -> TableDescription:
    """Read a description; ``table`` selects one of several by its name.

    Raises ``InputError`` for a file that is not a description, and for declarations that are not supported,
    such as rows to be skipped.
    """
    try:
        found = parse_json(read_text(path, str(path)))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    kinds = "a Frictionless data package or Table Schema, or metadata of CSV on the web (CSVW)"
    if not isinstance(found, dict):
        raise InputError(f"{path} does not describe a table", allowed=kinds)
    try:
        if _is_csvw(found):
            described = read_csvw_table(found, table, str(path))
        elif "resources" in found:
            described = read_package_table(found, table, str(path))
        elif isinstance(found.get("fields"), list):
            described = read_schema_table(found, str(path))
        else:
            raise InputError(f"{path} does not describe a table", allowed=kinds)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} cannot be understood: {error}", allowed=kinds) from None
    return TableDescription(path, described, _data_path(described, path))


def _is_csvw(document: Mapping[str, Any]) -> bool:
    context = document.get("@context")
    return CSVW_CONTEXT in (context if isinstance(context, list) else [context])


def _data_path(described: DescribedTable, path: Path) -> Path | None:
    if described.data is None:
        return None
    if "://" in described.data:
        raise InputError(
            f"{path} names rows at {described.data}",
            advice="Nothing is downloaded: put the file in the same folder and name it.",
        )
    return path.parent / described.data
