"""Classes of one node by rollup (LeFevre et al. 2005), matching people of a population, and uniqueness.

Simple enough to serve as an oracle of the lattice's kernels. The population is encoded together with the
table. Uniqueness counts the rows that each quasi-identifier singles out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.frequency.encoding import (
    EncodedGroups,
    LocateValue,
    encode_hierarchies,
    pack_columns,
    sort_rows,
)
from discreet.model.criterion_inputs import ClassPopulation
from discreet.model.frequency_set import FrequencySet, Population, ValueSets, join_population
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.model.table_spec import TableSpec


def encode_together(
    table: EncodedGroups, people: EncodedGroups, spec: TableSpec, locate: LocateValue
) -> tuple[tuple[GeneralizationHierarchy, ...], EncodedGroups, EncodedGroups]:
    """Build hierarchies over the values of a table and its population; return both with leaf codes.

    ``people`` has only the quasi-identifiers. Raises ``InputError`` as ``encode_hierarchies`` does.
    """
    width = len(people.attributes)
    values, codes = [], []
    for i in range(width):
        either = tuple(dict.fromkeys((*table.values[i], *people.values[i])))
        code_of = {value: code for code, value in enumerate(either)}
        parts = [
            np.array([*map(code_of.__getitem__, side.values[i]), len(either)], dtype=np.int64)[side.codes[i]]
            for side in (table, people)
        ]
        values.append(either)
        codes.append(np.concatenate(parts))
    joined = EncodedGroups(
        people.attributes, tuple(values), tuple(codes), np.concatenate([table.rows, people.rows])
    )
    hierarchies, joined = encode_hierarchies(joined, spec, locate)
    own, others = slice(None, table.groups), slice(table.groups, None)
    return (
        hierarchies,
        replace(
            table,
            values=(*joined.values, *table.values[width:]),
            codes=(*(column[own] for column in joined.codes), *table.codes[width:]),
        ),
        replace(people, values=joined.values, codes=tuple(column[others] for column in joined.codes)),
    )


def attach_population(table: FrequencySet, people: FrequencySet, label: str) -> FrequencySet:
    """Return the table with its population, counted as a separate table; ``label`` names it in messages.

    Raises ``InputError`` if the population has fewer people than the table has rows for a combination of
    values: every person of the table must be in the population.
    """
    result = replace(table, population=Population(people.codes, people.counts, people.dropped))
    both, everybody = join_population(result)
    lacking = everybody < both.counts
    if lacking.any():
        raise InputError(
            f"{label} is not a population of the table: for {int(lacking.sum()):,} combinations of "
            "quasi-identifiers it has fewer people than the table has rows",
            allowed="a table with at least one row for each person in the published table",
            advice="Write the quasi-identifiers identically in both: cells are compared as text.",
        )
    return result


def count_matching_people(
    table: FrequencySet, node: Sequence[int], positions: NDArray[np.int64]
) -> ClassPopulation | None:
    """Count the people who match each class of a node; None without a population.

    ``node`` has a level for each quasi-identifier of the table. ``positions`` are those of the classes in
    their levels, shape ``(classes, quasi-identifiers)``, without duplicates.
    """
    population = table.population
    if population is None:
        return None
    places = _find_rows(
        table.hierarchies,
        positions,
        np.column_stack(
            [
                hierarchy.level_map(level)[population.codes[:, i]]
                for i, (hierarchy, level) in enumerate(zip(table.hierarchies, node, strict=True))
            ]
        ),
    )
    matched = places >= 0
    people = np.bincount(places[matched], population.counts[matched], minlength=len(positions))
    return ClassPopulation(people.astype(np.int64), absent=int(population.counts[~matched].sum()))


def _find_rows(
    hierarchies: Sequence[GeneralizationHierarchy], known: NDArray[np.int64], queries: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the index of each row of ``queries`` among the distinct rows ``known``, or -1."""
    columns = [np.concatenate([known[:, i], queries[:, i]]) for i in range(known.shape[1])]
    keys = pack_columns(columns, [hierarchy.null_code + 1 for hierarchy in hierarchies])
    own, others = keys[: len(known)], keys[len(known) :]
    order = np.argsort(own, kind="stable")
    if not len(order):
        return np.full(len(others), -1)
    at = order[np.minimum(np.searchsorted(own, others, sorter=order), len(order) - 1)]
    return np.where(own[at] == others, at, -1)


@dataclass(frozen=True, eq=False)
class GeneralizedCounts:
    """Equivalence classes of a node.

    ``codes`` has shape ``(classes, quasi-identifiers)``: positions in ``labels`` of each attribute's level
    (one more for NULL below the top). ``counts`` contains the rows of each class, ``class_of`` the class of
    each row type of ``table``.
    """

    node: LatticeNode
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    class_of: NDArray[np.int64]
    table: FrequencySet = field(repr=False)

    @cached_property
    def population(self) -> ClassPopulation | None:
        """Number of people of the population who match each class; None if the table has no population."""
        return count_matching_people(self.table, self.node, self.codes)

    @property
    def classes(self) -> int:
        """Number of equivalence classes."""
        return len(self.counts)

    def distinct(self, sets: ValueSets) -> NDArray[np.int64]:
        """Count the distinct codes (values or subjects) of ``sets`` in each class, shape ``(classes,)``."""
        type_of = np.repeat(np.arange(len(self.class_of)), np.diff(sets.offsets))
        pairs = np.unique(self.class_of[type_of] * max(sets.size, 1) + sets.codes)
        return np.bincount(pairs // max(sets.size, 1), minlength=self.classes)


def generalize_codes(frequency_set: FrequencySet, node: LatticeNode) -> NDArray[np.int64]:
    """Return the codes of each row type at a node, shape ``(row types, quasi-identifiers)``."""
    if len(node) != len(frequency_set.hierarchies):
        raise InternalError(f"node {node} for {len(frequency_set.hierarchies)} quasi-identifiers")
    codes = np.empty_like(frequency_set.codes)
    for i, (hierarchy, level) in enumerate(zip(frequency_set.hierarchies, node, strict=True)):
        codes[:, i] = hierarchy.level_map(level)[frequency_set.codes[:, i]]
    return codes


def roll_up(frequency_set: FrequencySet, node: LatticeNode) -> GeneralizedCounts:
    """Compute the equivalence classes of a node, in the order of their codes.

    Cost: one sort of the row types.
    """
    codes = generalize_codes(frequency_set, node)
    sizes = [
        len(h.labels[level]) + (level < h.height)
        for h, level in zip(frequency_set.hierarchies, node, strict=True)
    ]
    order, starts = sort_rows([codes[:, i] for i in range(codes.shape[1])], sizes)
    first_of_class = np.zeros(len(order), dtype=np.int64)
    first_of_class[starts[1:]] = 1
    class_of = np.empty(len(order), dtype=np.int64)
    class_of[order] = np.cumsum(first_of_class)
    return GeneralizedCounts(
        node=node,
        codes=codes[order[starts]],
        counts=np.add.reduceat(frequency_set.counts[order], starts),
        class_of=class_of,
        table=frequency_set,
    )


@dataclass(frozen=True)
class AttributeUniqueness:
    """Contribution of one quasi-identifier to uniqueness.

    ``values`` is the number of values that occur, ``null_rows`` the rows with NULL. ``unique_alone`` rows
    have a value that no other row has. ``unique_without`` rows would still be unique if this attribute were
    generalized to its top.
    """

    attribute: str
    values: int
    null_rows: int
    unique_by_value: int
    unique_at_top: int


@dataclass(frozen=True)
class Uniqueness:
    """Row types of a table: their number, their sizes, and those with a single row.

    ``class_sizes`` maps a number of rows to the number of row types of that size.
    """

    rows: int
    row_types: int
    unique_rows: int
    class_sizes: Mapping[int, int]
    attributes: tuple[AttributeUniqueness, ...]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values for ``--json``."""
        return {
            "rows": self.rows,
            "row_types": self.row_types,
            "unique_rows": self.unique_rows,
            "class_sizes": {str(size): number for size, number in self.class_sizes.items()},
            "attributes": [vars(attribute) for attribute in self.attributes],
            "warnings": list(self.warnings),
        }


def measure_uniqueness(frequency_set: FrequencySet) -> Uniqueness:
    """Compute the uniqueness of a table's rows. Cost: a sort of the row types per quasi-identifier."""
    sizes, numbers = np.unique(frequency_set.counts, return_counts=True)
    attributes = tuple(_measure_attribute(frequency_set, i) for i in range(len(frequency_set.hierarchies)))
    return Uniqueness(
        rows=frequency_set.rows,
        row_types=frequency_set.row_types,
        unique_rows=int((frequency_set.counts == 1).sum()),
        class_sizes=dict(zip(sizes.tolist(), numbers.tolist(), strict=True)),
        attributes=attributes,
        warnings=tuple(_uniqueness_warnings(frequency_set, attributes)),
    )


def _measure_attribute(frequency_set: FrequencySet, index: int) -> AttributeUniqueness:
    hierarchy = frequency_set.hierarchies[index]
    rows = np.zeros(hierarchy.null_code + 1, dtype=np.int64)
    np.add.at(rows, frequency_set.codes[:, index], frequency_set.counts)
    without = tuple(h.height if i == index else 0 for i, h in enumerate(frequency_set.hierarchies))
    return AttributeUniqueness(
        attribute=hierarchy.attribute,
        values=int((rows[:-1] > 0).sum()),
        null_rows=int(rows[-1]),
        unique_by_value=int((rows == 1).sum()),
        unique_at_top=int((roll_up(frequency_set, without).counts == 1).sum()),
    )


def _uniqueness_warnings(
    frequency_set: FrequencySet, attributes: tuple[AttributeUniqueness, ...]
) -> list[str]:
    rows = frequency_set.rows
    result = []
    if frequency_set.dropped:
        result.append(f"{frequency_set.dropped:,} rows with NULL were left out.")
    for a in attributes:
        if 2 * a.unique_by_value > rows:
            result.append(
                f"'{a.attribute}' singles out {a.unique_by_value:,} of {rows:,} rows; is it an identifier?"
            )
        if a.values + (a.null_rows > 0) == 1:
            result.append(f"'{a.attribute}' is the same in every row.")
        if a.null_rows:
            result.append(f"'{a.attribute}' is NULL in {a.null_rows:,} rows, which count as one value.")
    return result
