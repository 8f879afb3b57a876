"""Standalone SQL statement with which the reader of a release checks it in another database.

Named common table expressions, one clause per line, with the audit's verdict for each criterion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.sql.audit_classes import key, value
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import glob_literal, literal, table_parts

PUBLISHED = "published"
CLASSES_TABLE = "classes"


def with_tables(tables: Mapping[str, str], query: str) -> str:
    """Build a query with named subqueries ``tables``; a table may use those before it."""
    named = ",\n".join(f"{name} AS (\n  {text}\n)" for name, text in tables.items())
    return f"WITH {named}\n{query}"


def as_failing(query: str) -> str:
    """Build the verdict of a query of one number, which must be 0; an empty release fails, too."""
    statement = _with_verdict(f"(\n  {query}\n)", rows="pairs")
    return f"SELECT {statement} AS failing"


def classes_query(keys: int, values: int) -> str:
    """Select the classes of ``published``: rows ``n``, and distinct sensitive values ``d…`` without NULL."""
    columns = ", ".join(map(key, range(keys)))
    distinct = "".join(f", count(DISTINCT {value(i)}) AS d{i}" for i in range(values))
    return f"SELECT {columns}, count(*) AS n{distinct} FROM {PUBLISHED} WHERE NOT starred GROUP BY {columns}"


def fewest_query(column: str, least: int) -> str:
    """Select the classes, the smallest of a column of ``classes``, and the classes below ``least``."""
    return (
        f"SELECT count(*) AS classes, min({column}) AS found, "
        f"{_with_verdict(_counted(f'{column} < {least}'))} AS failing FROM {CLASSES_TABLE}"
    )


def rows_by_class(keys: int, index: int | None) -> str:
    """Select the rows of ``published`` by ``class``, a number, and a sensitive attribute's ``value``."""
    # Rows that agree in all cells, including NULLs, are peers in a window's order.
    order = ", ".join(map(key, range(keys)))
    column = "" if index is None else f", {value(index)} AS value"
    return f"SELECT dense_rank() OVER (ORDER BY {order}) AS class{column} FROM {PUBLISHED} WHERE NOT starred"


def failing_scores(rows: str, query: str, threshold: int) -> str:
    """Count the classes whose smallest score by ``query`` is below ``threshold`` or missing."""
    scores = f"SELECT class, min(score) AS score FROM ({query}) AS scored GROUP BY class"
    return (
        f"SELECT count(*) AS classes, min(score) AS found, "
        f"{_with_verdict(_counted(f'NOT coalesce(score >= {threshold}, FALSE)'))} AS failing\n"
        f"FROM (SELECT DISTINCT class FROM {rows}) AS every\n"
        f"LEFT JOIN (\n  {scores}\n) AS scores ON scores.class = every.class"
    )


def failing_score(query: str, threshold: int) -> str:
    """Select the smallest score of a whole release by ``query``, and whether it is below ``threshold``.

    A release without a class passes.
    """
    below = f"CASE WHEN coalesce(min(score) >= {threshold}, FALSE) OR {_NO_CLASS} THEN 0 ELSE 1 END"
    return f"SELECT min(score) AS found, {_with_verdict(below)} AS failing FROM ({query}) AS scored"


def constants(dialect: Dialect, columns: Mapping[str, tuple[str, Sequence[object]]]) -> str:
    """Build a query of constant rows, possibly none: each column's house type and cells, texts or numbers."""
    names = list(columns)

    def row(cells: Sequence[object]) -> str:
        literals = [
            f"{dialect.cast(dialect.literal(str(cell)), columns[name][0])} AS {name}"
            for name, cell in zip(names, cells, strict=True)
        ]
        return "SELECT " + ", ".join(literals)

    rows = list(zip(*(cells for _, cells in columns.values()), strict=True))
    if rows:
        return "\n  UNION ALL ".join(map(row, rows))
    nothing = ", ".join(f"{dialect.cast('NULL', columns[name][0])} AS {name}" for name in names)
    return f"SELECT * FROM (SELECT {nothing}) AS nothing WHERE FALSE"


_NO_CLASS = f"NOT EXISTS (SELECT 1 FROM {PUBLISHED} WHERE NOT starred)"


def _with_verdict(failing: str, rows: str = PUBLISHED) -> str:
    """Return the number of failures, or 1 if there is nothing to check, as in the audit."""
    return f"CASE WHEN EXISTS (SELECT 1 FROM {rows}) THEN {failing} ELSE 1 END"


def _counted(predicate: str) -> str:
    return f"coalesce(sum(CASE WHEN {predicate} THEN 1 ELSE 0 END), 0)"


def published_names(keys: int, values: int) -> tuple[list[str], list[str]]:
    """Return the names of quasi-identifiers and of sensitive attributes in ``published``."""
    return list(map(key, range(keys))), list(map(value, range(values)))


def release_relation(source: SourceSpec, reader: Dialect, *, by_name: bool = False) -> str:
    """Return a release as a relation in the reader's SQL; columns have their own names.

    ``by_name`` writes a file's name without its folders, for readers with a copy elsewhere. A table in a
    DuckDB database file is available once that file is opened. Raises ``InputError`` for a file that is
    neither delimited text in UTF-8 nor Parquet.
    """
    if source.path is None:
        return ".".join(map(reader.identifier, table_parts(str(source.table))))
    path, kind = source.path, source.format or source.path.suffix.lower().lstrip(".")
    shown_path = Path(path.name) if by_name else path
    if kind == "sqlite":
        return f"sqlite_scan({literal(str(shown_path))}, {literal(source.table or 'release')})"
    if source.table is not None:
        return ".".join(map(reader.identifier, table_parts(source.table)))
    named = glob_literal(shown_path)
    if path.is_dir():
        named = f"{named[:-1]}/*.parquet'"
    if path.is_dir() or kind == "parquet":
        return f"read_parquet({named}, hive_partitioning=false)"
    if kind not in ("csv", "tsv") or source.encoding not in (None, "utf-8"):
        raise InputError(
            f"{path}: no SQL statement can read this file",
            allowed="CSV and TSV files in UTF-8, Parquet files, and tables",
            advice="Convert it to Parquet.",
        )
    words = ", ".join(map(literal, ("", *(source.unquoted_nulls or ()))))
    words = f"[{words}]" if source.unquoted_nulls else words
    delimiter = source.delimiter or ("\t" if kind == "tsv" else ",")
    quote = '"' if source.quote is None else source.quote
    return (
        f"read_csv({named}, header=true, all_varchar=true, delim={literal(delimiter)}, "
        f"quote={literal(quote)}, escape={literal(quote)}, nullstr={words}, allow_quoted_nulls=false)"
    )
