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

from discreet.bounds.condition_evaluator import ConditionEvaluator, check_group_count
from discreet.bounds.interval_aggregates import (
    AggregateBounds,
    BoundRow,
    Key,
    Number,
    SelectedRows,
    ValueGroups,
    round_outwards,
)
from discreet.bounds.queryable_release import OpenPermutedRelease, OpenRelease
from discreet.bounds.release_units import BoundedAggregate, ReleaseUnits, column_meaning, count_class_units
from discreet.engines.registry import dialect_named
from discreet.engines.source_tables import TemporaryTables, open_source_table
from discreet.errors import InputError
from discreet.model.hierarchy import parse_decimal
from discreet.model.release_kind import CLASS_RELEASE, GROUP_RELEASE
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.permuted_query import rewrite_query
from discreet.queries.region import Box
from discreet.queries.select_query import ReleaseQuery, SelectedAggregate, split_query
from discreet.queries.select_query_parser import parse_release_query
from discreet.queries.syntax import label_column
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier
from discreet.workload.answerable_table import ColumnGroups, count_column_groups

LineMask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PermutedValues:
    """Values of each group: ``rows[i]`` rows of group ``group[i]`` have ``texts[codes[i]]``, or NULL."""

    name: str
    texts: tuple[str, ...]
    group: NDArray[np.int64]
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    groups: int

    def meeting(self, region: Sequence[Box]) -> LineMask:
        """Return a mask of the lines whose value is in a region that restricts only this column."""
        found = np.zeros(len(self.texts) + 1, dtype=np.bool_)
        for box in region:
            found |= box.get(self.name, True)
        return np.asarray(found[self.codes], dtype=np.bool_)

    def selected(self, rows: SelectedRows, meets: LineMask) -> SelectedRows:
        """Return the numbers of selected rows whose value also meets the condition."""
        everything = np.bincount(self.group, self.rows, self.groups).astype(np.int64)
        having = np.bincount(self.group, self.rows * meets, self.groups).astype(np.int64)
        return SelectedRows(
            np.maximum(0, rows.certain + having - everything),
            np.minimum(rows.possible, having),
            rows.expected * having / np.maximum(everything, 1),
        )

    def counted(self, meets: LineMask) -> ValueGroups:
        """Return the values that meet a condition, for counting; all others count as NULL."""
        known = meets & (self.codes < len(self.texts))
        return ValueGroups.of_counts(self.group, self.rows, known, self.groups)

    def measured(self, meets: LineMask) -> ValueGroups:
        """Return the values that meet a condition as numbers; all others count as NULL."""
        numbers: list[Decimal | None] = [*(parse_decimal(text) for text in self.texts), None]
        values = [
            numbers[code] if met else None
            for code, met in zip(self.codes.tolist(), meets.tolist(), strict=True)
        ]
        return ValueGroups.of(self.group, self.rows, values, self.groups)


def load_permuted_values(release: OpenPermutedRelease, numbers: Mapping[str, int]) -> PermutedValues:
    """Load the values of each group; ``numbers`` maps a group's name in the release to its index."""
    counted = _count_group_values(release)
    number_of = np.array([numbers.get(name, -1) for name in counted.texts[0]], dtype=np.int64)
    group = number_of[counted.codes[:, 0]]
    if (group < 0).any():
        raise InputError(
            f"the values of '{release.permuted.facts.sensitive}' name a group that the release does not have",
            advice="A file was changed after it was published; run discreet audit for details.",
        )
    name, texts, codes = release.permuted.facts.sensitive, counted.texts[1], counted.codes[:, 1]
    return PermutedValues(name, texts, group, codes, counted.rows, len(numbers))


def _count_group_values(release: OpenPermutedRelease) -> ColumnGroups:
    columns = [release.permuted.facts.group_column, release.permuted.facts.sensitive]
    if release.permuted.values is None:
        return count_column_groups(release.engine, release.data, columns, release.settings)
    with open_source_table(release.engine, release.permuted.values) as table:
        return count_column_groups(release.engine, table, columns, release.settings)


@dataclass(frozen=True, eq=False)
class HiddenUnits(ReleaseUnits):
    """Units of a query whose condition or key names the permuted column.

    ``hidden`` contains the values of the column; their assignment to rows is unknown.
    """

    hidden: PermutedValues = field(kw_only=True)

    @property
    def domains(self) -> dict[str, tuple[str, ...]]:
        """One text for each code of each column."""
        return super().domains | {self.hidden.name: self.hidden.texts}

    def answers(
        self, release_query: ReleaseQuery, evaluator: ConditionEvaluator
    ) -> Iterator[BoundedAggregate]:
        """Yield the key, title and bounds of each aggregate, by group."""
        values = self.hidden
        visible, hidden = split_query(release_query, values.name)
        regions = list(evaluator.by_key(evaluator.region_of(visible.condition), visible.keys))
        of_values = list(evaluator.by_key(evaluator.region_of(hidden.condition), hidden.keys))
        check_group_count(len(regions) * len(of_values))
        for own, part in regions:
            selected = self.selected(part)
            for other, region in of_values:
                meets = values.meeting(region)
                if release_query.keys and not values.selected(selected, meets).possible.any():
                    continue
                keys = dict(zip((*visible.places, *hidden.places), (*own, *other), strict=True))
                group = tuple(keys[index] for index in range(len(keys)))
                for aggregate in release_query.aggregates:
                    yield group, aggregate.title, self.hidden_bounds(aggregate, part, selected, meets)

    def hidden_bounds(
        self,
        aggregate_query: SelectedAggregate,
        region: Sequence[Box],
        selected: SelectedRows,
        meets: LineMask,
    ) -> AggregateBounds:
        """Compute an aggregate of rows in a region whose permuted value ``meets`` a condition.

        ``selected`` contains the numbers of rows in the region, before this condition.
        """
        values = self.hidden
        both = values.selected(selected, meets)
        if aggregate_query.measure is None:
            return int(both.certain.sum()), int(both.possible.sum()), float(both.expected.sum())
        if aggregate_query.measure == values.name:
            counts_only = aggregate_query.aggregate is Aggregate.COUNT
            values_in_rows = values.counted(meets) if counts_only else values.measured(meets)
            return values_in_rows.bounds(aggregate_query.aggregate, selected)
        return self._of_possible(aggregate_query, region).bounds(aggregate_query.aggregate, both)

    def _of_possible(self, aggregate_query: SelectedAggregate, region: Sequence[Box]) -> ValueGroups:
        """Return a column's values in the rows that may be in a region; any of them may be selected."""
        assert aggregate_query.measure is not None
        meaning, index = (
            self.meanings[aggregate_query.measure],
            list(self.meanings).index(aggregate_query.measure),
        )
        here = self.spread(region).possible
        group, rows, codes = self.group[here], self.rows[here], self.cell_codes[here, index]
        if aggregate_query.aggregate is Aggregate.COUNT:
            return ValueGroups.of_counts(group, rows, codes < len(meaning.texts), self.groups)
        numbers = [*(None if ends is None else ends[0] for ends in meaning.ends), None]
        return ValueGroups.of(group, rows, [numbers[code] for code in codes.tolist()], self.groups)


def count_permuted_units(release: OpenRelease, release_query: ReleaseQuery) -> ReleaseUnits:
    """Count the units of a permuted release, whose groups are those of the permutation."""
    assert isinstance(release, OpenPermutedRelease)
    facts = release.permuted.facts
    real = {label_column(column): column for column in release.data.columns}
    names = list(dict.fromkeys([*release_query.attributes, *release_query.measures]))
    names = [name for name in names if name != facts.sensitive]
    columns = list(dict.fromkeys([facts.group_column, *(real.get(name, name) for name in names)]))
    counted = count_column_groups(release.engine, release.data, columns, release.settings)
    numbers = {text: index for index, text in enumerate(counted.texts[0])}
    places = {name: columns.index(real.get(name, name)) for name in names}
    meanings = {
        name: column_meaning(release, release_query, name, counted.texts[index])
        for name, index in places.items()
    }
    is_helped = facts.sensitive in release_query.measures and facts.sensitive not in release_query.attributes
    values = {facts.sensitive: _values_of_help_table(release, numbers)} if is_helped else {}
    cell_codes = counted.codes[:, list(places.values())]
    units = (meanings, cell_codes, counted.rows, counted.codes[:, 0], len(numbers), values)
    if facts.sensitive not in release_query.attributes:
        return ReleaseUnits(*units)
    _refuse_generalized_measures(release, release_query, facts.sensitive)
    hidden = load_permuted_values(release, numbers)
    return HiddenUnits(*units, hidden=hidden)


def _refuse_generalized_measures(release: OpenRelease, release_query: ReleaseQuery, sensitive: str) -> None:
    """Raise ``InputError`` for aggregates of generalized columns over rows with some permuted values."""
    ranged = release.generalized(release_query.measures)
    if ranged:
        raise InputError(
            f"'{ranged[0]}' is generalized and cannot be aggregated in a query on '{sensitive}'",
            allowed=f"COUNT(*), aggregates of '{sensitive}', and of columns that are not generalized",
        )


def _values_of_help_table(release: OpenPermutedRelease, numbers: Mapping[str, int]) -> ValueGroups:
    """Return the values of each group from the rows of the help table."""
    dialect = release.engine.dialect
    group_of = dialect.cast(identifier(release.permuted.facts.group_column), "VARCHAR")
    value = "NULL"
    if release.permuted.facts.numeric:
        value = dialect.text("lowest", "DOUBLE" if release.permuted.facts.scale is None else "")
    query = f"SELECT {group_of}, values_upper, {value} FROM {release.permuted.in_engine.help} AS h"
    lines = release.engine.fetch_rows(query)
    group = np.array([numbers[line[0]] for line in lines], dtype=np.int64)
    if release.permuted.facts.numeric:
        found = [None if line[2] is None else Decimal(line[2]) for line in lines]
        return ValueGroups.of(group, np.ones(len(lines), dtype=np.int64), found, len(numbers))
    values = np.zeros(len(numbers), dtype=np.int64)
    np.maximum.at(values, group, np.array([line[1] for line in lines], dtype=np.int64))
    return ValueGroups(np.bincount(group, minlength=len(numbers)).astype(np.int64), values, None)


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
