"""Releases by permutation: all permutations of a group are equally likely, releases independent."""

from __future__ import annotations

import csv
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.models import Permutation
from discreet.settings import Settings
from discreet.verbs.table import open as open_table

GROUPS, SIZE = 2_000, 3
NUMBER = {order: place for place, order in enumerate(permutations(range(SIZE)))}
REJECTED_AT_ONE_IN_A_MILLION = {5: 35.89, 35: 89.95}
"""The χ² value that a fair generator exceeds once in a million runs, by degrees of freedom."""


def published(source: Path, path: Path, settings: Settings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the permutation of each group, and the positions of the rows in the file, by row names."""
    attributes = {"age": {"role": "quasi-identifier"}, "name": {"role": "insensitive"}}
    document = {"attributes": attributes | {"salary": {"role": "sensitive"}}}
    open_table(source, document, settings=settings).publish(Permutation(e=0), path, k=SIZE)
    with path.open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    names = np.array([int(row["name"]) for row in rows])
    values = np.array([int(row["salary"]) for row in rows])[np.argsort(names)].reshape(GROUPS, SIZE)
    assert (values // 1_000 == np.arange(GROUPS)[:, None]).all()
    drawn = np.array([NUMBER[tuple(order)] for order in (values % 1_000).tolist()])
    return drawn, np.argsort(names)


@pytest.fixture(scope="module")
def releases(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return two releases of one table whose only possible groups are 2,000 triples of close salaries."""
    folder = tmp_path_factory.mktemp("statistics")
    settings = Settings(memory_limit=2 * 10**9, threads=2, private_log=folder / "log.jsonl")
    lines = [
        f"{20 + group % 50},{SIZE * group + place},{1_000 * group + place}"
        for group in range(GROUPS)
        for place in range(SIZE)
    ]
    (folder / "people.csv").write_text("\n".join(["age,name,salary", *lines, ""]), encoding="utf-8")
    return [published(folder / "people.csv", folder / f"release-{n}.csv", settings) for n in range(2)]


def chi_square(counts: NDArray[np.int64]) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def test_two_releases_of_one_table_are_independent(
    releases: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> None:
    (first, rows), (second, other_rows) = releases
    together = np.bincount(first * len(NUMBER) + second, minlength=len(NUMBER) ** 2)
    assert chi_square(together) < REJECTED_AT_ONE_IN_A_MILLION[35]
    assert (rows != other_rows).mean() > 0.99


def test_order_of_rows_is_uncorrelated_with_the_source(
    releases: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> None:
    """The correlation of a row's position in the file with its source position is that of a random order."""
    for _, places in releases:
        correlation = np.corrcoef(places, np.arange(len(places)))[0, 1]
        assert abs(correlation) * np.sqrt(len(places)) < 5
