"""Oracle: perfect simplex matchings by trying every partition into pairs and triples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

Edge = tuple[int, ...]


def cheapest_partition(n: int, cost: Callable[[Edge], float | None]) -> float | None:
    """Return the least cost of a partition of 0 … n - 1 into pairs and triples; None if there is none.

    ``cost`` returns the cost of an ascending pair or triple, None if it is not allowed.
    """
    known: dict[frozenset[int], float | None] = {frozenset(): 0}

    def least(rest: frozenset[int]) -> float | None:
        if rest not in known:
            first, *others = sorted(rest)
            found = None
            for size in (1, 2):
                for partners in combinations(others, size):
                    edge = (first, *partners)
                    price, after = cost(edge), least(rest - set(edge))
                    if price is not None and after is not None and (found is None or price + after < found):
                        found = price + after
            known[rest] = found
        return known[rest]

    return least(frozenset(range(n)))


def cheapest_two_anonymity(rows: list[tuple[str, ...]], patterns: list[tuple[bool, ...]]) -> float | None:
    """Return the fewest stars that make every row equal to another, each by a pattern (true is a star)."""

    def cost(edge: Edge) -> float | None:
        fitting = [
            sum(pattern)
            for pattern in patterns
            if len({tuple("*" if s else v for v, s in zip(rows[i], pattern, strict=True)) for i in edge}) == 1
        ]
        return len(edge) * min(fitting) if fitting else None

    return cheapest_partition(len(rows), cost)
