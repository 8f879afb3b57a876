"""What the rows of a release show, counted, for the columns that a query names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.meaning import Meaning, by_hierarchy, exact
from discreet.bounds.measured import RangedRows
from discreet.bounds.opening import OpenRelease
from discreet.bounds.permuted_files import PermutedFiles
from discreet.bounds.permuted_values import Mask, PermutedValues, values_of
from discreet.bounds.told_labels import ToldColumn
from discreet.bounds.value_groups import Bounds, Selected, ValueGroups
from discreet.errors import InputError
from discreet.model.hierarchy import TOP
from discreet.model.leaf_order import decimal_of
from discreet.model.table_spec import NullPolicy
from discreet.queries.asked import AskedAggregate, AskedQuery
from discreet.queries.labels import label_of
from discreet.queries.query import Aggregate
from discreet.queries.region import Box
from discreet.queries.uses import Use
from discreet.sql.names import identifier
from discreet.workload.answer import Spread
from discreet.workload.class_rows import ClassRows
from discreet.workload.counting import CountedColumns, count_columns
from discreet.workload.occurring_labels import OCCURRING
from discreet.workload.occurring_values import Meeting


@dataclass(frozen=True, eq=False)
class Units:
    """Rows by what they show: unit u has ``rows[u]`` rows of group ``group[u]``.

    It shows ``meanings[name].cells.labels[shown[u, i]]`` of the i-th name; ``values`` are the groups'
    sensitive values, and others that are shown as they are. ``classes`` number the units' classes, from 0,
    where labels say which values occur in each class; else None. ``permuted`` are the values of a permuted
    column that the condition or a key names; which row has which of them is hidden.
    """

    meanings: Mapping[str, Meaning]
    shown: NDArray[np.int64]
    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    groups: int
    values: Mapping[str, ValueGroups]
    classes: NDArray[np.int64] | None = None
    permuted: PermutedValues | None = None

    @property
    def domains(self) -> dict[str, tuple[str, ...]]:
        """A text for each code of each column."""
        own = {} if self.permuted is None else {self.permuted.name: self.permuted.texts}
        return {name: meaning.texts for name, meaning in self.meanings.items()} | own

    def selected(self, region: Sequence[Box]) -> Selected:
        """How many rows of each group lie in a region."""
        spread = self._spread(region)
        share = sum(spread.share) if spread.share else np.zeros(len(self.rows))

        def by_group(weights: NDArray[Any]) -> NDArray[np.float64]:
            return np.bincount(self.group, weights=weights, minlength=self.groups).astype(np.float64)

        return Selected(
            by_group(self.rows * spread.certain).astype(np.int64),
            by_group(self.rows * spread.possible).astype(np.int64),
            by_group(self.rows * share),
        )

    def meeting(self, region: Sequence[Box]) -> Meeting | None:
        """How classes in which known values occur meet a region; None where none is known."""
        return None if self.class_rows is None else Meeting(self.class_rows, tuple(region))

    def bounds(
        self, asked: AskedAggregate, region: Sequence[Box], selected: Selected, meeting: Meeting | None
    ) -> Bounds:
        """The answer of an aggregate of the rows in a region, of which ``selected`` are."""
        if asked.measure is None:
            if meeting is not None:
                return (*meeting.counts, float(selected.expected.sum()))
            return int(selected.certain.sum()), int(selected.possible.sum()), float(selected.expected.sum())
        if asked.measure in self.values:
            values = self.values[asked.measure]
            found = values.bounds(asked.aggregate, selected)
            told = None if meeting is None else values.by_row()
            if meeting is None or told is None:
                return found
            return (*values.told(asked.aggregate, meeting.bounds(asked.aggregate, told)), found[2])
        place = list(self.meanings).index(asked.measure)
        ranged = RangedRows(
            self.meanings[asked.measure],
            self.shown[:, place],
            self.rows,
            place,
            self.class_rows,
            self._spread,
        )
        return ranged.bounds(asked.aggregate, region)

    @cached_property
    def class_rows(self) -> ClassRows | None:
        """The rows by class, with the values that occur in each; None where nothing is known of them."""
        if self.classes is None or not any(meaning.occurring for meaning in self.meanings.values()):
            return None
        return ClassRows(
            tuple(meaning.cells for meaning in self.meanings.values()),
            self.shown,
            self.rows,
            self.classes,
            tuple(
                tuple(meaning.occurring.get(label or "", ()) for label in meaning.cells.labels)
                for meaning in self.meanings.values()
            ),
        )

    def hidden_bounds(
        self, asked: AskedAggregate, region: Sequence[Box], selected: Selected, meets: Mask
    ) -> Bounds:
        """The answer of an aggregate of rows in a region whose permuted value ``meets`` a condition.

        ``selected`` are those of the region alone.
        """
        values = self.permuted
        assert values is not None
        both = values.selected(selected, meets)
        if asked.measure is None:
            return int(both.certain.sum()), int(both.possible.sum()), float(both.expected.sum())
        if asked.measure == values.name:
            alone = asked.aggregate is Aggregate.COUNT
            kept = values.counted(meets) if alone else values.measured(meets)
            return kept.bounds(asked.aggregate, selected)
        return self._of_possible(asked, region).bounds(asked.aggregate, both)

    def _of_possible(self, asked: AskedAggregate, region: Sequence[Box]) -> ValueGroups:
        """The values of a column in the rows that may lie in a region: any of them may be selected."""
        assert asked.measure is not None
        meaning, place = self.meanings[asked.measure], list(self.meanings).index(asked.measure)
        here = self._spread(region).possible
        group, rows, codes = self.group[here], self.rows[here], self.shown[here, place]
        if asked.aggregate is Aggregate.COUNT:
            return ValueGroups.of_counts(group, rows, codes < len(meaning.texts), self.groups)
        numbers = [*(None if ends is None else ends[0] for ends in meaning.ends), None]
        return ValueGroups.of(group, rows, [numbers[code] for code in codes.tolist()], self.groups)

    def _spread(self, region: Sequence[Box]) -> Spread:
        return Spread.of(region, [meaning.cells for meaning in self.meanings.values()], self.shown)


def units_of(release: OpenRelease, asked: AskedQuery) -> Units:
    """The units of a release for a query.

    Raises ``InputError`` for a generalized column whose labels do not tell what is asked, and an aggregate
    of texts that are no numbers.
    """
    if release.permuted is not None:
        return _permuted_units(release, release.permuted, asked)
    return _class_units(release, asked)


def _class_units(release: OpenRelease, asked: AskedQuery) -> Units:
    """Rows with equal labels are a group."""
    real = {label_of(column): column for column in release.data.columns}
    ranged = release.generalized(asked.measures)
    names = list(dict.fromkeys([*asked.attributes, *ranged]))
    by_class = bool(release.generalized(names)) and release.manifest.summary in OCCURRING
    keys = release.quasi_identifiers if by_class else ()
    starred = release.missing > 0 and release.manifest.stars_rows
    named = dict.fromkeys([*(real.get(name, name) for name in names), *asked.measures, *keys])
    columns = list(release.data.columns) if starred else list(named) or [release.data.columns[0]]
    counted = count_columns(release.engine, release.data, columns, release.settings)
    kept = ~_starred(counted) if starred else np.ones(len(counted.rows), dtype=np.bool_)
    codes, rows = counted.codes[kept], counted.rows[kept]
    places = {name: columns.index(real.get(name, name)) for name in names}
    classes = _numbered(codes[:, [columns.index(name) for name in keys]])[1]
    parts, group = _numbered(np.column_stack([codes[:, list(places.values())], classes]))
    values = {
        name: _values_of(asked, name, counted, codes, group, rows)
        for name in asked.measures
        if name not in ranged
    }
    meanings = {name: _meaning(release, asked, name, counted.texts[place]) for name, place in places.items()}
    of_unit = np.bincount(group, weights=rows, minlength=len(parts)).astype(np.int64)
    own = np.arange(len(parts))
    return Units(
        meanings, parts[:, :-1], of_unit, own, len(parts), values, parts[:, -1] if by_class else None
    )


def _numbered(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows of codes (at least one), and which of them each is."""
    if not codes.shape[1] or not len(codes):
        return np.zeros((1, codes.shape[1]), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    found, which = np.unique(codes, axis=0, return_inverse=True)
    return found, which.reshape(-1)


def _starred(counted: CountedColumns) -> NDArray[np.bool_]:
    """Which groups show ``*`` in every column."""
    found = np.ones(len(counted.rows), dtype=np.bool_)
    for place, texts in enumerate(counted.texts):
        star = texts.index(TOP) if TOP in texts else -1
        found &= counted.codes[:, place] == star
    return found


def _values_of(
    asked: AskedQuery,
    name: str,
    counted: CountedColumns,
    all_codes: NDArray[np.int64],
    group: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> ValueGroups:
    """The values of a column that shows them, which only SUM, AVG, MIN and MAX want to be numbers."""
    place = counted.columns.index(name)
    texts, codes = counted.texts[place], all_codes[:, place]
    groups = int(group.max(initial=0)) + 1
    if _is_counted_alone(asked, name):
        return ValueGroups.of_counts(group, rows, codes < len(texts), groups)
    numbers = {code: decimal_of(texts[code]) for code in set(codes.tolist()) - {len(texts)}}
    if None in numbers.values():
        raise InputError(f"not every value of '{name}' is a number", allowed="COUNT of such values")
    values = [numbers.get(code) for code in codes.tolist()]
    return ValueGroups.of(group, rows, values, groups)


def _permuted_units(release: OpenRelease, permuted: PermutedFiles, asked: AskedQuery) -> Units:
    """Groups are those that values were permuted in; the help table holds their values in order."""
    facts = permuted.facts
    real = {label_of(column): column for column in release.data.columns}
    names = list(dict.fromkeys([*asked.attributes, *asked.measures]))
    names = [name for name in names if name != facts.sensitive]
    columns = list(dict.fromkeys([facts.group_column, *(real.get(name, name) for name in names)]))
    counted = count_columns(release.engine, release.data, columns, release.settings)
    numbers = {text: place for place, text in enumerate(counted.texts[0])}
    places = {name: columns.index(real.get(name, name)) for name in names}
    meanings = {name: _meaning(release, asked, name, counted.texts[place]) for name, place in places.items()}
    is_helped = facts.sensitive in asked.measures and facts.sensitive not in asked.attributes
    values = {facts.sensitive: _helped(release, permuted, numbers)} if is_helped else {}
    shown = counted.codes[:, list(places.values())]
    hidden = None
    if facts.sensitive in asked.attributes:
        _check_shown(release, asked, facts.sensitive)
        hidden = values_of(release, permuted, numbers)
    return Units(meanings, shown, counted.rows, counted.codes[:, 0], len(numbers), values, permuted=hidden)


def _check_shown(release: OpenRelease, asked: AskedQuery, sensitive: str) -> None:
    """Of rows that have one of some permuted values, only columns that show values are aggregated."""
    ranged = release.generalized(asked.measures)
    if ranged:
        raise InputError(
            f"'{ranged[0]}' is generalized: it is not aggregated where the query is about '{sensitive}' too",
            allowed=f"COUNT(*), aggregates of '{sensitive}', and of columns that are shown as they are",
        )


def _helped(release: OpenRelease, permuted: PermutedFiles, numbers: Mapping[str, int]) -> ValueGroups:
    """The values of each group from the lines of the help table."""
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


def _meaning(release: OpenRelease, asked: AskedQuery, name: str, texts: Sequence[str]) -> Meaning:
    """What each label of a column may stand for; a column that is not generalized shows values."""
    labels = (*texts, None)
    measured = name in asked.measures and not _is_counted_alone(asked, name)
    if release.generalized([name]):
        nullable = release.manifest.nulls != NullPolicy.DROP
        if name in release.hierarchies:
            summary = release.manifest.summary
            found = by_hierarchy(release.hierarchies[name], labels, nullable=nullable, summary=summary)
        else:
            (form,) = (a.label_form for a in release.manifest.attributes if a.name == name)
            column = ToldColumn(name, labels, form, release.manifest.summary, nullable)
            found = column.meaning(asked.uses.get(name, Use()).joined(Use(measured=measured)))
    else:
        found = exact(name, labels)
    if measured and not found.numbers.any():
        raise InputError(f"no value of '{name}' is known to be a number", allowed="COUNT of such values")
    return found


def _is_counted_alone(asked: AskedQuery, name: str) -> bool:
    return {a.aggregate for a in asked.aggregates if a.measure == name} == {Aggregate.COUNT}
