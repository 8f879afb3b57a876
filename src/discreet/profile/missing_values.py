"""Warnings about cells without information: marks of missing values, stars, and unquoted NULL words.

A mark counts as a value until the spec declares it NULL; in a sensitive column that is unsafe, since it looks
like a second value. A star is not a value there; elsewhere it is a cell that was generalized before (decision
0016).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from discreet.engines.base import Engine, SourceTable
from discreet.engines.column_scans import find_missing_marks
from discreet.engines.source_tables import open_source_table
from discreet.model.coded_warnings import (
    MISSING_MARKS,
    ROWS_WITHOUT_QUASI_IDENTIFIERS,
    STARRED_CELLS,
    CodedWarning,
)
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import PublicPart
from discreet.model.missing_value_codes import MissingMark, detect_marks
from discreet.model.table_spec import Attribute, SourceSpec, TableSpec
from discreet.sql.cell_expressions import all_stars_predicate
from discreet.sql.quoting import literal

_MOST_REPORTED = 5


def check_missing_values(engine: Engine, spec: TableSpec) -> tuple[CodedWarning, ...]:
    """Return warnings about marks and stars in a spec's quasi-identifiers and sensitive columns.

    Scans the source, since nothing is counted yet.
    """
    keys, values = _key_and_value_columns(spec)
    with open_source_table(engine, replace(spec.source, star_free=(), set_apart=())) as table:
        return warn_about_missing_values(
            engine, table, keys, values, spec.source.null_values, _declared_values(spec)
        )


def warn_about_counted_missing_values(spec: TableSpec, counted: FrequencySet) -> tuple[CodedWarning, ...]:
    """Return the same warnings from counted data, for all sensitive attributes; reads no rows."""
    keys, values = _key_and_value_columns(spec)
    found: dict[str, Sequence[MissingMark]] = {}
    for sets in counted.sensitive:
        attribute_values = sets.of
        if attribute_values is not None:
            found[sets.attribute] = detect_marks(
                attribute_values.values, attribute_values.rows.tolist(), sensitive=True
            )
    for name, rows in counted.starred.items():
        found[name] = (*found.get(name, ()), MissingMark("*", rows, starred=True))
    for hierarchy, of_code in zip(counted.hierarchies, counted.rows_by_code, strict=True):
        value_codes = np.flatnonzero(of_code[:-1])
        texts = [hierarchy.leaves[code] for code in value_codes.tolist()]
        found[hierarchy.attribute] = detect_marks(texts, of_code[value_codes].tolist(), sensitive=False)
    apart = (warn_about_rows_set_apart(counted.set_apart),) if counted.set_apart else ()
    return (
        *apart,
        *_missing_value_warnings(found, keys, values, spec.source.null_values, _declared_values(spec)),
    )


def warn_about_missing_values(
    engine: Engine,
    table: SourceTable,
    keys: Sequence[str],
    values: Sequence[str],
    null_values: Sequence[str] = (),
    declared: Mapping[str, Collection[str] | None] = MappingProxyType({}),
) -> tuple[CodedWarning, ...]:
    """Return warnings about marks and stars in quasi-identifiers ``keys`` and sensitive columns ``values``.

    ``null_values`` are read as NULL. ``declared`` lists, by column, texts that are declared to be values;
    None means all of them.
    """
    found = find_missing_marks(
        engine, table, [name for name in (*values, *keys) if name in table.types], values
    )
    apart: list[CodedWarning] = []
    if any(mark.starred for name in keys for mark in found.get(name, ())):
        apart += _empty_rows_warnings(engine, table, keys, null_values)
    return (*apart, *_missing_value_warnings(found, keys, values, null_values, declared))


def _missing_value_warnings(
    marks_by_column: Mapping[str, Sequence[MissingMark]],
    keys: Sequence[str],
    values: Sequence[str],
    null_values: Sequence[str],
    declared: Mapping[str, Collection[str] | None],
) -> Iterator[CodedWarning]:
    yield from _star_warnings(marks_by_column, keys, values)
    reported: dict[str, list[MissingMark]] = {}
    for name in (*values, *keys):
        listed = declared.get(name, ())
        marks = [] if listed is None else [m for m in marks_by_column.get(name, ()) if not m.starred]
        unlisted = [mark for mark in marks if mark.text not in {*(listed or ()), *null_values}]
        if unlisted:
            reported[name] = unlisted
    if reported:
        yield _marks_warning(reported, values, null_values)


def _key_and_value_columns(spec: TableSpec) -> tuple[list[str], list[str]]:
    """Return the names of the quasi-identifiers and of the sensitive attributes of a spec."""
    return [a.name for a in spec.quasi_identifiers], [a.name for a in spec.sensitive]


def _declared_values(spec: TableSpec) -> dict[str, Collection[str] | None]:
    return {a.name: _declared_values_of(a, spec) for a in (*spec.quasi_identifiers, *spec.sensitive)}


def _declared_values_of(attribute: Attribute, spec: TableSpec) -> Collection[str] | None:
    """Return the texts that the publisher declares to be values; None if the hierarchy lists all values."""
    hierarchy, form = attribute.hierarchy, spec.source.formats.get(attribute.name)
    if (
        attribute in spec.quasi_identifiers
        and getattr(hierarchy, "public_part", None) is PublicPart.HIERARCHY
    ):
        return None
    others = () if form is None else form.others
    return {*attribute.real_values, *others, *getattr(hierarchy, "others", ())}


def _marks_warning(
    reported: Mapping[str, Sequence[MissingMark]], values: Sequence[str], null_values: Sequence[str]
) -> CodedWarning:
    """Return a warning that names the marks by column and the line of the spec that reads them as NULL."""
    texts = list(dict.fromkeys(mark.text for marks in reported.values() for mark in marks[:_MOST_REPORTED]))
    found = "; ".join(f"'{name}' has {_marks_text(marks)}" for name, marks in reported.items())
    sensitive = [name for name in reported if name in values]
    one = next(iter(reported))
    counted = "They count as values" + (", for l and every other criterion" if sensitive else "")
    return CodedWarning(
        MISSING_MARKS,
        f"{found}: texts that may mean a missing value. {counted}. Write null_values = "
        f"{_toml_list([*null_values, *texts])} in [source] to read them as NULL, which is not a sensitive "
        "value; or, if they are values, real_values = "
        f"{_toml_list([mark.text for mark in reported[one][:_MOST_REPORTED]])} in "
        f"[attributes.{_toml_key(one)}].",
        private=True,
    )


def _toml_key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _star_warnings(
    marks_by_column: Mapping[str, Sequence[MissingMark]], keys: Sequence[str], values: Sequence[str]
) -> Iterator[CodedWarning]:
    for names, what in (
        (values, "a star in a sensitive column is read as NULL"),
        (keys, "a cell that was generalized before; it stays generalized, and equals only stars"),
    ):
        stars = {name: sum(m.rows for m in marks_by_column.get(name, ()) if m.starred) for name in names}
        reported = ", ".join(f"'{name}' in {_row_count_text(rows)}" for name, rows in stars.items() if rows)
        if reported:
            yield CodedWarning(STARRED_CELLS, f"* occurs in {reported}: {what}.", private=True)


def _empty_rows_warnings(
    engine: Engine, table: SourceTable, keys: Sequence[str], null_values: Sequence[str]
) -> Iterator[CodedWarning]:
    cells = [(table.column(name), table.types[name]) for name in keys]
    test = all_stars_predicate(cells, list(map(literal, null_values)), table.dialect)
    rows = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation} WHERE {test}")[0][0])
    if rows:
        yield warn_about_rows_set_apart(rows)


def warn_about_rows_set_apart(rows: int) -> CodedWarning:
    """Return a warning about the number of rows without any quasi-identifier."""
    return CodedWarning(
        ROWS_WITHOUT_QUASI_IDENTIFIERS,
        f"{_row_count_text(rows)} with * or NULL in every quasi-identifier: they belong to no class, are not "
        "counted and are not published.",
    )


def _marks_text(marks: Sequence[MissingMark]) -> str:
    reported = [f"'{mark.text}' in {_row_count_text(mark.rows)}" for mark in marks[:_MOST_REPORTED]]
    more = len(marks) - _MOST_REPORTED
    return ", ".join(reported) + (f" and {more} more such texts" if more > 0 else "")


def _row_count_text(number: int) -> str:
    return f"{number:,} row{'s' * (number != 1)}"


def _toml_list(texts: Sequence[str]) -> str:
    return f"[{', '.join(json.dumps(text, ensure_ascii=False) for text in dict.fromkeys(texts))}]"


def warn_about_unquoted_nulls(engine: Engine, source: SourceSpec) -> tuple[str, ...]:
    """Return a warning with the columns and rows of unquoted NULL words, if there are any.

    ``source.unquoted_nulls`` are the words that are NULL without quotes. Cost: two scans.
    """
    words = source.unquoted_nulls or ()
    if not words:
        return ()
    quoted, every = (_count_rows_with(engine, replace(source, unquoted_nulls=n), words) for n in (words, ()))
    rows = {name: every[name] - number for name, number in quoted.items()}
    cells = ", ".join(f"'{name}' in {_row_count_text(number)}" for name, number in rows.items() if number)
    if not cells:
        return ()
    return (
        f"{', '.join(words)} without quotes is NULL, as the file quotes its texts: {cells}. In quotes it is "
        "a value.",
    )


def _count_rows_with(engine: Engine, source: SourceSpec, words: tuple[str, ...]) -> dict[str, int]:
    """Count the rows of each column that have one of the given texts."""
    listed = ", ".join(map(literal, words))
    with open_source_table(engine, source) as table:
        tests = [f"CASE WHEN {table.column(name)} IN ({listed}) THEN 1 ELSE 0 END" for name in table.columns]
        counts = [f"CAST(coalesce(sum({test}), 0) AS BIGINT)" for test in tests]
        found = engine.fetch_rows(f"SELECT {', '.join(counts)} FROM {table.relation}")[0]
        return dict(zip(table.columns, map(int, found), strict=True))
