"""One node's classes with their scores as they are: what buckets leave open, counted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import SMALL_LIMIT, Histograms
from discreet.lattice.scores import CellsScores
from discreet.model.class_facts import ClassFacts, ClassPopulation, ClassValues
from discreet.model.criteria.base import Bound
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.lattice import LatticeNode


def histogram_of(
    table: FrequencySet,
    node: LatticeNode,
    further: Sequence[Bound],
    last: CellsScores | None = None,
    people: NDArray[np.int64] | None = None,
) -> Histograms:
    """The histogram of one node alone, an entry for each class, with the scores of ``further``.

    ``last`` tells a further score of all classes together; ``people`` are the population's by row type.

    Rows are counted, so the table must have no subjects. Cost: a sort of the row types, and of the pairs of
    row type and value.
    """
    keys = np.zeros(table.row_types, np.int64)
    shown = []
    for hierarchy, level, codes in zip(table.hierarchies, node, table.codes.T, strict=True):
        at = hierarchy.level_map(level)[codes]
        shown.append(at)
        # Made dense again each time, so that no product outgrows a word.
        keys = np.unique(keys * (int(at.max(initial=0)) + 1) + at, return_inverse=True)[1]
    number = int(keys.max(initial=-1)) + 1
    sizes = np.bincount(keys, table.counts, minlength=number).astype(np.int64)
    values = tuple(_values(sets, keys, number) for sets in table.sensitive)
    facts = ClassFacts(sizes, values, _population(people, keys, sizes))
    columns = [sizes, *(each.distinct for each in values), *(one.scores(facts) for one in further)]
    if last is not None:
        first = np.unique(keys, return_index=True)[1]
        columns.append(last.of(replace(facts, cells=np.stack(shown, axis=1)[first])))
    small = np.bincount(np.minimum(sizes, SMALL_LIMIT + 1), sizes, minlength=SMALL_LIMIT + 2)[:-1]
    return Histograms(
        classes=np.array([number]),
        small=np.cumsum(small).astype(np.int64)[np.newaxis],
        starts=np.zeros(1, np.int64),
        stops=np.array([number]),
        signatures=np.array(columns, np.int64),
        rows=sizes,
        partial=False,
        people=None if facts.population is None else facts.population.people,
        absent=None if facts.population is None else np.array([facts.population.absent]),
    )


def _population(
    people: NDArray[np.int64] | None, class_of: NDArray[np.int64], sizes: NDArray[np.int64]
) -> ClassPopulation | None:
    if people is None:
        return None
    matching = np.bincount(class_of, people, minlength=len(sizes)).astype(np.int64)
    return ClassPopulation(matching, absent=int(matching[sizes == 0].sum()))


def _values(sets: ValueSets, class_of: NDArray[np.int64], classes: int) -> ClassValues:
    owners = np.repeat(class_of, np.diff(sets.offsets))
    pairs, place = np.unique(owners * max(sets.size, 1) + sets.codes, return_inverse=True)
    counts = None
    if sets.counts is not None:
        counts = np.bincount(place, sets.counts, minlength=len(pairs)).astype(np.int64)
    owners, codes = np.divmod(pairs, max(sets.size, 1))
    return ClassValues(np.bincount(owners, minlength=classes), owners, codes, counts, sets.of)
