"""Query that reads a source as its spec says: column names, cell formats, subset, starred cells.

Cells are parsed by their declared formats (``sql.format_parsing``); one scan finds cells that do not match.
Floating-point columns whose values are all integers are read as integers on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.engines.base import Engine, SourceTable
from discreet.engines.files.delimited_text import check_unique_names
from discreet.errors import InputError
from discreet.model.cell_format import BLANKS, CellFormat
from discreet.model.registry import suggest_name
from discreet.model.table_spec import SourceSpec
from discreet.sql.cell_expressions import (
    all_stars_predicate,
    can_hold_stars,
    canonical_text,
    column_name,
    is_floating,
    is_text,
    null_stars,
)
from discreet.sql.dialect import Dialect
from discreet.sql.format_parsing import MISREAD, parse_by_format
from discreet.sql.quoting import literal


def source_column_names(source: SourceSpec, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a source's columns in order.

    Raises ``InputError`` if ``strip`` of the source makes two names equal.

    >>> source_column_names(SourceSpec(strip=True), ("age", " sex", "zip\\u200b"))
    ('age', 'sex', 'zip')
    """
    if not source.strip:
        return tuple(names)
    stripped = tuple(name.strip(BLANKS) for name in names)
    check_unique_names(stripped, source.label)
    return stripped


def padded_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names with surrounding blanks, including no-break and zero-width ones."""
    return tuple(name for name in names if name != name.strip(BLANKS))


_LONGEST = 60
_EXACT_WHOLE = 2**53
"""Limit below which doubles represent every integer exactly."""


@dataclass(frozen=True)
class SourceQuery:
    """Query of a source: its columns, and the cell formats by which columns are parsed.

    ``types`` are the columns' house types. ``forms`` has no entry for columns that are read unparsed.
    ``floats_as_integers`` are floating-point columns that are read as integers.
    """

    source: SourceSpec
    columns: tuple[str, ...]
    types: Mapping[str, str]
    forms: Mapping[str, CellFormat]
    floats_as_integers: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        source: SourceSpec,
        columns: Sequence[str],
        types: Mapping[str, str],
        integer_columns: Sequence[str] = (),
    ) -> SourceQuery:
        """Create the query from a source's declared formats.

        ``integer_columns`` are floating-point columns that are read as integers (``find_integer_columns``).
        Raises ``InputError`` for a format on a column that contains no texts, and if the subset's column is
        missing. Other missing columns are reported when they are used.
        """
        for name in source.formats:
            if name in types and not is_text(types[name]):
                raise InputError(
                    f"{source.label}: the column '{name}' contains {types[name]}, not text, so it cannot "
                    "have a format",
                    advice=f"Remove written from the attribute '{name}'.",
                )
        found = {name: source.form_of(name) for name in columns if is_text(types[name])}
        forms = {name: form for name, form in found.items() if form is not None}
        if source.subset is not None and source.subset.column not in columns:
            raise InputError(
                f"{source.label} has no column '{source.subset.column}', which the subset refers to",
                allowed=", ".join(f"'{column}'" for column in columns),
                advice=suggest_name(source.subset.column, columns),
            )
        return cls(
            source,
            tuple(columns),
            {**types, **dict.fromkeys(integer_columns, "BIGINT")},
            forms,
            tuple(integer_columns),
        )

    @property
    def is_plain(self) -> bool:
        """True if all rows of the source are read unmodified."""
        return not (self.forms or self.floats_as_integers or self._star_free or self.filters_rows)

    @property
    def filters_rows(self) -> bool:
        """True if rows of the source may be left out."""
        return self.source.subset is not None or bool(self._starred_row_keys)

    @property
    def _star_free(self) -> frozenset[int]:
        """Positions of the columns that can contain stars and whose starred cells are read as NULL."""
        names = [name for name in self.source.star_free if name in self.types]
        return frozenset(self.columns.index(name) for name in names if can_hold_stars(self.types[name]))

    @property
    def _starred_row_keys(self) -> tuple[str, ...]:
        """Columns by which fully starred rows are left out; empty if no row can be fully starred."""
        names = self.source.set_apart
        found = all(name in self.types for name in names)
        return names if found and any(can_hold_stars(self.types[name]) for name in names) else ()

    def query(self, rows: str, dialect: Dialect) -> str:
        """Return the query that reads ``rows``, the text of a FROM clause."""
        if self._star_free:
            cells = [column_name(index) for index in range(len(self.columns))]
            for index in self._star_free:
                cell, kind = cells[index], self.types[self.columns[index]]
                cells[index] = f"{null_stars(cell, kind, dialect)} AS {cell}"
            rows = f"(SELECT {', '.join(cells)} FROM {rows}) AS star_free"
        query = f"SELECT * FROM {rows}"
        if self.floats_as_integers:
            cells = [
                f"{dialect.cast(column_name(index), 'BIGINT')} AS {column_name(index)}"
                if name in self.floats_as_integers
                else column_name(index)
                for index, name in enumerate(self.columns)
            ]
            query = f"SELECT {', '.join(cells)} FROM {rows}"
            rows = f"({query}) AS whole_rows"
        if self.forms:
            places = {self.columns.index(name): form for name, form in self.forms.items()}
            query = parse_by_format(rows, len(self.columns), places, self.source.null_values, dialect)
        if self._starred_row_keys:
            keys = [
                (column_name(self.columns.index(name)), self.types[name]) for name in self._starred_row_keys
            ]
            texts = [literal(text) for text in self.source.null_values]
            test = all_stars_predicate(keys, texts, dialect)
            query = f"SELECT * FROM ({query}) AS all_rows WHERE NOT {test}"
        if self.source.subset is None:
            return query
        name = self.source.subset.column
        text = canonical_text(column_name(self.columns.index(name)), self.types[name], dialect)
        # Texts read as NULL select no row, so they are removed here: DuckDB 2.0.0 may compare the text itself
        # if a CASE in the query makes it NULL.
        chosen = [value for value in self.source.subset.values if value not in self.source.null_values]
        test = f"{text} IN ({', '.join(map(literal, chosen))})" if chosen else "FALSE"
        return f"SELECT * FROM ({query}) AS every_row WHERE {test}"

    @property
    def strict_formats(self) -> dict[str, CellFormat]:
        """Formats that a cell can fail to match."""
        return {name: form for name, form in self.forms.items() if form.refuses}


def open_by_query(
    fetch: Callable[[str], list[tuple[Any, ...]]],
    source: SourceSpec,
    names: Sequence[str],
    types: Sequence[str],
    rows: str,
    dialect: Dialect,
) -> tuple[str, SourceTable]:
    """Return the query of a source that a server's engine reads, and its table, still without a relation.

    ``names`` and ``types`` are those of its columns, ``rows`` is the query of its unmodified rows, with
    columns ``c0``, ``c1``, …; ``fetch`` runs a query. Raises the errors of ``SourceQuery.of``.
    """
    columns = source_column_names(source, names)
    type_of = dict(zip(columns, types, strict=True))
    relation = f"({rows}) AS r"
    integer_columns = find_integer_columns(fetch, source, relation, columns, type_of)
    written = SourceQuery.of(source, columns, type_of, integer_columns)
    table = SourceTable(
        relation="",
        columns=columns,
        types=written.types,
        label=source.label,
        null_values=source.null_values,
        dialect=dialect,
        written=written.strict_formats,
    )
    query = rows if written.is_plain else written.query(relation, dialect)
    return query, table


def find_integer_columns(
    fetch: Callable[[str], list[tuple[Any, ...]]],
    source: SourceSpec,
    relation: str,
    columns: Sequence[str],
    types: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the floating-point columns that contain only integers, if the source reads them as integers.

    One scan of these columns in ``relation``, by ``fetch``. A column without any number is not returned.
    """
    floats = [name for name in columns if is_floating(types[name])] if source.floats_as_integers else []
    if not floats:
        return ()
    tests = []
    for name in floats:
        cell = column_name(columns.index(name))
        # The comparison excludes NaN and the infinities: on every engine their absolute value is greater.
        is_whole = f"abs({cell}) < {_EXACT_WHOLE} AND floor({cell}) = {cell}"
        test = f"CASE WHEN {cell} IS NOT NULL THEN CASE WHEN {is_whole} THEN 1 ELSE 0 END END"
        # The minimum is 1 only if every number is an integer; coalesce rejects a column without numbers.
        tests.append(f"coalesce(min({test}), 0)")
    found = fetch(f"SELECT {', '.join(tests)} FROM {relation}")[0]
    return tuple(name for name, is_integer in zip(floats, found, strict=True) if is_integer)


def check_cell_formats(engine: Engine, table: SourceTable, source: SourceSpec) -> None:
    """Raise ``InputError`` if a cell does not match its column's format; one scan if formats are declared.

    Call it after all rows are read: until then such a cell keeps its original text. An engine that does not
    support the formats of its ``source`` is rejected as well.
    """
    check_format_support(engine, table, source)
    if not table.written:
        return
    found = engine.fetch_rows(
        f"SELECT {MISREAD}, count(*) FROM {table.relation} WHERE {MISREAD} IS NOT NULL GROUP BY {MISREAD}"
    )
    if not found:
        return
    index = min(int(index) for index, _ in found)
    name = table.columns[index]
    form = table.written[name]
    values = find_unmatched_texts(engine, table, name, most=2)
    rows = dict(found)[index]
    first = values[0].text
    quoted = repr(first[:_LONGEST] + "…" if len(first) > _LONGEST else first)
    others = " and others" if len(values) > 1 else ""
    raise InputError(
        f"{table.label}: {int(rows):,} cell{'s' * (rows != 1)} of the column '{name}' "
        f"{'do' if rows != 1 else 'does'} not match the format of the spec: {quoted}{others}",
        allowed=form.words,
        advice=f"Give the column another written form; or read the text as NULL by null_values = "
        f"[{_toml(first)}] in [source]; or keep it with others = [{_toml(first)}] in the written form.",
    )


@dataclass(frozen=True)
class UnmatchedText:
    """Text that does not match its column's format, with its number of cells and its first row.

    Rows count from 1 without the header; None if rows have no order.
    """

    text: str
    cells: int
    row: int | None


def find_unmatched_texts(
    engine: Engine, table: SourceTable, name: str, *, most: int, numbered: bool = False
) -> tuple[UnmatchedText, ...]:
    """Return the ``most`` most frequent texts of a column that do not match its format. One scan.

    ``numbered`` adds row numbers: only for engines that read in the source's order.
    """
    index = table.columns.index(name)
    row = "row_number() OVER ()" if numbered else "CAST(NULL AS BIGINT)"
    query = f"SELECT {column_name(index)} AS cell, {MISREAD}, {row} AS place FROM {table.relation}"
    found = engine.fetch_rows(
        f"SELECT cell, count(*) AS n, min(place) FROM ({query}) AS r WHERE {MISREAD} = {index} "
        f"GROUP BY cell ORDER BY n DESC, cell LIMIT {int(most)}"
    )
    return tuple(
        UnmatchedText(str(text), int(cells), None if first is None else int(first))
        for text, cells, first in found
    )


def check_format_support(engine: Engine, table: SourceTable, source: SourceSpec) -> None:
    """Raise ``InputError`` for an engine that does not support the formats of its source; no row is read."""
    strict_formats = [name for name, form in source.formats.items() if form.refuses and name in table.types]
    if any(name not in table.written for name in strict_formats):
        raise InputError(
            f"the engine {engine.name} does not read cells by a written form",
            advice="Remove written from the attributes, or write the table to a file first.",
        )


def _toml(text: str) -> str:
    """Return a text as a TOML string, shortened."""
    return '"' + text[:_LONGEST].replace("\\", "\\\\").replace('"', '\\"') + '"'
