"""What buffers are said to take before work begins is what they take, within a factor of two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet.kernels.evaluate import _shape, _State, _widths, _worker
from discreet.kernels.histograms import SMALL_LIMIT
from discreet.kernels.plan import plan_rotation
from discreet.lattice.compiled_scores import CompiledScores, edges_of
from discreet.lattice.evaluate import lattice_of
from discreet.lattice.memory import estimate_memory
from discreet.lattice.scores import further_bounds
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.sensitive_attribute import SensitiveAttribute
from tests.oracle.random_tables import random_hierarchy


def arrays(value: Any) -> Iterable[np.ndarray]:
    """All arrays of a tuple of tuples."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays(part)


def table_of(types: int, values: int, rows: int) -> FrequencySet:
    """Row types with ``rows`` rows each, of a few of the values."""
    random = np.random.default_rng(types + values)
    hierarchies = tuple(random_hierarchy(random, name, 12, 2) for name in "abcde")
    grid = np.array(np.unravel_index(random.permutation(12**5)[:types], (12,) * 5)).T
    held = [np.sort(random.choice(values, min(3, values), replace=False)) for _ in range(types)]
    offsets = np.cumsum([0, *map(len, held)])
    codes = np.concatenate(held)
    counts = np.full(len(codes), rows)
    in_all = np.bincount(codes, counts, minlength=values).astype(np.int64)
    of = SensitiveAttribute.of([f"{v:04d}" for v in range(values)], in_all)
    sets = ValueSets("s", values, offsets, codes, counts=counts, of=of)
    sums = np.add.reduceat(counts, offsets[:-1])
    return FrequencySet(hierarchies, grid.astype(np.int64), sums, (sets,))


@pytest.mark.parametrize(
    ("types", "values", "rows"), [(20_000, 90, 5), (20_000, 14, 5), (5_000, 150, 1), (60_000, 30, 1)]
)
def test_buffers_with_further_criteria(types: int, values: int, rows: int) -> None:
    table, asked = table_of(types, values, rows), (TCloseness(0.3, "s"),)
    levels = [[h.level_map(level) for level in range(h.height + 1)] for h in table.hierarchies]
    plan, further = plan_rotation(table.codes, table.counts, levels), further_bounds(asked, table)
    told = CompiledScores.of(further, table, plan)
    assert told is not None
    scored = told.scored(edges_of(further, asked))
    key, count = (np.uint32 if plan.key_bits == 32 else np.uint64), np.uint32
    shape = _shape(plan, (values,), _widths((values,), scored), key, count, SMALL_LIMIT)
    bits = told.words.reshape(types, 1, -1, 4)
    start = _State(plan.keys[0].astype(key), plan.counts.astype(count), bits)
    taken = sum(array.nbytes for array in arrays(_worker(start, shape, scored)))
    lattice = lattice_of(table)
    one, two = (estimate_memory(lattice, table, 1, threads, further=1) for threads in (1, 2))
    assert taken / 2 <= two - one <= 2 * taken
    # What k and l alone need is told as before, and is less.
    assert estimate_memory(lattice, replace(table), 1) < one
