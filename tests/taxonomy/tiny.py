"""Tables of a few rows for the enumerators, and images as recodings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.published_cells import Cells
from discreet.model.requirement import Requirement
from tests.oracle.plain_taxonomy import Image, Vector
from tests.oracle.random_tables import frequency_set_of, interleaved, random_hierarchy


@dataclass(frozen=True)
class Tiny:
    """A tiny table: its hierarchies, its rows as leaf codes, and their sensitive values."""

    hierarchies: tuple[GeneralizationHierarchy, ...]
    rows: tuple[Vector, ...]
    values: tuple[int | None, ...]

    @property
    def frequency_set(self) -> FrequencySet:
        table = [(row, (value,)) for row, value in zip(self.rows, self.values, strict=True)]
        return frequency_set_of(self.hierarchies, table, ["s"], [3])


def tiny(seed: int, *, attributes: int = 2, leaves: int = 3, rows: int = 6, types: int = 6) -> Tiny:
    """Return a random table with NULLs among its values and at most ``types`` row types."""
    random = np.random.default_rng(seed)
    hierarchies = tuple(
        with_numbers(
            interleaved(
                random_hierarchy(
                    random, f"q{i}", int(random.integers(2, leaves + 1)), int(random.integers(1, 3))
                ),
                random,
            ),
            random,
        )
        for i in range(int(random.integers(1, attributes + 1)))
    )
    vectors = [
        tuple(int(random.integers(0, len(h.leaves) + (random.random() < 0.2))) for h in hierarchies)
        for _ in range(types)
    ]
    number = int(random.integers(2, rows + 1))
    chosen = tuple(vectors[int(random.integers(0, len(vectors)))] for _ in range(number))
    values = tuple(None if random.random() < 0.1 else int(random.integers(0, 3)) for _ in chosen)
    return Tiny(hierarchies, chosen, values)


def with_numbers(hierarchy: GeneralizationHierarchy, random: np.random.Generator) -> GeneralizationHierarchy:
    """Return the hierarchy, sometimes with numbers as leaves in another order."""
    if random.random() < 0.5:
        return hierarchy
    leaves = tuple(str(7 * n) for n in random.permutation(len(hierarchy.leaves)))
    return replace(hierarchy, labels=(leaves, *hierarchy.labels[1:]))


def recoding_of(image: Image, table: Tiny, model: RecodingModel) -> ClassRecoding:
    """Return an image as a recoding with a class for each vector of cells."""
    types = [tuple(codes) for codes in table.frequency_set.codes.tolist()]
    classes = list(dict.fromkeys(image))
    parts = Counter(
        (types.index(row), classes.index(shown)) for row, shown in zip(table.rows, image, strict=True)
    )
    ordered = sorted(parts.items())
    cells, shown = [], []
    for i, hierarchy in enumerate(table.hierarchies):
        found = list(dict.fromkeys(vector[i] for vector in classes))
        runs = [runs_of(codes) for _, codes in found]
        flat = [run for cell in runs for run in cell]
        cells.append(
            Cells(
                hierarchy.attribute,
                len(hierarchy.leaves),
                tuple(label for label, _ in found),
                np.cumsum([0, *map(len, runs)]),
                np.array([first for first, _ in flat]),
                np.array([last for _, last in flat]),
            )
        )
        shown.append([found.index(vector[i]) for vector in classes])
    return ClassRecoding(
        model=model,
        attributes=table.frequency_set.attributes,
        requirement=Requirement(),
        cells=tuple(cells),
        shown=np.array(shown, dtype=np.int64).T,
        row_types=np.array([t for (t, _), _ in ordered]),
        classes=np.array([c for (_, c), _ in ordered]),
        rows=np.array([n for _, n in ordered]),
    )


def runs_of(codes: frozenset[int]) -> list[tuple[int, int]]:
    """Return codes as intervals."""
    runs: list[tuple[int, int]] = []
    for code in sorted(codes):
        if runs and runs[-1][1] == code - 1:
            runs[-1] = runs[-1][0], code
        else:
            runs.append((code, code))
    return runs
