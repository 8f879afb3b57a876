"""Oracle: every cost of a node by its definition, one row type after another, in plain Python."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import floor, log, log2, prod
from typing import Any, cast

from discreet.measures.cost_registry import cost_named
from discreet.measures.named_costs import NamedCost
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.model.search_result import RankedCost
from tests.oracle.brute_lattice import value_at
from tests.oracle.plain_criteria import released_at

Published = tuple[str | None, ...]
Types = list[list[int]]


def classes_of(table: FrequencySet, node: LatticeNode) -> dict[Published, list[int]]:
    """Return the row types of each class."""
    found: dict[Published, list[int]] = {}
    for number, codes in enumerate(table.codes.tolist()):
        parts = zip(table.hierarchies, codes, node, strict=True)
        found.setdefault(tuple(value_at(h, code, level) for h, code, level in parts), []).append(number)
    return found


def cost_by_hand(
    cost: NamedCost | str,
    table: FrequencySet,
    node: LatticeNode,
    requirement: Requirement,
    weights: dict[str, float] | None = None,
) -> float:
    """Compute the cost of that name or declaration; failing classes are suppressed."""
    named = cost_named(cost) if isinstance(cost, str) else cost
    if named.name == "height":
        return float(sum(node))
    published, suppressed = released_at(table, node, requirement)
    n, starred = table.rows, [t for types in suppressed for t in types]
    sizes = [sum(int(table.counts[t]) for t in types) for types in published]
    if named.name == "aecs":
        return n / max(len(sizes) + bool(starred), 1)
    if named.name == "c-avg":
        return n / max(len(sizes), 1) / (requirement.k or 1)
    if named.name == "dm":
        return float(sum(f * f for f in sizes) + n * sum(int(table.counts[t]) for t in starred))
    if named.name == "dm-star":
        every = [sum(int(table.counts[t]) for t in types) for types in published + suppressed]
        return float(sum(f * f for f in every))
    if named.name == "ambiguity":
        return float(sum((prod(shares) for shares in _shown(table, node, starred)), Fraction(0)) / max(n, 1))
    if named.name in _OF_CLASSES:
        return _OF_CLASSES[named.name](named, table, node, published, starred)
    given = [(weights or {}).get(h.attribute, 1.0) for h in table.hierarchies]
    factors = [w / max(given) if max(given) else 1.0 for w in given]
    parts = _PARTS[named.name](named, table, node, starred)
    return _joined(_aggregate(named), [w * p for w, p in zip(factors, parts, strict=True)])


def _aggregate(cost: NamedCost) -> str:
    default = {"precision": "arithmetic-mean", "loss": "geometric-mean", "entropy": "sum"}[cost.name]
    return str(cast(Any, cost).aggregate or default)


def _joined(aggregate: str, parts: list[float]) -> float:
    """Aggregate the parts; a rank's parts are truncated after ten decimals, except for rounding errors."""
    if aggregate == "sum":
        return sum(parts)
    if aggregate == "maximum":
        return max(parts)
    if aggregate == "arithmetic-mean":
        return sum(parts) / len(parts)
    if aggregate == "geometric-mean":
        return float(prod(1 + part for part in parts) ** (1 / len(parts)) - 1)
    return RankedCost(sorted((floor(part * 1e10 + 1e-4) / 1e10 for part in parts), reverse=True))


def _factors(cost: Any) -> tuple[float, float]:
    """Return the weights of generalization and suppression, by ARX's documentation."""
    g = float(cost.gs_factor)
    return (1.0 if g <= 0.5 else 1 - 2 * (g - 0.5)), (2 * g if g < 0.5 else 1.0)


def _precision(cost: Any, table: FrequencySet, node: LatticeNode, starred: list[int]) -> list[float]:
    generalized, charged = _factors(cost)
    found, stars = [], sum(int(table.counts[t]) for t in starred)
    for hierarchy, level in zip(table.hierarchies, node, strict=True):
        share = generalized * level / max(len(hierarchy.labels) - 1, 1)
        cells = [share] * max(table.rows, 1)
        if cost.charge == "domain":
            cells[:stars] = [charged] * stars
        found.append(sum(cells) / len(cells))
    return found


def _loss(cost: Any, table: FrequencySet, node: LatticeNode, starred: list[int]) -> list[float]:
    generalized, charged = _factors(cost)
    found = []
    for i, hierarchy in enumerate(table.hierarchies):
        d, total = len(hierarchy.leaves), 0.0
        for number, codes in enumerate(table.codes.tolist()):
            share = leaves_under(hierarchy, codes[i], node[i]) / d
            cell = share + charged * (1 - share) if number in starred else generalized * share
            total += cell * int(table.counts[number])
        free = generalized / d
        found.append((total / table.rows - free) / (1 - free) if table.rows and d > 1 else 0.0)
    return found


def _entropy(cost: Any, table: FrequencySet, node: LatticeNode, starred: list[int]) -> list[float]:
    generalized, charged = _factors(cost)
    found, counts, n = [], table.counts.tolist(), max(table.rows, 1)
    stars = sum(counts[t] for t in starred)
    for i, hierarchy in enumerate(table.hierarchies):
        values = [value_at(hierarchy, codes[i], node[i]) for codes in table.codes.tolist()]
        leaves: Counter[int] = Counter()
        held: Counter[str | None] = Counter()
        hidden: Counter[str | None] = Counter()
        for number, (value, count) in enumerate(zip(values, counts, strict=True)):
            leaves[int(table.codes[number, i])] += count
            held[value] += count
            hidden[value] += count * (number in starred)
        total = 0.0
        for number, (value, count) in enumerate(zip(values, counts, strict=True)):
            leaf = leaves[int(table.codes[number, i])]
            bits = log2(held[value] / leaf)
            if number not in starred or cost.charge == "none":
                total += count * generalized * bits
            elif cost.charge == "domain":
                total += count * (generalized * bits + charged * log2(n / held[value]))
            else:
                total += count * (generalized * bits + charged * log2(stars / hidden[value]))
        found.append(total / n)
    return found


def _divergence(
    cost: Any, table: FrequencySet, node: LatticeNode, published: Types, starred: list[int]
) -> float:
    """Compute the divergence by its definition, one row type after another."""
    del cost
    n, stars = table.rows, sum(int(table.counts[t]) for t in starred)
    nulls = [bool((table.codes[:, i] == h.null_code).any()) for i, h in enumerate(table.hierarchies)]
    whole = prod(len(h.leaves) + null for h, null in zip(table.hierarchies, nulls, strict=True))
    spread = dict.fromkeys(starred, Fraction(stars, whole))
    for types in published:
        parts = zip(table.hierarchies, table.codes[types[0]].tolist(), node, nulls, strict=True)
        volume = prod(leaves_under(h, c, v) + (null and v == len(h.labels) - 1) for h, c, v, null in parts)
        rows = sum(int(table.counts[t]) for t in types)
        spread |= dict.fromkeys(types, Fraction(rows, volume) + Fraction(stars, whole))
    counts = table.counts.tolist()
    return sum(count / n * log2(count / spread[t]) for t, count in enumerate(counts))


def _payout(cost: Any, table: FrequencySet, node: LatticeNode, published: Types, starred: list[int]) -> float:
    generalized, charged = _factors(cost)
    whole = log(prod(len(h.leaves) for h in table.hierarchies))
    forgone = charged * cost.publisher_benefit * sum(int(table.counts[t]) for t in starred) if whole else 0.0
    for types in published:
        size = sum(int(table.counts[t]) for t in types)
        cells = zip(table.hierarchies, table.codes[types[0]].tolist(), node, strict=True)
        lost = log(prod(leaves_under(h, c, v) for h, c, v in cells)) / whole if whole else 0.0
        attacked = cost.adversary_gain / size > cost.adversary_cost
        payout = cost.publisher_benefit * (1 - lost) - (cost.publisher_loss / size if attacked else 0.0)
        forgone += generalized * size * (cost.publisher_benefit - payout)
    return forgone


def _classification(
    cost: Any, table: FrequencySet, node: LatticeNode, published: Types, starred: list[int]
) -> float:
    generalized, charged = _factors(cost)
    most = max(generalized, charged, cost.gs_factor)
    target = table.hierarchies[-1]
    values, leaves = len(target.labels[node[-1]]), len(target.leaves)
    blur = 1 - (values - 1) / (leaves - 1) if leaves > 1 else 0.0
    found: dict[tuple[str | None, ...], Counter[str | None]] = {}
    for types in published:
        cells = zip(table.hierarchies, table.codes[types[0]].tolist(), node, strict=True)
        *others, predicted = (value_at(h, c, v) for h, c, v in cells)
        rows = sum(int(table.counts[t]) for t in types)
        found.setdefault(tuple(others), Counter())[predicted] += rows
    charge = cost.gs_factor * sum(int(table.counts[t]) for t in starred)
    for counted in found.values():
        frequent = [*(count for _, count in counted.most_common(2)), 0]
        if blur == 1:
            charge += most * counted.total()
        elif frequent[0] == frequent[1]:
            charge += counted.total() * (charged * (1 - blur) + most * blur)
        else:
            charge += (counted.total() - frequent[0]) * (generalized * (1 - blur) + most * blur)
    return charge / (most * max(table.rows, 1))


_OF_CLASSES = {"kl-divergence": _divergence, "payout": _payout, "classification": _classification}
_PARTS = {"precision": _precision, "loss": _loss, "entropy": _entropy}


def leaves_under(hierarchy: GeneralizationHierarchy, code: int, level: int) -> int:
    """Return the leaves under the value of a leaf code at a level; NULL represents itself below the top."""
    value = value_at(hierarchy, code, level)
    every = range(len(hierarchy.leaves))
    return 1 if value is None else sum(value_at(hierarchy, leaf, level) == value for leaf in every)


def _shown(table: FrequencySet, node: LatticeNode, starred: list[int]) -> list[list[Fraction]]:
    """Return the leaves under each value of each row, one entry per row."""
    rows = []
    for number, codes in enumerate(table.codes.tolist()):
        leaves = [
            Fraction(len(hierarchy.leaves) if number in starred else leaves_under(hierarchy, code, level))
            for hierarchy, code, level in zip(table.hierarchies, codes, node, strict=True)
        ]
        rows += [leaves] * int(table.counts[number])
    return rows
