"""Observations on a published file that no criterion makes.

They are warnings of the audit, found by SQL of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from discreet.audit.missing_marks import MarkedColumns, observe_marks
from discreet.engines.base import Engine, SourceTable
from discreet.engines.single_values import single_values
from discreet.model.coded_warning import CodedWarning, told_once
from discreet.model.group_warnings import few_people, rows_singled_out
from discreet.model.requirement import Requirement
from discreet.sql import verify as sql


@dataclass(frozen=True)
class ObservedRelease:
    """An opened release with the roles of its columns.

    ``others`` are the published columns that are neither quasi-identifiers nor sensitive; ``replaced`` have
    pseudonyms or masks in the place of identifiers and are not among them. ``rows`` leaves the ``starred``
    rows out; these are told apart only where ``starred_apart``. ``classes`` is the table of classes in the
    engine (``sql.verify.classes_table``), None of a permuted release. ``real_values`` are texts by
    column that are values, though they look like marks for missing ones. ``values`` names a table of
    ``sql.verify_bits.value_bits``, and the type of its cells, for sensitive columns that have one.
    """

    table: SourceTable
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    others: tuple[str, ...]
    replaced: tuple[str, ...]
    requirement: Requirement
    rows: int
    starred: int
    starred_apart: bool
    classes: str | None = None
    real_values: Mapping[str, Collection[str]] = field(default_factory=dict)
    values: Mapping[str, tuple[str, str]] = field(default_factory=dict)


Observation: TypeAlias = Callable[[Engine, ObservedRelease], Iterable[CodedWarning]]
"""Look at an opened release. An observation without a column to look at makes no query."""

_LEAST_PEOPLE = 2
_KEY_DISTINCT = 0.05
_MOST_COLUMNS = 1_000


def people_of_pseudonyms(engine: Engine, release: ObservedRelease) -> Iterator[CodedWarning]:
    """Count the different pseudonyms of each class, where a column of them repeats as persons do.

    Few values for many rows rather number groups, such as hospitals. The pseudonyms of a subject pass, since
    k was counted by them.
    """
    if not release.quasi_identifiers:
        return
    table, k = release.table, max(release.requirement.k or 0, _LEAST_PEOPLE)
    relation = _rows_of(release)
    keys = [table.text(name) for name in release.quasi_identifiers]
    for name in release.replaced:
        query = sql.people_of_classes(relation, keys, table.text(name), k)
        filled, persons, classes, few = map(int, engine.fetch_rows(query)[0])
        if few and filled > persons >= _KEY_DISTINCT * filled:
            yield few_people(name, k, few, classes)


def values_of_single_rows(engine: Engine, release: ObservedRelease) -> Iterator[CodedWarning]:
    """Count the rows whose sensitive or other value no other row has.

    In a permuted release a sensitive value is not beside its row.
    """
    sensitive = release.sensitive if release.classes is not None else ()
    columns = (*sensitive, *release.others)[:_MOST_COLUMNS]
    if not columns or not release.rows:
        return
    found = single_values(
        engine,
        release.table,
        columns,
        release.quasi_identifiers,
        release.rows,
        starred_apart=release.starred_apart and release.starred > 0,
    )
    for each in found:
        if each.alone:
            yield rows_singled_out(each)


def missing_marks(engine: Engine, release: ObservedRelease) -> Iterator[CodedWarning]:
    """Look for marks for missing values, and for stars, in the sensitive columns."""
    columns = MarkedColumns(
        table=release.table,
        quasi_identifiers=release.quasi_identifiers,
        sensitive=release.sensitive,
        starred=release.starred,
        starred_apart=release.starred_apart,
        real_values=release.real_values,
        values=release.values,
    )
    return observe_marks(engine, columns)


def _rows_of(release: ObservedRelease) -> str:
    """The rows of a release without starred ones."""
    table = release.table
    apart = release.starred_apart and release.starred > 0
    return sql.without_stars(table.relation, [table.text(name) for name in table.columns] if apart else [])


OBSERVATIONS: tuple[Observation, ...] = (
    people_of_pseudonyms,
    values_of_single_rows,
    missing_marks,
)
"""The observations, in the order of their warnings."""


def observations(engine: Engine, release: ObservedRelease) -> tuple[CodedWarning, ...]:
    """Make every observation on a release."""
    return told_once(warning for observe in OBSERVATIONS for warning in observe(engine, release))
