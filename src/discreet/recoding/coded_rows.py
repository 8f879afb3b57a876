"""Coded tables: the steps that copy a source's rows with codes instead of quasi-identifiers.

Cells are compared as numbers, dates or booleans if every leaf is the canonical text of such a value;
otherwise as texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import compress, repeat

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.recoding.published_columns import PublishedColumn, source_changed_error
from discreet.recoding.stored_classes import CountedTable
from discreet.sql import recoded_rows
from discreet.sql.cell_expressions import is_long

DrawSortKeys = Callable[[Engine, str, int], None]
"""Creates a table of a given name with a number of sort keys (columns ``sql.recoded_rows.SORT_KEYS``)."""
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DECIMAL = re.compile(r"DECIMAL\(([0-9]+), ?([0-9]+)\)")


@dataclass(frozen=True)
class StoredColumns:
    """Columns of a coded table next to the quasi-identifiers.

    ``others`` are expressions over the source's alias ``s``; ``subject`` is the coded table's column of
    subjects, if any, and ``person`` the column of another attribute that may name people. Rows in which one
    of ``never_null`` is NULL are dropped.
    """

    others: tuple[str, ...]
    subject: str | None
    never_null: tuple[str, ...]
    person: str | None = None

    @classmethod
    def of(
        cls,
        spec: TableSpec,
        table: SourceTable,
        columns: Sequence[PublishedColumn],
        person: str | None = None,
    ) -> StoredColumns:
        """Collect the columns that the published columns, subject, ``person`` and NULL policy need."""
        others = [column.stored for column in columns if column.stored is not None]
        subject = whose = None
        if spec.source.subject is not None:
            subject = recoded_rows.other_name(len(others))
            others.append(table.text(spec.source.subject, "s"))
        if person is not None:
            whose = recoded_rows.other_name(len(others))
            others.append(table.text(person, "s"))
        never_null: list[str] = []
        if spec.source.null_policy is NullPolicy.DROP:
            never_null = [table.text(a.name, "s") for a in (*spec.quasi_identifiers, *spec.sensitive)]
        return cls(tuple(others), subject, tuple(never_null), whose)


def key_columns(
    tables: TemporaryTables,
    table: SourceTable,
    hierarchies: Sequence[GeneralizationHierarchy],
    node: Sequence[int],
) -> list[recoded_rows.KeyColumn]:
    """Build the key columns that generalize to a node; load their values and positions into the engine."""
    return [
        _key_column(tables, table, hierarchy, level)
        if level < hierarchy.height
        else recoded_rows.KeyColumn(table.text(hierarchy.attribute, "s"), None, len(hierarchy.labels[level]))
        for hierarchy, level in zip(hierarchies, node, strict=True)
    ]


def leaf_columns(
    tables: TemporaryTables, table: SourceTable, hierarchies: Sequence[GeneralizationHierarchy]
) -> list[recoded_rows.KeyColumn]:
    """Build the key columns that encode leaves; NULL gets the code after the last leaf."""
    return [_key_column(tables, table, hierarchy, 0) for hierarchy in hierarchies]


def leaf_texts(table: SourceTable, hierarchy: GeneralizationHierarchy) -> list[str | None]:
    """Return the texts by leaf code that a column can contain, None for others and for NULL, the last."""
    native = native_key(table, hierarchy.attribute, hierarchy.leaves)
    is_native = repeat(True) if native is None else native[2]
    return [leaf if there else None for leaf, there in zip(hierarchy.leaves, is_native, strict=False)] + [
        None
    ]


def _key_column(
    tables: TemporaryTables, table: SourceTable, hierarchy: GeneralizationHierarchy, level: int
) -> recoded_rows.KeyColumn:
    name, leaves = hierarchy.attribute, hierarchy.leaves
    codes = hierarchy.ancestors[level].astype(np.min_scalar_type(len(leaves)))
    cell, type_name = table.text(name, "s"), None
    native = native_key(table, name, leaves)
    if native is not None:
        cell, type_name, is_native = native
        leaves, codes = tuple(compress(leaves, is_native)), codes[is_native]
    positions = tables.load({recoded_rows.CELL_VALUE: leaves, recoded_rows.POSITION: codes})
    return recoded_rows.KeyColumn(cell, positions, len(hierarchy.labels[level]), type_name)


def check_rows(engine: Engine, coded: str, keys: int, spec: TableSpec, counted: CountedTable) -> int:
    """Count the rows of a coded table; raise ``InputError`` if they are not those that were counted."""
    rows, uncovered = engine.fetch_rows(recoded_rows.coded_rows(coded, keys))[0]
    if uncovered or rows != counted.rows:
        new = f", {uncovered} with a new value" if uncovered else ""
        raise source_changed_error(spec, f"{rows} rows now, {counted.rows} before{new}")
    return int(rows)


def add_sort_keys(
    engine: Engine, tables: TemporaryTables, coded: str, rows: int, draw_keys: DrawSortKeys
) -> str:
    """Replace a coded table by one with sort keys for each row, and return its name.

    The database draws the keys if it can; otherwise ``draw_keys`` loads a table of them.
    """
    if engine.dialect.random_key is not None:
        ordered = tables.create(recoded_rows.with_random_keys(engine.dialect, coded))
    else:
        sort_keys = tables.new_name()
        draw_keys(engine, sort_keys, rows)
        ordered = tables.create(recoded_rows.with_loaded_keys(coded, sort_keys))
        tables.drop(sort_keys)
    tables.drop(coded)
    return ordered


def sensitive_texts(spec: TableSpec, columns: Sequence[PublishedColumn]) -> dict[int, str]:
    """Return the expression of each sensitive attribute's text in the coded table, by spec position."""
    by_name = {column.name: column for column in columns}
    return {index: by_name[a.name].counted_text for index, a in enumerate(spec.sensitive)}


def native_key(
    table: SourceTable, name: str, leaves: Sequence[str]
) -> tuple[str, str, NDArray[np.bool_]] | None:
    """Return a column's cell in a canonical type, that type and the leaves it can contain; None for texts.

    The cell is of the relation's alias ``s``. Comparing numbers is cheaper than comparing their texts, but a
    value is the cell's text, and matches leaves exactly. So a leaf is a value of the type only if it equals
    the type's canonical text; other leaves cannot occur in such a column. Infinite dates and dates of more
    than four digits can occur: if a leaf is such a date, or no date, texts are compared.
    """
    if table.null_values:
        return None
    found = _canonical_type(table.types[name])
    if found is None:
        return None
    type_name, is_canonical = found
    is_native = np.fromiter((is_canonical(leaf) for leaf in leaves), dtype=np.bool_, count=len(leaves))
    if type_name == "DATE" and not is_native.all():
        return None
    cell = table.column(name, "s")
    if type_name != table.types[name]:
        cell = table.dialect.cast(cell, type_name)
    return cell, type_name, is_native


def _canonical_type(type_name: str) -> tuple[str, Callable[[str], bool]] | None:
    """Return the type to compare as, and a predicate for the canonical texts of the column's type."""
    if is_long(type_name):
        return "BIGINT", lambda text: _INTEGER.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63
    if type_name == "BOOLEAN":
        return type_name, lambda text: text in ("true", "false")
    if type_name == "DATE":
        return type_name, _is_date
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal is None:
        return None
    width, scale = int(decimal.group(1)), int(decimal.group(2))
    return type_name, lambda text: _is_decimal(text, width, scale)


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_decimal(text: str, width: int, scale: int) -> bool:
    """Check whether a text is a number of ``scale`` decimals within ``width`` digits, as casts write it."""
    integer_part, point, decimals = text.removeprefix("-").partition(".")
    if len(decimals) != scale or bool(point) != bool(scale) or not (integer_part + decimals).isdecimal():
        return False
    if not (integer_part + decimals).isascii() or len(integer_part.lstrip("0")) > width - scale:
        return False
    negative_zero = text.startswith("-") and not (integer_part + decimals).strip("0")
    if negative_zero or width == scale:
        return not negative_zero and not integer_part
    return integer_part == "0" or (bool(integer_part) and not integer_part.startswith("0"))
