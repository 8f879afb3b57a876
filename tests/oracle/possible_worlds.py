"""Oracle: bounds of aggregate queries by enumerating every table that a release may represent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product

Row = Mapping[str, str | None]
Value = Fraction | None
World = Sequence[tuple[Row, Value]]


def permuted(rows: Sequence[Row], groups: Sequence[int], values: Sequence[Value]) -> Iterator[World]:
    """Enumerate all assignments of a group's values to its rows."""
    places = [[i for i, g in enumerate(groups) if g == group] for group in sorted(set(groups))]
    for orders in product(*(permutations([values[i] for i in place]) for place in places)):
        given = {
            i: v
            for place, order in zip(places, orders, strict=True)
            for i, v in zip(place, order, strict=True)
        }
        yield [(row, given[i]) for i, row in enumerate(rows)]


def recoded(
    worlds: Iterator[World], covers: Callable[[str, str | None], Sequence[str | None]]
) -> Iterator[World]:
    """Enumerate all replacements of labels by values that they cover."""
    for world in worlds:
        choices = [
            [dict(zip(row, cells, strict=True)) for cells in product(*(covers(n, v) for n, v in row.items()))]
            for row, _ in world
        ]
        for chosen in product(*choices):
            yield [(row, value) for row, (_, value) in zip(chosen, world, strict=True)]


def bounds(
    worlds: Iterator[World],
    condition: Callable[[Row], bool],
    key: Callable[[Row], object],
    measure: Callable[[Row, Value], Value] = lambda _, value: value,
) -> dict[object, dict[str, tuple[Value, Value]]]:
    """Compute, by key and aggregate, the least and largest answer over all worlds in which the key has rows.

    No value is NULL.
    """
    found: dict[object, dict[str, list[Value]]] = {}
    counts: dict[object, list[int]] = {}
    every = 0
    for world in worlds:
        every += 1
        selected: dict[object, list[Value]] = {}
        for row, value in world:
            if condition(row):
                selected.setdefault(key(row), []).append(measure(row, value))
        for name, all_values in selected.items():
            counts.setdefault(name, []).append(len(all_values))
            some = [v for v in all_values if v is not None]
            answers = found.setdefault(name, {"COUNT": [], "SUM": [], "AVG": [], "MIN": [], "MAX": []})
            answers["COUNT"].append(Fraction(len(some)))
            answers["SUM"].append(sum(some, start=Fraction(0)))
            if some:
                answers["AVG"].append(sum(some, start=Fraction(0)) / len(some))
                answers["MIN"].append(min(some))
                answers["MAX"].append(max(some))
    for name, of_key in found.items():
        if len(counts[name]) < every:
            counts[name].append(0)
            of_key["COUNT"].append(Fraction(0))
            of_key["SUM"].append(Fraction(0))
        if not of_key["MIN"]:
            of_key["SUM"] = []
        of_key["ROWS"] = [Fraction(n) for n in counts[name]]
    return {
        name: {a: (min(v), max(v)) if v else (None, None) for a, v in of_key.items()}  # type: ignore[type-var]
        for name, of_key in found.items()
    }
