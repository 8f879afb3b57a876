"""Classes as chains of units: what a move does to them, and what they lose before and after it.

A *unit* is what moves: one row, or a whole row type where sensitive values must stay with it. See
``kernels.local_anneal``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.local_greedy import Values
from discreet.kernels.local_jit import compiled_lean
from discreet.kernels.local_trees import Trees, loss_of_spread

Array = NDArray[Any]
# Typed: a name that is a plain 0 first and a word later would have no type.
_NOTHING = np.uint64(0)


class UnitTable(NamedTuple):
    """What does not change: keys ``(row types, words)``, leaf codes, near row types, and the units.

    ``kind[u]`` is unit u's row type, ``rows[u]`` its rows; row type t's units are
    ``start[t] … start[t + 1] - 1``.
    """

    keys: Array
    codes: Array
    near: Array
    kind: Array
    rows: Array
    start: Array


class Classes(NamedTuple):
    """Classes as chains of units.

    ``slot[u]`` is the class of unit u; ``after`` and ``before`` chain the units of a class from ``head`` on.
    ``size``, ``spread`` and ``loss`` describe a class; an empty one has head -1.
    """

    slot: Array
    after: Array
    before: Array
    head: Array
    size: Array
    spread: Array
    loss: Array


class Work(NamedTuple):
    """The slots that are empty, and scratch of one annealing.

    A class of ``large`` rows or more is never dissolved. ``none`` is -1, "no unit": as a field it has one
    type, where a literal would have every function compiled once more.
    """

    large: int
    none: int
    empty: Array
    moved: Array
    source: Array
    wide: Array
    state: Array


@compiled_lean
def spread_of(c: int, left_out: int, added: int, table: UnitTable, classes: Classes, wide: Array) -> int:
    """Write to ``wide`` the spread of class c without one unit and with another (-1: none); a member."""
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


@compiled_lean
def loss_after(
    c: int, left_out: int, added: int, table: UnitTable, classes: Classes, wide: Array, trees: Trees
) -> float:
    """The loss of a row of class c without one unit and with another."""
    member = spread_of(c, left_out, added, table, classes, wide)
    if added < 0:
        same = True
        for word in range(len(wide)):
            same &= wide[word] == classes.spread[c, word]
        if same:
            return np.float64(classes.loss[c])
    return loss_of_spread(wide, table.codes, table.kind[member], trees)


@compiled_lean
def loss_joined(c: int, u: int, table: UnitTable, classes: Classes, wide: Array, trees: Trees) -> float:
    """The loss of a row of class c once unit u has joined it; infinite above the greatest levels."""
    kind, member = table.kind[u], table.kind[classes.head[c]]
    same = True
    for word in range(len(wide)):
        bits = classes.spread[c, word] | (table.keys[kind, word] ^ table.keys[member, word])
        same &= bits == classes.spread[c, word]
        wide[word] = bits
    return classes.loss[c] if same else loss_of_spread(wide, table.codes, kind, trees)


@compiled_lean
def diverse(c: int, left_out: int, added: int, table: UnitTable, classes: Classes, values: Values) -> bool:
    """Whether class c, without one unit and with another, holds enough distinct sensitive values."""
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
            # The unit that is added comes first, and then the chain of those that are there.
            u = classes.after[u] if in_chain else classes.head[c]
            in_chain = True
        if distinct < values.least[s]:
            return False
    return True


@compiled_lean
def spares(c: int, u: int, added: int, need: int, table: UnitTable, classes: Classes, values: Values) -> bool:
    """Whether class c still meets the requirement without unit u and with another (-1: none)."""
    size = classes.size[c] - table.rows[u]
    if added >= 0:
        size += table.rows[added]
    return size >= need and (len(values.least) == 0 or diverse(c, u, added, table, classes, values))


@compiled_lean
def keep(wide: Array, c: int, classes: Classes) -> None:
    """Note ``wide`` as the spread of class c."""
    for word in range(len(wide)):
        classes.spread[c, word] = wide[word]


@compiled_lean
def move(u: int, to: int, work: Work, table: UnitTable, classes: Classes, trees: Trees) -> float:
    """Move unit u into class ``to``; by how much the loss rises."""
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
        classes.loss[c] = loss_after(c, work.none, work.none, table, classes, wide, trees)
        keep(wide, c, classes)
    head = classes.head[to]
    if head < 0:
        classes.head[to] = u
        classes.after[u] = -1
        classes.before[u] = -1
        for word in range(len(wide)):
            wide[word] = _NOTHING
        classes.loss[to] = loss_of_spread(wide, table.codes, table.kind[u], trees)
    else:
        classes.loss[to] = loss_joined(to, u, table, classes, wide, trees)
        following = classes.after[head]
        classes.after[u] = following
        classes.before[u] = head
        classes.after[head] = u
        if following >= 0:
            classes.before[following] = u
    keep(wide, to, classes)
    classes.size[to] += table.rows[u]
    classes.slot[u] = to
    return np.float64(rise + classes.size[c] * classes.loss[c] + classes.size[to] * classes.loss[to])


@compiled_lean
def settle(none: int, table: UnitTable, classes: Classes, wide: Array, trees: Trees) -> float:
    """Chain the units by their slots and describe the classes; their loss."""
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
            member = spread_of(c, none, none, table, classes, wide)
            keep(wide, c, classes)
            classes.loss[c] = loss_of_spread(wide, table.codes, table.kind[member], trees)
            total += classes.size[c] * classes.loss[c]
    return total
