"""Rounds of improvement: parts of the table annealed, two at a time, each kept only where it lost less.

The greedy's classes are good at once and near a local optimum for simple moves, so what follows is simulated
annealing (``kernels.local_anneal``): many small moves at a heat that falls to nothing within a round. Sweep
by sweep the classes are divided anew into parts of near classes; a round anneals two parts of the sweep, on
two threads where there are two, and gives each part back as it was where that was better. So more rounds are
never worse, and the first rounds of a long run are those of a short one. The heat of the sweeps falls as
well, from where classes change freely to where only the best moves are made; after eight sweeps it starts
over, with twice the steps. A round that gains nothing was too hot for what it found, or too
cold to leave it: those after it begin cooler, so that the heat finds its place on tables of any measure.

The result depends on the seed and the rounds, not on the threads.

Cost: 128 steps or more per unit and sweep, fewer where classes are large, one or two microseconds each; parts
and threads share nothing they write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_demand import Demand
from discreet.local.annealer import Annealing, anneal_parts, annealer_of, steps_per_unit
from discreet.local.greedy import Placement
from discreet.local.keys import KeySpace
from discreet.local.units import Units, sweep_parts

PARTS_PER_ROUND = 2
SWEEPS_OF_A_FALL = 8
HOTTEST, COOLEST = 0.9, 0.25
"""The heat of the first and the last sweep of a fall, in the unit of heat."""

_OF_A_CELL = 0.6
_COOLED = 0.7
"""A round that gains nothing was too hot: the unit of heat shrinks by this."""


@dataclass(frozen=True, eq=False)
class Improved:
    """The class of each unit, the rounds done, and the loss of all rows before and after each round."""

    units: Units
    class_of: NDArray[np.int64]
    rounds: int
    losses: tuple[float, ...]
    seconds: tuple[float, ...]


def improve(
    space: KeySpace,
    demand: Demand,
    placement: Placement,
    *,
    rounds: int | None,
    time_budget: float | None,
    seed: int,
    threads: int,
    kernels: bool,
    progress: Callable[[int, int], None] | None = None,
) -> Improved:
    """So many rounds, or as many as should end within ``time_budget`` seconds (at least one of the two)."""
    if rounds == 0 or placement.loss <= 0:
        return Improved(Units.whole(demand), placement.class_of, 0, (placement.loss,), (0.0,))
    units = Units.of(demand)
    class_of = placement.class_of[units.kind]
    begun = monotonic()
    annealer = annealer_of(space, demand, placement.useful, kernels=kernels)
    losses, seconds = [placement.loss], [0.0]
    unit = _unit_of_heat(space, placement.loss / int(units.rows[class_of >= 0].sum()))
    schedule = _rounds(space, units, class_of, seed)
    for done, (sweep, parts) in enumerate(schedule):
        if rounds is not None and done >= rounds:
            break
        if time_budget is not None and _would_pass(seconds, time_budget):
            break
        fall, heat = fall_and_heat(sweep)
        work = Annealing(heat * unit, steps_per_unit(demand) << fall, (seed, done))
        gained = anneal_parts(annealer, units, class_of, parts, demand.need, work, threads if kernels else 1)
        unit *= 1.0 if gained > 0 else _COOLED
        losses.append(losses[-1] - gained)
        seconds.append(monotonic() - begun)
        if progress is not None:
            progress(*_share_done(done + 1, rounds, seconds[-1], time_budget))
    return Improved(units, class_of, len(losses) - 1, tuple(losses), tuple(seconds))


def _unit_of_heat(space: KeySpace, mean: float) -> float:
    """What heat is counted in: the mean loss of a row, or most of one cell at its top where that is less."""
    return min(mean, _OF_A_CELL * space.worst / len(space.losses))


def fall_and_heat(sweep: int) -> tuple[int, float]:
    """Which fall a sweep belongs to, from 0, and its heat in the unit of heat: a geometric fall."""
    fall, place = divmod(sweep, SWEEPS_OF_A_FALL)
    return fall, float(HOTTEST * (COOLEST / HOTTEST) ** (place / (SWEEPS_OF_A_FALL - 1)))


def _rounds(
    space: KeySpace, units: Units, class_of: NDArray[np.int64], seed: int
) -> Iterator[tuple[int, list[NDArray[np.int64]]]]:
    """The parts of each round, without end; a sweep divides the classes as they then are."""
    sweep = 0
    while True:
        parts = sweep_parts(space, units, class_of, seed, sweep)
        while chosen := list(islice(parts, PARTS_PER_ROUND)):
            yield sweep, chosen
        sweep += 1


def _would_pass(seconds: list[float], time_budget: float) -> bool:
    """Whether another round as long as the last one would end too late."""
    last = seconds[-1] - seconds[-2] if len(seconds) > 1 else 0.0
    return seconds[-1] + last > time_budget


def _share_done(done: int, rounds: int | None, seconds: float, budget: float | None) -> tuple[int, int]:
    if rounds is not None:
        return done, rounds
    assert budget is not None
    return int(1000 * min(seconds / budget, 1.0)), 1000
