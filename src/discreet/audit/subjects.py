"""Counting subjects: a published file does not hold them, so a witness file lends them to the audit.

The witness repeats what the audit counts of each published row, its quasi-identifiers and sensitive values,
with the row's subject behind. It is believed only where it has the file's rows, each as often as the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.counts import ClassTotals, PublishedRows, totals
from discreet.audit.representatives import most_representatives
from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables, opened
from discreet.errors import InternalError
from discreet.model.table_spec import SourceSpec
from discreet.sql import verify as sql
from discreet.sql import verify_criteria as by_criteria

LARGEST_COUNTED = 100
"""With subjects, an l above this is reported as this, unless more was asked: resolving it may take long."""

_PAIRS_AT_ONCE = 1_000_000


def count_subjects(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    witness: SourceSpec | str,
    thresholds: Sequence[int | None],
    *,
    scored: bool = False,
) -> ClassTotals:
    """The classes by subjects; ``InternalError`` where the witness's rows are not those of the release.

    ``witness`` is the file that lends subjects, or the column of the release that tells them apart.
    ``scored`` says that criteria will ask for the members of the classes. ``InputError`` where a file has
    rows that could not be read.
    """
    if published.along is not None and published.along.factor is not None:
        raise InternalError("rows of subjects are added up by themselves, and not by class")
    ordinary, starred, *total = engine.fetch_rows(sql.count_rows(published.query, published.summed))[0]
    if published.along is not None:
        published.along.check(ordinary + starred, int(total[0] or 0))
    engine.confirm_rows(published.table, ordinary + starred)
    keys, values = len(published.quasi_identifiers), len(published.sensitive)
    with ExitStack() as stack:
        if isinstance(witness, str):
            rows = published.with_subject(witness)
        else:
            rows = _witness_rows(engine, stack.enter_context(opened(engine, witness)), published)
        texts = [sql.key(i) for i in range(keys)]
        classes = tables.create(sql.classes_table(rows, texts, values))
        numbered = tables.create(sql.numbered_classes(engine.dialect, classes))
        lent = tables.create(sql.lent_rows(rows, numbered, keys, values))
    sizes = tables.create(sql.subjects_of_classes(lent))
    found = [
        _match(engine, tables, numbered, lent, index, threshold) for index, threshold in enumerate(thresholds)
    ]
    by_subjects = sql.classes_by_subjects(
        numbered, sizes, keys, [each.bounds for each in found], [each.matched for each in found]
    )
    counts = totals(engine, tables.create(by_subjects), published.sensitive)
    l = {
        name: min(number, each.exact_to) for (name, number), each in zip(counts.l.items(), found, strict=True)
    }
    members = tables.create(by_criteria.lent_members(lent)) if scored else None
    return replace(counts, l=l, starred=starred, members=members)


def _witness_rows(engine: Engine, table: SourceTable, published: PublishedRows) -> str:
    """The query of the witness's rows, once they are seen to be those of the file."""
    columns = [table.column(name) for name in table.columns]
    keys, values = len(published.quasi_identifiers), len(published.sensitive)
    rows = sql.witness_rows(table.relation, columns, keys, starred_apart=published.starred_apart)
    unlike = engine.fetch_rows(sql.unlike_rows(published.query, rows, keys, values))[0][0]
    if unlike:
        raise InternalError(
            f"the file of subjects differs from {unlike} of the rows that were written",
            advice="Nothing was published. Please report this.",
        )
    return rows


@dataclass(frozen=True)
class _Matched:
    """Tables of ``id`` and ``d``: a bound of each class's values, and what a matching found in some classes.

    The numbers are exact up to ``exact_to``: the smallest bound of any class, or ``LARGEST_COUNTED`` where
    that is smaller; never below the threshold.
    """

    bounds: str
    matched: str
    exact_to: int


def _match(
    engine: Engine,
    tables: TemporaryTables,
    classes: str,
    lent: str,
    index: int,
    threshold: int | None,
) -> _Matched:
    """The distinct values of an attribute that different subjects carry, class by class."""
    pairs = tables.create(sql.distinct_pairs(lent, index))
    of_values = tables.create(sql.degrees(pairs, "v"))
    of_subjects = tables.create(sql.degrees(pairs, "u"))
    bounds = tables.create(sql.bounds_by_subjects(classes, of_subjects, index))
    smallest = int(engine.fetch_rows(sql.smallest_bound(bounds))[0][0])
    most = max(1, min(smallest, LARGEST_COUNTED), threshold or 0)
    unsettled = tables.create(sql.unsettled_pairs(pairs, of_values, of_subjects, most))
    thinner = tables.create(sql.thinned_out(unsettled, "v", most))
    thin = tables.create(sql.thinned_out(thinner, "u", most))
    left = tables.create(sql.without_rich_classes(thin, most))
    ids, matched = _matchings(engine, left, most)
    numbers = tables.load({"id": np.array(ids, dtype=np.int64), "d": np.array(matched, dtype=np.int64)})
    for name in (pairs, of_values, of_subjects, unsettled, thinner, thin, left):
        tables.drop(name)
    return _Matched(bounds, numbers, most)


def _matchings(engine: Engine, pairs: str, most: int) -> tuple[list[int], list[int]]:
    """The class numbers of a table of pairs, and the matching of each, a range of classes at a time."""
    counts = engine.fetch_arrays(sql.class_numbers(pairs))
    ids: list[int] = []
    matched: list[int] = []
    batch = (np.cumsum(counts["n"]) // _PAIRS_AT_ONCE).astype(np.int64)
    for number in np.unique(batch):
        classes = counts["id"][batch == number]
        query = sql.pairs_between(pairs, int(classes[0]), int(classes[-1]))
        persons: dict[int, dict[int, list[int]]] = {}
        arrays = engine.fetch_arrays(query)
        triples = zip(arrays["id"].tolist(), arrays["u"].tolist(), arrays["v"].tolist(), strict=True)
        for class_id, person, value in triples:
            persons.setdefault(class_id, {}).setdefault(person, []).append(value)
        for class_id, values_of in persons.items():
            ids.append(class_id)
            matched.append(most_representatives(list(values_of.values()), most))
    return ids, matched
