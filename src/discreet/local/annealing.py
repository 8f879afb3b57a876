"""Improvement of classes by simulated annealing, in rounds over parts of the table.

A unit is a row, or a whole row type if the requirement depends on more than row counts. Each sweep divides
the classes anew into parts of similar classes; a round anneals two parts, on two threads if available, and
keeps a part's result only if its loss fell. More rounds are therefore never worse, and the first rounds of
a long run equal those of a short one. The temperature falls over eight sweeps, then starts again with twice
the steps; a round without gain lowers it. The result depends on the seed and the rounds, not on the
threads.

Cost: 128 steps or more per unit and sweep, fewer if classes are large, one or two microseconds each
(``kernels.local_annealing``, or its twin for other class tests).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_requirement import ClassRequirement
from discreet.kernels.local_recoding_twin import (
    AnnealingTwin,
    TreeTables,
    Xorshift,
    find_near_types_twin,
    tolerances,
)
from discreet.local.greedy_classes import GreedyClasses
from discreet.local.key_space import KeySpace

if TYPE_CHECKING:
    from discreet.kernels.greedy_cover import RequiredValues


PART_UNITS = 1 << 14
"""Approximate number of units of a part, so that the data of a part fit in a processor's cache."""

_FEWEST_CLASSES = 16
_SORTED_ATTRIBUTES = 3


@dataclass(frozen=True, eq=False)
class LocalUnits:
    """Annealing units: ``rows[u]`` rows of type ``kind[u]``; ``start`` as in ``kernels.local_annealing``."""

    kind: NDArray[np.int64]
    rows: NDArray[np.int64]
    start: NDArray[np.int64]

    @classmethod
    def of(cls, demand: ClassRequirement) -> LocalUnits:
        """Build one unit per row if only row counts decide, else one per row type.

        In a row type with many rows, the rows beyond those that a class can use form one unit, because they
        never need to be separated.
        """
        counts = demand.frequency_set.counts
        single = np.zeros(len(counts), np.int64)
        if demand.counts_only:
            single = np.minimum(counts - 1, np.maximum(2 * demand.need, 1))
            single = np.where(counts - single >= demand.need, single, counts - 1)
        number = single + 1
        start = np.concatenate(([0], np.cumsum(number)))
        kind = np.repeat(np.arange(len(counts)), number)
        rows = np.ones(len(kind), np.int64)
        rows[start[:-1]] = counts - single
        return cls(kind, rows, start)

    @classmethod
    def of_row_types(cls, demand: ClassRequirement) -> LocalUnits:
        """Build one unit per row type."""
        counts = demand.frequency_set.counts
        return cls(np.arange(len(counts)), counts, np.arange(len(counts) + 1))


def divide_into_parts(
    space: KeySpace, units: LocalUnits, class_of: NDArray[np.int64], seed: int, sweep: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the units in classes, in parts of whole classes with similar values; each sweep divides anew.

    Classes are sorted by the leaves of a member, a few randomly chosen attributes first, and cut into parts
    of about equal size. There are at least two parts, so that two threads have work, unless the table is
    very small.
    """
    placed = np.flatnonzero(class_of >= 0)
    if not len(placed):
        return
    random = np.random.default_rng([seed, sweep])
    _, first, inverse = np.unique(class_of[placed], return_index=True, return_inverse=True)
    codes = space.frequency_set.codes[units.kind[placed[first]]]
    attributes = random.permutation(codes.shape[1])[:_SORTED_ATTRIBUTES]
    rank = np.empty(len(first), np.int64)
    rank[np.lexsort([random.random(len(first)), *(codes[:, j] for j in attributes[::-1])])] = np.arange(
        len(first)
    )
    in_order = np.argsort(rank[inverse], kind="stable")
    number = 1 if len(first) < _FEWEST_CLASSES else max(2, round(len(placed) / PART_UNITS))
    ends = np.flatnonzero(np.append(np.diff(rank[inverse][in_order]) != 0, True)) + 1
    wanted = np.arange(1, number) * len(placed) // number
    cuts = np.unique(ends[np.searchsorted(ends, wanted)])
    for part in np.split(placed[in_order], cuts[cuts < len(placed)]):
        yield np.sort(part)


STEPS_PER_UNIT = 128
"""Steps of a round per unit if classes are small; a step costs more the larger the classes are."""

_SMALL_CLASS, _FEWEST_STEPS = 8, 4
_MOST_NODES = 1024
_FEWEST_NEAR, _MOST_NEAR = 16, 64
_MOST_CACHED_LOSSES = 1 << 18
_LEAST_GAIN = 1e-9
_DISSOLVED_CLASSES = 2
_DISSOLVED_CLASSES_DIVERSE = 8


@dataclass(frozen=True, eq=False)
class AnnealingPart:
    """Whole classes of the table, annealed separately from the others.

    ``units`` contains the table's numbers of its units, ``types`` its row types. For unit i of the part,
    ``kind[i]`` is the index of its row type in ``types`` and ``slot[i]`` its class, numbered from 0; row
    type t has the units ``start[t] … start[t + 1] - 1``. The rows of the part form at most ``slots``
    classes.
    """

    units: NDArray[np.int64]
    types: NDArray[np.int64]
    kind: NDArray[np.int64]
    rows: NDArray[np.int64]
    start: NDArray[np.int64]
    slot: NDArray[np.int64]
    slots: int

    @classmethod
    def of(
        cls, units: LocalUnits, chosen: NDArray[np.int64], class_of: NDArray[np.int64], need: int
    ) -> AnnealingPart:
        """Build the part from ascending units that are all the units of their classes."""
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
class AnnealingParameters:
    """Initial temperature, steps per unit, and seed of the random numbers."""

    temperature: float
    steps_per_unit: int
    seed: tuple[int, ...]

    @property
    def start(self) -> int:
        """Initial state of the random number generator, never 0."""
        return int(np.random.SeedSequence(list(self.seed)).generate_state(1, np.uint64)[0]) | 1


def anneal_parts(
    annealer: Annealer,
    units: LocalUnits,
    class_of: NDArray[np.int64],
    parts: Sequence[NDArray[np.int64]],
    need: int,
    work: AnnealingParameters,
    threads: int,
) -> float:
    """Anneal each part on its own thread, write improved parts to ``class_of``, and return the total gain."""
    found = [AnnealingPart.of(units, part, class_of, need) for part in parts]

    def run(p: int) -> tuple[NDArray[np.int64], float]:
        return annealer.anneal(found[p], replace(work, seed=(*work.seed, p)))

    if threads > 1 and len(found) > 1:
        with ThreadPoolExecutor(min(threads, len(found))) as pool:
            results = list(pool.map(run, range(len(found))))
    else:
        results = [run(p) for p in range(len(found))]
    gained = 0.0
    for part, (slot, less) in zip(found, results, strict=True):
        if less > _LEAST_GAIN:
            class_of[part.units] = int(class_of.max()) + 1 + slot
            gained += less
    return gained


def build_annealer(
    space: KeySpace, demand: ClassRequirement, used_masks: NDArray[np.uint64], *, kernels: bool
) -> Annealer:
    """Build an annealer that finds near row types by ``used_masks``, then by the greatest node."""
    step = -(-len(used_masks) // _MOST_NODES) or 1
    masks = np.concatenate([used_masks[::step], space.forbidden[np.newaxis]])
    return _CompiledAnnealer(space, demand, masks) if kernels else _PlainAnnealer(space, demand, masks)


def count_steps_per_unit(demand: ClassRequirement) -> int:
    """Return the steps per unit of a round of the first cooling."""
    return max(STEPS_PER_UNIT * _SMALL_CLASS // max(demand.need, _SMALL_CLASS), _FEWEST_STEPS)


def count_near_types(demand: ClassRequirement) -> int:
    """Return the number of near row types that a row type may join or swap with; it exceeds a class."""
    return min(max(_FEWEST_NEAR, 2 * demand.need), _MOST_NEAR)


def most_dissolved_rows(demand: ClassRequirement) -> int:
    """Return the most rows of a class that is dissolved; splitting rows off serves larger ones better."""
    return demand.need * (_DISSOLVED_CLASSES if demand.counts_only else _DISSOLVED_CLASSES_DIVERSE)


class _CompiledAnnealer:
    """Annealer that uses ``kernels.local_annealing``."""

    def __init__(self, space: KeySpace, demand: ClassRequirement, masks: NDArray[np.uint64]) -> None:
        self._space, self._demand, self._masks = space, demand, masks
        self._trees = space.trees()
        self._tolerances = tolerances()
        self._values = demand.values()

    def anneal(self, part: AnnealingPart, work: AnnealingParameters) -> tuple[NDArray[np.int64], float]:
        """Return the class of each unit after annealing, and the decrease of the loss."""
        from discreet.kernels.local_annealing import (
            AnnealingScratch,
            ClassChains,
            UnitTable,
            anneal,
            build_chains,
            find_near_types,
        )

        keys = np.ascontiguousarray(self._space.keys[:, part.types])
        near = np.empty((len(part.types), count_near_types(self._demand)), np.int64)
        find_near_types(self._masks, keys, near)
        codes = np.ascontiguousarray(self._space.frequency_set.codes[part.types])
        table = UnitTable(np.ascontiguousarray(keys.T), codes, near, part.kind, part.rows, part.start)
        number, words = len(part.units), len(keys)
        classes = ClassChains(
            slot=part.slot.copy(),
            after=np.empty(number, np.int64),
            before=np.empty(number, np.int64),
            head=np.full(part.slots, -1, np.int64),
            size=np.zeros(part.slots, np.int64),
            spread=np.zeros((part.slots, words), np.uint64),
            loss=np.zeros(part.slots),
        )
        wide = np.zeros(words, np.uint64)
        before = build_chains(-1, table, classes, wide, self._trees)
        free = np.flatnonzero(classes.head < 0)
        empty = np.zeros(part.slots, np.int64)
        empty[: len(free)] = free
        large = most_dissolved_rows(self._demand)
        scratch = AnnealingScratch(
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
            work.temperature,
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

    def _values_of(self, part: AnnealingPart) -> RequiredValues:
        """Return the sensitive values of the part's row types, with scratch arrays of its own."""
        values = self._values
        return values._replace(
            begins=np.ascontiguousarray(values.begins[:, part.types]),
            ends=np.ascontiguousarray(values.ends[:, part.types]),
            seen=np.zeros_like(values.seen),
            turn=np.zeros_like(values.turn),
        )


class _PlainAnnealer:
    """Annealer that uses ``kernels.local_recoding_twin``, which supports any class test."""

    def __init__(self, space: KeySpace, demand: ClassRequirement, masks: NDArray[np.uint64]) -> None:
        self._space, self._demand, self._masks = space, demand, masks
        self._keys = np.ascontiguousarray(space.keys.T)
        self._tables = TreeTables(space.word, space.level_masks, space.losses)
        self._tolerances = tolerances().tolist()
        self._loss_of: dict[frozenset[int], float] = {}

    def anneal(self, part: AnnealingPart, work: AnnealingParameters) -> tuple[NDArray[np.int64], float]:
        """Return the class of each unit after annealing, and the decrease of the loss."""
        near = find_near_types_twin(
            self._masks, self._space.keys[:, part.types], count_near_types(self._demand)
        )
        types, kind, rows = part.types.tolist(), part.kind.tolist(), part.rows.tolist()
        classes: list[list[int]] = [[] for _ in range(part.slots)]
        for u, c in enumerate(part.slot.tolist()):
            classes[c].insert(0, u)
        plain = AnnealingTwin(
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
            large=most_dissolved_rows(self._demand),
            empty=[c for c in range(part.slots) if not classes[c]],
            chance=Xorshift(work.start),
            most_moves=most_dissolved_rows(self._demand) + 1,
        )
        before = sum(plain.total(c) for c in range(part.slots))
        plain.anneal(work.steps_per_unit * len(part.units), work.temperature, self._tolerances)
        return np.array(plain.slot, np.int64), before - sum(plain.total(c) for c in range(part.slots))

    def _loss(self, kinds: frozenset[int]) -> float:
        """Return the loss of one row of a class, cached by the row types of the class."""
        if kinds not in self._loss_of:
            if len(self._loss_of) > _MOST_CACHED_LOSSES:
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


Annealer = _CompiledAnnealer | _PlainAnnealer

PARTS_PER_ROUND = 2
SWEEPS_PER_COOLING = 8
HIGHEST_TEMPERATURE, LOWEST_TEMPERATURE = 0.9, 0.25
"""Temperature of the first and the last sweep of a cooling, in units of ``_temperature_unit``."""

_SHARE_OF_CELL = 0.6
_COOLING_FACTOR = 0.7
"""Factor that shrinks the temperature unit after a round without gain, which was too hot."""


@dataclass(frozen=True, eq=False)
class AnnealedClasses:
    """Class of each unit, the rounds done, and the total loss before and after each round.

    ``seconds`` are the times since the start, one per entry of ``losses``.
    """

    units: LocalUnits
    class_of: NDArray[np.int64]
    rounds: int
    losses: tuple[float, ...]
    seconds: tuple[float, ...]


def improve_classes(
    space: KeySpace,
    demand: ClassRequirement,
    placement: GreedyClasses,
    *,
    rounds: int | None,
    time_budget: float | None,
    seed: int,
    threads: int,
    kernels: bool,
    progress: Callable[[int, int], None] | None = None,
) -> AnnealedClasses:
    """Improve classes for ``rounds`` rounds or within ``time_budget`` seconds; at least one must be given.

    No round starts that would end after the budget if it took as long as the last one.
    """
    if rounds == 0 or placement.loss <= 0:
        return AnnealedClasses(
            LocalUnits.of_row_types(demand), placement.class_of, 0, (placement.loss,), (0.0,)
        )
    units = LocalUnits.of(demand)
    class_of = placement.class_of[units.kind]
    start_time = monotonic()
    annealer = build_annealer(space, demand, placement.used_masks, kernels=kernels)
    losses, seconds = [placement.loss], [0.0]
    unit = _temperature_unit(space, placement.loss / int(units.rows[class_of >= 0].sum()))
    schedule = _iterate_rounds(space, units, class_of, seed)
    for done, (sweep, parts) in enumerate(schedule):
        if rounds is not None and done >= rounds:
            break
        last = seconds[-1] - seconds[-2] if len(seconds) > 1 else 0.0
        if time_budget is not None and seconds[-1] + last > time_budget:
            break
        fall, temperature = cooling_and_temperature(sweep)
        work = AnnealingParameters(temperature * unit, count_steps_per_unit(demand) << fall, (seed, done))
        gained = anneal_parts(annealer, units, class_of, parts, demand.need, work, threads if kernels else 1)
        unit *= 1.0 if gained > 0 else _COOLING_FACTOR
        losses.append(losses[-1] - gained)
        seconds.append(monotonic() - start_time)
        if progress is not None:
            share = int(1000 * min(seconds[-1] / time_budget, 1.0)) if time_budget is not None else 0
            progress(*((share, 1000) if rounds is None else (done + 1, rounds)))
    return AnnealedClasses(units, class_of, len(losses) - 1, tuple(losses), tuple(seconds))


def _temperature_unit(space: KeySpace, mean: float) -> float:
    """Return the temperature unit: the mean loss of a row, or most of one cell's greatest loss if less."""
    return min(mean, _SHARE_OF_CELL * space.worst / len(space.losses))


def cooling_and_temperature(sweep: int) -> tuple[int, float]:
    """Return the number of a sweep's cooling, from 0, and the sweep's temperature in temperature units.

    The temperature falls geometrically within a cooling.
    """
    fall, step = divmod(sweep, SWEEPS_PER_COOLING)
    return fall, float(
        HIGHEST_TEMPERATURE * (LOWEST_TEMPERATURE / HIGHEST_TEMPERATURE) ** (step / (SWEEPS_PER_COOLING - 1))
    )


def _iterate_rounds(
    space: KeySpace, units: LocalUnits, class_of: NDArray[np.int64], seed: int
) -> Iterator[tuple[int, list[NDArray[np.int64]]]]:
    """Yield the sweep and the parts of each round without end; a sweep divides the current classes."""
    sweep = 0
    while True:
        parts = divide_into_parts(space, units, class_of, seed, sweep)
        while chosen := list(islice(parts, PARTS_PER_ROUND)):
            yield sweep, chosen
        sweep += 1
