"""Compiled simulated annealing of classes in local recoding.

Metropolis et al. (1953), Kirkpatrick, Gelatt and Vecchi (1983). Near row types are listed first. Classes are
linked chains of units. A step moves or swaps a unit, founds a class or dissolves one; every class meets the
requirement before and after it. About a microsecond per step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.greedy_cover import RequiredValues, mask_keys
from discreet.kernels.local_losses import TreeArrays, compute_spread_loss
from discreet.kernels.local_recoding_twin import CLASSES_TRIED, DISSOLVE_BELOW, FOUND_BELOW
from discreet.kernels.numba_jit import compiled, compiled_without_refcounts

Array = NDArray[Any]
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compiled
def find_near_types(masks: Array, keys: Array, near: Array) -> None:
    """Fill ``near`` (shape ``(row types, most)``, padded with -1) with near row types, nearest first.

    Visits the nodes ``masks`` in turn. A row type whose list is not full inspects the row types that follow
    it in its class of the node, in their order and cyclically, at most twice as many as the list's length,
    and adds the new ones. ``keys`` has shape ``(words, row types)``. Cost: some nanoseconds per node and row
    type.
    """
    number, most = near.shape
    bits = 6
    while (1 << bits) < 2 * number:
        bits += 1
    shift = np.uint64(64 - bits)
    mixed = np.empty(number, np.uint64)
    slot = np.empty(number, np.int64)
    starts = np.empty((1 << bits) + 1, np.int64)
    listed = np.empty(number, np.int64)
    position_of = np.empty(number, np.int64)
    found = np.zeros(number, np.int64)
    near[:] = -1
    for node in range(len(masks)):
        mask_keys(keys, masks, node, number, mixed)
        # Counting sort of the row types by hash slot.
        starts[:] = 0
        for i in range(number):
            slot[i] = np.int64((mixed[i] * _SPREAD) >> shift)
            starts[slot[i] + 1] += 1
        for s in range(len(starts) - 1):
            starts[s + 1] += starts[s]
        for i in range(number):
            listed[starts[slot[i]]] = i
            position_of[i] = starts[slot[i]]
            starts[slot[i]] += 1
        # Now starts[s] is the end of slot s, and starts[s - 1] its start.
        for i in range(number):
            if found[i] < most:
                first = starts[slot[i] - 1] if slot[i] > 0 else 0
                found[i] = scan_slot(i, first, starts[slot[i]], position_of[i], listed, mixed, near, found[i])


@compiled
def scan_slot(
    i: int, first: int, end: int, at: int, listed: Array, mixed: Array, near: Array, number: int
) -> int:
    """Add new row types that follow type ``i`` in its slot to its list; return the list's length."""
    most = near.shape[1]
    looked = 0
    for _ in range(end - first - 1):
        at += 1
        if at == end:
            at = first
        other = listed[at]
        if mixed[other] != mixed[i]:
            continue
        known = False
        for m in range(number):
            known |= near[i, m] == other
        if not known:
            near[i, number] = other
            number += 1
        looked += 1
        if number == most or looked == 2 * most:
            break
    return number


# Typed: a name that is a literal 0 first and a uint64 later has no single type, and numba rejects it.
_NOTHING = np.uint64(0)


class UnitTable(NamedTuple):
    """Constant data of an annealing: keys ``(row types, words)``, leaf codes, near row types, and units.

    ``kind[u]`` is unit u's row type, ``rows[u]`` its rows; row type t's units are ``start[t] … start[t + 1] -
    1``.
    """

    keys: Array
    codes: Array
    near: Array
    kind: Array
    rows: Array
    start: Array


class ClassChains(NamedTuple):
    """Classes as doubly linked chains of units.

    ``slot[u]`` is the class of unit u; ``after`` and ``before`` link the units of a class, beginning at
    ``head``. ``size``, ``spread`` and ``loss`` describe a class; an empty class has head -1.
    """

    slot: Array
    after: Array
    before: Array
    head: Array
    size: Array
    spread: Array
    loss: Array


class AnnealingScratch(NamedTuple):
    """Empty slots and scratch of one annealing.

    A class of ``large`` rows or more is never dissolved. ``none`` is -1, "no unit": as a field it has one
    type, while a literal would make numba compile every function once more.
    """

    large: int
    none: int
    empty: Array
    moved: Array
    source: Array
    wide: Array
    state: Array


@compiled_without_refcounts
def compute_class_spread(
    c: int, left_out: int, added: int, table: UnitTable, classes: ClassChains, wide: Array
) -> int:
    """Write class c's spread without one unit and with another (-1: none) to ``wide``; return a member."""
    member = added
    if member < 0:
        member = classes.head[c]
        if member == left_out:
            member = classes.after[member]
    for word in range(len(wide)):
        base = table.keys[table.kind[member], word]
        bits = _NOTHING
        u = classes.head[c]
        while u >= 0:
            if u != left_out:
                bits |= table.keys[table.kind[u], word] ^ base
            u = classes.after[u]
        wide[word] = bits
    return member


@compiled_without_refcounts
def compute_loss_after(
    c: int, left_out: int, added: int, table: UnitTable, classes: ClassChains, wide: Array, trees: TreeArrays
) -> float:
    """Compute the loss of a row of class c without one unit and with another (-1: none)."""
    member = compute_class_spread(c, left_out, added, table, classes, wide)
    if added < 0:
        same = True
        for word in range(len(wide)):
            same &= wide[word] == classes.spread[c, word]
        if same:
            return np.float64(classes.loss[c])
    return compute_spread_loss(wide, table.codes, table.kind[member], trees)


@compiled_without_refcounts
def compute_joined_loss(
    c: int, u: int, table: UnitTable, classes: ClassChains, wide: Array, trees: TreeArrays
) -> float:
    """Compute the loss of a row of class c after unit u joined; infinite above the greatest levels."""
    kind, member = table.kind[u], table.kind[classes.head[c]]
    same = True
    for word in range(len(wide)):
        bits = classes.spread[c, word] | (table.keys[kind, word] ^ table.keys[member, word])
        same &= bits == classes.spread[c, word]
        wide[word] = bits
    return classes.loss[c] if same else compute_spread_loss(wide, table.codes, kind, trees)


@compiled_without_refcounts
def is_diverse(
    c: int, left_out: int, added: int, table: UnitTable, classes: ClassChains, values: RequiredValues
) -> bool:
    """Return whether class c, without one unit and with another, has enough distinct sensitive values."""
    for s in range(len(values.least)):
        values.turn[0] += 1
        distinct = 0
        u = added if added >= 0 else classes.head[c]
        in_chain = added < 0
        while u >= 0 and distinct < values.least[s]:
            if not in_chain or u != left_out:
                kind = table.kind[u]
                for at in range(values.begins[s, kind], values.ends[s, kind]):
                    distinct += values.seen[values.codes[at]] != values.turn[0]
                    values.seen[values.codes[at]] = values.turn[0]
            # The added unit is visited first, then the chain of the existing ones.
            u = classes.after[u] if in_chain else classes.head[c]
            in_chain = True
        if distinct < values.least[s]:
            return False
    return True


@compiled_without_refcounts
def can_spare(
    c: int, u: int, added: int, need: int, table: UnitTable, classes: ClassChains, values: RequiredValues
) -> bool:
    """Return whether class c meets the requirement without unit u and with another (-1: none)."""
    size = classes.size[c] - table.rows[u]
    if added >= 0:
        size += table.rows[added]
    return size >= need and (len(values.least) == 0 or is_diverse(c, u, added, table, classes, values))


@compiled_without_refcounts
def store_spread(wide: Array, c: int, classes: ClassChains) -> None:
    """Store ``wide`` as the spread of class c."""
    for word in range(len(wide)):
        classes.spread[c, word] = wide[word]


@compiled_without_refcounts
def move_unit(
    u: int, to: int, work: AnnealingScratch, table: UnitTable, classes: ClassChains, trees: TreeArrays
) -> float:
    """Move unit u into class ``to``; return the increase of the loss."""
    c, wide = classes.slot[u], work.wide
    rise = -(classes.size[c] * classes.loss[c] + classes.size[to] * classes.loss[to])
    before, after = classes.before[u], classes.after[u]
    if before >= 0:
        classes.after[before] = after
    else:
        classes.head[c] = after
    if after >= 0:
        classes.before[after] = before
    classes.size[c] -= table.rows[u]
    if classes.head[c] < 0:
        classes.loss[c] = 0.0
        for word in range(len(wide)):
            classes.spread[c, word] = _NOTHING
    else:
        classes.loss[c] = compute_loss_after(c, work.none, work.none, table, classes, wide, trees)
        store_spread(wide, c, classes)
    head = classes.head[to]
    if head < 0:
        classes.head[to] = u
        classes.after[u] = -1
        classes.before[u] = -1
        for word in range(len(wide)):
            wide[word] = _NOTHING
        classes.loss[to] = compute_spread_loss(wide, table.codes, table.kind[u], trees)
    else:
        classes.loss[to] = compute_joined_loss(to, u, table, classes, wide, trees)
        following = classes.after[head]
        classes.after[u] = following
        classes.before[u] = head
        classes.after[head] = u
        if following >= 0:
            classes.before[following] = u
    store_spread(wide, to, classes)
    classes.size[to] += table.rows[u]
    classes.slot[u] = to
    return np.float64(rise + classes.size[c] * classes.loss[c] + classes.size[to] * classes.loss[to])


@compiled_without_refcounts
def build_chains(none: int, table: UnitTable, classes: ClassChains, wide: Array, trees: TreeArrays) -> float:
    """Link the units by their slots and describe the classes; return the total loss."""
    for u in range(len(table.kind)):
        c = classes.slot[u]
        head = classes.head[c]
        classes.after[u] = head
        classes.before[u] = -1
        if head >= 0:
            classes.before[head] = u
        classes.head[c] = u
        classes.size[c] += table.rows[u]
    total = 0.0
    for c in range(len(classes.head)):
        if classes.head[c] >= 0:
            member = compute_class_spread(c, none, none, table, classes, wide)
            store_spread(wide, c, classes)
            classes.loss[c] = compute_spread_loss(wide, table.codes, table.kind[member], trees)
            total += classes.size[c] * classes.loss[c]
    return total


_LEFT, _RIGHT, _LAST, _DROPPED = np.uint64(13), np.uint64(7), np.uint64(17), np.uint64(11)
_UNIT = 1.0 / 2**53


@compiled_without_refcounts
def draw_uniform(state: Array) -> float:
    """Draw a number from 0 to below 1 (Marsaglia's 64-bit xorshift); ``state`` is one word, never 0."""
    x = state[0]
    x ^= x << _LEFT
    x ^= x >> _RIGHT
    x ^= x << _LAST
    state[0] = x
    # A double has 53 bits: every value is exact, and 1 is never reached.
    return np.float64(x >> _DROPPED) * _UNIT


@compiled_without_refcounts
def draw_near_unit(u: int, share: float, table: UnitTable, state: Array) -> int:
    """Draw a unit of a near row type, -1 if there is none; ``share`` from 0 to 1 selects in the list."""
    kind = np.int64(table.near[table.kind[u], np.int64(share * table.near.shape[1])])
    if kind < 0:
        return -1
    first, end = table.start[kind], table.start[kind + 1]
    return int(first + np.int64(draw_uniform(state) * (end - first)))


@compiled_without_refcounts
def undo_moves(
    moves: int, work: AnnealingScratch, table: UnitTable, classes: ClassChains, trees: TreeArrays
) -> None:
    """Undo the last moves, latest first."""
    for at in range(moves - 1, -1, -1):
        move_unit(work.moved[at], work.source[at], work, table, classes, trees)


@compiled_without_refcounts
def exchange_units(
    u: int,
    other: int,
    tolerated: float,
    need: int,
    work: AnnealingScratch,
    table: UnitTable,
    classes: ClassChains,
    values: RequiredValues,
    trees: TreeArrays,
) -> None:
    """Move unit u into class ``other``, or swap it with one of its units, if the increase is tolerated."""
    c = classes.slot[u]
    rise = -(classes.size[c] * classes.loss[c] + classes.size[other] * classes.loss[other])
    # Losses are compared with the tolerance as early as possible: most steps are rejected.
    if can_spare(c, u, work.none, need, table, classes, values):
        joined = compute_joined_loss(other, u, table, classes, work.wide, trees)
        rise += (classes.size[other] + table.rows[u]) * joined
        if rise <= tolerated:
            left = compute_loss_after(c, u, work.none, table, classes, work.wide, trees)
            rise += (classes.size[c] - table.rows[u]) * left
            if rise <= tolerated:
                move_unit(u, other, work, table, classes, trees)
        return
    # A random unit of the class: units have no index, so the chain is walked, cyclically.
    v = classes.head[other]
    for _ in range(np.int64(draw_uniform(work.state) * classes.size[other])):
        v = classes.after[v]
        if v < 0:
            v = classes.head[other]
    more = table.rows[u] - table.rows[v]
    rise += (classes.size[other] + more) * compute_loss_after(other, v, u, table, classes, work.wide, trees)
    if rise > tolerated:
        return
    rise += (classes.size[c] - more) * compute_loss_after(c, u, v, table, classes, work.wide, trees)
    if (
        rise <= tolerated
        and can_spare(c, u, v, need, table, classes, values)
        and can_spare(other, v, u, need, table, classes, values)
    ):
        move_unit(u, other, work, table, classes, trees)
        move_unit(v, c, work, table, classes, trees)


@compiled_without_refcounts
def found_class(
    u: int,
    empty: int,
    tolerated: float,
    need: int,
    work: AnnealingScratch,
    table: UnitTable,
    classes: ClassChains,
    values: RequiredValues,
    trees: TreeArrays,
) -> int:
    """Found a class of unit u and spare near units if tolerated; return the number of empty slots."""
    if empty == 0 or not can_spare(classes.slot[u], u, work.none, need, table, classes, values):
        return empty
    to = work.empty[empty - 1]
    # Recorded, so that all moves can be undone if no valid class results.
    work.moved[0] = u
    work.source[0] = classes.slot[u]
    rise = move_unit(u, to, work, table, classes, trees)
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
            if not can_spare(c, v, work.none, need, table, classes, values):
                continue
            if compute_joined_loss(to, v, table, classes, work.wide, trees) == np.inf:
                continue
            work.moved[moves] = v
            work.source[moves] = c
            moves += 1
            rise += move_unit(v, to, work, table, classes, trees)
            if classes.size[to] >= need and is_diverse(to, work.none, work.none, table, classes, values):
                done = True
                break
    if not done and classes.size[to] >= need:
        done = is_diverse(to, work.none, work.none, table, classes, values)
    if done and rise <= tolerated:
        return empty - 1
    undo_moves(moves, work, table, classes, trees)
    return empty


@compiled_without_refcounts
def dissolve_class(
    c: int,
    empty: int,
    tolerated: float,
    work: AnnealingScratch,
    table: UnitTable,
    classes: ClassChains,
    trees: TreeArrays,
) -> int:
    """Move each unit of class c to the best of some near classes if tolerated; return the empty slots."""
    moves = 0
    rise = 0.0
    while classes.head[c] >= 0:
        u = classes.head[c]
        best = -1
        least = np.inf
        for _ in range(CLASSES_TRIED):
            v = draw_near_unit(u, draw_uniform(work.state), table, work.state)
            to = classes.slot[v] if v >= 0 else -1
            if to < 0 or (to == c) | (to == best):
                continue
            joined = compute_joined_loss(to, u, table, classes, work.wide, trees)
            more = joined * (classes.size[to] + table.rows[u]) - classes.loss[to] * classes.size[to]
            if more < least:
                least = more
                best = to
        if best < 0 or moves == len(work.moved):
            undo_moves(moves, work, table, classes, trees)
            return empty
        work.moved[moves] = u
        work.source[moves] = c
        moves += 1
        rise += move_unit(u, best, work, table, classes, trees)
    if rise <= tolerated:
        work.empty[empty] = c
        return empty + 1
    undo_moves(moves, work, table, classes, trees)
    return empty


@compiled_without_refcounts
def anneal(
    steps: int,
    heat: float,
    empty: int,
    need: int,
    tolerances: Array,
    work: AnnealingScratch,
    table: UnitTable,
    classes: ClassChains,
    values: RequiredValues,
    trees: TreeArrays,
) -> int:
    """Run ``steps`` steps at a temperature that decreases linearly to 0; return the number of empty slots.

    ``work.empty`` lists the empty slots, ``empty`` is their number. A unit of the class with the larger loss
    of two random units is chosen. ``tolerances`` are draws of −ln(u) (the Metropolis rule).
    """
    number = len(table.kind)
    for step in range(steps):
        tolerated = (
            heat * (1.0 - step / steps) * tolerances[np.int64(draw_uniform(work.state) * len(tolerances))]
        )
        u = int(draw_uniform(work.state) * number)
        v = int(draw_uniform(work.state) * number)
        if classes.loss[classes.slot[v]] > classes.loss[classes.slot[u]]:
            u = v
        c = classes.slot[u]
        kind = draw_uniform(work.state)
        if classes.loss[c] == 0.0:
            continue
        if kind < FOUND_BELOW:
            empty = found_class(u, empty, tolerated, need, work, table, classes, values, trees)
        elif kind < DISSOLVE_BELOW:
            if classes.size[c] < work.large:
                empty = dissolve_class(c, empty, tolerated, work, table, classes, trees)
        else:
            share = draw_uniform(work.state)
            v = draw_near_unit(u, share * share, table, work.state)
            other = classes.slot[v] if v >= 0 else -1
            if other >= 0 and other != c:
                exchange_units(u, other, tolerated, need, work, table, classes, values, trees)
    return empty
