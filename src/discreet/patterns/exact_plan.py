"""All components of a problem, solved side by side; then the rule of the class of all stars.

A component is solved without regard to how many rows it leaves over. Together they may leave 1 to k − 1 rows,
fewer than may share a class of all stars. Only then everything is solved again as one program with that class
in it; the sum of the components stays a bound. It is rare: none of the paper's instances needs it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached, NoSolution
from discreet.patterns.bounds import price_bound
from discreet.patterns.exact_cells import PatternTable, cover_of
from discreet.patterns.exact_reduce import Component, Reduced, reduce_cover
from discreet.patterns.exact_result import ExactSize, Plan
from discreet.patterns.exact_solve import Part, Program, cheapest_bound, cost_of, is_feasible, solve_component
from discreet.patterns.exact_start import counted_plan, greedy_start

Progress = Callable[[int, int], None]
_NO_CELL = -1
_FEW_PAIRS, _MOST_PAIRS = 1000, 400_000


@dataclass(frozen=True)
class Limits:
    """When to end (``time.monotonic``; infinity: never), how many components at a time, and bytes."""

    deadline: float
    threads: int
    memory: int


def plan_rows(
    table: PatternTable,
    program: Program,
    limits: Limits,
    *,
    star_class: bool,
    progress: Progress | None = None,
) -> Plan:
    """The cheapest assignment of rows to patterns that was found in time.

    ``program`` says whether everyone must be placed; with ``star_class`` the outliers must be none or at
    least k. ``NoSolution`` where that cannot be, ``LimitReached`` where no solution was found in time.
    """
    if not program.everyone and table.rows >= program.k:
        counted = counted_plan(table, program.k, star_class=star_class)
        if counted is not None:
            return counted
    cover = cover_of(table, program.k, limits.memory)
    reduced = reduce_cover(cover, table.counts)
    placeless = int(table.counts[reduced.placeless].sum())
    _check_possible(table, program, placeless, star_class)
    parts, starts = _solve_all(reduced, program, limits, progress)
    base = program.outlier_cost * placeless
    cost, bound = base + sum(p.cost for p in parts), base + sum(p.bound for p in parts)
    started = None if None in starts else base + sum(cost for cost in starts if cost is not None)
    answer = list(zip(reduced.components, (_placed(part) for part in parts), strict=True))
    left = placeless + sum(int(c.rows.sum() - rows.sum()) for c, rows in answer)
    if star_class and 0 < left < program.k:
        one = reduce_cover(reduced.cover, table.counts, split=False).components[0]
        part = _solve_with_stars(one, answer, replace(program, star_rows=placeless), limits, bound - base)
        answer, cost, bound = [(one, _placed(part))], base + part.cost, max(bound, base + part.bound)
        started = None
    row_types, cells, rows = _expanded(reduced, answer, table.counts)
    return Plan(
        row_types=row_types,
        patterns=np.where(cells == _NO_CELL, -1, np.append(reduced.cover.patterns, -1)[cells]),
        rows=rows,
        cost=cost,
        bound=bound,
        start_cost=started,
        size=ExactSize(
            cells=cover.cell_count,
            kept=reduced.cover.cell_count,
            pairs=sum(c.pairs for c in reduced.components),
            components=len(reduced.components),
            largest=max((c.pairs for c in reduced.components), default=0),
        ),
    )


def _check_possible(table: PatternTable, program: Program, placeless: int, star_class: bool) -> None:
    if program.everyone and placeless:
        raise NoSolution(
            f"{placeless:,} of {table.rows:,} rows fit no pattern with {program.k} rows, and none may be an "
            "outlier",
            advice="Allow more patterns, lower k, or give a policy for outliers.",
        )
    if star_class and table.rows < program.k:
        raise NoSolution(f"k={program.k}: the table has {table.rows:,} rows", advice="Lower k.")


def _solve_all(
    reduced: Reduced, program: Program, limits: Limits, progress: Progress | None
) -> tuple[list[Part], list[int | None]]:
    """The components' solutions, and what their greedy starts cost; None for one that is not allowed."""
    waiting = [sum(c.pairs for c in reduced.components)]
    done = [0]
    lock = Lock()

    def solved(component: Component) -> tuple[Part, int | None]:
        start: NDArray[np.int64] | None = greedy_start(component, program.k, program.outlier_cost)
        if start is not None and not is_feasible(component, program, start):
            start = None
        started = None if start is None else cost_of(component, program, start)
        with lock:
            share = limits.threads * component.pairs / max(waiting[0], 1)
            waiting[0] -= component.pairs
        part = _solve_one(component, program, start, limits.deadline, share)
        with lock:
            done[0] += 1
            if progress is not None:
                progress(done[0], len(reduced.components))
        return part, started

    with ThreadPoolExecutor(limits.threads) as workers:
        found = list(workers.map(solved, reduced.components))
    return [part for part, _ in found], [started for _, started in found]


def _solve_one(
    component: Component, program: Program, start: NDArray[np.int64] | None, deadline: float, share: float
) -> Part:
    """The start where it is proven or there is no more to be had; else the solver's answer in its share of
    time.

    Above ``_MOST_PAIRS`` the solver is not asked: it would not even finish its relaxation in minutes.
    """
    bound = cheapest_bound(component, program)
    if start is not None and cost_of(component, program, start) == bound:
        return Part(start, bound, bound)
    if component.pairs > _FEW_PAIRS:
        bound = max(bound, price_bound(component, program.k, program.outlier_cost, deadline=deadline))
    left = deadline - time.monotonic()
    if start is not None and (left <= 0 or component.pairs > _MOST_PAIRS):
        return Part(start, cost_of(component, program, start), bound)
    seconds = left if math.isinf(left) else left * min(share, 1.0)
    part = solve_component(component, program, start, seconds)
    if part.rows is None:
        return part
    return replace(part, bound=min(max(part.bound, bound), part.cost))


def _placed(part: Part) -> NDArray[np.int64]:
    if part.rows is not None:
        return part.rows
    if part.bound == np.iinfo(np.int64).max:
        raise NoSolution(
            "the patterns cannot place all rows in classes of k, and outliers are not allowed",
            advice="Allow more patterns, lower k, or give a policy for outliers.",
        )
    raise LimitReached("no solution was found in time", advice="Allow more time, or use the greedy.")


def _solve_with_stars(
    one: Component,
    answer: list[tuple[Component, NDArray[np.int64]]],
    program: Program,
    limits: Limits,
    bound: int,
) -> Part:
    """The whole problem with a class of all stars, from the components' answer made feasible."""
    start = _with_enough_outliers(one, _joined(one, answer), program)
    cost = cost_of(one, program, start)
    left = limits.deadline - time.monotonic()
    if cost == bound or left <= 0 or one.pairs > _MOST_PAIRS:
        return Part(start, cost, min(bound, cost))
    return solve_component(one, program, start, left)


def _joined(one: Component, answer: list[tuple[Component, NDArray[np.int64]]]) -> NDArray[np.int64]:
    """The components' rows as rows of the one component that holds them all."""
    size = int(one.originals.max()) + 1
    keys = one.cells[one.places] * size + one.originals[one.bounds[:-1]][one.types]
    order = np.argsort(keys)
    rows = np.zeros(one.pairs, np.int64)
    for component, taken in answer:
        first = component.originals[component.bounds[:-1]][component.types]
        own = component.cells[component.places] * size + first
        rows[order[np.searchsorted(keys[order], own)]] = taken
    return rows


def _with_enough_outliers(one: Component, rows: NDArray[np.int64], program: Program) -> NDArray[np.int64]:
    """Rows taken out until k are outliers: what cells can spare, dearest first; else the smallest cell."""
    rows = rows.copy()
    missing = program.k - int(one.rows.sum() - rows.sum()) - (program.star_rows or 0)
    held = np.bincount(one.places, weights=rows, minlength=len(one.costs)).astype(np.int64)
    if np.maximum(held - program.k, 0).sum() < missing:
        open_cells = np.flatnonzero(held)
        loss = held[open_cells] * (program.outlier_cost - one.costs[open_cells])
        rows[one.places == open_cells[np.argmin(loss)]] = 0
        return rows
    for pair in np.argsort(-one.costs[one.places], kind="stable"):
        cell = one.places[pair]
        taken = min(missing, int(rows[pair]), max(int(held[cell]) - program.k, 0))
        rows[pair] -= taken
        held[cell] -= taken
        missing -= taken
        if not missing:
            break
    return rows


def _expanded(
    reduced: Reduced, answer: list[tuple[Component, NDArray[np.int64]]], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows by row type and cell; ``_NO_CELL`` for outliers.

    The rows of a part type lie in a line, once by row type and once by cell; the pieces between the marks of
    both belong to one row type and one cell.
    """
    types, cells, rows = [reduced.placeless], [np.full(len(reduced.placeless), _NO_CELL)], []
    rows.append(counts[reduced.placeless])
    for component, taken in answer:
        left = component.rows - np.bincount(component.types, weights=taken, minlength=len(component.rows))
        of_part = np.concatenate([component.types, np.arange(len(component.rows))])
        of_cell = np.concatenate([component.cells[component.places], np.full(len(left), _NO_CELL)])
        length = np.concatenate([taken, left.astype(np.int64)])
        order = np.argsort(of_part, kind="stable")
        by_type, by_cell = np.cumsum(counts[component.originals]), np.cumsum(length[order])
        ends = np.union1d(by_type, by_cell)
        ends = ends[ends > 0]
        types.append(component.originals[np.searchsorted(by_type, ends)])
        cells.append(of_cell[order][np.searchsorted(by_cell, ends)])
        rows.append(np.diff(ends, prepend=0))
    return (
        np.concatenate(types).astype(np.int64),
        np.concatenate(cells).astype(np.int64),
        np.concatenate(rows).astype(np.int64),
    )
