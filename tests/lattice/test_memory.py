"""Estimated buffer memory is within a factor of two of the memory used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import LimitReached
from discreet.kernels.histograms import Histograms
from discreet.kernels.lattice_rotation import GroupState
from discreet.kernels.lattice_rotation_plan import count_words_of, plan_rotation
from discreet.kernels.plan_evaluation import _make_plan_arrays, _make_worker, _signature_widths
from discreet.kernels.wide_keys import split_sections
from discreet.lattice.evaluation import build_lattice, evaluate_lattice
from discreet.lattice.resource_estimates import estimate_buffers, estimate_memory, sample_memory
from discreet.lattice.score_buckets import CompiledScores, choose_edges
from discreet.lattice.scores import bind_further_scores
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.settings import Settings
from tests.oracle.random_tables import random_hierarchy


def arrays(value: Any) -> Iterable[np.ndarray]:
    """Yield all arrays of nested tuples."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays(part)


def table_of(types: int, values: int, rows: int) -> FrequencySet:
    """Return row types with ``rows`` rows each and few of the values."""
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


@pytest.mark.parametrize(("types", "values", "rows"), [(20_000, 14, 5), (5_000, 150, 1), (60_000, 30, 1)])
def test_estimated_buffers_of_scores_are_those_allocated(types: int, values: int, rows: int) -> None:
    table, criteria = table_of(types, values, rows), (TCloseness(0.3, "s"),)
    levels = [[h.level_map(level) for level in range(h.height + 1)] for h in table.hierarchies]
    plan, further = plan_rotation(table.codes, table.counts, levels), bind_further_scores(criteria, table)
    compiled = CompiledScores.of(further, table, plan)
    assert compiled is not None
    scored = compiled.scored(choose_edges(further, criteria))
    sections, count = split_sections(plan), np.uint32
    assert sections is not None
    shape = _make_plan_arrays(plan, sections, (values,), _signature_widths((values,), scored), count)
    bits = compiled.words.reshape(types, 1, -1, 4)
    start = GroupState(sections.keys, plan.counts.astype(count), bits)
    taken = sum(array.nbytes for array in arrays(_make_worker(start, shape, scored)))
    lattice = build_lattice(table)
    one, two = (estimate_memory(lattice, table, 1, threads, further=1) for threads in (1, 2))
    assert taken / 2 <= two - one <= 2 * taken
    # The estimate for only k and l is unchanged, and smaller.
    assert estimate_memory(lattice, replace(table), 1) < one


@pytest.mark.parametrize(("values", "rows"), [(0, 1), (0, 30), (90, 40)])
def test_sampled_memory_is_that_of_the_histograms(values: int, rows: int) -> None:
    table = table_of(20_000, max(values, 1), rows)
    sensitive = 1 if values else 0
    lattice = build_lattice(table)
    settings = Settings(memory_limit=2**31, threads=1, private_log=Path("unused"))
    found = evaluate_lattice(table, settings, diversity=bool(values), evaluator="kernels").histograms
    assert isinstance(found, Histograms)
    entries = found.signatures.nbytes + found.rows.nbytes
    words = count_words_of(values) if values else 0
    buffers = estimate_buffers(table.row_types, len(lattice.heights), 4, words) // 2
    likely = sample_memory(lattice, table, sensitive) - buffers
    assert 0.6 <= likely / (found.nbytes + entries) <= 1.6
    assert sample_memory(lattice, table, sensitive) <= estimate_memory(lattice, table, sensitive)


def test_lattice_is_refused_by_the_sampled_memory_not_by_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = replace(table_of(20_000, 2, 3), sensitive=())
    likely, most = (
        estimate(build_lattice(table), table, 0, 1) for estimate in (sample_memory, estimate_memory)
    )
    settings = Settings(memory_limit=likely, threads=1, private_log=Path("unused"))
    assert likely < most
    assert evaluate_lattice(table, settings, evaluator="kernels").rows == table.rows
    small = replace(settings, memory_limit=likely - 1)
    with pytest.raises(LimitReached, match="would take about"):
        evaluate_lattice(table, small, evaluator="kernels")
    # Nodes outside the sample may need more, which is detected during counting.
    monkeypatch.setattr("discreet.lattice.evaluation.check_memory", lambda *_: None)
    with pytest.raises(LimitReached, match="takes more than"):
        evaluate_lattice(table, replace(settings, memory_limit=10_000), evaluator="kernels")
