"""Compiled greedy: walk nodes in a given order, take every class that is large enough, go on with the rest.

The loop of a greedy over any list of nodes, each one mask per word of the keys (``kernels.local_trees``):
full domain levels, or the patterns value/* of a pattern-guided search. What makes it fast: the rows that
remain shrink to a few hundred soon, and a node is first counted into a small table without comparing keys.
Two classes that share a slot there can only look larger than they are, so a node whose slots are all too
small is done; else the few members of large slots are counted again, exactly. About 1.5 ns per row type and
node.

Keys of several words are compared by a 64-bit mixture of theirs; should two ever be taken for one, the class
is still as large as it says, and only shows more general values. ``kernels.local_greedy_twin`` is the same in
numpy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled
from discreet.kernels.local_jit import compiled_lean

Array = NDArray[Any]
# Odd, without a pattern in the bits: multiplying spreads keys that differ in few of them.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


class Rest(NamedTuple):
    """Row types that no class has yet: the first so many entries of each array.

    ``keys`` has shape ``(words, row types)``; ``rows`` are clipped at the least size of a class, so sums of
    them never overflow.
    """

    keys: Array
    rows: Array
    types: Array


class Values(NamedTuple):
    """The sensitive values of row types, for the least number of distinct ones that a class must hold.

    Attribute s needs ``least[s]`` and row type t holds ``codes[begins[s, t]:ends[s, t]]``; without an
    attribute nothing is asked. ``seen`` is scratch, one entry per code, and ``turn`` its one-entry counter.
    """

    least: Array
    begins: Array
    ends: Array
    codes: Array
    seen: Array
    turn: Array


class Slots(NamedTuple):
    """Scratch of one walk; ``counts``, ``exact``, ``sums``, ``taken`` are four times as long as the rest."""

    places: Array
    chosen: Array
    following: Array
    mixed: Array
    counts: Array
    exact: Array
    sums: Array
    taken: Array


def slots_for(row_types: int) -> Slots:
    """Scratch for so many row types."""
    wide = 1 << max(6, (4 * row_types - 1).bit_length())
    return Slots(
        places=np.empty(row_types, np.int64),
        chosen=np.empty(row_types, np.int64),
        following=np.empty(row_types, np.int64),
        mixed=np.empty(row_types, np.uint64),
        counts=np.zeros(wide, np.int32),
        exact=np.empty(wide, np.uint64),
        sums=np.zeros(wide, np.int32),
        taken=np.empty(wide, np.int64),
    )


@compiled_lean
def mask_keys(keys: Array, masks: Array, node: int, remaining: int, mixed: Array) -> None:
    """Fill ``mixed`` with what tells a node's classes apart: the masked key, of several words a mixture."""
    mask = masks[node, 0]
    for i in range(remaining):
        mixed[i] = keys[0, i] & mask
    for word in range(1, masks.shape[1]):
        mask = masks[node, word]
        for i in range(remaining):
            x = (mixed[i] ^ (mixed[i] >> _HALF)) * _MIX
            mixed[i] = (x ^ (x >> _HALF)) + (keys[word, i] & mask) * _SPREAD


@compiled
def count_slots(mixed: Array, rows: Array, remaining: int, need: Any, slots: Slots) -> Any:
    """Rows by slot, up to ``need``; the largest of them. Writes each row type's slot to ``places``."""
    bits = 6
    while (1 << bits) < 2 * remaining:
        bits += 1
    slots.counts[: 1 << bits] = 0
    shift = np.uint64(64 - bits)
    # A zero of the type of the counts.
    largest = need - need
    for i in range(remaining):
        place = np.int64((mixed[i] * _SPREAD) >> shift)
        slots.places[i] = place
        count = min(slots.counts[place] + rows[i], need)
        slots.counts[place] = count
        largest = max(largest, count)
    return largest


@compiled
def count_exactly(rest: Rest, remaining: int, need: Any, slots: Slots) -> int:
    """Of the members of large slots, the rows of each class by itself; returns how many members there are.

    Writes the members to ``chosen`` and each one's place in ``sums`` to ``places``.
    """
    members = 0
    for i in range(remaining):
        slots.chosen[members] = i
        members += slots.counts[slots.places[i]] >= need
    bits = 3
    while (1 << bits) < 2 * members:
        bits += 1
    last = (1 << bits) - 1
    shift = np.uint64(64 - bits)
    slots.sums[: last + 1] = 0
    for m in range(members):
        i = slots.chosen[m]
        key = slots.mixed[i]
        place = np.int64((key * _SPREAD) >> shift)
        # A slot without rows is free, whatever key it holds: only the sums are cleared.
        while slots.sums[place] != 0 and slots.exact[place] != key:
            place = (place + 1) & last
        if slots.sums[place] == 0:
            slots.taken[place] = -1
        slots.exact[place] = key
        # Clipped, so that no sum overflows its small type.
        slots.sums[place] = min(slots.sums[place] + rest.rows[i], need)
        slots.places[i] = place
    return members


@compiled
def refuse_uniform(rest: Rest, members: int, need: Any, slots: Slots, values: Values) -> None:
    """Set ``sums`` to 0 for classes with too few distinct values of a sensitive attribute."""
    for m in range(members):
        slots.exact[slots.places[slots.chosen[m]]] = 0
    # A class's members as a chain: ``exact`` holds its start, one above the place in ``chosen``.
    for m in range(members):
        place = slots.places[slots.chosen[m]]
        slots.following[m] = np.int64(slots.exact[place]) - 1
        slots.exact[place] = np.uint64(m + 1)
    for m in range(members):
        place = slots.places[slots.chosen[m]]
        if slots.sums[place] < need or slots.exact[place] != np.uint64(m + 1):
            continue
        for s in range(len(values.least)):
            # A new turn in place of clearing: what an earlier turn has seen counts as not seen.
            values.turn[0] += 1
            distinct = 0
            member = m
            while member >= 0 and distinct < values.least[s]:
                row_type = rest.types[slots.chosen[member]]
                for at in range(values.begins[s, row_type], values.ends[s, row_type]):
                    distinct += values.seen[values.codes[at]] != values.turn[0]
                    values.seen[values.codes[at]] = values.turn[0]
                member = slots.following[member]
            if distinct < values.least[s]:
                slots.sums[place] = 0
                break


@compiled
def take_classes(
    masks: Array,
    need: Any,
    rest: Rest,
    remaining: int,
    classes: int,
    class_of: Array,
    made: Array,
    values: Values,
    slots: Slots,
) -> tuple[int, int]:
    """Walk the nodes ``masks`` (shape ``(nodes, words)``); the row types that remain and the classes so far.

    A class has at least ``need`` rows and the distinct values that ``values`` asks for. Fills ``class_of``
    for the row types that are placed and ``made`` with each node's number of classes; ``rest`` keeps the
    others at its front, in their order, so that a walk goes on where it stopped.
    """
    for node in range(len(masks)):
        if remaining == 0:
            break
        mask_keys(rest.keys, masks, node, remaining, slots.mixed)
        if count_slots(slots.mixed, rest.rows, remaining, need, slots) < need:
            continue
        members = count_exactly(rest, remaining, need, slots)
        if len(values.least) > 0:
            refuse_uniform(rest, members, need, slots, values)
        before = classes
        for m in range(members):
            i = slots.chosen[m]
            place = slots.places[i]
            if slots.sums[place] >= need:
                if slots.taken[place] < 0:
                    slots.taken[place] = classes
                    classes += 1
                class_of[rest.types[i]] = slots.taken[place]
                # Placed: ``close_ranks`` drops what has no rows.
                rest.rows[i] = 0
        made[node] = classes - before
        if classes > before:
            remaining = close_ranks(rest, remaining)
    return remaining, classes


@compiled
def close_ranks(rest: Rest, remaining: int) -> int:
    """Move the row types that still have rows to the front; how many they are."""
    for word in range(len(rest.keys)):
        kept = 0
        for i in range(remaining):
            rest.keys[word, kept] = rest.keys[word, i]
            kept += rest.rows[i] != 0
    kept = 0
    for i in range(remaining):
        rest.types[kept] = rest.types[i]
        rows = rest.rows[i]
        rest.rows[kept] = rows
        kept += rows != 0
    return kept
