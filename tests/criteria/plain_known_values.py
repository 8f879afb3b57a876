"""Oracle for criteria that use an attribute's order, numbers or hierarchy, class by class in exact fractions.

A class and a table are lists of values without NULL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

Paths = Mapping[str, Sequence[str]]
"""Each value's ancestors, from the value to the top."""


def t_closeness(held: Sequence[str], table: Sequence[str], distance: str, order: Sequence[str], paths: Paths):
    """Return the earth mover's distance of two lists of values, or None if one is empty."""
    if not held or not table:
        return None
    mine, whole = Counter(held), Counter(table)
    surplus = {v: Fraction(mine[v], len(held)) - Fraction(whole[v], len(table)) for v in {*mine, *whole}}
    if distance == "equal":
        return sum(map(abs, surplus.values()), Fraction(0)) / 2
    if distance == "ordered":
        present = [value for value in order if value in surplus]
        partial = [sum((surplus[v] for v in present[: i + 1]), Fraction(0)) for i in range(len(present))]
        return sum(map(abs, partial), Fraction(0)) / max(len(present) - 1, 1)
    return _by_ancestors(surplus, paths)


def _by_ancestors(surplus: Mapping[str, Fraction], paths: Paths) -> Fraction:
    """Return the hierarchical distance of Li et al. (2007), section 5.3.

    At each ancestor, the matched surplus and deficit count with the ancestor's height.
    """
    height = max(len(path) for path in paths.values()) - 1
    total = Fraction(0)
    for level in range(1, height + 1):
        children: dict[tuple[str, ...], Fraction] = {}
        for value, extra in surplus.items():
            child = tuple(paths[value][level - 1 :])
            children[child] = children.get(child, Fraction(0)) + extra
        for ancestor in {child[1:] for child in children}:
            extras = [extra for child, extra in children.items() if child[1:] == ancestor]
            more = sum((extra for extra in extras if extra > 0), Fraction(0))
            less = -sum((extra for extra in extras if extra < 0), Fraction(0))
            total += Fraction(level, max(height, 1)) * min(more, less)
    return total


def p_sensitive(held: Sequence[str], level: int, paths: Paths) -> int:
    """Count the subtrees of a level that contain values of a class."""
    return len({tuple(paths[value][level:]) for value in held})


def value_range(held: Sequence[str]) -> Fraction | None:
    """Return the largest number minus the smallest."""
    numbers = [Fraction(value) for value in held]
    return max(numbers) - min(numbers) if numbers else None


def proximity(held: Sequence[str], epsilon: Fraction, neighbourhood: str) -> Fraction | None:
    """Return the rows of a class per row near one of its values, for the value with the most near rows."""
    numbers = [Fraction(value) for value in held]
    reach = {x: epsilon * abs(x) if neighbourhood == "relative" else epsilon for x in numbers}
    near = [sum(abs(y - x) <= reach[x] for y in numbers) for x in numbers]
    return Fraction(len(numbers), max(near)) if near else None
