"""The identity of a table of Spark's catalog: full name, location, and the tables behind a view."""

from __future__ import annotations

import re

from discreet.engines.spark.engine import SparkEngine
from discreet.engines.view_tables import Identity
from discreet.errors import DiscreetError
from discreet.model.table_spec import SourceSpec

_NAMED = ("Catalog", "Database", "Table")
_PLACES = ("Location", "Path")
_STATEMENT = "View Text"


def identities(engine: SparkEngine, source: SourceSpec) -> tuple[Identity, ...]:
    """Return the identities of the catalog's table that a source names; none of a DataFrame."""
    if source.table is None:
        return ()
    found: dict[Identity, None] = {}
    waiting, seen = [source.table], set[str]()
    while waiting:
        table = waiting.pop()
        if table in seen:
            continue
        seen.add(table)
        try:
            told = dict(engine.described_table(table))
        except DiscreetError:
            continue  # a word of a view's statement that names no table
        name = ".".join(told[key].casefold() for key in _NAMED if key in told)
        found |= {("table", f"spark {name or table.casefold()}"): None}
        found |= {("path", f"{told[key].removeprefix('file:')}\n"): None for key in _PLACES if key in told}
        waiting += _words(told.get(_STATEMENT, ""))
    return tuple(found)


def _words(statement: str) -> list[str]:
    """The words of a view's statement that may name a table, with or without its database."""
    return sorted(set(re.findall(r"[\w$`]+(?:\.[\w$`]+)*", statement)))
