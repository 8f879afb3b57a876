"""Bounds of hits: the kernel, its numpy twin, and enumeration in plain Python agree."""

from __future__ import annotations

from collections import Counter
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.hit_bounds import bound_hits
from discreet.kernels.numpy_twins import NO_HIT, HitBounds, SortedGroupValues, bound_hits_twin

GROUPS = st.lists(st.lists(st.integers(-50, 50), min_size=1, max_size=5).map(sorted), min_size=1, max_size=5)


@given(GROUPS, st.integers(1, 5), st.integers(0, 9), st.data())
def test_kernel_and_twin_equal_plain_counting(
    groups: list[list[int]], keys: int, first: int, data: st.DataObject
) -> None:
    rows = [(group, data.draw(st.integers(-1, keys - 1))) for group, own in enumerate(groups) for _ in own]
    hits = data.draw(st.permutations([pair for pair in rows if pair[1] >= 0]))
    bits = (keys - 1).bit_length()
    packed = np.array([((first + group) << bits) + key for group, key in hits], dtype=np.int32)
    starts = np.cumsum([0, *map(len, groups)])
    values = np.concatenate(groups)
    grouped = SortedGroupValues(first, starts, values, np.concatenate(([0], np.cumsum(values))))
    kernel, twin = HitBounds.of_none(keys), HitBounds.of_none(keys)
    bound_hits(packed, bits, True, grouped, kernel)
    bound_hits_twin(packed, bits, grouped, twin)
    for found in (kernel, twin):
        for key in range(keys):
            counted = Counter(group for group, own in hits if own == key)
            check([(groups[group], number) for group, number in counted.items()], found, key)


def check(met: list[tuple[list[int], int]], found: HitBounds, key: int) -> None:
    """Compare one key with the values of the groups it hits and the hit counts."""
    assert found.hits[key] == sum(hits for _, hits in met)
    assert found.sum_lower[key] == sum(sum(own[:hits]) for own, hits in met)
    assert found.sum_upper[key] == sum(sum(own[::-1][:hits]) for own, hits in met)
    assert found.expected[key] == pytest.approx(sum(hits * sum(own) / len(own) for own, hits in met))
    ranks = [max(1, min(len(own), floor((len(own) + 1) / (hits + 1) + 0.5))) for own, hits in met]
    least = [
        min((own[0] for own, _ in met), default=NO_HIT),
        min((own[-hits] for own, hits in met), default=NO_HIT),
        min((own[rank - 1] for (own, _), rank in zip(met, ranks, strict=True)), default=NO_HIT),
    ]
    most = [
        max((own[hits - 1] for own, hits in met), default=-NO_HIT),
        max((own[-1] for own, _ in met), default=-NO_HIT),
        max((own[-rank] for (own, _), rank in zip(met, ranks, strict=True)), default=-NO_HIT),
    ]
    assert found.ends[key].tolist() == least + most


def test_ends_are_looked_up_only_on_request() -> None:
    grouped = SortedGroupValues(1, np.array([0, 2]), np.array([3, 4]), np.array([0, 3, 7]))
    found = HitBounds.of_none(1)
    bound_hits(np.array([1], dtype=np.int32), 0, False, grouped, found)
    assert (found.hits[0], found.sum_lower[0], found.sum_upper[0]) == (1, 3, 4)
    assert found.ends[0].tolist() == [NO_HIT] * 3 + [-NO_HIT] * 3
