"""Bounds from cells that may stand for several values (Zhang et al. 2007, Theorem 2).

Each row shows labels; a row meets the condition surely where every combination of values that its labels may
stand for does, possibly where some do. Which of a group's sensitive values the rows have that meet it is not
known in a permuted release; in a release of equivalence classes rows with equal labels are a group, of which
all rows or none meet it surely. Both are one case (``bounds.value_groups``), so for one partition these
bounds contain those of the permuted release.

A row belongs to a key's group surely or possibly in the same way: the condition AND key = value. Every group
that some row may belong to is answered. Suppressed rows are left out.

Estimates spread each row evenly over the values that its labels stand for, independently
(``workload.answer``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.answer import BoundRow, Key
from discreet.bounds.meaning import Meaning, by_hierarchy, exact
from discreet.bounds.opening import OpenRelease
from discreet.bounds.permuted_files import PermutedFiles
from discreet.bounds.regions import Evaluator
from discreet.bounds.told_labels import ToldColumn
from discreet.bounds.value_groups import Selected, ValueGroups
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError
from discreet.model.hierarchy import TOP
from discreet.model.leaf_order import decimal_of
from discreet.model.table_spec import NullPolicy
from discreet.queries.asked import AskedAggregate, AskedQuery
from discreet.queries.query import Aggregate
from discreet.queries.region import Box
from discreet.queries.uses import Use
from discreet.sql.names import identifier
from discreet.workload.answer import Spread
from discreet.workload.counting import CountedColumns, count_columns


@dataclass(frozen=True, eq=False)
class _Units:
    """Rows by what they show: unit u has ``rows[u]`` rows of group ``group[u]``.

    It shows ``meanings[i].cells.labels[shown[u, i]]`` of attribute i; ``values`` are the groups' sensitive
    values.
    """

    meanings: tuple[Meaning, ...]
    shown: NDArray[np.int64]
    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    groups: int
    values: Mapping[str, ValueGroups]

    def selected(self, region: Sequence[Box]) -> Selected:
        """How many rows of each group lie in a region."""
        spread = Spread.of(region, [meaning.cells for meaning in self.meanings], self.shown)
        share = sum(spread.share) if spread.share else np.zeros(len(self.rows))

        def by_group(weights: NDArray[Any]) -> NDArray[np.float64]:
            return np.bincount(self.group, weights=weights, minlength=self.groups).astype(np.float64)

        return Selected(
            by_group(self.rows * spread.certain).astype(np.int64),
            by_group(self.rows * spread.possible).astype(np.int64),
            by_group(self.rows * share),
        )


def answer_by_cells(release: OpenRelease, asked: AskedQuery) -> tuple[tuple[BoundRow, ...], tuple[str, ...]]:
    """The answers of a query whose columns were read as texts, and what was taken for granted for them.

    Keys are in ascending order, NULL last. Raises ``InputError`` for a generalized column whose labels do not
    tell what is asked, an aggregate of texts that are no numbers, a comparison of too many combinations of
    values, or a key of too many values.
    """
    permuted = release.permuted
    units = _class_units(release, asked) if permuted is None else _permuted_units(release, permuted, asked)
    domains = {meaning.cells.attribute: meaning.texts for meaning in units.meanings}
    found = []
    with TemporaryTables(release.engine) as tables:
        evaluator = Evaluator(release.engine, tables, domains)
        everything: list[Box] = [{}]
        region = everything if asked.condition is None else evaluator.region(asked.condition)
        for group, part in evaluator.by_key(region, asked.keys):
            selected = units.selected(part)
            if asked.keys and not selected.possible.any():
                continue
            found += [(group, _answer(aggregate, units, selected)) for aggregate in asked.aggregates]
    numbers = {group: place for place, group in enumerate(_in_order({g for g, _ in found}, asked))}
    rows = tuple(
        BoundRow.of(group, row.aggregate, row.lower, row.upper, row.estimate)
        for group, row in sorted(found, key=lambda pair: numbers[pair[0]])
    )
    return rows, tuple(meaning.note for meaning in units.meanings if meaning.note is not None)


def _answer(asked: AskedAggregate, units: _Units, selected: Selected) -> BoundRow:
    if asked.measure is None:
        bounds = (int(selected.certain.sum()), int(selected.possible.sum()), float(selected.expected.sum()))
        return BoundRow.of((), asked.title, *bounds)
    return BoundRow.of((), asked.title, *units.values[asked.measure].bounds(asked.aggregate, selected))


def _in_order(groups: set[tuple[Key, ...]], asked: AskedQuery) -> list[tuple[Key, ...]]:
    """Groups in the order asked, then by their keys; NULL last."""
    found = sorted(groups, key=lambda group: [(key is None, _comparable(key)) for key in group])
    for place, descends in reversed(asked.order):
        known = [group for group in found if group[place] is not None]
        nulls = [group for group in found if group[place] is None]
        known.sort(key=lambda group, place=place: _comparable(group[place]), reverse=descends)  # type: ignore[misc]
        found = [*known, *nulls]
    return found


def _comparable(key: Key) -> tuple[float, str]:
    return (0.0, key) if isinstance(key, str) else (float(key or 0), "")


# --- what rows show ----------------------------------------------------


def _class_units(release: OpenRelease, asked: AskedQuery) -> _Units:
    """Rows with equal labels are a group."""
    names, measures = asked.attributes, asked.measures
    starred = release.missing > 0 and release.manifest.stars_rows
    columns = list(release.data.columns) if starred else [*names, *measures] or [release.data.columns[0]]
    counted = count_columns(release.engine, release.data, columns, release.settings)
    kept = ~_starred(counted) if starred else np.ones(len(counted.rows), dtype=np.bool_)
    codes, rows = counted.codes[kept], counted.rows[kept]
    places = [columns.index(name) for name in names]
    if places:
        shown, group = np.unique(codes[:, places], axis=0, return_inverse=True)
    else:
        shown, group = np.empty((1, 0), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    group = group.reshape(-1)
    values = {}
    for name in measures:
        place = columns.index(name)
        values[name] = _values_of(asked, name, counted.texts[place], codes[:, place], group, rows, len(shown))
    of_unit = np.bincount(group, weights=rows, minlength=len(shown)).astype(np.int64)
    meanings = [
        _meaning(release, asked, name, counted.texts[place])
        for name, place in zip(names, places, strict=True)
    ]
    return _Units(tuple(meanings), shown, of_unit, np.arange(len(shown)), len(shown), values)


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
    texts: Sequence[str],
    codes: NDArray[np.int64],
    group: NDArray[np.int64],
    rows: NDArray[np.int64],
    groups: int,
) -> ValueGroups:
    """The values of a sensitive attribute, which only SUM, AVG, MIN and MAX want to be numbers."""
    if {a.aggregate for a in asked.aggregates if a.measure == name} == {Aggregate.COUNT}:
        return ValueGroups.of_counts(group, rows, codes < len(texts), groups)
    numbers = {code: decimal_of(texts[code]) for code in set(codes.tolist()) - {len(texts)}}
    if None in numbers.values():
        raise InputError(f"not every value of '{name}' is a number", allowed="COUNT of such values")
    values = [numbers.get(code) for code in codes.tolist()]
    return ValueGroups.of(group, rows, values, groups)


def _permuted_units(release: OpenRelease, permuted: PermutedFiles, asked: AskedQuery) -> _Units:
    """Groups are those that values were permuted in; the help table holds their values in order."""
    names, facts = asked.attributes, permuted.facts
    counted = count_columns(release.engine, release.data, [facts.group_column, *names], release.settings)
    numbers = {text: place for place, text in enumerate(counted.texts[0])}
    meanings = tuple(_meaning(release, asked, name, counted.texts[1 + i]) for i, name in enumerate(names))
    values = {facts.sensitive: _helped(release, permuted, numbers)} if asked.measures else {}
    return _Units(meanings, counted.codes[:, 1:], counted.rows, counted.codes[:, 0], len(numbers), values)


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
    if not release.generalized([name]):
        return exact(name, labels)
    nullable = release.manifest.nulls != NullPolicy.DROP
    hierarchy = release.hierarchies.get(name)
    if hierarchy is not None:
        return by_hierarchy(hierarchy, labels, nullable=nullable)
    (form,) = (a.label_form for a in release.manifest.attributes if a.name == name)
    column = ToldColumn(name, labels, form, release.manifest.summary, nullable)
    return column.meaning(asked.uses.get(name, Use()))
