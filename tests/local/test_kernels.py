"""Compiled kernels of local recoding, checked against their numpy twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.frequency.class_requirement import ClassRequirement
from discreet.kernels.local_recoding_twin import TreeTables, compute_spreads_twin
from discreet.local.annealing import (
    AnnealingParameters,
    LocalUnits,
    anneal_parts,
    build_annealer,
    divide_into_parts,
)
from discreet.local.cell_generalization import bound_granularity
from discreet.local.greedy_classes import GreedyClasses, build_greedy_classes
from discreet.local.key_space import KeySpace, build_key_space
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from tests.drawing import some_of
from tests.oracle.random_tables import random_frequency_set

pytest.importorskip("numba")


def a_table(seed: int, rows: int = 60) -> FrequencySet:
    random = np.random.default_rng(seed)
    while True:
        found = random_frequency_set(random, attributes=4, height=3, leaves=7, rows=rows, sensitive=2)
        if found.rows:
            return found


def top_of(frequency_set: FrequencySet) -> LatticeNode:
    return tuple(h.height for h in frequency_set.hierarchies)


def a_space(frequency_set: FrequencySet, random: np.random.Generator, words: int) -> KeySpace:
    high = tuple(
        int(random.integers(0, t + 1)) if random.random() < 0.4 else t for t in top_of(frequency_set)
    )
    low = tuple(int(random.integers(0, h + 1)) if random.random() < 0.3 else 0 for h in high)
    space = build_key_space(frequency_set, low, high)
    return space if words == 1 else in_two_words(space)


def in_two_words(space: KeySpace) -> KeySpace:
    """Return the same keys with every other attribute in a second word."""
    fields = [masks[0].sum() for masks in space.node_masks]
    second = [j % 2 for j in range(len(fields))]
    keys = np.zeros((2, space.keys.shape[1]), np.uint64)
    node_masks = []
    for masks, field, word in zip(space.node_masks, fields, second, strict=True):
        keys[word] |= space.keys[0] & field
        wide = np.zeros((len(masks), 2), np.uint64)
        wide[:, word] = masks[:, 0]
        node_masks.append(wide)
    return replace(space, keys=keys, node_masks=tuple(node_masks), word=tuple(second))


def a_demand(frequency_set: FrequencySet, random: np.random.Generator) -> ClassRequirement:
    k = int(random.integers(1, 7))
    l = int(random.integers(1, 4)) if frequency_set.sensitive and random.random() < 0.6 else None
    return ClassRequirement.of(frequency_set, Requirement(k, l))


@given(st.integers(0, 10**6), st.sampled_from([1, 2]))
@settings(max_examples=some_of(60), deadline=None)
def test_greedy_by_kernels_equals_the_twins(seed: int, words: int) -> None:
    random = np.random.default_rng(seed)
    frequency_set = a_table(seed)
    space, demand = a_space(frequency_set, random, words), a_demand(frequency_set, random)
    kernel, twin = (build_greedy_classes(space, demand, kernels=kernels) for kernels in (True, False))
    assert kernel.class_of.tolist() == twin.class_of.tolist()
    assert kernel.classes == twin.classes
    assert kernel.used_masks.tolist() == twin.used_masks.tolist()
    assert kernel.loss == pytest.approx(twin.loss)


def loss(space: KeySpace, units: LocalUnits, class_of: NDArray[np.int64]) -> float:
    """Return the loss of the rows of all classes."""
    names = np.unique(class_of[class_of >= 0])
    numbered = np.where(class_of >= 0, np.searchsorted(names, class_of), -1)
    tables = TreeTables(space.word, space.level_masks, space.losses)
    keys, codes = space.keys.T[units.kind], space.frequency_set.codes[units.kind]
    _, _, size, lost = compute_spreads_twin(keys, units.rows, codes, numbered, len(names), tables)
    return float((size * lost).sum())


@given(st.integers(0, 10**6), st.sampled_from([1, 2]))
@settings(max_examples=some_of(30), deadline=None)
def test_annealing_equals_its_twin(seed: int, words: int) -> None:
    random = np.random.default_rng(seed)
    frequency_set = a_table(seed, rows=40)
    space, demand = a_space(frequency_set, random, words), a_demand(frequency_set, random)
    placement = build_greedy_classes(space, demand, kernels=True)
    if not placement.classes:
        return
    units = LocalUnits.of(demand)
    found = []
    for kernels in (True, False):
        class_of = placement.class_of[units.kind]
        annealer = build_annealer(space, demand, placement.used_masks, kernels=kernels)
        parts = list(divide_into_parts(space, units, class_of, seed, 0))
        before = loss(space, units, class_of)
        gained = anneal_parts(
            annealer, units, class_of, parts, demand.need, AnnealingParameters(0.3, 60, (seed, 1)), 2
        )
        assert loss(space, units, class_of) == pytest.approx(before - gained)
        assert gained >= 0
        found.append(class_of.tolist())
    assert found[0] == found[1]


@given(st.integers(0, 10**6))
@settings(max_examples=some_of(15), deadline=None)
def test_near_row_types_equal_the_twins(seed: int) -> None:
    from discreet.kernels.local_annealing import find_near_types
    from discreet.kernels.local_recoding_twin import find_near_types_twin

    random = np.random.default_rng(seed)
    space = a_space(a_table(seed), random, 1)
    masks = build_greedy_classes(
        space, ClassRequirement.of(space.frequency_set, Requirement(2)), kernels=False
    ).used_masks
    near = np.empty((space.keys.shape[1], 16), np.int64)
    find_near_types(masks, space.keys, near)
    assert near.tolist() == find_near_types_twin(masks, space.keys, 16).tolist()


@given(st.integers(0, 10**6))
@settings(max_examples=some_of(15), deadline=None)
def test_bound_by_kernels_equals_the_twins(seed: int) -> None:
    random = np.random.default_rng(seed)
    space = a_space(a_table(seed), random, 1)
    demand = a_demand(space.frequency_set, random)
    placement: GreedyClasses = build_greedy_classes(space, demand, kernels=True)
    placed = placement.class_of >= 0
    if placed.any():
        bounds = [
            bound_granularity(space, demand, placed, kernels=kernels, iterations=3)
            for kernels in (True, False)
        ]
        assert bounds[0] == pytest.approx(bounds[1], abs=1e-9)
