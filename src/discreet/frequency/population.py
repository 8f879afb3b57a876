"""The population beside a table: encoded together with it, and how many of its people match each class.

Definitions: of a class of a generalized table, the people who match it are those of the population whose
generalized quasi-identifiers are the class's. People who match no class are told of by one sign (``absent``):
they belong to no class that could be suppressed.

Cost: encoding is linear in groups; at a node, a sort of the classes and a search of the population's row
types among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.frequency.encode import EncodedGroups, Locate, encode_hierarchies
from discreet.frequency.merge import pack
from discreet.model.class_facts import ClassPopulation
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.joined_population import joined
from discreet.model.population import Population
from discreet.model.table_spec import TableSpec


def encode_together(
    table: EncodedGroups, people: EncodedGroups, spec: TableSpec, locate: Locate
) -> tuple[tuple[GeneralizationHierarchy, ...], EncodedGroups, EncodedGroups]:
    """The hierarchies over the values of a table and its population, and both with leaf codes for them.

    ``people`` has the quasi-identifiers alone. ``InputError`` as ``encode_hierarchies``.
    """
    width = len(people.attributes)
    values, codes = [], []
    for i in range(width):
        either = tuple(dict.fromkeys((*table.values[i], *people.values[i])))
        place = {value: code for code, value in enumerate(either)}
        parts = [
            np.array([*map(place.__getitem__, side.values[i]), len(either)], dtype=np.int64)[side.codes[i]]
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


def with_people(table: FrequencySet, people: FrequencySet, label: str) -> FrequencySet:
    """A table with its population, which was counted as a table of its own; ``label`` names it in messages.

    ``InputError`` where it has fewer people of some combination of values than the table has rows: whoever
    has a row is one of the population's people.
    """
    found = replace(table, population=Population(people.codes, people.counts, people.dropped))
    both, everybody = joined(found)
    lacking = everybody < both.counts
    if lacking.any():
        raise InputError(
            f"{label} is no population of the table: of {int(lacking.sum()):,} combinations of "
            "quasi-identifiers it has fewer people than the table has rows",
            allowed="a table with a row for each person of whom the table has a row, and for others",
            advice="Both must write the quasi-identifiers alike: their cells are compared as texts.",
        )
    return found


def people_of_classes(
    table: FrequencySet, node: Sequence[int], positions: NDArray[np.int64]
) -> ClassPopulation | None:
    """The people who match each class of a node; None without a population.

    ``node`` has a level for each quasi-identifier of the table; ``positions`` are those of the classes in
    their levels, shape ``(classes, quasi-identifiers)``, no two alike.
    """
    population = table.population
    if population is None:
        return None
    places = _places(
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


def _places(
    hierarchies: Sequence[GeneralizationHierarchy], known: NDArray[np.int64], asked: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The place of each of the rows ``asked`` among those ``known``, which differ; -1 for none."""
    columns = [np.concatenate([known[:, i], asked[:, i]]) for i in range(known.shape[1])]
    keys = pack(columns, [hierarchy.null_code + 1 for hierarchy in hierarchies])
    own, others = keys[: len(known)], keys[len(known) :]
    order = np.argsort(own, kind="stable")
    if not len(order):
        return np.full(len(others), -1)
    at = order[np.minimum(np.searchsorted(own, others, sorter=order), len(order) - 1)]
    return np.where(own[at] == others, at, -1)
