"""Metadata of CSV on the web. https://www.w3.org/TR/tabular-metadata"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

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

CSVW = "http://www.w3.org/ns/csvw"
"""What the context of such metadata is."""

_DIALECT: Mapping[str, tuple[Any, ...]] = {
    "header": (True, None),
    "headerRowCount": (1, None),
    "commentPrefix": ("", None),
    "doubleQuote": (True, None),
    "skipRows": (0, None),
    "skipColumns": (0, None),
}
# Parts of dates in the signs of Unicode (UAX 35), and those of strptime, with or without zeros.
_SIGNS = {
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


def csvw_table(metadata: Mapping[str, Any], table: str | None, label: str) -> DescribedTable:
    """A table of the metadata, by its address there where there are several; ``InputError`` otherwise."""
    tables = metadata.get("tables", [metadata])
    found = one_of(tables, [str(each.get("url", "")) for each in tables], table, label)
    notes: list[str] = []
    schema = found.get("tableSchema") or metadata.get("tableSchema") or {}
    dialect = {**metadata.get("dialect", {}), **found.get("dialect", {})}
    only_plain(dialect, _DIALECT, label)
    inherited = {**_nulls(metadata), **_nulls(found), **_nulls(schema)}
    described = [c for c in schema.get("columns", []) if not c.get("virtual")]
    nulls = [text for c in described for text in _listed({**inherited, **_nulls(c)}.get("null", ""))]
    key = _listed(schema.get("primaryKey", []))
    form = FileForm(
        encoding=dialect.get("encoding"),
        delimiter=dialect.get("delimiter"),
        quote=dialect.get("quoteChar"),
        null_values=tuple(dict.fromkeys(text for text in nulls if text)),
    )
    columns = tuple(_column(c, key, notes, label) for c in described)
    url = found.get("url")
    return DescribedTable(columns, None if url is None else unquote(str(url)), form, tuple(notes))


def date_pattern(text: str) -> str:
    """A date format of Unicode in the signs of ``strptime``; what has none stays, and is refused later.

    >>> date_pattern("dd.MM.yyyy HH:mm")
    '%d.%m.%Y %H:%M'
    """
    return re.sub(r"([A-Za-z])\1*", lambda part: _SIGNS.get(part[0], f"%{part[0]}"), text)


def _column(column: Mapping[str, Any], keys: list[str], notes: list[str], label: str) -> DescribedColumn:
    title = _titles(column.get("titles"))
    key = str(column.get("name", ""))
    name = title or unquote(key)
    role, reason = role_of(column, label), f"as {label} says"
    if role is None and key and keys == [key]:
        role, reason = AttributeRole.IDENTIFIER, f"the primary key, as {label} says"
    told = _titles(column.get("dc:description") or column.get("rdfs:comment"))
    return DescribedColumn(name, _written(column, name, notes), role, reason, told)


def _written(column: Mapping[str, Any], name: str, notes: list[str]) -> WrittenForm | None:
    kind = column.get("datatype", "string")
    if not isinstance(kind, dict):
        return None
    form = kind.get("format")
    if isinstance(form, dict):  # which numbers alone have
        return number_form(form.get("decimalChar"), form.get("groupChar"), name, notes)
    if isinstance(form, str) and str(kind.get("base")).startswith("date"):
        return date_form(date_pattern(form), name, notes)
    return None


def _titles(titles: object) -> str | None:
    """The first of one or several titles, in one language or several."""
    if isinstance(titles, dict):
        titles = next((titles[key] for key in titles if key != "@value"), titles.get("@value"))
    if isinstance(titles, list):
        titles = titles[0] if titles else None
    return None if titles is None else str(titles)


def _nulls(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"null": of["null"]} if "null" in of else {}


def _listed(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]
