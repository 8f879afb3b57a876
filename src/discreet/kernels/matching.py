"""Systems of distinct representatives: a maximum matching of subjects and values (Kuhn).

Plain Python, imported by three rooms without numba; hence below 100 lines.
"""

from __future__ import annotations

from collections.abc import Iterable


def distinct_representatives(pairs: Iterable[tuple[int, int]]) -> int:
    """Return the size of a maximum matching of subjects and values, given ``(subject, value)`` pairs.

    In a table with several rows per subject, l values "among distinct subjects" means that l different
    subjects can be named that carry l different values. Augmenting paths (Kuhn); O(values · pairs).
    """
    subjects_of: dict[int, list[int]] = {}
    for subject, value in pairs:
        subjects_of.setdefault(value, []).append(subject)
    value_of: dict[int, int] = {}
    return sum(find_augmenting_path(value, subjects_of, value_of) for value in subjects_of)


def find_augmenting_path(start: int, subjects_of: dict[int, list[int]], value_of: dict[int, int]) -> bool:
    """Assign ``start`` its own subject, moving earlier values to other subjects if necessary."""
    reached_by: dict[int, int] = {}
    frontier = [start]
    while frontier:
        value = frontier.pop()
        for subject in subjects_of[value]:
            if subject in reached_by:
                continue
            reached_by[subject] = value
            holder = value_of.get(subject)
            if holder is None:
                _reassign(subject, start, reached_by, value_of)
                return True
            frontier.append(holder)
    return False


def _reassign(subject: int, start: int, reached_by: dict[int, int], value_of: dict[int, int]) -> None:
    """Follow the augmenting path back and assign each value the subject by which it was reached."""
    slot_of = {value: s for s, value in value_of.items()}
    while True:
        value = reached_by[subject]
        previous = slot_of.get(value)
        value_of[subject] = value
        if value == start or previous is None:
            return
        subject = previous
