"""The tables of a release behind FROM, as their readers find them without discreet."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.engines.base import SourceTable
from discreet.model.release_address import ReleaseAddress
from discreet.sql.dialect import Dialect
from discreet.sql.names import identifier, literal, table_parts


def stored_relation(
    address: ReleaseAddress,
    file_format: str,
    table: str | None,
    opened: SourceTable,
    types: Mapping[str, str],
    reader: Dialect,
) -> str:
    """A table of a database by its name; a file or a folder by what reads it.

    ``table`` is one of a DuckDB file, ``opened`` the release in the engine, ``reader`` the SQL of
    who reads it there. Cells of CSV are texts but for the columns in ``types``; an empty one without quotes
    is NULL.
    """
    if address.path is None:
        return ".".join(reader.identifier(part) for part in table_parts(str(address.table)))
    if table is not None:
        return identifier(table)
    if reader.parquet_folder is not None:
        return reader.parquet_folder.format(reader.identifier(str(address.path.absolute())))
    pattern = "/*.parquet" if address.path.is_dir() else ""
    place = literal("".join(f"[{c}]" if c in "*?[" else c for c in str(address.path.absolute())) + pattern)
    if file_format == "parquet":
        return f"read_parquet({place})"
    if file_format == "sqlite":
        return f"sqlite_scan({literal(str(address.path.absolute()))}, 'release')"
    listed = ", ".join(f"{literal(name)}: {literal(types.get(name, 'VARCHAR'))}" for name in opened.columns)
    options = (
        "header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, "
        "auto_detect = false"
    )
    return f"read_csv({place}, columns = {{{listed}}}, {options})"
