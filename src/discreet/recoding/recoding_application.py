"""Application of a recoding to its source in the engine, by the fastest possible method.

If the row types are in memory, without a subject and none of them split, classes are decided from arrays
(``direct_recoding``). Otherwise the engine copies the source once into a coded table, joins only small
tables (values to positions, positions to labels, row types to classes), counts classes and finds those
that fail. Rows of a split row type are assigned to its classes by random sort keys; the classes are then
counted again by their published values, and a difference or a failing class ends the publication.

Cost: one scan of the source with a join per quasi-identifier; no row passes through Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np

from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables, open_release_table
from discreet.errors import InputError, InternalError, RequirementNotMet
from discreet.model.class_recoding import ClassRecoding
from discreet.model.criteria.base import BoundCriterion
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.published_cells import has_only_leaves
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy
from discreet.model.table_spec import TableSpec
from discreet.recoding.class_decision import (
    ClassDecision,
    LoadedRecoding,
    check_class_recoding,
    decide_classes_of_node,
    decide_classes_of_recoding,
    has_sensitive_values,
    load_recoding,
    load_texts,
    positions_of_failing,
    splits_row_types,
)
from discreet.recoding.coded_rows import (
    DrawSortKeys,
    StoredColumns,
    add_sort_keys,
    check_rows,
    key_columns,
    leaf_columns,
    sensitive_texts,
)
from discreet.recoding.direct_recoding import apply_decided_classes
from discreet.recoding.failing_classes import FailingClassFinder
from discreet.recoding.published_columns import (
    PublishedText,
    build_published_columns,
    source_changed_error,
    texts_at_levels,
)
from discreet.recoding.recoded_table import CodedRows, RecodedTable, order_by_cells
from discreet.recoding.stored_classes import CountedTable, Recoding, StoredClasses
from discreet.sql import recoded_classes as sql
from discreet.sql import recoded_rows
from discreet.sql.recoded_rows import is_engine_counted, require_countable


@contextmanager
def apply_full_domain(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    recoding: FullDomainRecoding,
    *,
    native: bool,
    draw_keys: DrawSortKeys,
    expected_suppressed: int | None = None,
) -> Iterator[CodedRows]:
    """Apply a full-domain recoding; its tables are dropped when the context ends.

    ``native`` keeps the source's types in columns that are not generalized; otherwise, and always if
    suppressed rows are starred, everything is text. ``draw_keys`` creates a table of a given name with a
    number of sort keys (columns ``sql.recoded_rows.SORT_KEYS``), which order the published rows if the spec
    requires a drawn order. The hierarchies are those of ``counted``. The spec's NULL policy drops rows first;
    then the rows of each class that fails ``recoding.requirement`` are suppressed (if the spec names a
    subject, k counts subjects, and l values of different subjects; NULL is no sensitive value). The engine
    counts k and l; for other criteria ``counted``, which must be the frequency set, is judged.

    Raises ``InputError`` if the source is no longer the one that was counted, or if ``expected_suppressed``
    is given and differs from the number of suppressed rows; and for a criterion that neither can count.
    """
    hierarchies = hierarchies_of_recoding(spec, counted, recoding)
    native = native and recoding.suppression is SuppressionPolicy.DROP
    with open_release_table(engine, spec.source) as table, TemporaryTables(engine) as tables:
        columns = build_published_columns(
            spec, table, texts_at_levels(hierarchies, recoding.node), native=native
        )
        stored = StoredColumns.of(spec, table, columns)
        keys = key_columns(tables, table, hierarchies, recoding.node)
        coded = tables.create(
            recoded_rows.coded_table(engine.dialect, table.relation, keys, stored.others, stored.never_null)
        )
        rows = check_rows(engine, coded, len(keys), spec, counted)
        if spec.draws_order:
            coded = add_sort_keys(engine, tables, coded, rows, draw_keys)
        if not all(map(is_engine_counted, recoding.requirement.criteria)) and has_sensitive_values(
            counted, spec
        ):
            # Criteria that the engine does not count are judged from arrays.
            positions = positions_of_failing(counted, recoding).T
            failing = tables.load({recoded_rows.key_name(i): row for i, row in enumerate(positions)})
        else:
            bound = recoding.requirement.bound([attribute.name for attribute in spec.sensitive])
            counter = FailingClassFinder(engine, tables, coded, len(keys), stored.subject)
            failing = counter.table(bound, sensitive_texts(spec, columns))
        suppressed = int(engine.fetch_rows(recoded_rows.failing_rows(coded, failing, len(keys)))[0][0])
        if expected_suppressed is not None and suppressed != expected_suppressed:
            raise source_changed_error(
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
            labels=_load_level_labels(tables, hierarchies, recoding.node),
            subject=stored.subject,
        )
        yield found if spec.draws_order else order_by_cells(engine, found)


def hierarchies_of_recoding(
    spec: TableSpec, counted: CountedTable, recoding: FullDomainRecoding
) -> tuple[GeneralizationHierarchy, ...]:
    """Return the hierarchies in the recoding's attribute order; raise ``InputError`` if it does not fit."""
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


def _load_level_labels(
    tables: TemporaryTables, hierarchies: Sequence[GeneralizationHierarchy], node: Sequence[int]
) -> tuple[tuple[int, str], ...]:
    return tuple(
        (i, load_texts(tables, (*hierarchy.labels[level], None)))
        for i, (hierarchy, level) in enumerate(zip(hierarchies, node, strict=True))
        if level < hierarchy.height
    )


@contextmanager
def apply_classes(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    recoding: ClassRecoding | StoredClasses,
    *,
    native: bool,
    draw_keys: DrawSortKeys,
) -> Iterator[CodedRows]:
    """Apply a recoding by classes; its tables are dropped when the context ends.

    Raises ``InputError`` if the source is no longer the one that was counted or subjects have several rows,
    and for a criterion that neither engine nor arrays can count; ``RequirementNotMet`` if drawing rows of
    split row types left a class below its l; ``InternalError`` if a class is counted to fail otherwise, or
    the suppressed rows differ.
    """
    if isinstance(recoding, ClassRecoding):
        check_class_recoding(recoding, counted)
    judged = _judge_from_arrays(spec, counted, recoding)
    hierarchies = counted.hierarchies
    native = native and recoding.suppression is SuppressionPolicy.DROP
    with open_release_table(engine, spec.source) as table, TemporaryTables(engine) as tables:
        columns = build_published_columns(spec, table, _published_texts(recoding, hierarchies), native=native)
        stored = StoredColumns.of(spec, table, columns)
        loaded = load_recoding(engine, tables, counted, recoding)
        keys = leaf_columns(tables, table, hierarchies)
        statement = (engine.dialect, table.relation, keys, loaded.words, loaded.row_types)
        coded = tables.create(sql.classed_table(*statement, stored.others, stored.never_null))
        rows = check_rows(engine, coded, 1, spec, counted)
        if loaded.parts is not None:
            coded = _draw_split_rows(engine, tables, coded, loaded.parts, len(stored.others), draw_keys)
        if spec.draws_order:
            coded = add_sort_keys(engine, tables, coded, rows, draw_keys)
        bound = recoding.requirement.bound([attribute.name for attribute in spec.sensitive])
        bound = tuple(one for one in bound if not judged or is_engine_counted(one.criterion))
        failing = FailingClassFinder(engine, tables, coded, 1, stored.subject)
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
            failing=tables.load({sql.CLASS_KEY: suppressed}),
            keys=1,
            labels=((0, loaded.labels),),
            subject=stored.subject,
        )
        yield found if spec.draws_order else order_by_cells(engine, found)


def _judge_from_arrays(
    spec: TableSpec, counted: CountedTable, recoding: ClassRecoding | StoredClasses
) -> bool:
    """Judge a recoding's classes from arrays if the engine does not count every criterion.

    Raises ``InputError`` if arrays cannot judge them: row types in the engine, or split among classes.
    """
    if all(map(is_engine_counted, recoding.requirement.criteria)):
        return False
    if (
        isinstance(recoding, ClassRecoding)
        and not splits_row_types(recoding)
        and has_sensitive_values(counted, spec)
    ):
        decide_classes_of_recoding(counted, recoding)
        return True
    advice = "Use a model that keeps row types whole, on a table that fits the memory limit."
    require_countable(recoding.requirement, "the engine", advice)
    return False


def _published_texts(
    recoding: ClassRecoding | StoredClasses, hierarchies: Sequence[GeneralizationHierarchy]
) -> dict[str, PublishedText]:
    if isinstance(recoding, StoredClasses):
        leaves = recoding.leaves
    else:
        leaves = tuple(map(has_only_leaves, recoding.cells, hierarchies))
    return {
        name: PublishedText(f"l0.{sql.label_name(i)}", leaves=own)
        for i, (name, own) in enumerate(zip(recoding.attributes, leaves, strict=True))
    }


def _draw_split_rows(
    engine: Engine, tables: TemporaryTables, coded: str, parts: str, others: int, draw_keys: DrawSortKeys
) -> str:
    """Draw the rows of split row types into their parts, and return the name of the new coded table."""
    split = tables.create(sql.rows_of_split_types(coded))
    rows = int(engine.fetch_rows(recoded_rows.coded_rows(split, 1))[0][0])
    split = add_sort_keys(engine, tables, split, rows, draw_keys)
    places = tables.create(sql.part_places(engine.dialect, parts))
    drawn = tables.create(sql.assigned_rows(coded, split, places, others))
    for table in (places, split, coded):
        tables.drop(table)
    return drawn


def _check_counts(
    engine: Engine,
    failing: FailingClassFinder,
    coded: str,
    loaded: LoadedRecoding,
    recoding: ClassRecoding | StoredClasses,
    spec: TableSpec,
    bound: Sequence[BoundCriterion],
    texts: Mapping[int, str],
) -> None:
    """Count the classes of the coded rows by their labels, and compare them with the recoding."""
    miscounted = engine.fetch_rows(sql.miscounted_classes(coded, loaded.numbers))[0][0]
    if miscounted:
        raise source_changed_error(spec, f"{miscounted:,} classes have a different number of rows now")
    small = failing.table([one for one in bound if one.index is None], texts)
    poor = failing.table([one for one in bound if one.index is not None], texts)
    too_small, too_poor = (
        int(engine.fetch_rows(sql.count_failing_classes(name))[0][0]) for name in (small, poor)
    )
    if too_poor and not too_small and loaded.parts is not None:
        raise RequirementNotMet(
            f"{too_poor:,} classes have fewer than l values after split row types were drawn",
            allowed=str(recoding.requirement),
            advice="Nothing was published. Use a model that keeps row types whole, or require only k.",
        )
    if too_small or too_poor:
        raise InternalError(
            f"{too_small + too_poor:,} classes of the {recoding.model} recoding fail "
            f"{recoding.requirement}, counted by their labels",
            advice="Nothing was published. Please report this, with the spec if it is not confidential.",
        )


def apply_recoding(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    recoding: Recoding,
    *,
    native: bool,
    draw_keys: DrawSortKeys,
    expected_suppressed: int | None = None,
) -> AbstractContextManager[RecodedTable]:
    """Apply a recoding to a spec's table by the fastest method that the table allows.

    If there is no subject and the row types are in memory and not split, classes are decided from arrays
    (``direct_recoding``); otherwise the engine counts them (``apply_full_domain``, ``apply_classes``). The
    released rows are the same. ``native``, ``draw_keys`` and ``expected_suppressed`` are as in
    ``apply_full_domain``.

    Cost: one scan of the source with a join per quasi-identifier; no row passes through Python.
    """
    decided = _decide_from_arrays(spec, counted, recoding, expected_suppressed)
    if decided is not None:
        return apply_decided_classes(
            engine, spec, decided, recoding.suppression, native=native, draw_keys=draw_keys
        )
    if isinstance(recoding, FullDomainRecoding):
        return apply_full_domain(
            engine,
            spec,
            counted,
            recoding,
            native=native,
            draw_keys=draw_keys,
            expected_suppressed=expected_suppressed,
        )
    return apply_classes(engine, spec, counted, recoding, native=native, draw_keys=draw_keys)


def _decide_from_arrays(
    spec: TableSpec, counted: CountedTable, recoding: Recoding, expected_suppressed: int | None
) -> ClassDecision | None:
    """Decide the classes from arrays; None if the table or the recoding does not allow it."""
    if spec.source.subject is not None or not isinstance(counted, FrequencySet):
        return None
    if isinstance(recoding, FullDomainRecoding):
        if recoding.requirement.of_values and not has_sensitive_values(counted, spec):
            return None
        hierarchies_of_recoding(spec, counted, recoding)
        decided = decide_classes_of_node(counted, recoding)
        if expected_suppressed is not None and decided.suppressed != expected_suppressed:
            raise InternalError(
                f"recoding suppresses {decided.suppressed} rows at node {recoding.node}, "
                f"but the lattice says {expected_suppressed}",
                advice="Nothing was published. Please report this, with the spec if it is not confidential.",
            )
        return decided
    if isinstance(recoding, ClassRecoding) and not splits_row_types(recoding):
        check_class_recoding(recoding, counted)
        return decide_classes_of_recoding(counted, recoding)
    return None
