"""What ``kernels.local_near`` finds, in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def near_twin(masks: Array, keys: Array, most: int) -> Array:
    """Up to ``most`` near row types of each, -1 where there are fewer; arguments as the kernel's."""
    number = keys.shape[1]
    near: list[list[int]] = [[] for _ in range(number)]
    for mask in masks:
        open_types = [i for i in range(number) if len(near[i]) < most]
        if not open_types:
            break
        classes: dict[bytes, list[int]] = {}
        place = []
        for i, key in enumerate(np.ascontiguousarray((keys & mask[:, np.newaxis]).T)):
            members = classes.setdefault(key.tobytes(), [])
            place.append((members, len(members)))
            members.append(i)
        for i in open_types:
            members, at = place[i]
            following = [*members[at + 1 :], *members[:at]][: 2 * most]
            near[i] += [other for other in following if other not in near[i]][: most - len(near[i])]
    return np.array([[*of_type, *[-1] * (most - len(of_type))] for of_type in near], np.int32)
