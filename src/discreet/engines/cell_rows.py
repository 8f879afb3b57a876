"""Where a cell stands in a table of a database, whose rows have no place."""

from __future__ import annotations

from discreet.engines.base import Engine, SourceTable
from discreet.sql.names import literal


def rows_with_text(engine: Engine, table: SourceTable, name: str, value: str) -> str:
    """In how many rows a column has a cell text, in words; a scan."""
    query = f"SELECT count(*) FROM {table.relation} WHERE {table.text(name)} = {literal(value)}"
    count = engine.fetch_rows(query)[0][0]
    return f"{count:,} row{'s' * (count != 1)}"
