"""Warnings about a published file that no criterion covers, found by the audit's own SQL.

They cover pseudonyms that repeat like persons, values that single out one row, and marks for missing values
or stars that are counted as sensitive values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from discreet.engines.base import Engine, SourceTable
from discreet.engines.column_scans import count_single_values, find_missing_marks
from discreet.model.coded_warnings import (
    INSENSITIVE_PUBLISHED,
    MISSING_MARKS,
    STARRED_CELLS,
    CodedWarning,
    few_people_warning,
    single_values_warning,
    unique_warnings,
)
from discreet.model.missing_value_codes import MissingMark, detect_marks
from discreet.model.requirement import Requirement
from discreet.sql import audit_classes as sql
from discreet.sql.audit_classes import values_with_rows
from discreet.sql.cell_expressions import can_hold_stars, null_stars
from discreet.sql.quoting import literal

_MAX_LISTED_MARKS = 5


def _mark_warning(
    engine: Engine, release: ObservedRelease, name: str, marks: Sequence[MissingMark]
) -> CodedWarning:
    texts = [mark.text for mark in marks[:_MAX_LISTED_MARKS]]
    found = ", ".join(f"'{mark.text}' in {_rows_text(mark.rows)}" for mark in marks[:_MAX_LISTED_MARKS])
    more = f" and {len(marks) - _MAX_LISTED_MARKS} more such texts" if len(marks) > _MAX_LISTED_MARKS else ""
    counted = _fewest_values(engine, release, name, ())
    without = _fewest_values(engine, release, name, [mark.text for mark in marks])
    quoted = ", ".join(f'"{text}"' for text in texts)
    return CodedWarning(
        MISSING_MARKS,
        f"'{name}' has {found}{more}: texts that may mean a missing value. They count as values: the "
        f"fewest values of a class are {counted} with them and {without} without. Where they do, read "
        f"them as NULL by null_values = [{quoted}], as an option --null.",
        private=True,
    )


def _fewest_values(engine: Engine, release: ObservedRelease, name: str, but: Sequence[str]) -> int:
    """Return the fewest distinct values of a class, without some texts."""
    table = release.table
    text = table.text(name)
    value = null_stars(text, "VARCHAR", table.dialect) if can_hold_stars(table.types[name]) else text
    if but:
        value = f"CASE WHEN {text} IN ({', '.join(map(literal, but))}) THEN NULL ELSE {value} END"
    keys = [table.text(key) for key in release.quasi_identifiers]
    every = [table.text(column) for column in table.columns]
    rows = sql.published_texts(table.relation, keys, [value], every, starred_apart=release.starred_apart)
    texts = [sql.key(i) for i in range(len(keys))]
    query = f"SELECT min(d0) FROM ({sql.classes_table(rows, texts, 1)}) AS classes WHERE NOT starred"
    return int(engine.fetch_rows(query)[0][0] or 0)


def _rows_text(number: int) -> str:
    return f"{number:,} row{'s' * (number != 1)}"


@dataclass(frozen=True)
class ObservedRelease:
    """Opened release with the roles of its columns.

    ``others`` are the published columns that are neither quasi-identifiers nor sensitive, without the
    ``pseudonymized`` columns, which contain pseudonyms or masks of identifiers. ``rows`` excludes the
    ``starred`` rows, which are recognized only if ``starred_apart``. ``classes`` is the table of classes in
    the engine (``sql.audit_classes.classes_table``), None for a permuted release. ``real_values`` are texts
    by column that are values although they look like marks for missing ones. ``values`` contains, for some
    sensitive columns, the name of a table of ``sql.audit_classes.value_bits`` and the type of its cells.
    """

    table: SourceTable
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    others: tuple[str, ...]
    pseudonymized: tuple[str, ...]
    requirement: Requirement
    rows: int
    starred: int
    starred_apart: bool
    classes: str | None = None
    real_values: Mapping[str, Collection[str]] = field(default_factory=dict)
    values: Mapping[str, tuple[str, str]] = field(default_factory=dict)


Observation: TypeAlias = Callable[[Engine, ObservedRelease], Iterable[CodedWarning]]
"""Function that examines an opened release; without a column to examine it makes no query."""

_LEAST_PEOPLE = 2
_KEY_DISTINCT = 0.05
_MOST_COLUMNS = 1_000


def observe_repeated_pseudonyms(engine: Engine, release: ObservedRelease) -> Iterator[CodedWarning]:
    """Count the distinct pseudonyms of each class, where a column of them repeats as persons do.

    Few values for many rows rather identify groups, such as hospitals. Pseudonyms of a subject pass, since k
    was counted by them.
    """
    if not release.quasi_identifiers:
        return
    table, k = release.table, max(release.requirement.k or 0, _LEAST_PEOPLE)
    relation = _unstarred_rows(release)
    keys = [table.text(name) for name in release.quasi_identifiers]
    for name in release.pseudonymized:
        query = sql.count_people_in_classes(relation, keys, table.text(name), k)
        filled, persons, classes, few = map(int, engine.fetch_rows(query)[0])
        if few and filled > persons >= _KEY_DISTINCT * filled:
            yield few_people_warning(name, k, few, classes)


def observe_unique_values(engine: Engine, release: ObservedRelease) -> Iterator[CodedWarning]:
    """Count the rows whose sensitive or other value no other row has.

    In a permuted release a sensitive value does not belong to its row, so only other columns count.
    """
    sensitive = release.sensitive if release.classes is not None else ()
    columns = (*sensitive, *release.others)[:_MOST_COLUMNS]
    if not columns or not release.rows:
        return
    found = count_single_values(
        engine,
        release.table,
        columns,
        release.quasi_identifiers,
        release.rows,
        starred_apart=release.starred_apart and release.starred > 0,
    )
    for each in found:
        if each.unique_rows:
            yield single_values_warning(each)


def observe_missing_marks(engine: Engine, release: ObservedRelease) -> Iterator[CodedWarning]:
    """Warn of marks and stars in sensitive columns, which may make a class seem to have more values."""
    scanned = [name for name in release.sensitive if name not in release.values]
    starred = release.starred if release.starred_apart else 0
    found = dict(find_missing_marks(engine, release.table, scanned, scanned))
    for name, (table, type_name) in release.values.items():
        counted = engine.fetch_rows(values_with_rows(engine.dialect, table, type_name))
        texts, rows = [str(text) for text, _ in counted], [int(number) for _, number in counted]
        found[name] = detect_marks(texts, rows, sensitive=True)
    for name in release.sensitive:
        marks = found.get(name, ())
        stars = sum(mark.rows for mark in marks if mark.starred) - starred
        if stars > 0:
            yield CodedWarning(
                STARRED_CELLS,
                f"'{name}' contains * in {_rows_text(stars)}: a star is no sensitive value and is not "
                "counted as one.",
                private=True,
            )
        real = release.real_values.get(name, ())
        reported_marks = [mark for mark in marks if not mark.starred and mark.text not in real]
        if reported_marks:
            yield _mark_warning(engine, release, name, reported_marks)


def _unstarred_rows(release: ObservedRelease) -> str:
    """Return the relation of a release's rows without starred ones."""
    table = release.table
    apart = release.starred_apart and release.starred > 0
    return sql.relation_without_stars(
        table.relation, [table.text(name) for name in table.columns] if apart else []
    )


OBSERVATIONS: tuple[Observation, ...] = (
    observe_repeated_pseudonyms,
    observe_unique_values,
    observe_missing_marks,
)
"""Observations, in the order of their warnings."""


def warn_unchecked_columns(names: Sequence[str]) -> tuple[CodedWarning, ...]:
    """Warn of published columns that no criterion reads."""
    if not names:
        return ()
    listed = ", ".join(map(repr, names))
    return (CodedWarning(INSENSITIVE_PUBLISHED, f"Published unchanged and unchecked: {listed}."),)


def observe_release(engine: Engine, release: ObservedRelease) -> tuple[CodedWarning, ...]:
    """Make every observation on a release."""
    return unique_warnings(warning for observe in OBSERVATIONS for warning in observe(engine, release))
