"""The slacks of ``kernels.local_bound``, counted class by class in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def find_slacks_twin(
    masks: Array,
    levels: Array,
    need: int,
    keys: Array,
    rows: Array,
    codes: Array,
    values: Array,
    losses: Sequence[NDArray[np.float64]],
    slack: Array,
) -> None:
    """Lower ``slack`` to what the classes of the nodes leave; ``keys`` in the order of the row types."""
    for mask, node in zip(masks, levels, strict=True):
        classes: dict[bytes, list[int]] = {}
        for t, key in enumerate(np.ascontiguousarray((keys & mask[:, np.newaxis]).T)):
            classes.setdefault(key.tobytes(), []).append(t)
        for members in classes.values():
            if sum(int(rows[t]) for t in members) < need:
                continue
            loss = sum(float(table[node[j], codes[members[0], j]]) for j, table in enumerate(losses))
            left, needed = need * loss, need
            for t in sorted(members, key=lambda t: -values[t]):
                taken = min(int(rows[t]), needed)
                left -= taken * values[t]
                needed -= taken
            slack[members] = np.minimum(slack[members], left)
