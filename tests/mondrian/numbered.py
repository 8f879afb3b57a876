"""Random tables in which some attributes are numbers with leaves out of numeric order."""

from __future__ import annotations

import numpy as np

from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from tests.oracle.random_tables import frequency_set_of, interleaved, random_hierarchy


def number_hierarchy(random: np.random.Generator, attribute: str, leaves: int) -> GeneralizationHierarchy:
    """Return distinct numbers in random order, some with a decimal, under pairs and the top."""
    numbers = random.choice(40, size=leaves, replace=False)
    texts = tuple(f"{n // 2}" if n % 2 == 0 else f"{n // 2}.5" for n in numbers.tolist())
    pairs = tuple(f"pair {i}" for i in range((leaves + 1) // 2))
    ancestors = (np.arange(leaves), np.arange(leaves) // 2, np.zeros(leaves, dtype=np.int64))
    return GeneralizationHierarchy(attribute, (texts, pairs, (TOP,)), ancestors, "random numbers")


def random_table(
    random: np.random.Generator,
    *,
    attributes: int = 3,
    rows: int = 40,
    sensitive: int = 1,
    leaves: int = 8,
    nulls: float = 0.1,
) -> FrequencySet:
    """Return a table with 1 to ``attributes`` attributes and 1 to ``rows`` rows."""
    hierarchies = []
    for i in range(int(random.integers(1, attributes + 1))):
        size = int(random.integers(1, leaves + 1))
        if random.random() < 0.5:
            hierarchies.append(number_hierarchy(random, f"q{i}", size))
        else:
            height = int(random.integers(2, 4)) if size > 1 else 1
            hierarchies.append(interleaved(random_hierarchy(random, f"q{i}", size, height), random))
    sizes = [int(random.integers(1, 6)) for _ in range(int(random.integers(0, sensitive + 1)))]
    table = [
        (
            tuple(
                len(h.leaves) if random.random() < nulls else int(random.integers(0, len(h.leaves)))
                for h in hierarchies
            ),
            tuple(None if random.random() < 0.1 else int(random.integers(0, size)) for size in sizes),
        )
        for _ in range(int(random.integers(1, rows + 1)))
    ]
    return frequency_set_of(hierarchies, table, [f"s{j}" for j in range(len(sizes))], sizes)
