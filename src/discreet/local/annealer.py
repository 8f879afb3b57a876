"""Annealing parts of the table, by the compiled kernels on several threads or by their plain twin."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_demand import Demand
from discreet.kernels.local_anneal_twin import Chance, PlainClasses, tolerances
from discreet.kernels.local_join_twin import TreeTables
from discreet.kernels.local_near_twin import near_twin
from discreet.local.keys import KeySpace
from discreet.local.units import Units

if TYPE_CHECKING:
    from discreet.kernels.local_greedy import Values

STEPS_PER_UNIT = 128
"""The steps of a round for each unit, where classes are small; a step costs more the larger they are."""

_SMALL, _FEWEST_STEPS = 8, 4
_MOST_NODES = 1024
_NEAR, _MOST_NEAR = 16, 64
_REMEMBERED = 1 << 18
_NOTICED = 1e-9
_DISSOLVED_BELOW = 2
_DISSOLVED_BELOW_DIVERSE = 8


@dataclass(frozen=True, eq=False)
class Part:
    """Whole classes of the table, by themselves.

    ``units`` are its units, by their numbers in the table; ``types`` its row types. Of unit i of the part,
    ``kind[i]`` is the place of its row type in ``types`` and ``slot[i]`` its class, numbered from 0; row type
    t's units are ``start[t] … start[t + 1] - 1``. Its rows can make no more than ``slots`` classes.
    """

    units: NDArray[np.int64]
    types: NDArray[np.int64]
    kind: NDArray[np.int64]
    rows: NDArray[np.int64]
    start: NDArray[np.int64]
    slot: NDArray[np.int64]
    slots: int

    @classmethod
    def of(cls, units: Units, chosen: NDArray[np.int64], class_of: NDArray[np.int64], need: int) -> Part:
        """The part of some units, ascending, that are all of their classes."""
        types, kind = np.unique(units.kind[chosen], return_inverse=True)
        names, slot = np.unique(class_of[chosen], return_inverse=True)
        rows = units.rows[chosen]
        return cls(
            units=chosen,
            types=types,
            kind=kind,
            rows=rows,
            start=np.searchsorted(kind, np.arange(len(types) + 1)),
            slot=slot,
            slots=max(int(rows.sum()) // need, len(names)) + 1,
        )


@dataclass(frozen=True)
class Annealing:
    """The heat to begin with, the steps for each unit, and what random numbers start from."""

    heat: float
    steps_per_unit: int
    seed: tuple[int, ...]

    @property
    def start(self) -> int:
        """The state that random numbers start from, never 0."""
        return int(np.random.SeedSequence(list(self.seed)).generate_state(1, np.uint64)[0]) | 1


class Annealer(Protocol):
    """Anneals parts."""

    def anneal(self, part: Part, work: Annealing) -> tuple[NDArray[np.int64], float]:
        """The class of each unit of a part then, and by how much the loss fell (below 0: it rose)."""


def anneal_parts(
    annealer: Annealer,
    units: Units,
    class_of: NDArray[np.int64],
    parts: Sequence[NDArray[np.int64]],
    need: int,
    work: Annealing,
    threads: int,
) -> float:
    """Anneal each part, on a thread each, and write what lost less to ``class_of``; by how much in all."""
    found = [Part.of(units, part, class_of, need) for part in parts]

    def run(p: int) -> tuple[NDArray[np.int64], float]:
        return annealer.anneal(found[p], replace(work, seed=(*work.seed, p)))

    if threads > 1 and len(found) > 1:
        with ThreadPoolExecutor(min(threads, len(found))) as pool:
            results = list(pool.map(run, range(len(found))))
    else:
        results = [run(p) for p in range(len(found))]
    gained = 0.0
    for part, (slot, less) in zip(found, results, strict=True):
        if less > _NOTICED:
            class_of[part.units] = int(class_of.max()) + 1 + slot
            gained += less
    return gained


def annealer_of(space: KeySpace, demand: Demand, useful: NDArray[np.uint64], *, kernels: bool) -> Annealer:
    """An annealer whose near row types come from the nodes ``useful``, then the greatest one."""
    step = -(-len(useful) // _MOST_NODES) or 1
    masks = np.concatenate([useful[::step], space.forbidden[np.newaxis]])
    return _CompiledAnnealer(space, demand, masks) if kernels else _PlainAnnealer(space, demand, masks)


def steps_per_unit(demand: Demand) -> int:
    """The steps of a round of the first fall, for each unit."""
    return max(STEPS_PER_UNIT * _SMALL // max(demand.need, _SMALL), _FEWEST_STEPS)


def near_types(demand: Demand) -> int:
    """How many near row types a row type may move to or swap with: more than its own class holds."""
    return min(max(_NEAR, 2 * demand.need), _MOST_NEAR)


def dissolved_below(demand: Demand) -> int:
    """Larger classes are not dissolved: splitting rows off serves them better."""
    return demand.need * (_DISSOLVED_BELOW if demand.counts_only else _DISSOLVED_BELOW_DIVERSE)


class _CompiledAnnealer:
    """By ``kernels.local_anneal``."""

    def __init__(self, space: KeySpace, demand: Demand, masks: NDArray[np.uint64]) -> None:
        self._space, self._demand, self._masks = space, demand, masks
        self._trees = space.trees()
        self._tolerances = tolerances()
        self._values = demand.values()

    def anneal(self, part: Part, work: Annealing) -> tuple[NDArray[np.int64], float]:
        """The class of each unit of a part then, and by how much the loss fell."""
        from discreet.kernels.local_anneal import anneal
        from discreet.kernels.local_chains import Classes, UnitTable, Work, settle
        from discreet.kernels.local_near import find_near

        keys = np.ascontiguousarray(self._space.keys[:, part.types])
        near = np.empty((len(part.types), near_types(self._demand)), np.int64)
        find_near(self._masks, keys, near)
        codes = np.ascontiguousarray(self._space.frequency_set.codes[part.types])
        table = UnitTable(np.ascontiguousarray(keys.T), codes, near, part.kind, part.rows, part.start)
        number, words = len(part.units), len(keys)
        classes = Classes(
            slot=part.slot.copy(),
            after=np.empty(number, np.int64),
            before=np.empty(number, np.int64),
            head=np.full(part.slots, -1, np.int64),
            size=np.zeros(part.slots, np.int64),
            spread=np.zeros((part.slots, words), np.uint64),
            loss=np.zeros(part.slots),
        )
        wide = np.zeros(words, np.uint64)
        before = settle(-1, table, classes, wide, self._trees)
        free = np.flatnonzero(classes.head < 0)
        empty = np.zeros(part.slots, np.int64)
        empty[: len(free)] = free
        large = dissolved_below(self._demand)
        scratch = Work(
            large=large,
            none=-1,
            empty=empty,
            moved=np.zeros(large + 1, np.int64),
            source=np.zeros(large + 1, np.int64),
            wide=wide,
            state=np.array([work.start], np.uint64),
        )
        steps, need, values = work.steps_per_unit * number, self._demand.need, self._values_of(part)
        anneal(
            steps,
            work.heat,
            len(free),
            need,
            self._tolerances,
            scratch,
            table,
            classes,
            values,
            self._trees,
        )
        return classes.slot, before - float((classes.size * classes.loss).sum())

    def _values_of(self, part: Part) -> Values:
        """The sensitive values by row type of the part, and scratch that no other part writes."""
        values = self._values
        return values._replace(
            begins=np.ascontiguousarray(values.begins[:, part.types]),
            ends=np.ascontiguousarray(values.ends[:, part.types]),
            seen=np.zeros_like(values.seen),
            turn=np.zeros_like(values.turn),
        )


class _PlainAnnealer:
    """By ``kernels.local_anneal_twin``, which serves any class test."""

    def __init__(self, space: KeySpace, demand: Demand, masks: NDArray[np.uint64]) -> None:
        self._space, self._demand, self._masks = space, demand, masks
        self._keys = np.ascontiguousarray(space.keys.T)
        self._tables = TreeTables(space.word, space.level_masks, space.losses)
        self._tolerances = tolerances().tolist()
        self._loss_of: dict[frozenset[int], float] = {}

    def anneal(self, part: Part, work: Annealing) -> tuple[NDArray[np.int64], float]:
        """The class of each unit of a part then, and by how much the loss fell."""
        near = near_twin(self._masks, self._space.keys[:, part.types], near_types(self._demand))
        types, kind, rows = part.types.tolist(), part.kind.tolist(), part.rows.tolist()
        classes: list[list[int]] = [[] for _ in range(part.slots)]
        for u, c in enumerate(part.slot.tolist()):
            classes[c].insert(0, u)
        plain = PlainClasses(
            classes=classes,
            slot=part.slot.tolist(),
            kind=kind,
            rows=rows,
            near=near.tolist(),
            start=part.start.tolist(),
            loss=lambda members: self._loss(frozenset(types[kind[u]] for u in members)),
            holds=lambda members: self._holds(
                sum(rows[u] for u in members), [types[kind[u]] for u in members]
            ),
            large=dissolved_below(self._demand),
            empty=[c for c in range(part.slots) if not classes[c]],
            chance=Chance(work.start),
            most_moves=dissolved_below(self._demand) + 1,
        )
        before = sum(plain.total(c) for c in range(part.slots))
        plain.anneal(work.steps_per_unit * len(part.units), work.heat, self._tolerances)
        return np.array(plain.slot, np.int64), before - sum(plain.total(c) for c in range(part.slots))

    def _loss(self, kinds: frozenset[int]) -> float:
        """The loss of one row of a class, remembered by its row types."""
        if kinds not in self._loss_of:
            if len(self._loss_of) > _REMEMBERED:
                self._loss_of.clear()
            types = np.array(sorted(kinds))
            keys = self._keys[types]
            spread = np.bitwise_or.reduce(keys ^ keys[0], axis=0)[np.newaxis]
            codes = self._space.frequency_set.codes[types[:1]]
            self._loss_of[kinds] = float(self._tables.losses_of(spread, codes)[0])
        return self._loss_of[kinds]

    def _holds(self, rows: int, types: list[int]) -> bool:
        if rows < self._demand.need:
            return False
        return self._demand.counts_only or self._demand.holds(np.array(types))
