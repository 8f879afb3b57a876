"""Applying a recoding by classes to a source, in the engine.

The rows go from leaf codes to row types to classes by joins with small tables, and only what a class shows is
ever joined to a row. Where a row type is split among classes, which of its rows go where is drawn from random
sort keys of their own. Then the classes are counted again, by what they show and not by the search's arrays:
where our two counts differ, or a class fails, nothing is published.

A split row type's rows differ in their sensitive values. A class that has whole row types keeps the l that
the search saw; one that draws rows may fall below it, and then the draw is refused (``RequirementNotMet``).

Cost: the source's one scan with a join per quasi-identifier and one with the row types, a copy with the sort
keys, and a grouping of the rows by one number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables, opened_for_release
from discreet.errors import InternalError, RequirementNotMet
from discreet.model.cells import shows_leaves
from discreet.model.class_recoding import ClassRecoding
from discreet.model.criteria.base import Bound
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.recoding import SuppressionPolicy
from discreet.model.table_spec import TableSpec
from discreet.recoding.coded_rows import (
    DrawKeys,
    StoredColumns,
    check_rows,
    leaf_columns,
    sensitive_texts,
    with_sort_keys,
)
from discreet.recoding.columns import ShownText, published_columns, source_changed
from discreet.recoding.consistency import check_recoding
from discreet.recoding.failing import FailingClasses
from discreet.recoding.loading import Loaded, load_recoding
from discreet.recoding.recoded_table import CodedRows, by_cells
from discreet.recoding.shown_classes import classes_of_recoding, holds_values, splits
from discreet.recoding.stored_classes import CountedTable, StoredClasses
from discreet.sql import recode
from discreet.sql import recode_classes as sql
from discreet.sql.failing import is_counted, require_countable


@contextmanager
def recoded_classes(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    recoding: ClassRecoding | StoredClasses,
    *,
    native: bool,
    draw_keys: DrawKeys,
) -> Iterator[CodedRows]:
    """Apply a recoding by classes; its tables are dropped when the context ends (see ``recoding.apply``).

    Raises ``InputError`` where the source is no longer the one that was counted or subjects have several
    rows, and for a criterion that nobody counts; ``RequirementNotMet`` where drawing rows of split row types
    left a class below its l; ``InternalError`` where a class is counted to fail otherwise, or the suppressed
    rows differ.
    """
    if isinstance(recoding, ClassRecoding):
        check_recoding(recoding, counted)
    judged = _judged(spec, counted, recoding)
    hierarchies = counted.hierarchies
    native = native and recoding.suppression is SuppressionPolicy.DROP
    with opened_for_release(engine, spec.source) as table, TemporaryTables(engine) as tables:
        columns = published_columns(spec, table, _shown(recoding, hierarchies), native=native)
        stored = StoredColumns.of(spec, table, columns)
        loaded = load_recoding(engine, tables, counted, recoding)
        keys = leaf_columns(tables, table, hierarchies)
        statement = (engine.dialect, table.relation, keys, loaded.words, loaded.row_types)
        coded = tables.create(sql.classed_table(*statement, stored.others, stored.never_null))
        rows = check_rows(engine, coded, 1, spec, counted)
        if loaded.parts is not None:
            coded = _drawn(engine, tables, coded, loaded.parts, len(stored.others), draw_keys)
        if spec.draws_order:
            coded = with_sort_keys(engine, tables, coded, rows, draw_keys)
        bound = recoding.requirement.bound([attribute.name for attribute in spec.sensitive])
        bound = tuple(one for one in bound if not judged or is_counted(one.criterion))
        failing = FailingClasses(engine, tables, coded, 1, stored.subject)
        _check_counts(engine, failing, coded, loaded, recoding, spec, bound, sensitive_texts(spec, columns))
        suppressed = np.array([sql.SUPPRESSED_CLASS], dtype=np.int32)
        found = CodedRows(
            source_columns=table.columns,
            columns=columns,
            rows=rows,
            suppressed=recoding.suppressed if isinstance(recoding, ClassRecoding) else 0,
            suppression=recoding.suppression,
            dialect=engine.dialect,
            coded=coded,
            failing=tables.load({sql.KEY: suppressed}),
            keys=1,
            labels=((0, loaded.labels),),
            subject=stored.subject,
        )
        yield found if spec.draws_order else by_cells(engine, found)


def _judged(spec: TableSpec, counted: CountedTable, recoding: ClassRecoding | StoredClasses) -> bool:
    """Judge a recoding's classes from arrays where the engine does not count all that is asked.

    ``InputError`` where they cannot be: row types in the engine, or drawn among several classes.
    """
    if all(map(is_counted, recoding.requirement.criteria)):
        return False
    if isinstance(recoding, ClassRecoding) and not splits(recoding) and holds_values(counted, spec):
        classes_of_recoding(counted, recoding)
        return True
    advice = "Use a model that keeps row types whole, on a table that fits the memory limit."
    require_countable(recoding.requirement, "the engine", advice)
    return False


def _shown(
    recoding: ClassRecoding | StoredClasses, hierarchies: Sequence[GeneralizationHierarchy]
) -> dict[str, ShownText]:
    if isinstance(recoding, StoredClasses):
        leaves = recoding.leaves
    else:
        leaves = tuple(map(shows_leaves, recoding.cells, hierarchies))
    return {
        name: ShownText(f"l0.{sql.label_name(i)}", leaves=own)
        for i, (name, own) in enumerate(zip(recoding.attributes, leaves, strict=True))
    }


def _drawn(
    engine: Engine, tables: TemporaryTables, coded: str, parts: str, others: int, draw_keys: DrawKeys
) -> str:
    """The coded table with the rows of split row types drawn into their parts; its name."""
    split = tables.create(sql.split_rows(coded))
    rows = int(engine.fetch_rows(recode.coded_rows(split, 1))[0][0])
    split = with_sort_keys(engine, tables, split, rows, draw_keys)
    places = tables.create(sql.part_places(engine.dialect, parts))
    drawn = tables.create(sql.drawn_rows(coded, split, places, others))
    for table in (places, split, coded):
        tables.drop(table)
    return drawn


def _check_counts(
    engine: Engine,
    failing: FailingClasses,
    coded: str,
    loaded: Loaded,
    recoding: ClassRecoding | StoredClasses,
    spec: TableSpec,
    bound: Sequence[Bound],
    texts: Mapping[int, str],
) -> None:
    """Count the classes of the coded rows, by what they show, and compare with the recoding's word."""
    miscounted = engine.fetch_rows(sql.miscounted_classes(coded, loaded.numbers))[0][0]
    if miscounted:
        raise source_changed(spec, f"{miscounted:,} classes have other numbers of rows now")
    small = failing.table([one for one in bound if one.place is None], texts)
    poor = failing.table([one for one in bound if one.place is not None], texts)
    too_small, too_poor = (int(engine.fetch_rows(sql.failing_classes(name))[0][0]) for name in (small, poor))
    if too_poor and not too_small and loaded.parts is not None:
        raise RequirementNotMet(
            f"{too_poor:,} classes fell below l when the rows of split row types were drawn",
            allowed=str(recoding.requirement),
            advice="Nothing was published. Use a model that keeps row types whole, or ask for k alone.",
        )
    if too_small or too_poor:
        raise InternalError(
            f"{too_small + too_poor:,} classes of the {recoding.model} recoding fail {recoding.requirement}, "
            "counted by what they show",
            advice="Nothing was published. Please report this, with the spec if you may show it.",
        )
