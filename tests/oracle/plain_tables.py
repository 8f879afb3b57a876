"""Hierarchies and tables read only with the csv module."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from tests.oracle.random_tables import frequency_set_of


def read_hierarchy(path: Path) -> GeneralizationHierarchy:
    """Read leaf and levels, separated by ``;``; depth first by order of appearance, with the lines' order."""
    with path.open(encoding="utf-8", newline="") as file:
        paths = [tuple(line) for line in csv.reader(file, delimiter=";")]
    levels = range(len(paths[0]))
    lines = list(paths)
    seen: list[dict[str, int]] = [{} for _ in levels]
    for line in paths:
        for level, value in enumerate(line):
            seen[level].setdefault(value, len(seen[level]))
    paths.sort(key=lambda line: [seen[level][line[level]] for level in reversed(levels)])
    labels = [tuple(dict.fromkeys(line[level] for line in paths)) for level in levels]
    ancestors = [
        np.array([labels[level].index(line[level]) for line in paths], dtype=np.int64) for level in levels
    ]
    ranks = np.array([lines.index(line) for line in paths], dtype=np.int64)
    return GeneralizationHierarchy(path.stem, tuple(labels), tuple(ancestors), str(path), leaf_ranks=ranks)


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def frequency_set_of_rows(
    rows: Sequence[Mapping[str, str]],
    hierarchies: Sequence[GeneralizationHierarchy],
    sensitive: Sequence[str] = (),
) -> FrequencySet:
    """Build the frequency set of rows without NULLs."""
    code_of = [{leaf: code for code, leaf in enumerate(h.labels[0])} for h in hierarchies]
    values = [sorted({row[name] for row in rows}) for name in sensitive]
    return frequency_set_of(
        hierarchies,
        [
            (
                tuple(codes[row[h.attribute]] for codes, h in zip(code_of, hierarchies, strict=True)),
                tuple(known.index(row[name]) for known, name in zip(values, sensitive, strict=True)),
            )
            for row in rows
        ],
        sensitive,
        [len(known) for known in values],
    )
