"""Types of the columns of a published file, in the vocabulary that Table Schema and CSVW share.

Only ``discreet schema`` loads this module.
"""

from __future__ import annotations

import re

from discreet.engines.base import Engine, SourceTable
from discreet.sql.cell_expressions import is_text

_INTEGER = "-?(0|[1-9][0-9]*)"
_TEXT_TESTS = {
    "integer": f"regexp_full_match({{v}}, '{_INTEGER}')",
    "number": f"regexp_full_match({{v}}, '{_INTEGER}(\\.[0-9]+)?([eE][+-]?[0-9]+)?')",
    "date": "regexp_full_match({v}, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}') "
    "AND try_cast({v} AS DATE) IS NOT NULL",
}
_TYPE_PATTERNS = (
    (re.compile(r"(U|HUGE|UHUGE|BIG|SMALL|TINY|USMALL|UTINY|UBIG)?INT"), "integer"),
    (re.compile(r"DECIMAL|DOUBLE|FLOAT|REAL"), "number"),
    (re.compile(r"TIMESTAMP"), "datetime"),
    (re.compile(r"DATE"), "date"),
    (re.compile(r"BOOL"), "boolean"),
)


def infer_column_types(engine: Engine, table: SourceTable, *, read_texts: bool) -> dict[str, str]:
    """Infer ``integer``, ``number``, ``date``, ``datetime``, ``boolean`` or ``string`` for each column.

    With ``read_texts``, for files without types of their own, a column of texts gets the narrowest type that
    all its cells have; that costs one scan.
    """
    kinds = {name: _type_of_column(table.types[name]) for name in table.columns}
    texts = [name for name in table.columns if is_text(table.types[name])]
    return kinds | _types_of_texts(engine, table, texts) if texts and read_texts else kinds


def _type_of_column(type_name: str) -> str:
    return next((kind for pattern, kind in _TYPE_PATTERNS if pattern.match(type_name.upper())), "string")


def _types_of_texts(engine: Engine, table: SourceTable, names: list[str]) -> dict[str, str]:
    """Return the narrowest type that all cells of each text column have; one scan."""
    expressions = []
    for name in names:
        cell = table.text(name)
        tests = [f"count(*) FILTER (WHERE {test.format(v=cell)})" for test in _TEXT_TESTS.values()]
        expressions += [f"count({cell})", *tests]
    (counts,) = engine.fetch_rows(f"SELECT {', '.join(expressions)} FROM {table.relation}")
    result, width = {}, 1 + len(_TEXT_TESTS)
    for index, name in enumerate(names):
        filled, *having = map(int, counts[index * width : (index + 1) * width])
        fits = (kind for kind, n in zip(_TEXT_TESTS, having, strict=True) if filled and n == filled)
        result[name] = next(fits, "string")
    return result
