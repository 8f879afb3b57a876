"""The people of a population who match the classes of a release, counted again by SQL.

The audit sees the release alone, which does not tell who else its cells fit. It is given the population as
the release shows it (a row for each person, generalized to the release's levels), or it cannot judge: then a
criterion of the population has no score in any class, and the release does not pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.audit.counts import PublishedRows
from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables, opened
from discreet.errors import InputError
from discreet.model.criteria.base import Bound
from discreet.model.table_spec import SourceSpec
from discreet.sql import verify_population as sql

NOT_TOLD = "No population was given, so nobody can tell who else matches the classes: {} could not be judged."


@dataclass(frozen=True)
class ShownPopulation:
    """A population as a release shows it: where its rows lie, and which quasi-identifier each column is.

    ``columns`` are the quasi-identifiers in the order of the table's columns. ``suppressed`` are the rows of
    the table that the release does not have, of people who match none of its classes.
    """

    source: SourceSpec
    columns: tuple[str, ...]
    suppressed: int


def asks_population(bound: Sequence[Bound]) -> tuple[str, ...]:
    """The names of the criteria that are asked of the population."""
    return tuple(dict.fromkeys(one.criterion.name for one in bound if one.criterion.of_population))


def matched_people(
    engine: Engine, tables: TemporaryTables, published: PublishedRows, classes: str, shown: ShownPopulation
) -> str:
    """A table with a line for each class: ``sql.verify_population.matched``.

    ``classes`` is one of numbered classes. ``InputError`` for a population without one of the columns.
    """
    lacking = [name for name in published.quasi_identifiers if name not in shown.columns]
    with opened(engine, shown.source) as table:
        if lacking or len(table.columns) != len(shown.columns):
            missing = f"'{lacking[0]}'" if lacking else f"{len(shown.columns)} columns"
            raise InputError(f"the population has not {missing}", allowed="every quasi-identifier")
        texts = [table.text(table.columns[shown.columns.index(name)]) for name in published.quasi_identifiers]
        people = tables.create(sql.people(table.relation, texts))
    found = tables.create(sql.people_of_classes(people, classes, len(published.quasi_identifiers)))
    everybody, matching = engine.fetch_rows(sql.totals(people, found))[0]
    return tables.create(sql.matched(found, int(everybody) - int(matching), shown.suppressed))
