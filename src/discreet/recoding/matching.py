"""How many sensitive values of a class are carried by that many different subjects.

A person who has two diagnoses must not make a class look diverse: with a subject, the l of a class is the
largest number of different values that can be given a subject each, all subjects different (a system of
distinct representatives; a maximum matching of the bipartite graph of values and subjects).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


def reaches(carriers: Mapping[int, Sequence[int]], l: int) -> bool:
    """Whether ``l`` values can be matched with ``l`` different subjects.

    ``carriers`` names the subjects of each value. Augmenting paths, breadth first, one search per value,
    until ``l`` values are matched: O(values · pairs).
    """
    value_of: dict[int, int] = {}
    matched = 0
    for tried, value in enumerate(carriers):
        if matched + len(carriers) - tried < l:
            return False
        matched += _augment(value, carriers, value_of)
        if matched >= l:
            return True
    return False


def _augment(start: int, carriers: Mapping[int, Sequence[int]], value_of: dict[int, int]) -> bool:
    """Match one more value along a shortest alternating path, if there is one."""
    reached_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        value = queue.popleft()
        for subject in carriers[value]:
            if subject in reached_from:
                continue
            reached_from[subject] = value
            if subject not in value_of:
                _flip(subject, start, reached_from, value_of)
                return True
            queue.append(value_of[subject])
    return False


def _flip(subject: int, start: int, reached_from: dict[int, int], value_of: dict[int, int]) -> None:
    subject_of = {value: other for other, value in value_of.items()}
    while True:
        value = reached_from[subject]
        value_of[subject] = value
        if value == start:
            return
        subject = subject_of[value]


def classes_reaching(
    classes: NDArray[np.int64], values: NDArray[np.int64], subjects: NDArray[np.int64], l: int
) -> list[int]:
    """The classes, among pairs sorted by class and value, of which ``l`` values find different subjects."""
    if len(classes) == 0:
        return []
    starts = np.flatnonzero(np.append(True, classes[1:] != classes[:-1]))
    ends = np.append(starts[1:], len(classes))
    return [
        int(classes[start])
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        if reaches(_carriers(values[start:end].tolist(), subjects[start:end].tolist()), l)
    ]


def _carriers(values: Iterable[int], subjects: Iterable[int]) -> dict[int, list[int]]:
    carriers: dict[int, list[int]] = {}
    for value, subject in zip(values, subjects, strict=True):
        carriers.setdefault(value, []).append(subject)
    return carriers
