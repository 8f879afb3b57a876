"""What the compiled kernels are told of further scores: packed rows by value, formulas, and buckets.

A real-valued score makes nearly every class a signature of its own. Scores are therefore kept by *bucket*:
which of some thresholds, the *edges*, they reach. A slider's stops are edges, and what is asked when the
lattice is evaluated; the answer for any of them is a look-up, and exact. ``lattice.bucketed`` answers others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.plan import RotationPlan
from discreet.model.criteria.base import Bound, Criterion
from discreet.model.criteria.formula import Formula
from discreet.model.frequency_set import FrequencySet, ValueSets

if TYPE_CHECKING:
    from discreet.kernels.class_scores import Scored
    from discreet.kernels.earth_movers import Distribution
    from discreet.kernels.value_rows import Lanes

Edges = tuple[tuple[int, ...], ...]
"""The ascending edges of each further score's buckets."""

_MOST_WORDS = 64
_LOGARITHMS = 1 << 16


def formulas_of(further: Sequence[Bound]) -> tuple[Formula, ...] | None:
    """The formulas of further scores, None where one has none or is of no sensitive attribute."""
    found = []
    for one in further:
        formula = None if one.place is None else one.criterion.formula(1)
        if formula is None:
            return None
        found.append(formula)
    return tuple(found)


def edges_of(further: Sequence[Bound], criteria: Sequence[Criterion]) -> Edges:
    """A slider's stops and what is asked, as thresholds of each further score."""
    found = []
    for one in further:
        stops = {replace(one.criterion, value=stop).threshold for stop in one.criterion.parameter.slider}
        for criterion in criteria:
            at = criterion.at(one.criterion.attribute or "") if criterion.of_attribute else criterion
            if at.score == one.criterion.score:
                stops.add(criterion.threshold)
        found.append(tuple(sorted(stops | {one.criterion.floor_score})))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class CompiledScores:
    """Further scores of a table as the kernels count them; ``words`` holds each row type's packed rows."""

    further: tuple[Bound, ...]
    sensitive: tuple[ValueSets, ...]
    words: NDArray[np.uint64]
    lanes: Lanes

    @classmethod
    def of(cls, further: tuple[Bound, ...], table: FrequencySet, plan: RotationPlan) -> CompiledScores | None:
        """For a table; None where a formula, or the room in a word, is missing."""
        from discreet.kernels.class_scores import DISTANCES, FORMULAS
        from discreet.kernels.earth_movers import counted_exactly
        from discreet.kernels.value_rows import lanes_of, no_rows, packed_rows

        formulas = formulas_of(further)
        known = formulas is not None and all(each.name in FORMULAS for each in formulas)
        if formulas is None or not known or table.subjects is not None:
            return None
        if any(sets.counts is None or sets.of is None for sets in table.sensitive):
            return None
        for one, formula in zip(further, formulas, strict=True):
            if formula.name in DISTANCES and not counted_exactly(_rows(table.sensitive[one.place or 0])):
                return None
        lanes = lanes_of([_counted(sets) for sets in table.sensitive])
        if int(lanes.words[-1]) > _MOST_WORDS:
            return None
        words = no_rows(lanes, table.row_types)
        for place, sets in enumerate(table.sensitive):
            assert sets.counts is not None
            owners = np.repeat(np.arange(table.row_types), np.diff(sets.offsets))
            packed_rows(lanes, place, owners, sets.codes.astype(np.int64), sets.counts, words)
        return cls(further, table.sensitive, words[plan.source], lanes)

    def bits(self, edges: Edges) -> int:
        """The bits of a signature beside its size."""
        return sum(s.size.bit_length() for s in self.sensitive) + sum(len(e).bit_length() for e in edges)

    def scored(self, edges: Edges) -> Scored:
        """What the kernels are told, with these edges."""
        from discreet.kernels.class_scores import FORMULAS, Scored
        from discreet.kernels.earth_movers import ground_of

        number = len(self.further)
        table = np.zeros((number, max(s.size for s in self.sensitive)), np.float64)
        rows = [_rows(self.sensitive[one.place or 0]) for one in self.further]
        takes = any(f.logarithms is not None for f in formulas_of(self.further) or ())
        logarithms = np.zeros((number, _LOGARITHMS if takes else 1))
        formulas = [one.criterion.formula(_LOGARITHMS) for one in self.further]
        for i, formula in enumerate(formulas):
            table[i, : len(rows[i])] = rows[i]
            if formula is not None and formula.logarithms is not None:
                logarithms[i] = formula.logarithms
        told = np.zeros((number, max((len(e) for e in edges), default=0) + 1), np.int64)
        for i, each in enumerate(edges):
            told[i, : len(each)] = each
        return Scored(
            lanes=self.lanes,
            formulas=np.array([FORMULAS[f.name] for f in formulas if f is not None], np.int64),
            places=np.array([one.place for one in self.further], np.int64),
            numbers=np.array([[f.number] for f in formulas if f is not None]),
            table=table,
            whole=table.sum(axis=1),
            present=np.count_nonzero(table, axis=1),
            logarithms=logarithms,
            ground=ground_of(
                [
                    _distribution(self.sensitive[one.place or 0], formula.name)
                    for one, formula in zip(self.further, formulas, strict=True)
                    if formula is not None
                ]
            ),
            edges=told,
            ends=np.array([len(e) for e in edges], np.int64),
        )


def _distribution(sets: ValueSets, formula: str) -> Distribution:
    from discreet.kernels.class_scores import HIERARCHICAL, ORDERED
    from discreet.kernels.earth_movers import Distribution

    assert sets.of is not None
    levels = np.zeros((0, sets.size), np.int64)
    if formula == HIERARCHICAL and sets.of.levels is not None:
        levels = sets.of.levels[1:-1]
    return Distribution(sets.of.rows, sets.of.ranks, levels, formula == ORDERED)


def _counted(sets: ValueSets) -> NDArray[np.int64]:
    """The rows of each value in all row types together."""
    assert sets.counts is not None
    counted = np.zeros(sets.size, np.int64)
    np.add.at(counted, sets.codes, sets.counts)
    return counted


def _rows(sets: ValueSets) -> NDArray[np.int64]:
    assert sets.of is not None
    return sets.of.rows
