"""Oracle: the least cost of a pattern-guided k-anonymous table, by trying every pattern for every row."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement, product

from discreet.model.class_recoding import OutlierPolicy, PatternMask
from discreet.model.frequency_set import FrequencySet

DELETED = -1


def least_cost(table: FrequencySet, mask: PatternMask, k: int) -> float | None:
    """Return the least cost; None without a valid assignment. Rows may be deleted only under that policy."""
    choices = list(range(len(mask)))
    if mask.outliers is OutlierPolicy.DELETE:
        choices.append(DELETED)
    shown = [[_shown(table, mask, codes, pattern) for pattern in choices] for codes in table.codes.tolist()]
    costs = [mask.top_cost if p == DELETED else float(mask.pattern_costs[p]) for p in choices]
    options = [list(combinations_with_replacement(range(len(choices)), int(n))) for n in table.counts]
    best = None
    for taken in product(*options):
        classes: Counter[object] = Counter()
        cost = 0.0
        for row_type, patterns in enumerate(taken):
            for place in patterns:
                classes[shown[row_type][place]] += 1
                cost += costs[place]
        allowed = all(rows >= k or shows == DELETED for shows, rows in classes.items())
        if allowed and (best is None or cost < best):
            best = cost
    return best


def _shown(table: FrequencySet, mask: PatternMask, codes: list[int], pattern: int) -> object:
    if pattern == DELETED:
        return DELETED
    levels = mask.levels[pattern].tolist()
    values = [int(h.level_map(n)[c]) for h, n, c in zip(table.hierarchies, levels, codes, strict=True)]
    return (tuple(levels), tuple(values))
