"""Rows at one node: published row types, suppressed rows by value, and a preview of rows.

The report of suppressed values and the preview show cells: they are for the publisher only and are written
into no release, log or report. Cost: one roll-up of the row types per node; the report adds one look-up per
attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.fact_counter import FactCounter
from discreet.frequency.rollup import GeneralizedCounts, roll_up
from discreet.model.criterion_inputs import ClassPopulation
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement, failing_mask, suppression_mask
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    format_rows,
    heading_line,
    make_columns,
)
from discreet.printing.rendering import Printable, Record


@dataclass(frozen=True, eq=False)
class PublishedRowTypes:
    """Published row types of successive nodes; threads may share it.

    The classes of the last node are cached: a change of k often keeps the node.
    """

    table: FrequencySet
    _last: list[GeneralizedCounts] = field(default_factory=list, repr=False)

    def of(self, node: LatticeNode, requirement: Requirement) -> NDArray[np.bool_]:
        """Return True for each row type whose class is published, shape ``(row types,)``.

        Raises ``InputError`` for a criterion of an attribute that is not sensitive. Cost: one roll-up of the
        row types if the node changed.
        """
        classes = self._classes(node)
        counter = FactCounter.of(self.table, requirement)
        result: NDArray[np.bool_] = ~suppression_mask(counter.bound, counter.at_node(classes))[
            classes.class_of
        ]
        return result

    def _classes(self, node: LatticeNode) -> GeneralizedCounts:
        last = self._last[0] if self._last else None
        if last is None or last.node != node:
            last = roll_up(self.table, node)
            # One assignment of a complete entry: another thread reads the old or the new one, never a
            # mixture.
            self._last[:] = [last]
        return last


def published_classes_meet(
    table: FrequencySet, node: LatticeNode, published: Requirement, required: Requirement
) -> bool | None:
    """Return True if every class that a node publishes under one requirement meets another.

    ``published`` is the requirement whose failing classes are suppressed; ``required`` is checked on the
    others. None if ``required`` counts a population, which is unknown for a part of the classes. Raises
    ``InputError`` for a criterion of an attribute that is not sensitive.
    """
    if required == published:
        return True
    classes = roll_up(table, node)
    own, other = FactCounter.of(table, published), FactCounter.of(table, required)
    if other.of_population:
        return None
    retained = ~suppression_mask(own.bound, own.at_node(classes))
    number = np.where(retained, np.cumsum(retained) - 1, -1)
    fails = other.suppressed(number[classes.class_of], int(retained.sum()), cells=classes.codes[retained])
    return not bool(fails.any())


_MAX_VALUES = 12
"""Number of printed values per attribute."""


@dataclass(frozen=True)
class SuppressedValue(Record):
    """Value of an attribute (None is NULL): its ``rows``, and those ``left_out`` of the release."""

    value: str | None
    rows: int
    left_out: int


@dataclass(frozen=True)
class SuppressionByAttribute(Record):
    """Suppression by one attribute: its values with suppressed rows, most rows first, and its cost.

    ``level`` of ``height`` is the node's. ``at_top`` is the number of suppressed rows if only this attribute
    is raised to its top; ``costs`` is the number of rows that would then be published.
    """

    name: str
    level: int
    height: int
    at_top: int
    costs: int
    values: tuple[SuppressedValue, ...]


@dataclass(frozen=True, repr=False)
class SuppressionReport(Printable):
    """Suppressed rows of a node, counted by value, per attribute."""

    rows: int
    suppressed: int
    attributes: tuple[SuppressionByAttribute, ...]

    @property
    def costliest(self) -> SuppressionByAttribute | None:
        """Attribute with the highest cost, the first of equal ones; None if no attribute has a cost."""
        found = max(self.attributes, key=lambda attribute: attribute.costs, default=None)
        return found if found is not None and found.costs > 0 else None

    def sentence(self) -> str:
        """Return a sentence about the attribute with the highest cost."""
        if self.suppressed == 0:
            return "No row is suppressed."
        found = self.costliest
        if found is None:
            return f"No single attribute saves any of the {self.suppressed:,} rows: only the combination "
            "of values is rare."
        if found.costs == self.suppressed:
            return f"{found.name} costs most: at its top all {self.suppressed:,} would be published."
        stay = f"{found.costs:,} of the {self.suppressed:,}"
        return f"{found.name} costs most: at its top {stay} would be published."

    def as_json(self) -> dict[str, Any]:
        """Return the report as a document."""
        return {
            "rows": self.rows,
            "suppressed": self.suppressed,
            "sentence": self.sentence(),
            "attributes": [attribute.as_json() for attribute in self.attributes],
        }

    def document(self) -> Document:
        """Return the sentence, and the values of each attribute with most suppressed rows."""
        title = f"Suppressed: {format_rows(self.suppressed, self.rows)}"
        columns = make_columns("attribute", "~value", ">suppressed", ">of rows")
        lines = tuple(
            (
                attribute.name if index == 0 else "",
                "NULL" if value.value is None else value.value,
                f"{value.left_out:,}",
                f"{value.rows:,}",
            )
            for attribute in self.attributes
            for index, value in enumerate(attribute.values[:_MAX_VALUES])
        )
        return (heading_line(title), Line(self.sentence()), BLANK, Grid(columns, lines))


def report_suppression(
    table: FrequencySet,
    count_suppressed: Callable[[LatticeNode, Requirement], int],
    lattice: Lattice,
    node: LatticeNode,
    requirement: Requirement,
) -> SuppressionReport:
    """Count the rows that a node suppresses, by value.

    Raises ``InputError`` for a criterion of an attribute that is not sensitive. Cost: one roll-up, and one
    look-up per attribute.
    """
    lost = np.where(PublishedRowTypes(table).of(node, requirement), 0, table.counts)
    suppressed = int(lost.sum())
    found = []
    for i, (hierarchy, level) in enumerate(zip(table.hierarchies, node, strict=True)):
        top = (*node[:i], lattice.heights[i], *node[i + 1 :])
        at_top = suppressed if level == hierarchy.height else count_suppressed(top, requirement)
        by_value = np.bincount(table.codes[:, i], lost, hierarchy.null_code + 1).astype(np.int64)
        rows = np.bincount(table.codes[:, i], table.counts, hierarchy.null_code + 1).astype(np.int64)
        order = [code for code in np.argsort(-by_value, kind="stable").tolist() if by_value[code] > 0]
        values = tuple(
            SuppressedValue(
                hierarchy.leaves[code] if code < hierarchy.null_code else None,
                int(rows[code]),
                int(by_value[code]),
            )
            for code in order
        )
        costs = max(0, suppressed - at_top)
        found.append(
            SuppressionByAttribute(hierarchy.attribute, level, hierarchy.height, at_top, costs, values)
        )
    return SuppressionReport(int(table.counts.sum()), suppressed, tuple(found))


_SEED = 1


@dataclass(frozen=True)
class PreviewedRow(Record):
    """Row type: its values, the released values, and its class.

    ``before`` and ``after`` follow the quasi-identifiers, with None for NULL. ``size`` is the class's rows,
    or subjects if the spec has one; ``distinct`` its distinct values per sensitive attribute.
    """

    before: tuple[str | None, ...]
    after: tuple[str | None, ...]
    rows: int
    size: int
    distinct: dict[str, int]
    suppressed: bool


@dataclass(frozen=True, repr=False)
class RowPreview(Record, Printable):
    """Sample of row types under a node and a requirement; the same ones for every node."""

    attributes: tuple[str, ...]
    rows: tuple[PreviewedRow, ...]

    def document(self) -> Document:
        """Return each row type before and after recoding."""
        columns = (Column(""), *(Column(name) for name in self.attributes), Column("class", right=True))
        rows: list[tuple[str, ...]] = []
        for row in self.rows:
            rows.append(("before", *map(_cell_text, row.before), ""))
            after = ("*",) * len(row.after) if row.suppressed else tuple(map(_cell_text, row.after))
            rows.append(("after", *after, "suppressed" if row.suppressed else f"{row.size:,}"))
        return (heading_line("Rows before and after"), Grid(columns, tuple(rows)))


def preview_rows(
    table: FrequencySet, node: LatticeNode, requirement: Requirement, number: int = 8
) -> RowPreview:
    """Preview ``number`` row types, drawn by their rows with a fixed seed: the same ones for every node.

    Raises ``InputError`` for a criterion of an attribute that is not sensitive. Cost: one generalization of
    the row types, and one comparison of all of them with each row that is shown.
    """
    columns = [
        hierarchy.level_map(level)[table.codes[:, i]]
        for i, (hierarchy, level) in enumerate(zip(table.hierarchies, node, strict=True))
    ]
    drawn = _draw_row_types(table, number)
    class_of = np.full(table.row_types, -1)
    for index, position in enumerate(drawn):
        if class_of[position] < 0:
            class_of[_find_members(columns, position)] = index
    counter = FactCounter.of(table, requirement.of_classes, exact=True)
    # Only the classes of the drawn row types are counted; criteria of the whole release need every class.
    facts = counter.facts(class_of, len(drawn), population=_class_population(table, node, drawn))
    if requirement.of_classes == requirement and not any(
        one.judges_suppressed_rows for one in requirement.criteria
    ):
        fails = failing_mask(counter.bound, facts)
    else:
        fails = ~PublishedRowTypes(table).of(node, requirement)[drawn]
    distinct = [values.distinct for values in facts.values if values is not None]
    found = []
    for position in drawn:
        c = int(class_of[position])
        found.append(
            PreviewedRow(
                before=_row_labels(table.hierarchies, (0,) * len(node), table.codes[position].tolist()),
                after=_row_labels(table.hierarchies, node, [int(column[position]) for column in columns]),
                rows=int(table.counts[position]),
                size=int(facts.sizes[c]),
                distinct={
                    name: int(of_class[c])
                    for name, of_class in zip(table.sensitive_attributes, distinct, strict=True)
                },
                suppressed=bool(fails[c]),
            )
        )
    return RowPreview(table.attributes, tuple(found))


def _find_members(columns: Sequence[NDArray[np.int64]], position: int) -> NDArray[np.int64]:
    """Return the row types with the same generalization as the one at ``position``."""
    same = np.ones(len(columns[0]), dtype=np.bool_)
    for column in columns:
        same &= column == column[position]
    return np.flatnonzero(same)


def _draw_row_types(table: FrequencySet, number: int) -> list[int]:
    if not table.row_types:
        return []
    order = np.lexsort(table.codes.T[::-1])
    chance = np.random.default_rng(_SEED)
    share = table.counts[order] / table.rows
    picked = chance.choice(table.row_types, min(number, table.row_types), replace=False, p=share)
    return [int(order[index]) for index in np.sort(picked)]


def _row_labels(
    hierarchies: tuple[GeneralizationHierarchy, ...], node: LatticeNode, cell_codes: list[int]
) -> tuple[str | None, ...]:
    return tuple(
        hierarchy.labels[level][cell] if cell < len(hierarchy.labels[level]) else None
        for hierarchy, level, cell in zip(hierarchies, node, cell_codes, strict=True)
    )


def _cell_text(cell: str | None) -> str:
    return "NULL" if cell is None else cell


def _class_population(table: FrequencySet, node: LatticeNode, drawn: Sequence[int]) -> ClassPopulation | None:
    """Return the people matching the class of each drawn row type; None without a population."""
    if table.population is None:
        return None
    found = roll_up(table, node)
    population = found.population
    return (
        None
        if population is None
        else ClassPopulation(population.people[found.class_of[drawn]], population.absent)
    )
