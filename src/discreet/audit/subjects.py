"""Counting subjects: a published file does not hold them, so a witness file lends them to the audit.

The witness repeats what the audit counts of each published row, its quasi-identifiers and sensitive values,
with the row's subject behind. It is believed only where it has the file's rows, each as often as the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from discreet.audit.counts import ClassCounts, PublishedRows, totals
from discreet.audit.representatives import most_representatives
from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables, opened
from discreet.errors import InternalError
from discreet.model.table_spec import SourceSpec
from discreet.sql import verify as sql

LARGEST_COUNTED = 100
"""With subjects, an l above this is reported as this, unless more was asked: resolving it may take long."""

_PAIRS_AT_ONCE = 1_000_000


def count_subjects(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    witness: Path,
    thresholds: Sequence[int | None],
) -> ClassCounts:
    """The classes by subjects; ``InternalError`` where the witness's rows are not those of the file.

    ``InputError`` where the file has rows that could not be read.
    """
    ordinary, starred = engine.fetch_rows(sql.count_rows(published.query))[0]
    engine.confirm_rows(published.table, ordinary + starred)
    with opened(engine, SourceSpec(path=witness, format="parquet")) as table:
        rows = _witness_rows(engine, table, published)
        keys, values = len(published.quasi_identifiers), len(published.sensitive)
        classes = tables.new_name()
        engine.execute(sql.classes_table(classes, rows, keys, values))
        lent = tables.new_name()
        engine.execute(sql.lent_rows(lent, rows, classes, keys, values))
    engine.execute(sql.count_subjects(classes, lent))
    caps = [
        _match(engine, tables, classes, lent, index, threshold) for index, threshold in enumerate(thresholds)
    ]
    counts = totals(engine, classes, published.sensitive)
    l = {name: min(found, cap) for (name, found), cap in zip(counts.l.items(), caps, strict=True)}
    return replace(counts, l=l, starred=starred)


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


def _match(
    engine: Engine,
    tables: TemporaryTables,
    classes: str,
    lent: str,
    index: int,
    threshold: int | None,
) -> int:
    """Lower an attribute's distinct values to those that different subjects carry, class by class.

    Returns the number up to which that is exact: the smallest bound of any class, or ``LARGEST_COUNTED``
    where that is smaller; never below the threshold.
    """
    pairs, of_values, of_subjects, thinner, thin = (tables.new_name() for _ in range(5))
    engine.execute(sql.pairs_table(pairs, lent, index))
    engine.execute(sql.degrees(of_values, pairs, "v"))
    engine.execute(sql.degrees(of_subjects, pairs, "u"))
    engine.execute(sql.cap_by_subjects(classes, of_subjects, index))
    smallest = int(engine.fetch_rows(sql.totals(classes, index + 1))[0][-1])
    most = max(1, min(smallest, LARGEST_COUNTED), threshold or 0)
    engine.execute(sql.settle_plain_classes(pairs, of_values, of_subjects, most))
    engine.execute(sql.thin_out(thinner, pairs, "v", most))
    engine.execute(sql.thin_out(thin, thinner, "u", most))
    engine.execute(sql.drop_rich_classes(thin, most))
    ids, matched = _matchings(engine, thin, most)
    numbers = tables.load({"id": np.array(ids, dtype=np.int64), "d": np.array(matched, dtype=np.int64)})
    engine.execute(sql.set_distinct(classes, index, numbers))
    for name in (pairs, of_values, of_subjects, thinner, thin):
        tables.drop(name)
    return most


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
