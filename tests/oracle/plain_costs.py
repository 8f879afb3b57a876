"""Oracle: every cost of a node by its definition, row type by row type, in plain Python."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import log2, prod

from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from tests.oracle.brute_lattice import value_at
from tests.oracle.plain_criteria import fails

Published = tuple[str | None, ...]


def classes_of(table: FrequencySet, node: LatticeNode) -> dict[Published, list[int]]:
    """The row types of each class."""
    found: dict[Published, list[int]] = {}
    for number, codes in enumerate(table.codes.tolist()):
        parts = zip(table.hierarchies, codes, node, strict=True)
        found.setdefault(tuple(value_at(h, code, level) for h, code, level in parts), []).append(number)
    return found


def cost_by_hand(
    name: str,
    table: FrequencySet,
    node: LatticeNode,
    requirement: Requirement,
    weights: dict[str, float] | None = None,
) -> float:
    """The cost of that name; failing classes are suppressed."""
    heights = [len(h.labels) - 1 for h in table.hierarchies]
    factors = [(weights or {}).get(h.attribute, 1.0) for h in table.hierarchies]
    if name == "height":
        return float(sum(node))
    if name == "precision":
        parts = [w * v / h if h else 0.0 for w, v, h in zip(factors, node, heights, strict=True)]
        return sum(parts) / len(parts)
    published, suppressed = [], []
    for types in classes_of(table, node).values():
        (suppressed if fails(table, types, requirement) else published).append(types)
    n, starred = table.rows, [t for types in suppressed for t in types]
    sizes = [sum(int(table.counts[t]) for t in types) for types in published]
    if name == "aecs":
        return n / max(len(sizes) + bool(starred), 1)
    if name == "c-avg":
        return n / max(len(sizes), 1) / (requirement.k or 1)
    if name == "dm":
        return float(sum(f * f for f in sizes) + n * sum(int(table.counts[t]) for t in starred))
    if name == "ambiguity":
        return float(sum((prod(shares) for shares in _shown(table, node, starred)), Fraction(0)) / max(n, 1))
    columns = list(zip(*_shown(table, node, starred), strict=True)) if n else [() for _ in heights]
    if name == "entropy":
        return sum(w * b for w, b in zip(factors, _bits(table, node, starred), strict=True))
    product = 1.0
    for hierarchy, column, weight in zip(table.hierarchies, columns, factors, strict=True):
        d = len(hierarchy.leaves)
        x = (sum(column, Fraction(0)) / n / d - Fraction(1, d)) / (1 - Fraction(1, d)) if n and d > 1 else 0
        product *= 1 + weight * float(x)
    return product ** (1 / len(heights)) - 1


def _shown(table: FrequencySet, node: LatticeNode, starred: list[int]) -> list[list[Fraction]]:
    """The leaves under each value of each row, one entry per row."""
    rows = []
    for number, codes in enumerate(table.codes.tolist()):
        leaves = []
        for hierarchy, code, level in zip(table.hierarchies, codes, node, strict=True):
            every = range(len(hierarchy.leaves))
            value = value_at(hierarchy, code, level)
            under = 1 if value is None else sum(value_at(hierarchy, leaf, level) == value for leaf in every)
            leaves.append(Fraction(len(every) if number in starred else under))
        rows += [leaves] * int(table.counts[number])
    return rows


def _bits(table: FrequencySet, node: LatticeNode, starred: list[int]) -> list[float]:
    """The mean bits of each attribute by which published values leave the leaves open."""
    found = []
    counts = table.counts.tolist()
    for i, hierarchy in enumerate(table.hierarchies):
        codes = table.codes[:, i].tolist()
        leaf_rows: Counter[int] = Counter()
        value_rows: Counter[str | None] = Counter()
        for code, count in zip(codes, counts, strict=True):
            leaf_rows[code] += count
            value_rows[value_at(hierarchy, code, node[i])] += count
        bits = 0.0
        for number, (code, count) in enumerate(zip(codes, counts, strict=True)):
            with_value = table.rows if number in starred else value_rows[value_at(hierarchy, code, node[i])]
            bits += count * log2(with_value / leaf_rows[code])
        found.append(bits / max(table.rows, 1))
    return found
