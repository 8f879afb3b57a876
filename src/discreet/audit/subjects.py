"""Counting subjects: a published file does not hold them, so a witness file lends them to the audit.

The witness repeats what the audit counts of each published row, its quasi-identifiers and sensitive values,
with the row's subject behind. It is believed only where it has the file's rows, each as often as the file.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from discreet.audit.representatives import most_representatives
from discreet.engines.base import Engine
from discreet.errors import InternalError
from discreet.model.table_spec import SourceSpec
from discreet.sql import verify as sql

LARGEST_COUNTED = 100
"""With subjects, an l above this is reported as this, unless more was asked: resolving it may take long."""

_PAIRS_AT_ONCE = 1_000_000


def subject_rows(
    engine: Engine, path: Path, rows: str, keys: int, values: int, *, starred_apart: bool
) -> str:
    """The query of the witness's rows; ``InternalError`` where they are not those of the file."""
    table = engine.open_source(SourceSpec(path=path, format="parquet"))
    columns = [table.column(name) for name in table.columns]
    witness = sql.witness_rows(table.relation, columns, keys, starred_apart=starred_apart)
    unlike = engine.fetch_rows(sql.unlike_rows(rows, witness, keys, values))[0][0]
    if unlike:
        raise InternalError(
            f"the file of subjects differs from {unlike} of the rows that were written",
            advice="Nothing was published. Please report this.",
        )
    return witness


def count_representatives(
    engine: Engine, classes: str, witness: str, keys: int, thresholds: Sequence[int | None]
) -> tuple[int, ...]:
    """Lower each class's distinct values to the number of them that different subjects carry.

    The numbers are exact up to the returned cap of each attribute, which is the smallest bound of any class,
    or ``LARGEST_COUNTED`` where that is smaller; never below the threshold.
    """
    caps = []
    for index, threshold in enumerate(thresholds):
        smallest = int(engine.fetch_rows(sql.totals(classes, index + 1))[0][4 + index])
        most = max(1, min(smallest, LARGEST_COUNTED), threshold or 0)
        _match_shared(engine, classes, witness, keys, index, most)
        caps.append(most)
    return tuple(caps)


def _match_shared(engine: Engine, classes: str, witness: str, keys: int, index: int, most: int) -> None:
    pairs = f"pairs_{secrets.token_hex(4)}"
    numbers = f"{pairs}_matched"
    try:
        engine.execute(sql.shared_pairs(pairs, witness, classes, keys, index, most))
        engine.execute(sql.drop_rich_classes(pairs, most))
        ids, matched = _matchings(engine, pairs, most)
        engine.load_table(
            numbers, {"id": np.array(ids, dtype=np.int64), "d": np.array(matched, dtype=np.int64)}
        )
        engine.execute(sql.set_distinct(classes, index, numbers))
    finally:
        engine.execute(sql.drop(pairs))
        engine.execute(sql.drop(numbers))


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
