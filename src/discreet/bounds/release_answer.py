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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.interval_aggregates import AggregateBounds, BoundRow, Key, Number, round_outwards
from discreet.bounds.permuted_tables import PermutedReleaseTables
from discreet.bounds.queryable_release import OpenRelease
from discreet.bounds.release_units import ReleaseUnits, count_units
from discreet.engines.base import Engine
from discreet.engines.registry import dialect_named
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import InputError
from discreet.model.hierarchy import parse_decimal
from discreet.queries.permuted_query import rewrite_query
from discreet.queries.region import Box, intersect_regions, unite_boxes
from discreet.queries.select_query import GroupKey, ReleaseQuery, split_query
from discreet.queries.select_query_parser import parse_release_query
from discreet.queries.sql_expression import Condition, Conjunction, Negation, SqlComparison
from discreet.queries.syntax import label_column
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, qualified

MOST_COMPARED_COMBINATIONS = 1 << 20
MOST_KEY_VALUES = 1 << 16
MOST_ANSWERED_GROUPS = 1000
_POSITION_COLUMN = "discreet place"


@dataclass(frozen=True, eq=False)
class ConditionEvaluator:
    """Evaluator of conditions and keys over ``domains``, the values of each column; NULL is last."""

    engine: Engine
    tables: TemporaryTables
    domains: Mapping[str, tuple[str, ...]]
    _loaded: dict[str, str] = field(default_factory=dict)

    def region(self, condition: Condition, *, wanted: bool = True) -> list[Box]:
        """Return disjoint boxes in which a condition is true, or in which it is not if ``wanted`` is False.

        Raises ``InputError`` if a comparison has too many combinations of values, or there are too many
        boxes.
        """
        if isinstance(condition, SqlComparison):
            return self._boxes(condition, wanted)
        if isinstance(condition, Negation):
            return self.region(condition.of, wanted=not wanted)
        parts = [self.region(part, wanted=wanted) for part in condition.parts]
        if isinstance(condition, Conjunction) is wanted:
            result: list[Box] = [{}]
            for part in parts:
                result = intersect_regions(result, part)
            return result
        return unite_boxes([box for part in parts for box in part])

    def by_key(
        self, region: Sequence[Box], keys: Sequence[GroupKey]
    ) -> Iterator[tuple[tuple[Key, ...], list[Box]]]:
        """Yield each combination of key values with its part of a region; empty parts are left out."""
        if not keys:
            yield (), list(region)
            return
        found: list[tuple[tuple[Key, ...], list[Box]]] = [((), list(region))]
        for key in keys:
            values = self._by_value(key)
            found = [
                ((*group, value), part)
                for group, boxes in found
                for value, of_value in values
                if (part := intersect_regions(boxes, of_value))
            ]
            check_group_count(len(found))
        yield from found

    def _boxes(self, comparison: SqlComparison, wanted: bool) -> list[Box]:
        """Evaluate a comparison in the engine over the cross product of its columns' values."""
        names = comparison.attributes
        shape = self._shape(names, MOST_COMPARED_COMBINATIONS, comparison.sql)
        places = "".join(f"{self._place(i)} AS p{i}, " for i in range(len(names)))
        sign = comparison.sql if wanted else f"NOT ({comparison.sql})"
        query = f"SELECT {places}CASE WHEN {sign} THEN 1 ELSE 0 END AS found{self._source(names)}"
        arrays = self.engine.fetch_arrays(query)
        mask = np.zeros(shape, dtype=np.bool_)
        mask[tuple(arrays[f"p{i}"].astype(np.int64) for i in range(len(names)))] = arrays["found"] == 1
        if not names:
            return [{}] if bool(arrays["found"][0]) else []
        return list(_boxes_of_mask(mask, names))

    def _by_value(self, key: GroupKey) -> list[tuple[Key, list[Box]]]:
        """Return each value of a key, with the boxes in which the key has it."""
        names = key.attributes
        shape = self._shape(names, MOST_KEY_VALUES, key.title)
        places = "".join(f"{self._place(i)}, " for i in range(len(names)))
        masks: dict[Any, NDArray[np.bool_]] = {}
        for *at, value in self.engine.fetch_rows(f"SELECT {places}{key.sql}{self._source(names)}"):
            if value not in masks:
                if len(masks) >= MOST_KEY_VALUES:
                    raise InputError(f"GROUP BY '{key.title}' has too many values")
                masks[value] = np.zeros(shape, dtype=np.bool_)
            masks[value][tuple(at)] = True
        return [(value, list(_boxes_of_mask(mask, names))) for value, mask in masks.items()]

    def _shape(self, names: Sequence[str], most: int, what: str) -> tuple[int, ...]:
        shape = tuple(len(self.domains[name]) + 1 for name in names)
        combinations = 1
        for size in shape:
            combinations *= size
        if len(names) > 1 and combinations > most:
            raise InputError(
                f"{combinations:,} combinations of values of {', '.join(names)} are compared in "
                f"'{what if len(what) <= 60 else what[:57] + '…'}'",
                allowed=f"at most {most:,}",
                advice="Compare fewer columns with each other.",
            )
        return shape

    def _source(self, names: Sequence[str]) -> str:
        if not names:
            return ""
        tables = [f"{identifier(self._table(name))} AS t{i}" for i, name in enumerate(names)]
        return f" FROM {' CROSS JOIN '.join(tables)}"

    def _place(self, table: int) -> str:
        return qualified(_POSITION_COLUMN, f"t{table}")

    def _table(self, name: str) -> str:
        if name not in self._loaded:
            texts = (*self.domains[name], None)
            self._loaded[name] = self.tables.load({name: texts, _POSITION_COLUMN: np.arange(len(texts))})
        return self._loaded[name]


def check_group_count(groups: int) -> None:
    """Raise ``InputError`` if GROUP BY yields too many groups."""
    if groups > MOST_ANSWERED_GROUPS:
        raise InputError(
            f"GROUP BY makes more than {MOST_ANSWERED_GROUPS:,} groups of possible values",
            advice="Group by fewer keys, or narrow them by WHERE.",
        )


def _boxes_of_mask(mask: NDArray[np.bool_], names: Sequence[str]) -> Iterator[Box]:
    """Yield disjoint boxes that cover the true cells of a mask with one axis per column."""
    if mask.ndim == 1:
        if mask.any():
            yield {names[0]: mask}
        return
    flat = mask.reshape(len(mask), -1)
    patterns, which = np.unique(flat, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.any():
            here = (which == number).reshape(-1)
            for box in _boxes_of_mask(pattern.reshape(mask.shape[1:]), names[1:]):
                yield {names[0]: here, **box}


_AnswerLine = tuple[tuple[Key, ...], str, AggregateBounds]


def answer_from_cells(
    release: OpenRelease, release_query: ReleaseQuery
) -> tuple[tuple[BoundRow, ...], tuple[str, ...]]:
    """Answer a query whose columns were read as texts; return the rows and the assumptions made.

    Keys are in ascending order, NULL last. Raises ``InputError`` for a generalized column whose labels do
    not determine the answer, an aggregate of texts that are not numbers, a comparison of too many
    combinations of values, or a key of too many values.
    """
    units = count_units(release, release_query)
    with TemporaryTables(release.engine) as tables:
        evaluator = ConditionEvaluator(release.engine, tables, units.domains)
        answers = _answer_shown_columns if units.permuted is None else _answer_with_permuted_column
        found = list(answers(units, release_query, evaluator))
    numbers = {
        group: index for index, group in enumerate(_sort_groups({line[0] for line in found}, release_query))
    }
    rows = tuple(
        BoundRow.of(group, title, *bounds)
        for group, title, bounds in sorted(found, key=lambda line: numbers[line[0]])
    )
    notes = tuple(meaning.note for meaning in units.meanings.values() if meaning.note is not None)
    return rows, notes


def _answer_shown_columns(
    units: ReleaseUnits, release_query: ReleaseQuery, evaluator: ConditionEvaluator
) -> Iterator[_AnswerLine]:
    """Yield the answers if the condition depends only on published cells."""
    for group, part in evaluator.by_key(
        _region_of_condition(evaluator, release_query.condition), release_query.keys
    ):
        selected, meeting = units.selected(part), units.meeting(part)
        most = int(selected.possible.sum()) if meeting is None else meeting.counts[1]
        if release_query.keys and not most:
            continue
        for aggregate in release_query.aggregates:
            yield group, aggregate.title, units.bounds(aggregate, part, selected, meeting)


def _answer_with_permuted_column(
    units: ReleaseUnits, release_query: ReleaseQuery, evaluator: ConditionEvaluator
) -> Iterator[_AnswerLine]:
    """Yield the answers if the condition or a key also names the permuted column."""
    values = units.permuted
    assert values is not None
    visible, hidden = split_query(release_query, values.name)
    regions = list(evaluator.by_key(_region_of_condition(evaluator, visible.condition), visible.keys))
    of_values = list(evaluator.by_key(_region_of_condition(evaluator, hidden.condition), hidden.keys))
    check_group_count(len(regions) * len(of_values))
    for own, part in regions:
        selected = units.selected(part)
        for other, region in of_values:
            meets = values.meeting(region)
            if release_query.keys and not values.selected(selected, meets).possible.any():
                continue
            keys = dict(zip((*visible.places, *hidden.places), (*own, *other), strict=True))
            group = tuple(keys[index] for index in range(len(keys)))
            for aggregate in release_query.aggregates:
                yield group, aggregate.title, units.hidden_bounds(aggregate, part, selected, meets)


def _region_of_condition(evaluator: ConditionEvaluator, condition: Condition | None) -> list[Box]:
    return [{}] if condition is None else evaluator.region(condition)


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
    permuted = release.permuted
    if permuted is None or not _is_rewritable(release, permuted, release_query):
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


def _is_rewritable(
    release: OpenRelease, permuted: PermutedReleaseTables, release_query: ReleaseQuery
) -> bool:
    """Check whether a query names only columns with values, and aggregates only the sensitive column."""
    labels = {label_column(name) for name in release.data.columns}
    return (
        not release.generalized(release_query.attributes)
        and not labels.intersection(release_query.attributes)
        and permuted.facts.sensitive not in release_query.attributes
        and set(release_query.measures) <= {permuted.facts.sensitive}
    )


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
    facts = None if release.permuted is None else release.permuted.facts
    if facts is not None and facts.rows_without_value and release_query.measures:
        found.append(
            f"{facts.rows_without_value:,} rows have no value of '{facts.sensitive}': bounds assume that "
            "they may be any rows of their groups."
        )
    return tuple(found)
