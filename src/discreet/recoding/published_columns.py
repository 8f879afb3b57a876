"""The published columns of a release, and the SQL expression of each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.engines.base import SourceTable
from discreet.errors import InputError, InternalError
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.sql.cell_expressions import canonical_text
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import literal, qualified
from discreet.sql.recoded_rows import LABEL_TEXT, other_name

_INTEGER_TYPES = {
    f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
}
_RESTORABLE_TYPES = _INTEGER_TYPES | {"BOOLEAN", "FLOAT", "DOUBLE", "DECIMAL", "DATE", "TIME"}
_RESTORABLE_TYPES |= {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
_NATIVE_TYPES = _RESTORABLE_TYPES | {"BLOB", "UUID"}


@dataclass(frozen=True)
class PublishedColumn:
    """Published column.

    ``stored`` is the expression that the coded table stores, over the source's alias ``s`` (None for a
    quasi-identifier, of which it stores a position). ``published`` is the released cell and
    ``published_text`` its text, both over the coded table's ``t`` and the label tables; ``counted_text`` is
    the text over the coded table only. ``unchanged`` means that each row shows the source's own cell.
    """

    name: str
    role: AttributeRole
    stored: str | None
    published: str
    published_text: str
    counted_text: str
    unchanged: bool = False


@dataclass(frozen=True)
class PublishedText:
    """Published text of a quasi-identifier over the label tables; ``leaves``: each row shows its own value.

    ``typed`` means that the label tables contain it in the published type.
    """

    text: str
    leaves: bool
    typed: bool = False


def texts_at_levels(
    hierarchies: Sequence[GeneralizationHierarchy], node: Sequence[int]
) -> dict[str, PublishedText]:
    """Return the published text of each quasi-identifier at its level."""
    result = {}
    for i, (hierarchy, level) in enumerate(zip(hierarchies, node, strict=True)):
        top = level == hierarchy.height
        text = literal(hierarchy.labels[level][0]) if top else f"l{i}.{LABEL_TEXT}"
        result[hierarchy.attribute] = PublishedText(text, leaves=level == 0 and not top)
    return result


def build_published_columns(
    spec: TableSpec, table: SourceTable, published_texts: Mapping[str, PublishedText], *, native: bool
) -> tuple[PublishedColumn, ...]:
    """Build the published columns, in the source's order.

    ``published_texts`` contains the text of each quasi-identifier. Identifiers and the subject are never
    among the columns, nor are unlisted ones unless the spec publishes them. ``native`` keeps the source's
    types if a file can contain them and they reveal nothing of other rows; an enumerated type lists every
    value of the column, so it becomes text.
    """
    _check_listed(spec, table)
    roles = spec.published_roles(table.columns)
    if AttributeRole.IDENTIFIER in roles.values() and table.made_from is None:
        raise InternalError("identifiers would be published unchanged")
    table.check_flat(roles)
    treated = {*spec.source.pseudonymizations, *spec.source.date_shifts}
    columns: list[PublishedColumn] = []
    stored = 0
    for name, role in roles.items():
        if role is AttributeRole.QUASI_IDENTIFIER:
            type_name = table.types[name] if native else "VARCHAR"
            columns.append(_quasi_identifier_column(name, published_texts[name], type_name, table.dialect))
        else:
            column = _copied_column(name, role, table, other_name(stored), native=native)
            columns.append(replace(column, unchanged=name not in treated))
            stored += 1
    return tuple(columns)


def _check_listed(spec: TableSpec, table: SourceTable) -> None:
    """Raise ``InputError`` for a published column that the source no longer has."""
    for attribute in spec.attributes:
        if attribute.role is not AttributeRole.IDENTIFIER and attribute.name not in table.columns:
            raise source_changed_error(spec, f"the column '{attribute.name}' no longer exists")


def source_changed_error(spec: TableSpec, change: str) -> InputError:
    """Build the error for rows that are not those that were counted."""
    return InputError(
        f"{spec.source.label} changed after it was counted: {change}",
        advice="Nothing was published. Negotiate again, and publish while nothing writes to it.",
    )


def restored_type(leaves: bool, type_name: str) -> str | None:
    """Return the source's type if a quasi-identifier's published texts can be cast to it, else None."""
    return type_name if leaves and _base_type(type_name) in _RESTORABLE_TYPES else None


def _quasi_identifier_column(
    name: str, published_text: PublishedText, type_name: str, dialect: Dialect
) -> PublishedColumn:
    published = published_text.text
    restored = restored_type(published_text.leaves and not published_text.typed, type_name)
    if restored is not None:
        published = dialect.cast(published_text.text, restored)
    role = AttributeRole.QUASI_IDENTIFIER
    return PublishedColumn(
        name, role, None, published, published_text.text, "NULL", unchanged=published_text.leaves
    )


def _copied_column(
    name: str, role: AttributeRole, table: SourceTable, stored: str, *, native: bool
) -> PublishedColumn:
    type_name, dialect = table.types[name], table.dialect
    text, cell = table.text(name, "s"), table.column(name, "s")
    column = qualified(stored, "t")
    if not native or _base_type(type_name) not in _NATIVE_TYPES or type_name.endswith("]"):
        return PublishedColumn(name, role, text, column, column, stored)
    checked = f"CASE WHEN ({text}) IS NULL THEN NULL ELSE {cell} END" if table.null_values else cell
    published_text, counted_text = (canonical_text(c, type_name, dialect) for c in (column, stored))
    return PublishedColumn(name, role, checked, column, published_text, counted_text)


def _base_type(type_name: str) -> str:
    """Return a type without its parameters: ``DECIMAL`` of ``DECIMAL(18,3)``."""
    return type_name.partition("(")[0].strip()
