"""A table and its population in one set of row types, for what rolls both up together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.model.frequency_set import FrequencySet, ValueSets


def joined(table: FrequencySet) -> tuple[FrequencySet, NDArray[np.int64]]:
    """A table with the row types of its population behind its own, of no rows; and the people of each.

    It is no table: counts of 0 are what other readers do not expect (``model.population``). Cost: a sort of
    the row types of both.
    """
    population = table.population
    if population is None:
        raise InternalError("a table without a population was to be joined with it")
    both = np.concatenate([table.codes, population.codes])
    kinds, kind = np.unique(both, axis=0, return_inverse=True)
    kind = kind.ravel()
    own, theirs = kind[: table.row_types], kind[table.row_types :]
    place = np.full(len(kinds), -1)
    place[own] = np.arange(table.row_types)
    alone = place[theirs] < 0
    people = np.zeros(table.row_types, np.int64)
    people[place[theirs[~alone]]] = population.counts[~alone]
    more = int(alone.sum())
    found = replace(
        table,
        codes=np.concatenate([table.codes, population.codes[alone]]),
        counts=np.concatenate([table.counts, np.zeros(more, np.int64)]),
        sensitive=tuple(_extended(sets, more) for sets in table.sensitive),
    )
    return found, np.concatenate([people, population.counts[alone]])


def _extended(sets: ValueSets, more: int) -> ValueSets:
    return replace(sets, offsets=np.concatenate([sets.offsets, np.full(more, sets.offsets[-1])]))
