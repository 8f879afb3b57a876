"""Rows of a release, counted by their labels in the columns that a query names.

A unit is a number of rows of one group with the same labels.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.condition_evaluator import ConditionEvaluator
from discreet.bounds.interval_aggregates import AggregateBounds, Key, RangedRows, SelectedRows, ValueGroups
from discreet.bounds.label_codes import (
    ColumnMeaning,
    DateLine,
    LabelNumbers,
    LabelTexts,
    NumberLine,
    TextPrefix,
    TextTree,
    meaning_by_hierarchy,
    meaning_of_values,
    parse_period,
    parse_set_label,
)
from discreet.bounds.queryable_release import OpenRelease
from discreet.errors import InputError
from discreet.frequency.class_summary import Summary
from discreet.model.hierarchy import TOP, parse_decimal
from discreet.model.published_cells import LabelForm, LabelKind
from discreet.model.table_spec import NullPolicy
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.region import Box
from discreet.queries.select_query import ColumnUse, ReleaseQuery, SelectedAggregate
from discreet.queries.syntax import label_column
from discreet.sql.quoting import identifier
from discreet.workload.answerable_table import ColumnGroups, count_column_groups
from discreet.workload.class_bounds import ClassBounds
from discreet.workload.item_cover import ClassRows
from discreet.workload.published_labels import (
    SUMMARIES_WITH_OCCURRING_VALUES,
    NumberRange,
    half_unit_of_last_digit,
    is_integer_range,
    occurring_numbers,
    parse_mean_label,
    parse_number_range,
)
from discreet.workload.query_answer import RegionSpread

_MASKED_CODE = re.compile(r"[^*]+\*+")
_UNAMBIGUOUS_PERIOD = re.compile(r"\d{4}-(?:W\d{2}|Q[1-4]|0[1-9]|1[0-2])", re.ASCII)
_VALUE_SUMMARIES = (Summary.RANGES, Summary.MEANS, Summary.SETS)


@dataclass(frozen=True, eq=False)
class LabelledColumn:
    """Generalized column as described by its release.

    ``form`` is None if the manifest does not state the form of the labels; ``summary`` is the summary of
    the classes; ``nullable`` is True if ``*`` may include NULL.
    """

    attribute: str
    labels: tuple[str | None, ...]
    form: LabelForm | None
    summary: str | None
    nullable: bool

    def meaning(self, use: ColumnUse) -> ColumnMeaning:
        """Return the values that the labels represent, in the detail that a query's use requires.

        Raises ``InputError`` if the labels do not determine them.
        """
        result = self._meaning(use)
        if result is None:
            raise self._refusal(use)
        return result

    def _read_as_numbers(self, use: ColumnUse) -> ColumnMeaning | None:
        """Parse the labels as numbers, even if they could be parsed otherwise."""
        kind = None if self.form is None else self.form.kind
        ranges = any(" … " in text for text in self._texts)
        if kind is LabelKind.INTERVALS or (kind is LabelKind.VALUES and not ranges):
            return self._numbers(use)
        tells_codes = kind is LabelKind.MASK and self.summary not in _VALUE_SUMMARIES
        if tells_codes or kind is LabelKind.DATES:
            return None
        return self._add_note(self._numbers(use, known=False))

    @property
    def _texts(self) -> tuple[str, ...]:
        return tuple(label for label in self.labels if label is not None and label != TOP)

    def _meaning(self, use: ColumnUse) -> ColumnMeaning | None:
        kind = None if self.form is None else self.form.kind
        if use.measured:
            return self._read_as_numbers(use)
        if not self._texts:
            compared_as_text = use.texts or use.prefixes
            return self._dates(use) if compared_as_text else self._numbers(use)
        if kind is LabelKind.MASK and self.summary not in _VALUE_SUMMARIES:
            return TextTree(self.attribute, self._masks(), self.nullable).meaning(self.labels, use)
        if kind is LabelKind.DATES:
            return self._dates(use)
        if kind is LabelKind.INTERVALS:
            return self._numbers(use)
        if kind is not None:
            return self._values(use)
        return self._read_by_custom(use)

    def _read_by_custom(self, use: ColumnUse) -> ColumnMeaning | None:
        """Parse the labels of a custom hierarchy in their common notation, and add a note."""
        texts = self._texts
        if texts and all(_MASKED_CODE.fullmatch(text) for text in texts):
            found = TextTree(self.attribute, self._masks(), self.nullable).meaning(self.labels, use)
        elif any(_UNAMBIGUOUS_PERIOD.fullmatch(text) for text in texts):
            found = self._dates(use)
        elif self.summary in _VALUE_SUMMARIES or any(parse_decimal(text) is None for text in texts):
            found = self._values(use) if self.summary == Summary.SETS else self._numbers(use, known=False)
        else:
            return None
        return self._add_note(found)

    def _add_note(self, meaning: ColumnMeaning | None) -> ColumnMeaning | None:
        texts = self._texts
        if meaning is None or not texts:
            return meaning
        example = next((text for text in texts if parse_decimal(text) is None), texts[0])
        note = (
            f"'{self.attribute}' is interpreted by its labels, such as {example}. If their meaning is "
            "different, name its public hierarchy."
        )
        return replace(meaning, note=note)

    # Numbers

    def _numbers(self, use: ColumnUse, *, known: bool = True) -> ColumnMeaning | None:
        """Parse the labels as numbers; return None if they are not.

        With ``known``, labels that are not numbers represent only themselves; otherwise one such label
        makes the result None.
        """
        meanings: dict[str, LabelNumbers] = {TOP: None}
        for text in self._texts:
            ranges = _numbers_of_label(text, self.summary)
            if ranges is None and (not known or " … " in text):
                return None
            meanings[text] = ranges or ()
        if use.texts or use.prefixes or (not any(meanings.values()) and not known):
            return None
        integers = any(map(is_integer_range, self._texts)) and all(map(_may_be_whole, self._texts))
        own = self.summary in (Summary.SETS, Summary.MEANS)
        occurring = {
            text: occurring_numbers(
                text, self.summary, _members_of_label(text, self.summary) if own else None
            )
            for text in self._texts
        }
        line = NumberLine(self.attribute, meanings, integers, self.nullable, occurring)
        result = line.meaning(self.labels, use)
        if result is None or self.summary != Summary.MEANS:
            return result
        mean_labels = {text: parse_mean_label(text) for text in self._texts}
        means = {
            text: (mean[0], half_unit_of_last_digit(mean[0]))
            for text, mean in mean_labels.items()
            if mean is not None
        }
        return replace(result, means=means)

    # Texts

    def _masks(self) -> dict[str, LabelTexts]:
        form = self.form
        result: dict[str, LabelTexts] = {TOP: None}
        for text in self._texts:
            sign = "*" if form is None else form.character
            if form is not None and form.side == "left":
                result[text] = None if text.startswith(sign) else (text,)
                continue
            prefix = text.rstrip(sign)
            own: tuple[str, ...] = (prefix,) if form is not None and form.pad else ()
            length = None if form is None or form.pad else len(text)
            result[text] = (text,) if prefix == text else (*own, TextPrefix(prefix, length))
        return result

    def _dates(self, use: ColumnUse) -> ColumnMeaning | None:
        if self._texts and self.form is not None and self.form.format is not None:
            return None
        ranges = {text: parse_period(text, own=self.summary in _VALUE_SUMMARIES) for text in self._texts}
        meanings = {text: None if one is None else (one,) for text, one in ranges.items()}
        if self.form is None and None in meanings.values():
            return None
        own = {text: one or ((text, text, True),) for text, one in meanings.items()}
        known = {text: one[:2] for text, one in ranges.items() if one is not None and self._is_range(text)}
        return DateLine(self.attribute, {TOP: None, **own}, self.nullable, known).meaning(self.labels, use)

    def _is_range(self, text: str) -> bool:
        """Check whether a label is a range whose ends occur in each class."""
        return " … " in text and self.summary in _VALUE_SUMMARIES[:2]

    def _values(self, use: ColumnUse) -> ColumnMeaning | None:
        """Parse values, sets of values, and ``*``.

        A range in an unknown order represents anything, and so does a masked code, which a class may
        publish instead of a wider range.
        """
        ranges = {text for text in self._texts if " … " in text and self.summary in _VALUE_SUMMARIES[:2]}
        ranges |= {text for text in self._texts if self._is_masked(text)}
        sets = {text: parse_set_label(text) for text in self._texts if self.summary == Summary.SETS}
        if TOP not in self.labels and not ranges and not any(sets.values()):
            return meaning_of_values(self.attribute, self.labels)
        if use.numbers and not use.texts:
            return self._add_note(self._numbers(use, known=False)) if ranges else self._numbers(use)
        if use.ordered and not any(sets.values()):
            points = {text: None if text in ranges else ((text, text, True),) for text in self._texts}
            return DateLine(self.attribute, {TOP: None, **points}, self.nullable).meaning(self.labels, use)
        meanings: dict[str, LabelTexts] = {text: (text, *(sets.get(text) or ())) for text in self._texts}
        meanings |= {TOP: None, **dict.fromkeys(ranges)}
        return TextTree(self.attribute, meanings, self.nullable).meaning(self.labels, use)

    def _is_masked(self, text: str) -> bool:
        """Check whether a text may be a masked code."""
        if self.form is None or self.form.kind is not LabelKind.MASK:
            return False
        end = text.startswith if self.form.side == "left" else text.endswith
        return end(self.form.character)

    # Refusals

    def _refusal(self, use: ColumnUse) -> InputError:
        name = self.attribute
        said = name if re.fullmatch(r"[A-Za-z_]\w*", name) else identifier(name)
        example = next(iter(self._texts), TOP)
        fact = f"'{name}' is generalized; labels such as '{example}' "
        if use.needs_values:
            fact += "do not identify single values, which this query needs"
        else:
            fact += "cannot be compared with the query's constants"
        return InputError(
            fact,
            allowed=f"label({said}) for the published label; ranges compared with numbers, masked codes with "
            "texts (=, IN, LIKE 'a%'), periods with ISO dates in quotes",
            advice=f"Name its public hierarchy, --hierarchy {shlex.quote(f'{name}=FILE')}, or the spec: "
            "--spec FILE.",
        )


def _members_of_label(text: str, summary: str | None) -> tuple[str, ...] | None:
    """Return the members of a label that is a set, or that states the mean of a set."""
    mean = parse_mean_label(text) if summary == Summary.MEANS else None
    return parse_set_label(text if mean is None else mean[1])


def _numbers_of_label(text: str, summary: str | None) -> tuple[NumberRange, ...] | None:
    """Return the numbers that a label represents; None for a label without numbers."""
    mean = parse_mean_label(text) if summary == Summary.MEANS else None
    text = text if mean is None else mean[1]
    number = parse_decimal(text)
    if number is not None:
        return (NumberRange(number, number),)
    members = parse_set_label(text) if summary in (Summary.SETS, Summary.MEANS) else None
    if members is not None:
        numbers = [parse_decimal(member) for member in members]
        return None if None in numbers else tuple(NumberRange(n, n) for n in numbers)
    found = parse_number_range(text)
    if found is None or (found.low is not None and found.high is not None and found.low > found.high):
        return None
    return (found,)


def _may_be_whole(text: str) -> bool:
    """Check whether a label allows only whole numbers: ``20-24``, ``7``, ``<18``, ``≥90``, no number."""
    if is_integer_range(text):
        return True
    found = _numbers_of_label(text, None)
    if found is None:
        return True
    (number_range,) = found
    ends = [end for end in (number_range.low, number_range.high) if end is not None]
    plain = len(ends) == 1 or number_range.low == number_range.high
    return plain and all(end == end.to_integral_value() for end in ends)


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
