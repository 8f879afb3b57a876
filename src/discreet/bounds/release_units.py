"""Rows of a release, counted by their labels in the columns that a query names.

A unit is a number of rows of one group with the same labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.condition_evaluator import ConditionEvaluator
from discreet.bounds.interval_aggregates import AggregateBounds, Key, RangedRows, SelectedRows, ValueGroups
from discreet.bounds.label_codes import ColumnMeaning, meaning_by_hierarchy, meaning_of_values
from discreet.bounds.label_semantics import LabelledColumn
from discreet.bounds.queryable_release import OpenRelease
from discreet.errors import InputError
from discreet.model.hierarchy import TOP, parse_decimal
from discreet.model.table_spec import NullPolicy
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.region import Box
from discreet.queries.select_query import ColumnUse, ReleaseQuery, SelectedAggregate
from discreet.queries.syntax import label_column
from discreet.workload.answerable_table import ColumnGroups, count_column_groups
from discreet.workload.class_bounds import ClassBounds
from discreet.workload.item_cover import ClassRows
from discreet.workload.published_labels import SUMMARIES_WITH_OCCURRING_VALUES
from discreet.workload.query_answer import RegionSpread

BoundedAggregate = tuple[tuple[Key, ...], str, AggregateBounds]
"""Key of a group, title of an aggregate, and its bounds."""


@dataclass(frozen=True, eq=False)
class ReleaseUnits:
    """Units of rows with equal labels: unit u has ``rows[u]`` rows of group ``group[u]``.

    The label of unit u in the i-th name is ``meanings[name].cells.labels[shown[u, i]]``. ``values`` are the
    groups' sensitive values and other ungeneralized columns. ``classes`` numbers the units' classes from 0
    if labels state values that occur in each class, else it is None.
    """

    meanings: Mapping[str, ColumnMeaning]
    cell_codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    groups: int
    values: Mapping[str, ValueGroups]
    classes: NDArray[np.int64] | None = None

    @property
    def domains(self) -> dict[str, tuple[str, ...]]:
        """One text for each code of each column."""
        return {name: meaning.texts for name, meaning in self.meanings.items()}

    def answers(
        self, release_query: ReleaseQuery, evaluator: ConditionEvaluator
    ) -> Iterator[BoundedAggregate]:
        """Yield the key, title and bounds of each aggregate, by group."""
        region = evaluator.region_of(release_query.condition)
        for group, part in evaluator.by_key(region, release_query.keys):
            selected, meeting = self.selected(part), self.meeting(part)
            most = int(selected.possible.sum()) if meeting is None else meeting.counts[1]
            if release_query.keys and not most:
                continue
            for aggregate in release_query.aggregates:
                yield group, aggregate.title, self.bounds(aggregate, part, selected, meeting)

    def selected(self, region: Sequence[Box]) -> SelectedRows:
        """Return the numbers of rows of each group that are in a region."""
        spread = self.spread(region)
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
            self.spread,
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

    def spread(self, region: Sequence[Box]) -> RegionSpread:
        """Return the certain and possible units of a region."""
        return RegionSpread.of(region, [meaning.cells for meaning in self.meanings.values()], self.cell_codes)


def count_class_units(release: OpenRelease, release_query: ReleaseQuery) -> ReleaseUnits:
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
        name: column_meaning(release, release_query, name, counted.texts[index])
        for name, index in places.items()
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


def column_meaning(
    release: OpenRelease, release_query: ReleaseQuery, name: str, texts: Sequence[str]
) -> ColumnMeaning:
    """Return the values that each label of a column may represent."""
    labels = (*texts, None)
    measured = name in release_query.measures and not _is_only_counted(release_query, name)
    if release.generalized([name]):
        nullable = release.manifest.null_policy != NullPolicy.DROP
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
