"""Oracle: query bounds by enumerating which values of a group belong to the selected rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

Value = int | Fraction | None
Group = Sequence[Value]


def selections(groups: Sequence[Group], rows: Sequence[Iterable[int]]) -> Iterator[list[Value]]:
    """Return every list of values that may be selected; group g contributes one of ``rows[g]`` rows."""
    chosen = (
        [part for h in some for part in combinations(g, h)] for g, some in zip(groups, rows, strict=True)
    )
    for parts in product(*chosen):
        yield [value for part in parts for value in part]


def permuted(groups: Sequence[Group], hits: Sequence[int]) -> dict[str, tuple[Value, Value]]:
    """Return the least and largest answer of each aggregate if ``hits[g]`` rows of group g are selected."""
    return extremes(selections(groups, [[h] for h in hits]))


def generalized(
    groups: Sequence[Group], certain: Sequence[bool], possible: Sequence[bool]
) -> dict[str, tuple[Value, Value]]:
    """Return the same if a class counts fully, with any of its rows, or not at all."""
    rows = [
        [len(g)] if whole else range(len(g) + 1) if some else [0]
        for g, whole, some in zip(groups, certain, possible, strict=True)
    ]
    return extremes(selections(groups, rows))


def extremes(every: Iterator[list[Value]]) -> dict[str, tuple[Value, Value]]:
    """Return least and largest by aggregate over all selections; None if no selection has a value."""
    found: dict[str, list[Value]] = {name: [] for name in ("rows", "values", "sum", "min", "max", "avg")}
    for selected in every:
        values = [value for value in selected if value is not None]
        found["rows"].append(len(selected))
        found["values"].append(len(values))
        found["sum"].append(sum(values, start=0))
        if values:
            found["min"].append(min(values))
            found["max"].append(max(values))
            found["avg"].append(Fraction(sum(values)) / len(values))
    return {name: (min(all_), max(all_)) if all_ else (None, None) for name, all_ in found.items()}  # type: ignore[type-var]
