"""Classes that stand out: the smallest, and how far each is from every other class.

The distance of two classes is the number of quasi-identifiers in which they show different cells. A small
class that differs from all others in many is conspicuous: an attacker who has one value wrong still finds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attacks.published import PublishedTable

LISTED = 10


@dataclass(frozen=True)
class ClassOfInterest:
    """One class by its published cells, with the least distance from any other (None: there is no other)."""

    values: Mapping[str, str | None]
    rows: int
    distance: int | None

    def as_json(self) -> dict[str, Any]:
        """The document's part; its values are those that the release shows."""
        return {"values": dict(self.values), "rows": self.rows, "distance": self.distance}


def smallest_classes(published: PublishedTable, listed: int = LISTED) -> tuple[ClassOfInterest, ...]:
    """The smallest classes, those that are farther from the others first among equals."""
    if not published.classes:
        return ()
    shown, rows = published.shown, published.rows
    bound = np.sort(rows)[: 4 * listed][-1]
    candidates = np.flatnonzero(rows <= bound)[: 16 * listed]
    found = []
    for place in candidates.tolist():
        apart = (shown != shown[place]).sum(axis=1)
        apart[place] = len(published.attributes) + 1
        distance = int(apart.min()) if published.classes > 1 else None
        found.append((int(rows[place]), -(distance or 0), place, distance))
    return tuple(
        ClassOfInterest(
            values={
                name: published.labels[i][shown[place, i]] for i, name in enumerate(published.attributes)
            },
            rows=size,
            distance=distance,
        )
        for size, _, place, distance in sorted(found)[:listed]
    )
