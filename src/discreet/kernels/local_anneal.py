"""Compiled annealing of classes: small moves of rows between near classes, at a heat that falls to nothing.

A *unit* is what moves: one row, or a whole row type where sensitive values must stay with it. A step picks a
unit, the one whose class loses more of two, and one of the units near it, and weighs one move:

* *shift* the unit to the other's class, where its own can do without it,
* else *swap* it with a unit of that class,
* rarely *found* a class of it and near units that their classes can spare,
* rarely *dissolve* its class, each unit going to the best of some near classes.

A move that lowers the loss is made, and one that raises it by x with probability exp(−x / heat) (Metropolis
and others 1953; Kirkpatrick, Gelatt and Vecchi 1983), so classes escape from where single moves would leave
them. Every class meets the requirement before and after every step. Loss is what a class loses per row, times
its rows.

Cost: about a microsecond per step. ``kernels.local_anneal_twin`` does the same in plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.local_chains import (
    Classes,
    UnitTable,
    Work,
    diverse,
    loss_after,
    loss_joined,
    move,
    spares,
)
from discreet.kernels.local_greedy import Values
from discreet.kernels.local_jit import compiled_lean
from discreet.kernels.local_trees import Trees

Array = NDArray[Any]
FOUND, DISSOLVE = 0.05, 0.1
TRIED = 16
_LEFT, _RIGHT, _LAST, _DROPPED = np.uint64(13), np.uint64(7), np.uint64(17), np.uint64(11)
_UNIT = 1.0 / 2**53


@compiled_lean
def draw(state: Array) -> float:
    """The next number from 0 to below 1 (Marsaglia's xorshift of 64 bits); ``state``: a word, never 0."""
    x = state[0]
    x ^= x << _LEFT
    x ^= x >> _RIGHT
    x ^= x << _LAST
    state[0] = x
    # 53 bits are what a double holds: every value is exact, and 1 is never reached.
    return np.float64(x >> _DROPPED) * _UNIT


@compiled_lean
def near_unit(u: int, share: float, table: UnitTable, state: Array) -> int:
    """A unit of a near row type, -1 where there is none; ``share`` from 0 to 1 picks in the list."""
    kind = np.int64(table.near[table.kind[u], np.int64(share * table.near.shape[1])])
    if kind < 0:
        return -1
    first, end = table.start[kind], table.start[kind + 1]
    return int(first + np.int64(draw(state) * (end - first)))


@compiled_lean
def undo(moves: int, work: Work, table: UnitTable, classes: Classes, trees: Trees) -> None:
    """Take the last moves back, latest first."""
    for at in range(moves - 1, -1, -1):
        move(work.moved[at], work.source[at], work, table, classes, trees)


@compiled_lean
def exchange(
    u: int,
    other: int,
    tolerated: float,
    need: int,
    work: Work,
    table: UnitTable,
    classes: Classes,
    values: Values,
    trees: Trees,
) -> None:
    """Shift unit u into the class ``other``, or swap it with one of its units, where that is tolerated."""
    c = classes.slot[u]
    rise = -(classes.size[c] * classes.loss[c] + classes.size[other] * classes.loss[other])
    if spares(c, u, work.none, need, table, classes, values):
        joined = loss_joined(other, u, table, classes, work.wide, trees)
        rise += (classes.size[other] + table.rows[u]) * joined
        if rise <= tolerated:
            left = loss_after(c, u, work.none, table, classes, work.wide, trees)
            rise += (classes.size[c] - table.rows[u]) * left
            if rise <= tolerated:
                move(u, other, work, table, classes, trees)
        return
    # Any unit of the class: they have no index, so the chain is walked, round and round.
    v = classes.head[other]
    for _ in range(np.int64(draw(work.state) * classes.size[other])):
        v = classes.after[v]
        if v < 0:
            v = classes.head[other]
    more = table.rows[u] - table.rows[v]
    rise += (classes.size[other] + more) * loss_after(other, v, u, table, classes, work.wide, trees)
    if rise > tolerated:
        return
    rise += (classes.size[c] - more) * loss_after(c, u, v, table, classes, work.wide, trees)
    if (
        rise <= tolerated
        and spares(c, u, v, need, table, classes, values)
        and spares(other, v, u, need, table, classes, values)
    ):
        move(u, other, work, table, classes, trees)
        move(v, c, work, table, classes, trees)


@compiled_lean
def found(
    u: int,
    empty: int,
    tolerated: float,
    need: int,
    work: Work,
    table: UnitTable,
    classes: Classes,
    values: Values,
    trees: Trees,
) -> int:
    """Found a class of unit u and near units that can be spared, where tolerated; the slots still empty."""
    if empty == 0 or not spares(classes.slot[u], u, work.none, need, table, classes, values):
        return empty
    to = work.empty[empty - 1]
    # Noted, so that all moves can be taken back where no class comes of them.
    work.moved[0] = u
    work.source[0] = classes.slot[u]
    rise = move(u, to, work, table, classes, trees)
    moves = 1
    done = False
    for m in range(table.near.shape[1]):
        kind = np.int64(table.near[table.kind[u], m])
        if kind < 0 or done:
            break
        for v in range(table.start[kind], table.start[kind + 1]):
            c = classes.slot[v]
            if c == to or moves == len(work.moved):
                continue
            if not spares(c, v, work.none, need, table, classes, values):
                continue
            if loss_joined(to, v, table, classes, work.wide, trees) == np.inf:
                continue
            work.moved[moves] = v
            work.source[moves] = c
            moves += 1
            rise += move(v, to, work, table, classes, trees)
            if classes.size[to] >= need and diverse(to, work.none, work.none, table, classes, values):
                done = True
                break
    if not done and classes.size[to] >= need:
        done = diverse(to, work.none, work.none, table, classes, values)
    if done and rise <= tolerated:
        return empty - 1
    undo(moves, work, table, classes, trees)
    return empty


@compiled_lean
def dissolve(
    c: int,
    empty: int,
    tolerated: float,
    work: Work,
    table: UnitTable,
    classes: Classes,
    trees: Trees,
) -> int:
    """Send each unit of class c to the best of some near classes, where tolerated; the slots still empty."""
    moves = 0
    rise = 0.0
    while classes.head[c] >= 0:
        u = classes.head[c]
        best = -1
        least = np.inf
        for _ in range(TRIED):
            v = near_unit(u, draw(work.state), table, work.state)
            to = classes.slot[v] if v >= 0 else -1
            if to < 0 or (to == c) | (to == best):
                continue
            joined = loss_joined(to, u, table, classes, work.wide, trees)
            more = joined * (classes.size[to] + table.rows[u]) - classes.loss[to] * classes.size[to]
            if more < least:
                least = more
                best = to
        if best < 0 or moves == len(work.moved):
            undo(moves, work, table, classes, trees)
            return empty
        work.moved[moves] = u
        work.source[moves] = c
        moves += 1
        rise += move(u, best, work, table, classes, trees)
    if rise <= tolerated:
        work.empty[empty] = c
        return empty + 1
    undo(moves, work, table, classes, trees)
    return empty


@compiled_lean
def anneal(
    steps: int,
    heat: float,
    empty: int,
    need: int,
    tolerances: Array,
    work: Work,
    table: UnitTable,
    classes: Classes,
    values: Values,
    trees: Trees,
) -> int:
    """So many steps at a heat that falls evenly to 0; how many slots are empty then.

    ``work.empty`` lists the empty slots, ``empty`` says how many there are.
    """
    number = len(table.kind)
    for step in range(steps):
        tolerated = heat * (1.0 - step / steps) * tolerances[np.int64(draw(work.state) * len(tolerances))]
        u = int(draw(work.state) * number)
        v = int(draw(work.state) * number)
        if classes.loss[classes.slot[v]] > classes.loss[classes.slot[u]]:
            u = v
        c = classes.slot[u]
        kind = draw(work.state)
        if classes.loss[c] == 0.0:
            continue
        if kind < FOUND:
            empty = found(u, empty, tolerated, need, work, table, classes, values, trees)
        elif kind < DISSOLVE:
            if classes.size[c] < work.large:
                empty = dissolve(c, empty, tolerated, work, table, classes, trees)
        else:
            share = draw(work.state)
            v = near_unit(u, share * share, table, work.state)
            other = classes.slot[v] if v >= 0 else -1
            if other >= 0 and other != c:
                exchange(u, other, tolerated, need, work, table, classes, values, trees)
    return empty
