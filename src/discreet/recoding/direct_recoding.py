"""Application of a recoding whose classes are decided from arrays, in two statements.

The engine reads the source once, stores the class and the other columns of each published row, and sorts
by them or by random keys. Labels of few distinct texts get an enumerated type. The number of rows is
compared with the number counted, and the audit counts everything again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables, open_release_table
from discreet.errors import InternalError
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.search_result import SuppressionPolicy
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.recoding.class_decision import ClassDecision, find_star_class, load_texts, number_in_value_order
from discreet.recoding.coded_rows import DrawSortKeys, StoredColumns, leaf_columns, leaf_texts
from discreet.recoding.published_columns import (
    PublishedColumn,
    PublishedText,
    build_published_columns,
    restored_type,
    source_changed_error,
)
from discreet.recoding.recoded_table import ClassedRows
from discreet.sql import recoded_classes as sql
from discreet.sql import recoded_rows
from discreet.sql.cell_expressions import cell_sort_keys, is_text, order_clause
from discreet.sql.quoting import identifier

_MOST_TEXTS = 2000


def find_dictionary(texts: Iterable[str | None]) -> list[str] | None:
    """Return the distinct texts in ascending order, which reveals no row; None if there are many."""
    known = sorted({text for text in texts if text is not None})
    return known if 0 < len(known) <= _MOST_TEXTS and not any("\0" in text for text in known) else None


@contextmanager
def apply_decided_classes(
    engine: Engine,
    spec: TableSpec,
    decided: ClassDecision,
    suppression: SuppressionPolicy,
    *,
    native: bool,
    draw_keys: DrawSortKeys,
) -> Iterator[ClassedRows]:
    """Publish the rows of a spec without a subject as decided; tables are dropped when the context ends.

    ``native`` and ``draw_keys`` are as in ``recoding_application.apply_full_domain``. Raises ``InputError``
    if the source is no longer the one that was counted.
    """
    if spec.source.subject is not None:
        raise InternalError("a table with subjects cannot be recoded from arrays")
    native = native and suppression is SuppressionPolicy.DROP
    with open_release_table(engine, spec.source) as table, TemporaryTables(engine) as tables:
        published_texts = {
            h.attribute: PublishedText(f"l0.{sql.label_name(i)}", leaves=decided.leaves[i], typed=True)
            for i, h in enumerate(decided.hierarchies)
        }
        columns = build_published_columns(spec, table, published_texts, native=native)
        others = StoredColumns.of(spec, table, columns)
        decided = number_in_value_order(
            decided, [column.name for column in columns if column.name in published_texts]
        )
        labels = _load_class_labels(engine, tables, table, decided, suppression, native=native)
        rows, sort_key = _query_rows(tables, table, decided, suppression, others, draws=spec.draws_order)
        published = decided.published_rows if suppression is SuppressionPolicy.DROP else decided.rows
        order, types = "", [] if spec.draws_order else engine.column_types(rows)
        if sort_key is not None:
            order = " " + engine.dialect.random_order.format(f"t.{sort_key}")
        elif not spec.draws_order:
            order = _order_by_class_and_cells(engine, types, decided, suppression)
        # Rows are sorted once: when stored if the engine's tables keep their order, else when written.
        early = engine.dialect.keeps_stored_order
        stored = tables.create(f"SELECT t.* FROM ({rows}) AS t{order if early else ''}")
        found = int(engine.fetch_rows(recoded_rows.row_count(stored))[0][0])
        if found != published:
            raise source_changed_error(spec, f"{found} rows have a class now, {published} before")
        if spec.draws_order and sort_key is None:
            stored = _sort_by_loaded_keys(engine, tables, stored, published, len(others.others), draw_keys)
        yield ClassedRows(
            source_columns=table.columns,
            columns=columns,
            rows=decided.rows,
            suppressed=decided.suppressed,
            suppression=suppression,
            dialect=engine.dialect,
            coded=stored,
            labels=labels,
            order="" if early else order,
            types=_published_types(engine, labels, columns, types),
        )


def _query_rows(
    tables: TemporaryTables,
    table: SourceTable,
    decided: ClassDecision,
    suppression: SuppressionPolicy,
    columns: StoredColumns,
    *,
    draws: bool,
) -> tuple[str, str | None]:
    """Build the query of the published rows, and name its column of keys if the database draws them."""
    dialect = table.dialect
    starred = suppression is SuppressionPolicy.STAR
    published = (decided.class_of != SUPPRESSED) | starred
    codes = decided.codes[published]
    columns_of = leaf_columns(tables, table, [decided.hierarchies[i] for i in decided.deciding])
    keys = {
        i: sql.RowTypeKey(column, bool((codes[:, i] == column.null_position).any()))
        for i, column in zip(decided.deciding, columns_of, strict=True)
    }
    loaded = {recoded_rows.key_name(i): codes[:, i] for i in decided.deciding}
    numbers = decided.class_of[published].astype(np.int32)
    # Few cells are sent as texts; the engine joins many from loaded codes instead.
    if codes.size <= dialect.cells_sent:
        texts = {
            f"k{i}": texts_at_positions(leaf_texts(table, decided.hierarchies[i]), codes[:, i])
            for i in decided.deciding
        }
        kinds = {f"k{i}": keys[i].column.type_name for i in decided.deciding}
        sent = tables.load({sql.CLASS_NUMBER: numbers, **texts})
        row_types = tables.create(sql.typed_columns(dialect, sent, sql.CLASS_NUMBER, kinds), shared=True)
    else:
        codes_of = tables.load({sql.CLASS_NUMBER: numbers, **loaded})
        row_types = tables.create(sql.row_type_table(dialect, codes_of, keys), shared=True)
    others, sort_key = list(columns.others), None
    if draws and dialect.random_key is not None:
        sort_key = recoded_rows.other_name(len(others))
        others.append(dialect.random_key)
    query = sql.rows_of_row_types(dialect, table.relation, keys, row_types, others, columns.never_null)
    return query, sort_key


def _order_by_class_and_cells(
    engine: Engine, types: Sequence[str], decided: ClassDecision, suppression: SuppressionPolicy
) -> str:
    """Build the ORDER BY clause that sorts coded rows ``t`` by their class, then by the other cells."""
    cells = [(f"t.{recoded_rows.other_name(i)}", kind) for i, kind in enumerate(types[1:])]
    key = f"t.{sql.CLASS_KEY}"
    shares = find_star_class(decided) if suppression is SuppressionPolicy.STAR else sql.SUPPRESSED_CLASS
    if shares != sql.SUPPRESSED_CLASS:
        # That class shows the same stars as suppressed rows, so both are sorted together by their cells.
        # Otherwise suppressed rows come first and need no starred cells to sort by, which would double the
        # memory for many columns: all of them are equal in any order.
        key = f"CASE WHEN {key} = {sql.SUPPRESSED_CLASS} THEN {shares} ELSE {key} END"
        cells = [(sql.star_suppressed(cell), kind) for cell, kind in cells]
    keys = [key, *(k for cell, kind in cells for k in cell_sort_keys(engine.dialect, f"({cell})", kind))]
    return order_clause(engine.dialect, keys)


def _load_class_labels(
    engine: Engine,
    tables: TemporaryTables,
    table: SourceTable,
    decided: ClassDecision,
    suppression: SuppressionPolicy,
    *,
    native: bool,
) -> str:
    """Load the labels of each class in their published types; suppressed rows show stars."""
    numbers = np.arange(len(decided.shown), dtype=np.int32)
    cell_codes = decided.shown
    texts: list[tuple[str | None, ...]] = list(decided.labels)
    if suppression is SuppressionPolicy.STAR:
        numbers = np.append(numbers, np.int32(sql.SUPPRESSED_CLASS))
        cell_codes = np.vstack([cell_codes, [[len(labels) for labels in texts]]])
        texts = [(*labels, recoded_rows.STAR) for labels in texts]
    types = [
        restored_type(leaves, table.types[hierarchy.attribute]) if native else None
        for hierarchy, leaves in zip(decided.hierarchies, decided.leaves, strict=True)
    ]
    if cell_codes.size <= engine.dialect.cells_sent:
        names = [sql.label_name(i) for i in range(len(texts))]
        cells = {name: texts_at_positions(texts[i], cell_codes[:, i]) for i, name in enumerate(names)}
        sent = tables.load({recoded_rows.POSITION: numbers, **cells})
        kinds = dict(zip(names, types, strict=True))
        return tables.create(sql.typed_columns(engine.dialect, sent, recoded_rows.POSITION, kinds))
    positions = {recoded_rows.key_name(i): cell_codes[:, i] for i in range(cell_codes.shape[1])}
    published = tables.load({sql.ID: numbers, **positions})
    labels = [
        sql.AttributeLabels(load_texts(tables, of_attribute), kind, find_dictionary(of_attribute))
        for kind, of_attribute in zip(types, texts, strict=True)
    ]
    return tables.create(sql.labels_table(engine.dialect, published, labels))


def texts_at_positions(texts: Sequence[str | None], positions: NDArray[np.int64]) -> list[str | None]:
    """Return the texts at some positions."""
    return [texts[index] for index in positions.tolist()]


def _published_types(
    engine: Engine, labels: str, columns: Sequence[PublishedColumn], stored: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the types of the published columns if all stored cells are texts; else None.

    Describing thousands of columns once more would take the engine as much memory as writing them.
    """
    if not stored or not all(map(is_text, stored[1:])):
        return None
    quasi_identifiers = [column for column in columns if column.role is AttributeRole.QUASI_IDENTIFIER]
    cells = ", ".join(column.published for column in quasi_identifiers)
    kinds = engine.column_types(f"SELECT {cells} FROM {identifier(labels)} AS l0")
    by_name = dict(zip((column.name for column in quasi_identifiers), kinds, strict=True))
    return tuple(by_name.get(column.name, "VARCHAR") for column in columns)


def _sort_by_loaded_keys(
    engine: Engine, tables: TemporaryTables, coded: str, rows: int, others: int, draw_keys: DrawSortKeys
) -> str:
    """Sort the coded table by loaded sort keys."""
    sort_keys = tables.new_name()
    # Rounded up: each loaded row has the keys of several rows.
    draw_keys(engine, sort_keys, -(-rows // len(recoded_rows.SORT_KEYS)))
    ordered = tables.create(sql.sorted_by_loaded_keys(coded, sort_keys, others))
    tables.drop(sort_keys)
    tables.drop(coded)
    return ordered
