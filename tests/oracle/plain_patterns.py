"""Oracle: patterns by plain enumeration: all patterns, a short greedy, and the cheapest assignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from discreet.model.class_recoding import Pattern, PatternConstraints, PatternMask
from discreet.model.frequency_set import FrequencySet

Node = tuple[int, ...]


def allowed_patterns(
    attributes: Sequence[str], heights: Sequence[int], constraints: PatternConstraints
) -> Iterator[Node]:
    """Return every pattern that meets the constraints, in mixed-radix order."""
    choices = [range(h + 1) if constraints.levels else sorted({0, h}) for h in heights]
    place = {name: i for i, name in enumerate(attributes) if heights[i] > 0}
    for node in product(*choices):
        pattern = Pattern(node, tuple(heights))
        changed = {name: pattern.changed[i] for name, i in place.items()}
        if constraints.max_stars is not None and sum(pattern.starred) > constraints.max_stars:
            continue
        if any(changed.get(name, False) for name in constraints.keep):
            continue
        if not all(changed.get(name, True) for name in constraints.always_generalize):
            continue
        if any(len({changed[n] for n in g if n in changed}) > 1 for g in constraints.generalize_together):
            continue
        if any(sum(changed.get(n, False) for n in set(g)) > 1 for g in constraints.exclusive):
            continue
        if constraints.custom is None or constraints.custom(pattern):
            yield node


def shown(table: FrequencySet, row_type: int, node: Node) -> tuple[int, ...]:
    """Return the published cells of a row type under a pattern."""
    pairs = zip(table.hierarchies, table.codes[row_type].tolist(), node, strict=True)
    return tuple(int(h.level_map(level)[code]) for h, code, level in pairs)


def plain_greedy(
    table: FrequencySet, nodes: Sequence[Node], holds: Callable[[list[int]], bool]
) -> list[Node | None]:
    """Return the pattern of each row type, patterns taken in the given order; None for the remainder."""
    found: list[Node | None] = [None] * table.row_types
    for node in nodes:
        classes: dict[tuple[int, ...], list[int]] = {}
        for row_type in range(table.row_types):
            if found[row_type] is None:
                classes.setdefault(shown(table, row_type, node), []).append(row_type)
        for members in classes.values():
            if holds(members):
                for row_type in members:
                    found[row_type] = node
    return found


def cheapest_cost(table: FrequencySet, mask: PatternMask, holds: Callable[[list[int]], bool]) -> float:
    """Return the least cost of any assignment of whole row types; those without a pattern cost all stars."""
    nodes = [tuple(node) for node in mask.levels.tolist()]
    costs = [*mask.pattern_costs.tolist(), mask.top_cost]
    best = float("inf")
    for choice in product(range(len(nodes) + 1), repeat=table.row_types):
        classes: dict[tuple[int, ...], list[int]] = {}
        for row_type, number in enumerate(choice):
            if number < len(nodes):
                key = (number, *shown(table, row_type, nodes[number]))
                classes.setdefault(key, []).append(row_type)
        if all(holds(members) for members in classes.values()):
            best = min(best, sum(costs[c] * int(n) for c, n in zip(choice, table.counts, strict=True)))
    return best
