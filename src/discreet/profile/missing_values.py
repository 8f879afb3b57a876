"""Cells that show nothing: texts that say that a value is missing, and stars.

A mark counts as a value for as long as nobody says that it is none. In a sensitive column that is unsafe: a
class of one diagnosis and ``unknown`` seems to have two. A star is no value there in any case; elsewhere it
is a cell that was generalized before, and a row of stars alone is nobody's (decision 0016).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from discreet.engines.base import Engine, SourceTable
from discreet.engines.missing_marks import marks_in
from discreet.engines.scratch import opened
from discreet.model.coded_warning import (
    MISSING_MARKS,
    ROWS_WITHOUT_QUASI_IDENTIFIERS,
    STARRED_CELLS,
    CodedWarning,
)
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import Given
from discreet.model.missing_marks import Mark, marks_among
from discreet.model.table_spec import Attribute, TableSpec
from discreet.sql.names import literal
from discreet.sql.starred_cells import shows_nothing

_MOST_TOLD = 5


def check_missing_values(engine: Engine, spec: TableSpec) -> tuple[CodedWarning, ...]:
    """Warn of marks and stars in the columns that the requirement is about; scans, as nothing is counted."""
    keys, values = _columns(spec)
    with opened(engine, replace(spec.source, star_free=(), set_apart=())) as table:
        return missing_values(engine, table, keys, values, spec.source.null_values, _declared_in(spec))


def counted_missing_values(spec: TableSpec, counted: FrequencySet) -> tuple[CodedWarning, ...]:
    """Warn of the same by what was counted, all sensitive attributes included; no row is read."""
    keys, values = _columns(spec)
    found: dict[str, Sequence[Mark]] = {}
    for sets in counted.sensitive:
        whole = sets.of
        if whole is not None:
            found[sets.attribute] = marks_among(whole.values, whole.rows.tolist(), sensitive=True)
    for name, rows in counted.starred.items():
        found[name] = (*found.get(name, ()), Mark("*", rows, starred=True))
    for hierarchy, of_code in zip(counted.hierarchies, counted.rows_by_code, strict=True):
        held = np.flatnonzero(of_code[:-1])
        texts = [hierarchy.leaves[code] for code in held.tolist()]
        found[hierarchy.attribute] = marks_among(texts, of_code[held].tolist(), sensitive=False)
    apart = (rows_set_apart(counted.set_apart),) if counted.set_apart else ()
    return (*apart, *_told(found, keys, values, spec.source.null_values, _declared_in(spec)))


def missing_values(
    engine: Engine,
    table: SourceTable,
    keys: Sequence[str],
    values: Sequence[str],
    null_values: Sequence[str] = (),
    declared: Mapping[str, Collection[str] | None] = MappingProxyType({}),
) -> tuple[CodedWarning, ...]:
    """Warn of marks and stars in quasi-identifiers ``keys`` and sensitive ``values`` of a table.

    ``null_values`` are read as NULL. ``declared`` are texts by column that are values for certain, None where
    all are.
    """
    found = marks_in(engine, table, [name for name in (*values, *keys) if name in table.types], values)
    apart: list[CodedWarning] = []
    if any(mark.starred for name in keys for mark in found.get(name, ())):
        apart += _rows_apart(engine, table, keys, null_values)
    return (*apart, *_told(found, keys, values, null_values, declared))


def _told(
    found: Mapping[str, Sequence[Mark]],
    keys: Sequence[str],
    values: Sequence[str],
    null_values: Sequence[str],
    declared: Mapping[str, Collection[str] | None],
) -> Iterator[CodedWarning]:
    yield from _starred(found, keys, values)
    told: dict[str, list[Mark]] = {}
    for name in (*values, *keys):
        listed = declared.get(name, ())
        marks = [] if listed is None else [m for m in found.get(name, ()) if not m.starred]
        kept = [mark for mark in marks if mark.text not in {*(listed or ()), *null_values}]
        if kept:
            told[name] = kept
    if told:
        yield _marked(told, values, null_values)


def _columns(spec: TableSpec) -> tuple[list[str], list[str]]:
    """The quasi-identifiers and the sensitive attributes of a spec."""
    return [a.name for a in spec.quasi_identifiers], [a.name for a in spec.sensitive]


def _declared_in(spec: TableSpec) -> dict[str, Collection[str] | None]:
    return {a.name: _declared(a, spec) for a in (*spec.quasi_identifiers, *spec.sensitive)}


def _declared(attribute: Attribute, spec: TableSpec) -> Collection[str] | None:
    """The texts of an attribute that its publisher lists as values; None where the hierarchy lists all."""
    hierarchy, form = attribute.hierarchy, spec.source.written.get(attribute.name)
    if attribute in spec.quasi_identifiers and getattr(hierarchy, "given", None) is Given.HIERARCHY:
        return None
    others = () if form is None else form.others
    return {*attribute.real_values, *others, *getattr(hierarchy, "others", ())}


def _marked(
    told: Mapping[str, Sequence[Mark]], values: Sequence[str], null_values: Sequence[str]
) -> CodedWarning:
    """Name the marks of all columns, and the line of the spec that reads all of them as NULL."""
    texts = list(dict.fromkeys(mark.text for marks in told.values() for mark in marks[:_MOST_TOLD]))
    found = "; ".join(f"'{name}' has {_listed(marks)}" for name, marks in told.items())
    sensitive = [name for name in told if name in values]
    one = next(iter(told))
    counted = "They count as values" + (", for l and every other criterion" if sensitive else "")
    return CodedWarning(
        MISSING_MARKS,
        f"{found}: texts that may say that a value is missing. {counted}. Write null_values = "
        f"{_toml([*null_values, *texts])} in [source], and they are NULL, which is no sensitive value; or, "
        f"where they are values, real_values = {_toml([mark.text for mark in told[one][:_MOST_TOLD]])} in "
        f"[attributes.{_key(one)}].",
        private=True,
    )


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _starred(
    found: Mapping[str, Sequence[Mark]], keys: Sequence[str], values: Sequence[str]
) -> Iterator[CodedWarning]:
    for names, what in (
        (values, "in a sensitive column a star is no value, and is read as NULL"),
        (keys, "a cell that was generalized before; it stays so, and is alike to stars only"),
    ):
        stars = {name: sum(m.rows for m in found.get(name, ()) if m.starred) for name in names}
        told = ", ".join(f"'{name}' in {_rows(rows)}" for name, rows in stars.items() if rows)
        if told:
            yield CodedWarning(STARRED_CELLS, f"* stands in {told}: {what}.", private=True)


def _rows_apart(
    engine: Engine, table: SourceTable, keys: Sequence[str], null_values: Sequence[str]
) -> Iterator[CodedWarning]:
    cells = [(table.column(name), table.types[name]) for name in keys]
    test = shows_nothing(cells, list(map(literal, null_values)), table.dialect)
    rows = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation} WHERE {test}")[0][0])
    if rows:
        yield rows_set_apart(rows)


def rows_set_apart(rows: int) -> CodedWarning:
    """Say that so many rows of a table have no quasi-identifier."""
    return CodedWarning(
        ROWS_WITHOUT_QUASI_IDENTIFIERS,
        f"{_rows(rows)} with * or NULL in every quasi-identifier: nobody knows whom they are like, so they "
        "count for no class and are not published.",
    )


def _listed(marks: Sequence[Mark]) -> str:
    told = [f"'{mark.text}' in {_rows(mark.rows)}" for mark in marks[:_MOST_TOLD]]
    more = len(marks) - _MOST_TOLD
    return ", ".join(told) + (f" and {more} more such texts" if more > 0 else "")


def _rows(number: int) -> str:
    return f"{number:,} row{'s' * (number != 1)}"


def _toml(texts: Sequence[str]) -> str:
    return f"[{', '.join(json.dumps(text, ensure_ascii=False) for text in dict.fromkeys(texts))}]"
