"""Oracle: the metrics of a release by their definitions, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import inf, isclose, log2, prod

import numpy as np

from discreet.model.hierarchy import GeneralizationHierarchy

Cell = frozenset[int]
"""The leaf codes that a cell covers; NULL is the number of leaves."""
Original = Sequence[tuple[int, ...]]
Release = Sequence[tuple[Cell, ...]]


def everything(hierarchies: Sequence[GeneralizationHierarchy]) -> tuple[Cell, ...]:
    """Return the cells of a suppressed row."""
    return tuple(frozenset(range(len(h.leaves) + 1)) for h in hierarchies)


def leaves_of(cell: Cell, hierarchy: GeneralizationHierarchy) -> int:
    """Return the leaves that a cell covers; a cell of only NULL counts one."""
    return max(1, len(cell - {hierarchy.null_code}))


def loss(rows: Release, hierarchies: Sequence[GeneralizationHierarchy]) -> float:
    found = 1.0
    for i, h in enumerate(hierarchies):
        whole = len(h.leaves)
        mean = sum(leaves_of(row[i], h) / whole for row in rows) / len(rows)
        found *= 1.0 + ((mean - 1 / whole) / (1 - 1 / whole) if whole > 1 else 0.0)
    return float(found ** (1 / len(hierarchies)) - 1)


def granularity(rows: Release, hierarchies: Sequence[GeneralizationHierarchy]) -> float:
    lost = sum((leaves_of(r[i], h) - 1) / len(h.leaves) for r in rows for i, h in enumerate(hierarchies))
    most = len(rows) * sum(1 - 1 / len(h.leaves) for h in hierarchies)
    return 1 - lost / most if most else 1.0


def certainty_penalty(rows: Release, hierarchies: Sequence[GeneralizationHierarchy]) -> float:
    total = 0.0
    for i, h in enumerate(hierarchies):
        try:
            numbers: list[float] | None = [float(leaf) for leaf in h.leaves]
        except ValueError:
            numbers = None
        for row in rows:
            held = row[i] - {h.null_code}
            if numbers is None:
                total += len(held) / len(h.leaves) if len(held) > 1 else 0.0
            elif held and max(numbers) > min(numbers):
                inside = [numbers[code] for code in held]
                total += (max(inside) - min(inside)) / (max(numbers) - min(numbers))
    return total


def entropy(original: Original, rows: Release) -> float:
    """Compute the entropy; it depends only on published cells and leaf counts, so rows need not be linked."""
    found = 0.0
    for i in range(len(original[0])):
        column = [row[i] for row in original]
        occurring = Counter(column)
        found += sum(log2(sum(code in row[i] for code in column)) for row in rows)
        found -= sum(log2(occurring[code]) for code in column)
    return found / len(original)


def divergence(original: Original, rows: Release, hierarchies: Sequence[GeneralizationHierarchy]) -> float:
    nullable = [any(row[i] == h.null_code for row in original) for i, h in enumerate(hierarchies)]
    spread: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        cells = [
            cell if nullable[i] or cell == {h.null_code} else cell - {h.null_code}
            for i, (cell, h) in enumerate(zip(row, hierarchies, strict=True))
        ]
        for codes in product(*cells):
            spread[codes] += 1 / prod(len(cell) for cell in cells)
    found = 0.0
    for codes, number in Counter(original).items():
        p, q = number / len(original), spread[codes] / len(original)
        if isclose(q, 0.0):
            return inf
        found += p * log2(p / q)
    return found


def ambiguity(rows: Release, hierarchies: Sequence[GeneralizationHierarchy]) -> float:
    return sum(
        prod(leaves_of(cell, h) for cell, h in zip(row, hierarchies, strict=True)) for row in rows
    ) / len(rows)


Groups = Sequence[Sequence[tuple[int, ...]]]
"""The original rows of each class; suppressed rows form a class too."""


def usefulness(
    groups: Groups,
    original: Original,
    hierarchies: Sequence[GeneralizationHierarchy],
    numeric: Sequence[bool] | None = None,
) -> float:
    """Compute definition 5 of the paper: each class, whose rows are given, counts once."""
    numbers = numeric or [h.leaves[0].lstrip("-").isdecimal() for h in hierarchies]
    return sum(_apart(group, original, hierarchies, numbers) for group in groups) / max(len(groups), 1)


def ways_to_make(original: Original, rows: Release) -> list[Groups]:
    """Return every way in which the rows of a release may have been derived from the original's."""
    found: list[dict[tuple[Cell, ...] | None, list[tuple[int, ...]]]] = [{}]
    left: list[tuple[tuple[int, ...], ...]] = [tuple(original)]
    for row in rows:
        ways = [
            (other, whole[:place] + whole[place + 1 :], whole[place])
            for other, whole in zip(found, left, strict=True)
            for place in range(len(whole))
            if all(code in cell for code, cell in zip(whole[place], row, strict=True))
        ]
        found = [{**other, row: [*other.get(row, []), taken]} for other, _, taken in ways]
        left = [rest for _, rest, _ in ways]
    return [[*groups.values(), *([rest] if rest else [])] for groups, rest in zip(found, left, strict=True)]


def _apart(
    group: Sequence[tuple[int, ...]],
    original: Original,
    hierarchies: Sequence[GeneralizationHierarchy],
    numeric: Sequence[bool],
) -> float:
    found = 0.0
    for i, h in enumerate(hierarchies):
        here, whole = {row[i] for row in group}, {row[i] for row in original}
        if not numeric[i]:
            found += len(here) / len(whole)
            continue
        values = [float(h.leaves[code]) for code in here if code != h.null_code]
        domain = [float(h.leaves[code]) for code in whole if code != h.null_code]
        if values and max(domain) > min(domain):
            found += (max(values) - min(values)) / (max(domain) - min(domain))
    return found


def precision(rows: Release, suppressed: int, hierarchies: Sequence[GeneralizationHierarchy]) -> float:
    """Compute precision from an attribute's level or, without one, from each cell's lowest possible level."""
    lost = 0.0
    for i, h in enumerate(hierarchies):
        one = level_of([row[i] for row in rows], h)
        lost += suppressed * (h.height > 0)
        for row in rows:
            if row[i] != {h.null_code} and h.height:
                above = (
                    level
                    for level in range(h.height + 1)
                    if len({int(h.level_map(level)[code]) for code in row[i]}) == 1
                )
                lost += (next(above) if one is None else one) / h.height
    return 1 - lost / ((len(rows) + suppressed) * len(hierarchies))


def level_of(cells: Sequence[Cell], hierarchy: GeneralizationHierarchy) -> int | None:
    """Return the lowest level at which every cell is one whole value; a cell of NULL is one below the top."""
    null = hierarchy.null_code
    for level in range(hierarchy.height + 1):
        values = {
            frozenset(np.flatnonzero(hierarchy.ancestors[level] == place).tolist())
            for place in range(len(hierarchy.labels[level]))
        }
        top = level == hierarchy.height
        if all((cell - {null} if top else cell) in values or (cell == {null} and not top) for cell in cells):
            return level
    return None
