"""Oracle: attacks by nested loops over rows, for tables of a few rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

Row = Mapping[str, str | None]
Covers = Callable[[str, str | None, str | None], bool]
"""Whether a published cell of a column may represent a known value."""


def class_of(row: Row, columns: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(row[name] for name in columns)


def chances(rows: Sequence[Row], columns: Sequence[str]) -> list[float]:
    """Return the prosecutor's chance for each row."""
    sizes = Counter(class_of(row, columns) for row in rows)
    return [1 / sizes[class_of(row, columns)] for row in rows]


def minimal_sets(rows: Sequence[Row], columns: Sequence[str], largest: int) -> list[set[frozenset[str]]]:
    """Return for each row the minimal sets of columns in which it is unique."""
    found = []
    for row in rows:
        sets: set[frozenset[str]] = set()
        for size in range(1, largest + 1):
            for chosen in combinations(columns, size):
                alike = sum(class_of(other, chosen) == class_of(row, chosen) for other in rows)
                if alike == 1 and not any(smaller < frozenset(chosen) for smaller in sets):
                    sets.add(frozenset(chosen))
        found.append(sets)
    return found


def candidates(record: Row, rows: Sequence[Row], match: Mapping[str, str], covers: Covers) -> list[int]:
    """Return the rows that may belong to a record's person; unknown values of the record exclude none."""
    return [
        place
        for place, row in enumerate(rows)
        if all(
            record[outside] is None or covers(name, row[name], record[outside])
            for outside, name in match.items()
        )
    ]


def expected_links(
    records: Sequence[Row],
    rows: Sequence[Row],
    match: Mapping[str, str],
    covers: Covers,
    owner: Callable[[Row, int], float],
) -> float:
    """Return the expected correct links if each record takes one of its candidates at random.

    ``owner`` returns the probability that a row belongs to the record.
    """
    right = 0.0
    for record in records:
        found = candidates(record, rows, match, covers)
        if found:
            right += sum(owner(record, place) for place in found) / len(found)
    return right
