"""The tables of a release behind FROM, as DuckDB reads them without discreet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from discreet.sql.names import identifier, literal


def stored_relation(
    path: Path, file_format: str, table: str | None, columns: Sequence[str], types: Mapping[str, str]
) -> str:
    """A table of a database file by its name; any other file by the function that reads it.

    Cells of CSV are texts but for the columns in ``types``; an empty one without quotes is NULL.
    """
    if table is not None:
        return identifier(table)
    place = literal("".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute())))
    if file_format == "parquet":
        return f"read_parquet({place})"
    listed = ", ".join(f"{literal(name)}: {literal(types.get(name, 'VARCHAR'))}" for name in columns)
    options = (
        "header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, "
        "auto_detect = false"
    )
    return f"read_csv({place}, columns = {{{listed}}}, {options})"
