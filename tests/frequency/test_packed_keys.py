"""Equal packed keys form a class by sorting and by hashing, and generalize as rows do."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.frequency import packed_keys
from discreet.frequency.node_classes import NodeClassCounter
from discreet.frequency.packed_keys import group_equal, sort_packed_keys
from discreet.frequency.rollup import roll_up
from discreet.model.frequency_set import FrequencySet
from tests.oracle.random_tables import frequency_set_of, random_hierarchy


def wide(rows: int = 400) -> FrequencySet:
    """Return a frequency set of thirty attributes with up to nine leaves: 120 bits."""
    random = np.random.default_rng(0)
    hierarchies = [random_hierarchy(random, f"q{i:02d}", 8 + i % 2, 3) for i in range(30)]
    drawn = [tuple(int(v) for v in random.integers(0, 9, 30)) for _ in range(rows // 2)]
    table = [(tuple(min(v, len(h.leaves)) for v, h in zip(r, hierarchies, strict=True)), ()) for r in drawn]
    return frequency_set_of(hierarchies, table * 2)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("colliding", [False, True])
def test_classes_of_keys_of_several_words(
    monkeypatch: pytest.MonkeyPatch, compiled: bool, colliding: bool
) -> None:
    """Classes are correct even if a hash function maps all keys to one slot."""
    if compiled:
        pytest.importorskip("numba")
        monkeypatch.setenv("DISCREET_COMPILE", "wait")
        monkeypatch.setattr(packed_keys, "_KEYS_BEFORE_KERNELS", 0)
    if colliding:
        monkeypatch.setattr(packed_keys, "_MIX", (0, 0, 0, 0))
    table = wide()
    counter = NodeClassCounter(table, [], 10**6)
    for node in [(0,) * 30, (1,) * 30, (3,) * 29 + (0,), (2,) * 30, (3,) * 30, (0, 3) * 15]:
        found, expected = counter.count(node), roll_up(table, node)
        codes = counter.codes(found, np.arange(found.classes))
        for i, (hierarchy, level) in enumerate(zip(table.hierarchies, node, strict=True)):
            codes[:, i] = hierarchy.level_map(level)[codes[:, i]]
        shown = dict(zip(map(tuple, codes.tolist()), found.sizes.tolist(), strict=True))
        assert shown == dict(zip(map(tuple, expected.codes.tolist()), expected.counts.tolist(), strict=True))
        assert counter.classes(node) == found.classes == expected.classes


@pytest.mark.parametrize(("words", "number"), [(1, 500), (2, 500), (3, 1), (1, 0)])
def test_equal_keys_form_a_class_by_sort_and_by_hash(words: int, number: int) -> None:
    pytest.importorskip("numba")
    random = np.random.default_rng(1)
    keys = random.integers(0, 6, (words, number)).astype(np.uint64) << np.uint64(40)
    counts = random.integers(1, 9, number)
    results = []
    for compiled in (False, True):
        class_of, first, sizes = group_equal(keys, counts, compiled=compiled)
        assert (keys[:, first[class_of]] == keys).all()
        assert np.bincount(class_of, counts, len(first)).tolist() == sizes.tolist()
        results.append(sorted(zip(*keys[:, first].tolist(), sizes.tolist(), strict=True)))
    assert results[0] == results[1]


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize(("bits", "number"), [(0, 300), (10, 300), (56, 300), (64, 300), (0, 0)])
def test_sorted_equal_keys_are_adjacent(words: int, bits: int, number: int) -> None:
    """Equal keys become neighbours, with and without spare bits for the position of a key."""
    random = np.random.default_rng(words)
    drawn = random.integers(0, 1 << 64, (words, 5), dtype=np.uint64)[:, random.integers(0, 5, number)]
    keys = drawn >> np.uint64(64 - bits) if bits else np.zeros_like(drawn)
    order, starts = sort_packed_keys(keys)
    assert sorted(order.tolist()) == list(range(number))
    runs = np.split(order, starts[1:]) if number else []
    assert all(len({tuple(keys[:, i]) for i in run}) == 1 for run in runs)
    assert len(runs) == len({tuple(key) for key in keys.T}) == len(starts)
