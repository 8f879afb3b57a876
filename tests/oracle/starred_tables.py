"""Frequency sets whose attributes have only the value and the star, and the reduction from set cover."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from tests.oracle.random_tables import frequency_set_of

Set = tuple[int, int, int]


def starred_frequency_set(rows: Sequence[Sequence[str]], attributes: Sequence[str]) -> FrequencySet:
    """Build the frequency set of rows of texts; each attribute's values are ordered as texts."""
    domains = [sorted({row[j] for row in rows}) for j in range(len(attributes))]
    hierarchies = [
        GeneralizationHierarchy(
            name,
            (tuple(domain), (TOP,)),
            (np.arange(len(domain), dtype=np.int64), np.zeros(len(domain), np.int64)),
            "flat",
        )
        for name, domain in zip(attributes, domains, strict=True)
    ]
    codes = [{value: code for code, value in enumerate(domain)} for domain in domains]
    return frequency_set_of(
        hierarchies, [(tuple(c[v] for c, v in zip(codes, row, strict=True)), ()) for row in rows]
    )


def starred_file(path: Path) -> FrequencySet:
    """Build the frequency set of all columns of a CSV file."""
    with path.open(encoding="utf-8", newline="") as text:
        header, *rows = csv.reader(text)
    return starred_frequency_set(rows, header)


def set_cover_rows(elements: int, sets: Sequence[Set]) -> list[tuple[str, str, str]]:
    """Build the table of Theorem 1 of Bredereck et al. (2013), for k = 3.

    The patterns are ``.**`` and ``*..``. Its least cost is 4 · elements + 3 · sets + 3 · size of the smallest
    cover.
    """
    rows = [(f"u{u}", f"x{u}{twin}", f"y{u}{twin}") for u in range(elements) for twin in "ab"]
    rows += [(f"u{u}", f"S{number}", f"S{number}") for number, members in enumerate(sets) for u in members]
    return rows


def smallest_cover(elements: int, sets: Sequence[Set]) -> int | None:
    """Return the least number of sets that contain every element, by trying all."""
    for size in range(len(sets) + 1):
        for chosen in combinations(sets, size):
            if {u for members in chosen for u in members} == set(range(elements)):
                return size
    return None
