"""Rows of a release, counted by their labels in the columns that a query names.

A unit is a number of rows of one group with the same labels. If a condition names the permuted column, v
values of a group of n rows meet it and h rows meet the rest; then between max(0, h + v - n) and min(h, v)
rows meet both, h·v/n on average (Zhang et al. 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.interval_aggregates import AggregateBounds, RangedRows, SelectedRows, ValueGroups
from discreet.bounds.label_codes import ColumnMeaning, meaning_by_hierarchy, meaning_of_values
from discreet.bounds.label_semantics import LabelledColumn
from discreet.bounds.permuted_tables import PermutedReleaseTables
from discreet.bounds.queryable_release import OpenRelease
from discreet.engines.source_tables import open_source_table
from discreet.errors import InputError
from discreet.model.hierarchy import TOP, parse_decimal
from discreet.model.table_spec import NullPolicy
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.region import Box
from discreet.queries.select_query import ColumnUse, ReleaseQuery, SelectedAggregate
from discreet.queries.syntax import label_column
from discreet.sql.quoting import identifier
from discreet.workload.answerable_table import ColumnGroups, count_column_groups
from discreet.workload.class_bounds import ClassBounds
from discreet.workload.item_cover import ClassRows
from discreet.workload.published_labels import SUMMARIES_WITH_OCCURRING_VALUES
from discreet.workload.query_answer import RegionSpread

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


def load_permuted_values(
    release: OpenRelease, permuted: PermutedReleaseTables, numbers: Mapping[str, int]
) -> PermutedValues:
    """Load the values of each group; ``numbers`` maps a group's name in the release to its index."""
    counted = _count_group_values(release, permuted)
    number_of = np.array([numbers.get(name, -1) for name in counted.texts[0]], dtype=np.int64)
    group = number_of[counted.codes[:, 0]]
    if (group < 0).any():
        raise InputError(
            f"the values of '{permuted.facts.sensitive}' name a group that the release does not have",
            advice="A file was changed after it was published; run discreet audit for details.",
        )
    return PermutedValues(
        permuted.facts.sensitive, counted.texts[1], group, counted.codes[:, 1], counted.rows, len(numbers)
    )


def _count_group_values(release: OpenRelease, permuted: PermutedReleaseTables) -> ColumnGroups:
    columns = [permuted.facts.group_column, permuted.facts.sensitive]
    if permuted.values is None:
        return count_column_groups(release.engine, release.data, columns, release.settings)
    with open_source_table(release.engine, permuted.values) as table:
        return count_column_groups(release.engine, table, columns, release.settings)


@dataclass(frozen=True, eq=False)
class ReleaseUnits:
    """Units of rows with equal labels: unit u has ``rows[u]`` rows of group ``group[u]``.

    The label of unit u in the i-th name is ``meanings[name].cells.labels[shown[u, i]]``. ``values`` are the
    groups' sensitive values and other ungeneralized columns. ``classes`` numbers the units' classes from 0
    if labels state values that occur in each class, else it is None. ``permuted`` contains the values of a
    permuted column that the condition or a key names; their assignment to rows is hidden.
    """

    meanings: Mapping[str, ColumnMeaning]
    cell_codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    groups: int
    values: Mapping[str, ValueGroups]
    classes: NDArray[np.int64] | None = None
    permuted: PermutedValues | None = None

    @property
    def domains(self) -> dict[str, tuple[str, ...]]:
        """One text for each code of each column."""
        own = {} if self.permuted is None else {self.permuted.name: self.permuted.texts}
        return {name: meaning.texts for name, meaning in self.meanings.items()} | own

    def selected(self, region: Sequence[Box]) -> SelectedRows:
        """Return the numbers of rows of each group that are in a region."""
        spread = self._spread(region)
        share = sum(spread.share) if spread.share else np.zeros(len(self.rows))

        def by_group(weights: NDArray[Any]) -> NDArray[np.float64]:
            return np.bincount(self.group, weights=weights, minlength=self.groups).astype(np.float64)

        return SelectedRows(
            by_group(self.rows * spread.certain).astype(np.int64),
            by_group(self.rows * spread.possible).astype(np.int64),
            by_group(self.rows * share),
        )

    def meeting(self, region: Sequence[Box]) -> ClassBounds | None:
        """Return the bounds of classes with known occurring values in a region, or None if there is none."""
        return None if self.class_rows is None else ClassBounds(self.class_rows, tuple(region))

    def bounds(
        self,
        aggregate_query: SelectedAggregate,
        region: Sequence[Box],
        selected: SelectedRows,
        meeting: ClassBounds | None,
    ) -> AggregateBounds:
        """Compute an aggregate of the rows in a region; ``selected`` contains their numbers."""
        if aggregate_query.measure is None:
            if meeting is not None:
                return (*meeting.counts, float(selected.expected.sum()))
            return int(selected.certain.sum()), int(selected.possible.sum()), float(selected.expected.sum())
        if aggregate_query.measure in self.values:
            values = self.values[aggregate_query.measure]
            result = values.bounds(aggregate_query.aggregate, selected)
            row_values = None if meeting is None else values.by_row()
            if meeting is None or row_values is None:
                return result
            return (
                *values.convert_ends(
                    aggregate_query.aggregate, meeting.bounds(aggregate_query.aggregate, row_values)
                ),
                result[2],
            )
        index = list(self.meanings).index(aggregate_query.measure)
        ranged = RangedRows(
            self.meanings[aggregate_query.measure],
            self.cell_codes[:, index],
            self.rows,
            index,
            self.class_rows,
            self._spread,
        )
        return ranged.bounds(aggregate_query.aggregate, region)

    @cached_property
    def class_rows(self) -> ClassRows | None:
        """Rows by class with the values that occur in each; None if no such value is known."""
        if self.classes is None or not any(meaning.occurring for meaning in self.meanings.values()):
            return None
        return ClassRows(
            tuple(meaning.cells for meaning in self.meanings.values()),
            self.cell_codes,
            self.rows,
            self.classes,
            tuple(
                tuple(meaning.occurring.get(label or "", ()) for label in meaning.cells.labels)
                for meaning in self.meanings.values()
            ),
        )

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
        values = self.permuted
        assert values is not None
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
        here = self._spread(region).possible
        group, rows, codes = self.group[here], self.rows[here], self.cell_codes[here, index]
        if aggregate_query.aggregate is Aggregate.COUNT:
            return ValueGroups.of_counts(group, rows, codes < len(meaning.texts), self.groups)
        numbers = [*(None if ends is None else ends[0] for ends in meaning.ends), None]
        return ValueGroups.of(group, rows, [numbers[code] for code in codes.tolist()], self.groups)

    def _spread(self, region: Sequence[Box]) -> RegionSpread:
        return RegionSpread.of(region, [meaning.cells for meaning in self.meanings.values()], self.cell_codes)


def count_units(release: OpenRelease, release_query: ReleaseQuery) -> ReleaseUnits:
    """Count the units of a release for a query.

    Raises ``InputError`` for a generalized column whose labels do not determine the answer, and for an
    aggregate of texts that are not numbers.
    """
    if release.permuted is not None:
        return _count_permuted_units(release, release.permuted, release_query)
    return _count_class_units(release, release_query)


def _count_class_units(release: OpenRelease, release_query: ReleaseQuery) -> ReleaseUnits:
    """Count the units of a release of classes; rows with equal labels form a group."""
    real = {label_column(column): column for column in release.data.columns}
    ranged = release.generalized(release_query.measures)
    names = list(dict.fromkeys([*release_query.attributes, *ranged]))
    by_class = (
        bool(release.generalized(names)) and release.manifest.summary in SUMMARIES_WITH_OCCURRING_VALUES
    )
    keys = release.quasi_identifiers if by_class else ()
    starred = release.missing > 0 and release.manifest.stars_rows
    named = dict.fromkeys([*(real.get(name, name) for name in names), *release_query.measures, *keys])
    columns = list(release.data.columns) if starred else list(named) or [release.data.columns[0]]
    counted = count_column_groups(release.engine, release.data, columns, release.settings)
    retained = ~_find_starred(counted) if starred else np.ones(len(counted.rows), dtype=np.bool_)
    codes, rows = counted.codes[retained], counted.rows[retained]
    places = {name: columns.index(real.get(name, name)) for name in names}
    classes = _number_rows(codes[:, [columns.index(name) for name in keys]])[1]
    parts, group = _number_rows(np.column_stack([codes[:, list(places.values())], classes]))
    values = {
        name: _group_values(release_query, name, counted, codes, group, rows)
        for name in release_query.measures
        if name not in ranged
    }
    meanings = {
        name: _meaning(release, release_query, name, counted.texts[index]) for name, index in places.items()
    }
    of_unit = np.bincount(group, weights=rows, minlength=len(parts)).astype(np.int64)
    own = np.arange(len(parts))
    return ReleaseUnits(
        meanings, parts[:, :-1], of_unit, own, len(parts), values, parts[:, -1] if by_class else None
    )


def _number_rows(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows of codes (at least one), and the index of each row among them."""
    if not codes.shape[1] or not len(codes):
        return np.zeros((1, codes.shape[1]), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    found, which = np.unique(codes, axis=0, return_inverse=True)
    return found, which.reshape(-1)


def _find_starred(counted: ColumnGroups) -> NDArray[np.bool_]:
    """Return a mask of the groups with ``*`` in every column."""
    result = np.ones(len(counted.rows), dtype=np.bool_)
    for index, texts in enumerate(counted.texts):
        star = texts.index(TOP) if TOP in texts else -1
        result &= counted.codes[:, index] == star
    return result


def _group_values(
    release_query: ReleaseQuery,
    name: str,
    counted: ColumnGroups,
    all_codes: NDArray[np.int64],
    group: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> ValueGroups:
    """Return the values of an ungeneralized column, as numbers unless they are only counted."""
    index = counted.columns.index(name)
    texts, codes = counted.texts[index], all_codes[:, index]
    groups = int(group.max(initial=0)) + 1
    if _is_only_counted(release_query, name):
        return ValueGroups.of_counts(group, rows, codes < len(texts), groups)
    numbers = {code: parse_decimal(texts[code]) for code in set(codes.tolist()) - {len(texts)}}
    if None in numbers.values():
        raise InputError(f"not every value of '{name}' is a number", allowed="COUNT")
    values = [numbers.get(code) for code in codes.tolist()]
    return ValueGroups.of(group, rows, values, groups)


def _count_permuted_units(
    release: OpenRelease, permuted: PermutedReleaseTables, release_query: ReleaseQuery
) -> ReleaseUnits:
    """Count the units of a permuted release, whose groups are those of the permutation."""
    facts = permuted.facts
    real = {label_column(column): column for column in release.data.columns}
    names = list(dict.fromkeys([*release_query.attributes, *release_query.measures]))
    names = [name for name in names if name != facts.sensitive]
    columns = list(dict.fromkeys([facts.group_column, *(real.get(name, name) for name in names)]))
    counted = count_column_groups(release.engine, release.data, columns, release.settings)
    numbers = {text: index for index, text in enumerate(counted.texts[0])}
    places = {name: columns.index(real.get(name, name)) for name in names}
    meanings = {
        name: _meaning(release, release_query, name, counted.texts[index]) for name, index in places.items()
    }
    is_helped = facts.sensitive in release_query.measures and facts.sensitive not in release_query.attributes
    values = {facts.sensitive: _values_of_help_table(release, permuted, numbers)} if is_helped else {}
    cell_codes = counted.codes[:, list(places.values())]
    hidden = None
    if facts.sensitive in release_query.attributes:
        _refuse_generalized_measures(release, release_query, facts.sensitive)
        hidden = load_permuted_values(release, permuted, numbers)
    return ReleaseUnits(
        meanings, cell_codes, counted.rows, counted.codes[:, 0], len(numbers), values, permuted=hidden
    )


def _refuse_generalized_measures(release: OpenRelease, release_query: ReleaseQuery, sensitive: str) -> None:
    """Raise ``InputError`` for aggregates of generalized columns over rows with some permuted values."""
    ranged = release.generalized(release_query.measures)
    if ranged:
        raise InputError(
            f"'{ranged[0]}' is generalized and cannot be aggregated in a query on '{sensitive}'",
            allowed=f"COUNT(*), aggregates of '{sensitive}', and of columns that are not generalized",
        )


def _values_of_help_table(
    release: OpenRelease, permuted: PermutedReleaseTables, numbers: Mapping[str, int]
) -> ValueGroups:
    """Return the values of each group from the rows of the help table."""
    dialect = release.engine.dialect
    group_of = dialect.cast(identifier(permuted.facts.group_column), "VARCHAR")
    value = "NULL"
    if permuted.facts.numeric:
        value = dialect.text("lowest", "DOUBLE" if permuted.facts.scale is None else "")
    query = f"SELECT {group_of}, values_upper, {value} FROM {permuted.in_engine.help} AS h"
    lines = release.engine.fetch_rows(query)
    group = np.array([numbers[line[0]] for line in lines], dtype=np.int64)
    if permuted.facts.numeric:
        found = [None if line[2] is None else Decimal(line[2]) for line in lines]
        return ValueGroups.of(group, np.ones(len(lines), dtype=np.int64), found, len(numbers))
    values = np.zeros(len(numbers), dtype=np.int64)
    np.maximum.at(values, group, np.array([line[1] for line in lines], dtype=np.int64))
    return ValueGroups(np.bincount(group, minlength=len(numbers)).astype(np.int64), values, None)


def _meaning(
    release: OpenRelease, release_query: ReleaseQuery, name: str, texts: Sequence[str]
) -> ColumnMeaning:
    """Return the values that each label of a column may represent."""
    labels = (*texts, None)
    measured = name in release_query.measures and not _is_only_counted(release_query, name)
    if release.generalized([name]):
        nullable = release.manifest.nulls != NullPolicy.DROP
        if name in release.hierarchies:
            summary = release.manifest.summary
            result = meaning_by_hierarchy(
                release.hierarchies[name], labels, nullable=nullable, summary=summary
            )
        else:
            (form,) = (a.label_form for a in release.manifest.attributes if a.name == name)
            column = LabelledColumn(name, labels, form, release.manifest.summary, nullable)
            result = column.meaning(
                release_query.uses.get(name, ColumnUse()).joined(ColumnUse(measured=measured))
            )
    else:
        result = meaning_of_values(name, labels)
    if measured and not result.numbers.any():
        raise InputError(f"no value of '{name}' is known to be a number", allowed="COUNT")
    return result


def _is_only_counted(release_query: ReleaseQuery, name: str) -> bool:
    return {a.aggregate for a in release_query.aggregates if a.measure == name} == {Aggregate.COUNT}
