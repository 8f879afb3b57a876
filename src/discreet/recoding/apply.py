"""Applying a full-domain recoding to a source, in the engine.

The engine copies the source once into a coded table, joins nothing but small tables (values to positions,
positions to labels), counts classes and finds those that fail. No row passes through Python; how many rows
there are is bounded by the engine's disk, not by memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables, opened_for_release
from discreet.errors import InputError
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.recoding import FullDomainRecoding, SuppressionPolicy
from discreet.model.table_spec import TableSpec
from discreet.recoding.coded_rows import (
    DrawKeys,
    StoredColumns,
    check_rows,
    key_columns,
    sensitive_texts,
    with_sort_keys,
)
from discreet.recoding.columns import published_columns, shown_at_levels, source_changed
from discreet.recoding.failing import FailingClasses
from discreet.recoding.recoded_table import CodedRows, by_cells
from discreet.recoding.shown_classes import failing_positions, holds_values
from discreet.recoding.stored_classes import CountedTable
from discreet.sql import recode
from discreet.sql.failing import is_counted


@contextmanager
def recoded(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    recoding: FullDomainRecoding,
    *,
    native: bool,
    draw_keys: DrawKeys,
    expected_suppressed: int | None = None,
) -> Iterator[CodedRows]:
    """Apply a recoding; its tables are dropped when the context ends.

    ``native`` asks for the source's own types in columns that are not generalized; everything is text
    otherwise, and always where suppressed rows are starred. ``draw_keys`` creates a table, of a given name,
    of that many sort keys (columns ``sql.recode.SORT_KEYS``), which order the published rows where the spec
    asks for an order that is drawn. The hierarchies are those of ``counted``. Rows are left out by the spec's
    NULL policy first; then the rows of each class that fails ``recoding.requirement`` are suppressed (k
    counts subjects, and l values of different subjects, where the spec names a subject; NULL is no sensitive
    value). The engine counts k and l; where more is asked, ``counted`` is judged, which must be the frequency
    set.

    Raises ``InputError`` where the source is no longer the one that was counted, as it is where
    ``expected_suppressed`` is given and differs from the number of suppressed rows; and for a criterion that
    nobody counts.
    """
    hierarchies = check_node(spec, counted, recoding)
    native = native and recoding.suppression is SuppressionPolicy.DROP
    with opened_for_release(engine, spec.source) as table, TemporaryTables(engine) as tables:
        columns = published_columns(spec, table, shown_at_levels(hierarchies, recoding.node), native=native)
        stored = StoredColumns.of(spec, table, columns)
        keys = key_columns(tables, table, hierarchies, recoding.node)
        coded = tables.create(
            recode.coded_table(engine.dialect, table.relation, keys, stored.others, stored.never_null)
        )
        rows = check_rows(engine, coded, len(keys), spec, counted)
        if spec.draws_order:
            coded = with_sort_keys(engine, tables, coded, rows, draw_keys)
        if not all(map(is_counted, recoding.requirement.criteria)) and holds_values(counted, spec):
            failing = _load_failing(tables, counted, recoding)
        else:
            bound = recoding.requirement.bound([attribute.name for attribute in spec.sensitive])
            counter = FailingClasses(engine, tables, coded, len(keys), stored.subject)
            failing = counter.table(bound, sensitive_texts(spec, columns))
        suppressed = int(engine.fetch_rows(recode.failing_rows(coded, failing, len(keys)))[0][0])
        if expected_suppressed is not None and suppressed != expected_suppressed:
            raise source_changed(
                spec, f"{suppressed} rows are suppressed now, but the lattice says {expected_suppressed}"
            )
        found = CodedRows(
            source_columns=table.columns,
            columns=columns,
            rows=rows,
            suppressed=suppressed,
            suppression=recoding.suppression,
            dialect=engine.dialect,
            coded=coded,
            failing=failing,
            keys=len(keys),
            labels=_load_labels(tables, hierarchies, recoding.node),
            subject=stored.subject,
        )
        yield found if spec.draws_order else by_cells(engine, found)


def check_node(
    spec: TableSpec, counted: CountedTable, recoding: FullDomainRecoding
) -> tuple[GeneralizationHierarchy, ...]:
    """The hierarchies in the recoding's attribute order; ``InputError`` where it does not fit."""
    by_name = {hierarchy.attribute: hierarchy for hierarchy in counted.hierarchies}
    named = {attribute.name for attribute in spec.require_quasi_identifiers()}
    if set(recoding.attributes) != named or set(by_name) != named:
        raise InputError(
            f"the recoding is of {', '.join(recoding.attributes)}", allowed=", ".join(sorted(named))
        )
    hierarchies = tuple(by_name[name] for name in recoding.attributes)
    for hierarchy, level in zip(hierarchies, recoding.node, strict=True):
        if not 0 <= level <= hierarchy.height:
            raise InputError(f"level {level} of '{hierarchy.attribute}'", allowed=f"0 to {hierarchy.height}")
    return hierarchies


def _load_failing(tables: TemporaryTables, counted: FrequencySet, recoding: FullDomainRecoding) -> str:
    """The table of failing classes, judged from arrays: for criteria that the engine does not count."""
    positions = failing_positions(counted, recoding)
    columns = {recode.key_name(i): positions[:, i] for i in range(positions.shape[1])}
    return tables.load(columns)


def _load_labels(
    tables: TemporaryTables,
    hierarchies: Sequence[GeneralizationHierarchy],
    node: Sequence[int],
) -> tuple[tuple[int, str], ...]:
    loaded = []
    for i, (hierarchy, level) in enumerate(zip(hierarchies, node, strict=True)):
        if level < hierarchy.height:
            labels: list[str | None] = [*hierarchy.labels[level], None]
            positions = np.arange(len(labels), dtype=np.int64)
            loaded.append((i, tables.load({recode.POSITION: positions, recode.LABEL: labels})))
    return tuple(loaded)
