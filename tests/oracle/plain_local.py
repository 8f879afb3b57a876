"""Oracle: local recoding in plain Python: the greedy, and the least loss over all partitions.

Tables must be tiny.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

from discreet.model.frequency_set import FrequencySet

Holds = Callable[[Sequence[int]], bool]
Levels = tuple[int, ...]


def value_at(frequency_set: FrequencySet, row_type: int, attribute: int, level: int) -> int:
    hierarchy = frequency_set.hierarchies[attribute]
    return int(hierarchy.level_map(level)[frequency_set.codes[row_type, attribute]])


def cell_loss(frequency_set: FrequencySet, row_type: int, attribute: int, level: int) -> Fraction:
    """Compute (m − 1)/D by counting the leaves under the cell; NULL below the top is a leaf of its own."""
    hierarchy = frequency_set.hierarchies[attribute]
    leaves = len(hierarchy.leaves)
    value = value_at(frequency_set, row_type, attribute, level)
    covered = sum(1 for leaf in range(leaves) if int(hierarchy.level_map(level)[leaf]) == value)
    return Fraction(max(covered, 1) - 1, leaves)


def levels_of(frequency_set: FrequencySet, members: Sequence[int], low: Levels) -> Levels:
    """Return the lowest levels, none below ``low``, at which all members agree."""
    return tuple(
        next(
            level
            for level in range(low[i], hierarchy.height + 1)
            if len({value_at(frequency_set, t, i, level) for t in members}) == 1
        )
        for i, hierarchy in enumerate(frequency_set.hierarchies)
    )


def class_loss(frequency_set: FrequencySet, members: Sequence[int], low: Levels) -> Fraction:
    """Return the loss of one row of a class."""
    levels = levels_of(frequency_set, members, low)
    return sum(
        (cell_loss(frequency_set, members[0], i, level) for i, level in enumerate(levels)), start=Fraction(0)
    )


def plain_greedy(
    frequency_set: FrequencySet, holds: Holds, low: Levels, high: Levels
) -> tuple[list[list[int]], list[int]]:
    """Return classes in the order of creation, and the remaining row types.

    Nodes are ordered by mean loss of occurring leaves.
    """
    occurring = [sorted({int(c) for c in frequency_set.codes[:, i]}) for i in range(len(low))]
    first = [
        {c: int((frequency_set.codes[:, i] == c).argmax()) for c in used} for i, used in enumerate(occurring)
    ]

    def cost(node: Levels) -> Fraction:
        return sum(
            (
                sum(
                    (cell_loss(frequency_set, first[i][c], i, level) for c in occurring[i]), start=Fraction(0)
                )
                / len(occurring[i])
                for i, level in enumerate(node)
            ),
            start=Fraction(0),
        )

    nodes = sorted(product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))), key=cost)
    rest, classes = list(range(frequency_set.row_types)), []
    for node in nodes:
        groups = defaultdict(list)
        for t in rest:
            groups[tuple(value_at(frequency_set, t, i, level) for i, level in enumerate(node))].append(t)
        taken = [group for group in groups.values() if holds(group)]
        classes += taken
        rest = [t for t in rest if not any(t in group for group in taken)]
    return classes, rest


def partitions(items: Sequence[int], least: int) -> Iterator[list[list[int]]]:
    """Return every partition into blocks of at least ``least`` items."""
    if not items:
        yield []
        return
    head, rest = items[0], items[1:]
    for chosen in product((False, True), repeat=len(rest)):
        block = [head, *(x for x, c in zip(rest, chosen, strict=True) if c)]
        if len(block) >= least:
            for others in partitions([x for x, c in zip(rest, chosen, strict=True) if not c], least):
                yield [block, *others]


def least_loss(frequency_set: FrequencySet, k: int, low: Levels, high: Levels) -> Fraction | None:
    """Return the loss of the best recoding of all rows within the levels; None if there is none."""
    rows = [t for t, count in enumerate(frequency_set.counts.tolist()) for _ in range(count)]
    best: Fraction | None = None
    for blocks in partitions(range(len(rows)), k):
        members = [[rows[r] for r in block] for block in blocks]
        levels = [levels_of(frequency_set, block, low) for block in members]
        if all(a <= b for node in levels for a, b in zip(node, high, strict=True)):
            loss = sum((len(m) * class_loss(frequency_set, m, low) for m in members), start=Fraction(0))
            best = loss if best is None else min(best, loss)
    return best
