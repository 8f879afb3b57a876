"""Random tables and requests for negotiations."""

from __future__ import annotations

import numpy as np

from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Request
from tests.oracle.random_tables import random_frequency_set


def table_and_request(seed: int, *, subjects: bool = False) -> tuple[FrequencySet, Request]:
    """Return a small random table and a request that often has no exact answer."""
    random = np.random.default_rng(seed)
    people = int(random.integers(1, 16)) if subjects else None
    table = random_frequency_set(
        random, attributes=4, height=3, leaves=5, rows=30, sensitive=2, subjects=people
    )
    heights = {h.attribute: h.height for h in table.hierarchies}
    highest = {a: int(random.integers(0, h + 1)) for a, h in heights.items() if random.random() < 0.7}
    lowest = {
        a: int(random.integers(0, highest.get(a, h) + 1)) for a, h in heights.items() if random.random() < 0.2
    }
    l = int(random.integers(1, 6)) if table.sensitive and random.random() < 0.5 else None
    return table, Request.of(
        k=int(random.integers(1, 12)) if l is None or random.random() < 0.5 else None,
        l=l,
        max_suppressed=[0, int(random.integers(0, 8)), "10%"][int(random.integers(0, 3))],
        max_level=highest,
        min_level=lowest,
        scope=str(random.choice(["above", "global"])),
    )
