"""Rows in classes below a size, at some nodes alone: the rotation without histograms.

The states are those of ``kernels.rotation``; of a node's classes nothing is kept but three sums: the rows in
classes below a size, the number of the others, and their squared sizes. So a node of few groups takes a
fraction of what its histogram would.

Cost: about 2 to 4 ns per group of a state. The oracle is the numpy twin of all nodes.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.chosen_nodes import ROLL_UP, ROTATE, ChosenNodes
from discreet.kernels.jit import compiled
from discreet.kernels.rotation import roll_up, rotate

Array = NDArray[Any]


@compiled
def sum_sizes(counts: Array, groups: int, least: Any, sums: Array) -> None:
    """The rows in classes below ``least``, the other classes, and the squares of their sizes."""
    below = np.uint64(0)
    classes = np.int64(0)
    squares = np.uint64(0)
    nothing = np.uint64(0)
    for i in range(groups):
        size = np.uint64(counts[i])
        small = size < least
        below += size if small else nothing
        squares += nothing if small else size * size
        classes += not small
    sums[0] = np.int64(below)
    sums[1] = classes
    sums[2] = np.int64(squares)


@compiled
def execute_sums(
    program: Array,
    keys: Array,
    counts: Array,
    fields: Array,
    shifts: Array,
    steps: Array,
    step_rows: Array,
    place: Array,
    digits: Array,
    least: Any,
    found: Array,
) -> None:
    """Run a program; ``keys[0]`` and ``counts[0]`` are full of row types, the other rows are buffers.

    ``steps[step_rows[p] + s]`` is position p's step s, shifted into its field; ``digits[p]`` its ordinals.
    """
    groups = np.zeros(len(keys), np.int64)
    groups[0] = keys.shape[1]
    for operation in range(len(program)):
        kind, buffer, what, more = program[operation]
        if kind == ROLL_UP:
            groups[buffer] = roll_up(
                keys[buffer],
                counts[buffer],
                None,
                groups[buffer],
                ~fields[what],
                shifts[what],
                steps[step_rows[what] + more],
            )
        elif kind == ROTATE:
            rotate(
                keys[buffer],
                counts[buffer],
                None,
                groups[buffer],
                keys[more],
                counts[more],
                None,
                fields[what],
                shifts[what],
                place[: digits[what] + 1],
            )
            groups[more] = groups[buffer]
        else:
            sum_sizes(counts[buffer], groups[buffer], least, found[what])


def small_classes(chosen: ChosenNodes, least: int, *, threads: int = 1) -> NDArray[np.int64]:
    """The three sums of each node, shape ``(nodes, 3)``, for classes below ``least`` rows."""
    plan = chosen.plan
    key: Any = np.uint32 if plan.key_bits == 32 else np.uint64
    count: Any = np.uint32 if int(plan.counts.sum()) < 2**32 else np.uint64
    keys, counts = plan.keys[0].astype(key), plan.counts.astype(count)
    rows = [step << np.uint64(s) for s, steps in zip(plan.shift, chosen.steps, strict=True) for step in steps]
    table = np.zeros((len(rows), max((len(row) for row in rows), default=1)), key)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    digits = np.array([sizes[0] for sizes in plan.sizes], np.int64)
    fields = np.array([((1 << b) - 1) << s for b, s in zip(plan.bits, plan.shift, strict=True)], key)
    step_rows = np.cumsum([0, *(len(steps) for steps in chosen.steps)])
    found = np.zeros((chosen.nodes, 3), np.int64)

    def run(program: NDArray[np.int64]) -> None:
        own_keys = np.empty((len(plan.order) + 1, len(keys)), key)
        own_counts = np.empty((len(plan.order) + 1, len(keys)), count)
        own_keys[0], own_counts[0] = keys, counts
        place = np.zeros(int(digits.max(initial=1)) + 2, np.int64)
        execute_sums(
            program,
            own_keys,
            own_counts,
            fields,
            np.array(plan.shift, key),
            table,
            step_rows,
            place,
            digits,
            np.uint64(max(least, 1)),
            found,
        )

    if threads == 1 or len(chosen.programs) == 1:
        for program in chosen.programs:
            run(program)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, chosen.programs))
    return found
