"""Applying a decided recoding to a source: one statement maps rows to classes, one publishes them.

Where the row types are in memory it is known beforehand which classes there are and which are published
(``ShownClasses``). So the engine groups nothing again: it reads the source once, keeps of each published row
its class and the columns that are not generalized, and sorts them by these (or by random keys). Classes are
numbered in the order of what they show; that is joined when the rows are written. Rows of combinations that
were not counted have no class; the number of rows found is compared with the number counted, and the audit of
what was written counts everything again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables, opened_for_release
from discreet.errors import InternalError
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.recoding import SuppressionPolicy
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.recoding.coded_rows import DrawKeys, StoredColumns, leaf_columns, leaf_texts
from discreet.recoding.columns import (
    PublishedColumn,
    ShownText,
    published_columns,
    restored_type,
    source_changed,
)
from discreet.recoding.few_texts import few_texts, listed_cells
from discreet.recoding.recoded_table import ClassedRows
from discreet.recoding.repeated_rows import counting_pays
from discreet.recoding.shown_classes import ShownClasses
from discreet.recoding.shown_order import class_of_stars, in_shown_order
from discreet.sql import recode
from discreet.sql import recode_classes as sql
from discreet.sql.names import identifier
from discreet.sql.row_order import cell_keys, in_order
from discreet.sql.source import group_key, is_text


@contextmanager
def recoded_directly(
    engine: Engine,
    spec: TableSpec,
    decided: ShownClasses,
    suppression: SuppressionPolicy,
    *,
    native: bool,
    draw_keys: DrawKeys,
) -> Iterator[ClassedRows]:
    """Publish the rows of a spec without a subject as decided; tables are dropped when the context ends.

    ``native`` and ``draw_keys`` are as in ``recoding.apply.recoded``. Raises ``InputError`` where the source
    is no longer the one that was counted.
    """
    if spec.source.subject is not None:
        raise InternalError("rows of subjects were to be published without counting subjects")
    native = native and suppression is SuppressionPolicy.DROP
    with opened_for_release(engine, spec.source) as table, TemporaryTables(engine) as tables:
        shown = {
            h.attribute: ShownText(f"l0.{sql.label_name(i)}", leaves=decided.leaves[i], typed=True)
            for i, h in enumerate(decided.hierarchies)
        }
        columns = published_columns(spec, table, shown, native=native)
        others = StoredColumns.of(spec, table, columns)
        decided = in_shown_order(decided, [column.name for column in columns if column.name in shown])
        labels = _load_labels(engine, tables, table, decided, suppression, native=native)
        rows, sort_key = _rows(tables, table, decided, suppression, others, draws=spec.draws_order)
        published = decided.kept if suppression is SuppressionPolicy.DROP else decided.rows
        order, types = "", [] if spec.draws_order else engine.column_types(rows)
        if sort_key is not None:
            order = " " + engine.dialect.random_order.format(f"t.{sort_key}")
        elif not spec.draws_order:
            order = _by_class_and_cells(engine, types, decided, suppression)
        # Sorted once: as they are stored where tables keep their order, else as they are written.
        early = engine.dialect.keeps_stored_order
        counted = early and not spec.draws_order and _counted(engine, table, types, others.others, decided)
        if counted:
            rows = sql.counted_rows(rows, len(others.others))
        stored = tables.create(f"SELECT t.* FROM ({rows}) AS t{order if early else ''}")
        _check_rows(engine, stored, spec, published, counted=counted)
        if spec.draws_order and sort_key is None:
            stored = _sorted(engine, tables, stored, published, len(others.others), draw_keys)
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
            counted=counted,
            listed=listed_cells(engine, stored, types[1:], columns, decided) if native else {},
            types=_published_types(engine, labels, columns, types),
        )


def _rows(
    tables: TemporaryTables,
    table: SourceTable,
    decided: ShownClasses,
    suppression: SuppressionPolicy,
    columns: StoredColumns,
    *,
    draws: bool,
) -> tuple[str, str | None]:
    """The query of the published rows, and its column of random keys where the database ``draws`` such."""
    dialect = table.dialect
    starred = suppression is SuppressionPolicy.STAR
    kept = (decided.class_of != SUPPRESSED) | starred
    codes = decided.codes[kept]
    columns_of = leaf_columns(tables, table, [decided.hierarchies[i] for i in decided.telling])
    keys = {
        i: sql.RowTypeKey(column, bool((codes[:, i] == column.null_position).any()))
        for i, column in zip(decided.telling, columns_of, strict=True)
    }
    loaded = {recode.key_name(i): codes[:, i] for i in decided.telling}
    numbers = decided.class_of[kept].astype(np.int32)
    if codes.size <= dialect.cells_sent:
        texts = {
            f"k{i}": texts_at(leaf_texts(table, decided.hierarchies[i]), codes[:, i]) for i in decided.telling
        }
        kinds = {f"k{i}": keys[i].column.type_name for i in decided.telling}
        sent = tables.load({sql.NUMBER: numbers, **texts})
        row_types = tables.create(sql.typed_columns(dialect, sent, sql.NUMBER, kinds), shared=True)
    else:
        codes_of = tables.load({sql.NUMBER: numbers, **loaded})
        row_types = tables.create(sql.row_type_table(dialect, codes_of, keys), shared=True)
    others, sort_key = list(columns.others), None
    if draws and dialect.random_key is not None:
        sort_key = recode.other_name(len(others))
        others.append(dialect.random_key)
    query = sql.rows_of_classes(dialect, table.relation, keys, row_types, others, columns.never_null)
    return query, sort_key


def _counted(
    engine: Engine, table: SourceTable, types: Sequence[str], others: Sequence[str], decided: ShownClasses
) -> bool:
    """Whether rows that are alike are put together: where equal cells read the same, and it pays.

    ``types`` are those of the coded rows: the class and the ``others``.
    """
    exact = all(group_key("t", kind, engine.dialect) == "t" for kind in types[1:])
    return exact and counting_pays(engine, table, others, decided)


def _by_class_and_cells(
    engine: Engine, types: Sequence[str], decided: ShownClasses, suppression: SuppressionPolicy
) -> str:
    """The end of a query that sorts coded rows ``t`` by what they show: their class, then the other cells."""
    cells = [(f"t.{recode.other_name(i)}", kind) for i, kind in enumerate(types[1:])]
    key = f"t.{sql.KEY}"
    shares = class_of_stars(decided) if suppression is SuppressionPolicy.STAR else sql.SUPPRESSED_CLASS
    if shares != sql.SUPPRESSED_CLASS:
        # That class shows what suppressed rows show: they are among its rows, as cells say. Elsewhere they
        # come first, and need no stars to be sorted, which for many columns would double the memory: all of
        # them read the same, in whatever order.
        key = f"CASE WHEN {key} = {sql.SUPPRESSED_CLASS} THEN {shares} ELSE {key} END"
        cells = [(sql.starred(cell), kind) for cell, kind in cells]
    keys = [key, *(k for cell, kind in cells for k in cell_keys(engine.dialect, f"({cell})", kind))]
    return in_order(engine.dialect, keys)


def _load_labels(
    engine: Engine,
    tables: TemporaryTables,
    table: SourceTable,
    decided: ShownClasses,
    suppression: SuppressionPolicy,
    *,
    native: bool,
) -> str:
    """The table of what each class shows, in its published type; suppressed rows show stars."""
    numbers = np.arange(len(decided.shown), dtype=np.int32)
    shown = decided.shown
    texts: list[tuple[str | None, ...]] = list(decided.labels)
    if suppression is SuppressionPolicy.STAR:
        numbers = np.append(numbers, np.int32(sql.SUPPRESSED_CLASS))
        shown = np.vstack([shown, [[len(labels) for labels in texts]]])
        texts = [(*labels, recode.STAR) for labels in texts]
    types = [
        restored_type(leaves, table.types[hierarchy.attribute]) if native else None
        for hierarchy, leaves in zip(decided.hierarchies, decided.leaves, strict=True)
    ]
    if shown.size <= engine.dialect.cells_sent:
        names = [sql.label_name(i) for i in range(len(texts))]
        cells = {name: texts_at(texts[i], shown[:, i]) for i, name in enumerate(names)}
        sent = tables.load({recode.POSITION: numbers, **cells})
        kinds = dict(zip(names, types, strict=True))
        return tables.create(sql.typed_columns(engine.dialect, sent, recode.POSITION, kinds))
    positions = {recode.key_name(i): shown[:, i] for i in range(shown.shape[1])}
    published = tables.load({sql.ID: numbers, **positions})
    labels = [
        sql.Labels(_load_texts(tables, of_attribute), kind, few_texts(of_attribute))
        for kind, of_attribute in zip(types, texts, strict=True)
    ]
    return tables.create(sql.labels_table(engine.dialect, published, labels))


def texts_at(texts: Sequence[str | None], places: NDArray[np.int64]) -> list[str | None]:
    """The texts at some places."""
    return [texts[place] for place in places.tolist()]


def _load_texts(tables: TemporaryTables, texts: Sequence[str | None]) -> str:
    return tables.load({recode.POSITION: np.arange(len(texts), dtype=np.int64), recode.LABEL: texts})


def _published_types(
    engine: Engine, labels: str, columns: Sequence[PublishedColumn], stored: Sequence[str]
) -> tuple[str, ...] | None:
    """The types of the published columns where all that is stored of a row is text; else None.

    To have the engine describe thousands of columns once more takes as much memory as to write them.
    """
    if not stored or not all(map(is_text, stored[1:])):
        return None
    shown = [column for column in columns if column.role is AttributeRole.QUASI_IDENTIFIER]
    cells = ", ".join(column.published for column in shown)
    kinds = engine.column_types(f"SELECT {cells} FROM {identifier(labels)} AS l0")
    by_name = dict(zip((column.name for column in shown), kinds, strict=True))
    return tuple(by_name.get(column.name, "VARCHAR") for column in columns)


def _check_rows(engine: Engine, coded: str, spec: TableSpec, published: int, *, counted: bool) -> None:
    number = sql.NUMBER_OF_ROWS if counted else None
    rows = int(engine.fetch_rows(recode.row_count(coded, number))[0][0])
    if rows != published:
        raise source_changed(spec, f"{rows} of its rows are of a class now, {published} then")


def _sorted(
    engine: Engine, tables: TemporaryTables, coded: str, rows: int, others: int, draw_keys: DrawKeys
) -> str:
    """The coded table in the order of loaded sort keys."""
    sort_keys = tables.new_name()
    # Rounded up: each loaded row has the keys of several rows.
    draw_keys(engine, sort_keys, -(-rows // len(recode.SORT_KEYS)))
    ordered = tables.create(sql.sorted_by_loaded_keys(coded, sort_keys, others))
    tables.drop(sort_keys)
    tables.drop(coded)
    return ordered
