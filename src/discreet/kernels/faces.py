"""A lattice in two faces: an attribute at its lowest level, and above it.

They are evaluated one after the other where the keys of the whole have no sections.

Several columns of millions of values each leave no room in a key for the numbers of tuples (``sections``).
The attribute of most values is the cause at its lowest level only. At that level it is treated first, where a
key has most room; above it has fewer values, and row types that have become equal are merged. Attributes that
are left with a single level become one attribute, of no more values than there are row types. So each face
has smaller keys than the whole, and the last ones have sections.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms
from discreet.kernels.plan import RotationPlan, Tail, field_of, order_attributes, plan_rotation

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Face:
    """A plan of a part of a lattice, the sensitive values of its row types, and its nodes in the whole."""

    plan: RotationPlan
    bits: NDArray[np.uint64] | None
    nodes: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Table:
    """Row types: a column of ordinals by attribute, and the ordinals of each level."""

    columns: list[NDArray[np.int64]]
    levels: list[list[NDArray[np.int64]]]
    counts: NDArray[np.int64]
    bits: NDArray[np.uint64] | None
    added: bool


def faces_of(plan: RotationPlan, bits: NDArray[np.uint64] | None, *, added: bool) -> tuple[Face, Face]:
    """The two faces of a plan that has no sections.

    ``bits`` are the row types' sensitive values; equal row types' are ``added`` up (rows of each value), or
    joined (sets).
    """
    table = _table(plan, bits, added)
    several = [a for a, levels in enumerate(table.levels) if len(levels) > 1]
    split = max(several, key=lambda a: (len(table.levels[a][0]), -a))
    shape = [len(levels) for levels in table.levels]
    nodes = np.arange(prod(shape)).reshape(shape)
    lowest = (slice(None),) * split + (slice(0, 1),)
    above = (slice(None),) * split + (slice(1, None),)
    return (
        _face(_joined(_from(table, split, 0, 1)), nodes[lowest].ravel()),
        _face(_merged(_from(table, split, 1, len(table.levels[split]))), nodes[above].ravel()),
    )


def join_faces(nodes: int, parts: list[tuple[Face, Histograms]]) -> Histograms:
    """The histograms of the whole lattice from those of its faces."""
    first = parts[0][1]
    small: Array = np.empty((nodes, first.small.shape[1]), np.result_type(*(h.small for _, h in parts)))
    classes, starts, stops = (np.empty(nodes, np.int64) for _ in range(3))
    offset = 0
    for face, found in parts:
        small[face.nodes], classes[face.nodes] = found.small, found.classes
        starts[face.nodes], stops[face.nodes] = found.starts + offset, found.stops + offset
        offset += len(found.rows)
    return Histograms(
        classes=classes,
        small=small,
        starts=starts,
        stops=stops,
        signatures=np.concatenate([found.signatures for _, found in parts], axis=1),
        rows=np.concatenate([found.rows for _, found in parts]),
        partial=first.partial,
    )


def _table(plan: RotationPlan, bits: NDArray[np.uint64] | None, added: bool) -> _Table:
    columns: list[NDArray[np.int64]] = [np.zeros(0, np.int64)] * len(plan.order)
    levels: list[list[NDArray[np.int64]]] = [[]] * len(plan.order)
    for position, attribute in enumerate(plan.order):
        columns[attribute] = field_of(plan, plan.keys, position).astype(np.int64)
        found = [plan.steps[position][0].astype(np.int64)]
        for step in plan.steps[position][1:]:
            found.append(step.astype(np.int64)[found[-1]])
        levels[attribute] = found
    return _Table(columns, levels, plan.counts, bits, added)


def _from(table: _Table, attribute: int, low: int, stop: int) -> _Table:
    """The table with levels ``low`` to ``stop`` of an attribute as all of its levels."""
    columns, levels = list(table.columns), list(table.levels)
    at = levels[attribute][low]
    columns[attribute] = at[columns[attribute]]
    first = np.flatnonzero(np.diff(at, prepend=-1))
    levels[attribute] = [level[first] for level in levels[attribute][low:stop]]
    return _Table(columns, levels, table.counts, table.bits, table.added)


def _joined(table: _Table) -> _Table:
    """The attributes of a single level as one: the first holds their tuples, the others have one value."""
    single = [a for a, levels in enumerate(table.levels) if len(levels) == 1 and len(levels[0]) > 1]
    if len(single) < 2:
        return table
    columns, levels = list(table.columns), list(table.levels)

    def paired(tuples: NDArray[np.int64], attribute: int) -> NDArray[np.int64]:
        pairs = tuples * len(levels[attribute][0]) + columns[attribute]
        places: NDArray[np.int64] = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
        return places

    tuples = reduce(paired, single[1:], columns[single[0]])
    for attribute in single[1:]:
        columns[attribute], levels[attribute] = np.zeros_like(tuples), [np.zeros(1, np.int64)]
    columns[single[0]], levels[single[0]] = tuples, [np.arange(int(tuples.max(initial=0)) + 1)]
    return _Table(columns, levels, table.counts, table.bits, table.added)


def _merged(table: _Table) -> _Table:
    """Equal row types as one."""
    sequence = np.lexsort(table.columns)
    fresh = np.zeros(len(sequence), np.bool_)
    fresh[:1] = True
    columns = [column[sequence] for column in table.columns]
    for column in columns:
        fresh[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(fresh)
    bits = None
    if table.bits is not None:
        join = np.add if table.added else np.bitwise_or
        bits = join.reduceat(table.bits[sequence], starts, axis=0)
    return _Table(
        [column[starts] for column in columns],
        table.levels,
        np.add.reduceat(table.counts[sequence], starts),
        bits,
        table.added,
    )


def _face(table: _Table, nodes: NDArray[np.int64]) -> Face:
    """The face of a table: what has a single level and several values is treated first."""
    numbers = [len(levels) for levels in table.levels]
    values = [len(levels[0]) for levels in table.levels]
    first = [a for a in range(len(numbers)) if numbers[a] == 1 and values[a] > 1]
    rest = [a for a in range(len(numbers)) if a not in first]
    order = None
    if first and rest:
        places, tail = order_attributes([numbers[a] for a in rest], [values[a] for a in rest])
        order = (*first, *(rest[place] for place in places)), Tail(tail.head + len(first), tail.cells)
    plan = plan_rotation(
        np.stack(table.columns, axis=1), table.counts, table.levels, order, least_key_bits=64
    )
    return Face(plan, None if table.bits is None else table.bits[plan.source], nodes)
