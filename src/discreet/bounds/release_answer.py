"""Answer to a query on a release: sure bounds and an estimate (Zhang et al. 2007).

A permuted release is queried in SQL (``queries.permuted_query``). If the query names a generalized column,
and for releases of equivalence classes, the answer is computed from the values that cells may represent
(Theorem 2): a row meets the condition surely if every combination of its possible values does, possibly if
some does. The engine evaluates each comparison over all values of its columns; the results are boxes, which
AND, OR and NOT combine. A row belongs to a key's group in the same way. Suppressed rows are left out.

Cost: the product of the numbers of values, per comparison of several columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from discreet.bounds.condition_evaluator import ConditionEvaluator
from discreet.bounds.interval_aggregates import BoundRow, Key, Number, round_outwards
from discreet.bounds.permuted_units import count_permuted_units
from discreet.bounds.queryable_release import OpenRelease
from discreet.bounds.release_units import count_class_units
from discreet.engines.registry import dialect_named
from discreet.engines.source_tables import TemporaryTables
from discreet.model.hierarchy import parse_decimal
from discreet.model.release_kind import CLASS_RELEASE, GROUP_RELEASE
from discreet.queries.permuted_query import rewrite_query
from discreet.queries.select_query import ReleaseQuery
from discreet.queries.select_query_parser import parse_release_query
from discreet.sql.dialect import Dialect

_UNIT_COUNTERS = {CLASS_RELEASE.unit: count_class_units, GROUP_RELEASE.unit: count_permuted_units}


def answer_from_cells(
    release: OpenRelease, release_query: ReleaseQuery
) -> tuple[tuple[BoundRow, ...], tuple[str, ...]]:
    """Answer a query whose columns were read as texts; return the rows and the assumptions made.

    Keys are in ascending order, NULL last. Raises ``InputError`` for a generalized column whose labels do
    not determine the answer, an aggregate of texts that are not numbers, a comparison of too many
    combinations of values, or a key of too many values.
    """
    units = _UNIT_COUNTERS[release.manifest.kind.unit](release, release_query)
    with TemporaryTables(release.engine) as tables:
        evaluator = ConditionEvaluator(release.engine, tables, units.domains)
        found = list(units.answers(release_query, evaluator))
    numbers = {
        group: index for index, group in enumerate(_sort_groups({line[0] for line in found}, release_query))
    }
    rows = tuple(
        BoundRow.of(group, title, *bounds)
        for group, title, bounds in sorted(found, key=lambda line: numbers[line[0]])
    )
    notes = tuple(meaning.note for meaning in units.meanings.values() if meaning.note is not None)
    return rows, notes


def _sort_groups(groups: set[tuple[Key, ...]], release_query: ReleaseQuery) -> list[tuple[Key, ...]]:
    """Sort the groups by the query's ORDER BY, then by their keys; NULL last."""
    result = sorted(groups, key=lambda group: [(key is None, _comparable(key)) for key in group])
    for index, descends in reversed(release_query.order):
        known = [group for group in result if group[index] is not None]
        nulls = [group for group in result if group[index] is None]
        known.sort(key=lambda group, index=index: _comparable(group[index]), reverse=descends)  # type: ignore[misc]
        result = [*known, *nulls]
    return result


def _comparable(key: Key) -> tuple[bool, Decimal, str]:
    """Return a sort key: numbers by value, also those given as texts, before other texts."""
    number = parse_decimal(key) if isinstance(key, str) else Decimal(key or 0)
    return (number is None, number or Decimal(0), key if isinstance(key, str) else "")


@dataclass(frozen=True)
class BoundedAnswer:
    """Answers of a query, with one row per group and aggregate.

    ``columns`` are the names of the groups' keys. ``sql`` is the rewritten query, which runs without
    discreet; it is None if the answer follows from the values that generalized cells may represent.
    """

    columns: tuple[str, ...]
    rows: tuple[BoundRow, ...]
    sql: str | None
    warnings: tuple[str, ...] = ()


def answer_release_query(
    release: OpenRelease,
    text: str,
    dialect: Dialect | None = None,
    *,
    release_table: str | None = None,
    help_table: str | None = None,
) -> BoundedAnswer:
    """Answer one query in a dialect, and return its rewritten form in the same dialect.

    Parameters
    ----------
    release
        The opened release.
    text
        The SELECT statement.
    dialect
        Dialect of the query, by default that of the engine that contains the release.
    release_table, help_table
        Names of the tables in the rewritten form.

    Returns
    -------
    BoundedAnswer
        Bounds and an estimate per group and aggregate.

    Raises
    ------
    InputError
        For a query that is not allowed, or that names generalized columns with unknown hierarchies.

    References
    ----------
    Zhang, Koudas, Srivastava and Yu (2007).
    """
    runs = release.engine.dialect
    own = dialect_named(release.engine.name)
    dialect = dialect or own
    release_query = parse_release_query(text, release.readable, dialect, runs)
    warnings = _missing_row_warnings(release, release_query)
    columns = tuple(key.title for key in release_query.keys)
    permuted = release.rewritable_tables(release_query)
    if permuted is None:
        texts = parse_release_query(text, release.readable.as_texts(), dialect, runs)
        rows, notes = answer_from_cells(release, texts)
        return BoundedAnswer(columns, rows, None, warnings + notes)
    if permuted.groups is not None and release_query.measures:
        found = permuted.groups.lines(release.engine, release_query)
    else:
        found = release.engine.fetch_rows(rewrite_query(release_query, permuted.in_engine, runs))
    rows = tuple(row for line in found for row in _bound_rows(release_query, line))
    if dialect.name == runs.name and release_table is None and help_table is None:
        sql = rewrite_query(
            parse_release_query(text, release.readable, dialect), permuted.stored(dialect), dialect
        )
    else:
        elsewhere = parse_release_query(text, release.readable.without_types(), dialect)
        quoted = [None if n is None else dialect.identifier(n) for n in (release_table, help_table)]
        sql = rewrite_query(elsewhere, permuted.named(*quoted), dialect)
    return BoundedAnswer(columns, rows, sql, warnings)


def _bound_rows(release_query: ReleaseQuery, line: Sequence[Any]) -> list[BoundRow]:
    group = tuple(_group_value(value) for value in line[: len(release_query.keys)])
    sides = itertools.cycle((False, True, None))
    cells = [
        _bound_number(value, side)
        for value, side in zip(line[len(release_query.keys) :], sides, strict=False)
    ]
    return [
        BoundRow.of(group, aggregate.title, *cells[3 * index : 3 * index + 3])
        for index, aggregate in enumerate(release_query.aggregates)
    ]


def _group_value(value: Any) -> Key:
    if isinstance(value, Decimal):
        return round_outwards(value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _bound_number(value: Any, upwards: bool | None) -> Number | None:
    if isinstance(value, Decimal):
        return round_outwards(value, upwards=upwards)
    assert value is None or isinstance(value, int | float)
    return value


def _missing_row_warnings(release: OpenRelease, release_query: ReleaseQuery) -> tuple[str, ...]:
    found = []
    if release.missing:
        found.append(f"{release.missing:,} rows were suppressed: bounds cover only published rows.")
    if release.manifest.dropped:
        found.append(
            f"{release.manifest.dropped:,} rows with NULL were left out of the release, and of the answers."
        )
    if release.manifest.set_apart:
        found.append(
            f"{release.manifest.set_apart:,} rows without any quasi-identifier were left out of the release, "
            "and of the answers."
        )
    return (*found, *release.null_warnings(release_query))
