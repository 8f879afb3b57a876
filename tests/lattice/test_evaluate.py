"""The evaluated lattice equals plain counting of every node, for every evaluator."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError, LimitReached
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import build_lattice, evaluate_lattice
from discreet.lattice.resource_estimates import sample_memory
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.request import Backend
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy

SETTINGS = Settings(memory_limit=2**31, threads=2, private_log=Path("unused"))


def evaluate(frequency_set: FrequencySet, evaluator: str, threads: int = 1) -> EvaluatedLattice:
    settings = Settings(memory_limit=2**31, threads=threads, private_log=Path("unused"))
    return evaluate_lattice(frequency_set, settings, evaluator=evaluator)


def assert_equal(evaluated: EvaluatedLattice, brute: BruteLattice) -> None:
    assert evaluated.rows == brute.rows
    assert evaluated.classes().tolist() == brute.classes().tolist()
    for index in range(evaluated.lattice.size):
        node = evaluated.lattice.node(index)
        assert evaluated.histogram(node) == brute.histogram(node), node


@pytest.mark.parametrize("evaluator", ["kernels", "twin"])
@examples(max_examples=some_of(300), deadline=None)
@given(seed=st.integers(0, 2**32), threads=st.sampled_from([1, 2]))
def test_every_node_equals_plain_counting(evaluator: str, seed: int, threads: int) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=4, height=3, leaves=6, rows=40, sensitive=2)
    if table.row_types:
        assert_equal(evaluate(table, evaluator, threads), BruteLattice(table))


@pytest.mark.parametrize("evaluator", ["kernels", "twin"])
@examples(max_examples=some_of(150), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_subjects_equal_plain_counting(evaluator: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    # 25 subjects of one row each are counted as rows.
    table = random_frequency_set(
        random, attributes=3, height=2, leaves=4, rows=25, sensitive=2, subjects=25 if seed % 3 == 0 else 6
    )
    if table.row_types:
        assert_equal(evaluate(table, evaluator), BruteLattice(table))


@examples(max_examples=some_of(100), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    k=st.one_of(st.none(), st.integers(1, 45)),
    l=st.one_of(st.none(), st.integers(1, 5)),
    limit=st.integers(0, 40),
)
def test_lookups_equal_plain_counting(seed: int, k: int | None, l: int | None, limit: int) -> None:
    table = random_frequency_set(
        np.random.default_rng(seed), attributes=3, height=3, leaves=5, rows=40, sensitive=2
    )
    if not table.row_types or (l is not None and not table.sensitive):
        return
    requirement = Requirement(k=k, l=l)
    brute = BruteLattice(table)
    for evaluator in ("kernels", "twin"):
        evaluated = evaluate(table, evaluator)
        assert evaluated.suppression(requirement).tolist() == brute.suppression(requirement).tolist()
        for index in range(evaluated.lattice.size):
            node = evaluated.lattice.node(index)
            assert evaluated.suppressed(node, requirement) == brute.suppressed(node, requirement)
            if k is not None and limit < brute.rows:
                assert evaluated.largest(node, requirement, "k", limit) == (
                    brute.largest(node, requirement, "k", limit) or None
                )
            if l is not None and brute.suppressed(node, requirement) > limit:
                assert (evaluated.largest(node, requirement, "l", limit) or 0) == brute.largest(
                    node, requirement, "l", limit
                )


def test_lookups_without_numba_equal_compiled_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_frequency_set(
        np.random.default_rng(21), attributes=3, height=3, leaves=5, rows=200, sensitive=2
    )
    assert table.sensitive
    requirements = [Requirement(k=k, l=l) for k in (None, 1, 3, 70, 150) for l in (None, 2, 3) if k or l]
    compiled = [evaluate(table, "kernels").suppression(r).tolist() for r in requirements]
    evaluated = evaluate(table, "twin")
    monkeypatch.delitem(sys.modules, "numba")
    assert [evaluated.suppression(r).tolist() for r in requirements] == compiled
    brute = BruteLattice(table)
    assert compiled == [brute.suppression(r).tolist() for r in requirements]


def wide_table(random: np.random.Generator, attributes: int, leaves: int, rows: int) -> FrequencySet:
    hierarchies = [random_hierarchy(random, f"q{i}", leaves, 1) for i in range(attributes)]
    picks = random.integers(0, leaves, (rows, attributes))
    table = [(tuple(row), (int(random.integers(0, 3)),)) for row in picks.tolist()]
    return frequency_set_of(hierarchies, table, ["s"], [3])


def test_keys_beyond_64_bits_equal_plain_counting() -> None:
    labels = (tuple(map(str, range(2000))), ("*",))
    ancestors = (np.arange(2000), np.zeros(2000, np.int64))
    hierarchies = tuple(GeneralizationHierarchy(f"q{i}", labels, ancestors, "test") for i in range(8))
    codes = np.random.default_rng(2).integers(0, 2000, (700, 8))
    # Row types of several rows: their counts are weights.
    table = FrequencySet(hierarchies, codes, 1 + np.arange(700) % 90)
    assert_equal(evaluate(table, "kernels"), BruteLattice(table))


def test_attribute_of_more_than_65_536_leaves_equals_plain_counting() -> None:
    leaves = 70_000
    halves = np.arange(leaves) // 2
    hierarchy = GeneralizationHierarchy(
        "q0",
        (tuple(map(str, range(leaves))), tuple(map(str, range(leaves // 2))), ("*",)),
        (np.arange(leaves), halves, np.zeros(leaves, np.int64)),
        "test",
    )
    other = random_hierarchy(np.random.default_rng(3), "q1", 3, 1)
    codes = np.stack([np.arange(leaves), np.arange(leaves) % 3], axis=1)
    table = FrequencySet((hierarchy, other), codes, np.ones(leaves, np.int64))
    for evaluator in ("kernels", "twin"):
        evaluated = evaluate(table, evaluator, threads=2)
        assert evaluated.histogram((0, 0)) == {(1,): leaves}
        assert evaluated.histogram((1, 1)) == {(2,): leaves}
        assert evaluated.histogram((1, 0)) == {(1,): leaves}
        assert evaluated.histogram((2, 0)) == {(23_333,): 46_666, (23_334,): 23_334}
        assert evaluated.histogram((2, 1)) == {(leaves,): leaves}


@pytest.mark.parametrize("values", [64, 65])
def test_many_sensitive_values_equal_plain_counting(values: int) -> None:
    random = np.random.default_rng(values)
    hierarchies = [random_hierarchy(random, f"q{i}", 4, 2) for i in range(3)]
    rows = [
        (tuple(random.integers(0, 4, 3).tolist()), (int(random.integers(0, values)),)) for _ in range(3000)
    ]
    table = frequency_set_of(hierarchies, rows, ["s"], [values])
    brute = BruteLattice(table)
    assert_equal(evaluate(table, "kernels"), brute)
    assert_equal(evaluate(table, "twin"), brute)


@pytest.mark.parametrize(
    ("evaluator", "sensitive"),
    # Kernels for this count type are compiled only here, for five seconds each.
    [("twin", 0), ("twin", 1), ("kernels", 1), pytest.param("kernels", 0, marks=pytest.mark.slow)],
)
def test_counts_beyond_32_bits_equal_plain_counting(evaluator: str, sensitive: int) -> None:
    random = np.random.default_rng(4)
    table = wide_table(random, attributes=3, leaves=3, rows=20)
    counts = table.counts + 2**33 * (np.arange(table.row_types) % 2)
    table = FrequencySet(table.hierarchies, table.codes, counts, table.sensitive[:sensitive])
    assert_equal(evaluate(table, evaluator), BruteLattice(table))


def test_lattice_for_k_only_has_no_sensitive_attributes() -> None:
    table = wide_table(np.random.default_rng(5), attributes=2, leaves=3, rows=20)
    evaluated = evaluate_lattice(table, SETTINGS, diversity=False)
    assert evaluated.sensitive_attributes == ()
    with pytest.raises(InputError, match="no attribute is sensitive"):
        evaluated.suppression(Requirement(l=2))


def test_lattice_beyond_the_memory_limit_is_refused_with_the_estimate() -> None:
    table = wide_table(np.random.default_rng(6), attributes=8, leaves=3, rows=50)
    needed = sample_memory(build_lattice(table), table, 1)
    small = Settings(memory_limit=needed - 1, threads=1, private_log=Path("unused"))
    with pytest.raises(LimitReached, match=r"256 nodes over \d+ row types") as caught:
        evaluate_lattice(table, small)
    assert "memory_limit=" in str(caught.value)
    enough = Settings(memory_limit=needed, threads=1, private_log=Path("unused"))
    assert evaluate_lattice(table, enough).rows == 50


def test_suppression_is_cached_and_read_only() -> None:
    evaluated = evaluate(wide_table(np.random.default_rng(7), attributes=2, leaves=3, rows=20), "twin")
    first = evaluated.suppression(Requirement(k=2))
    assert evaluated.suppression(Requirement(k=2)) is first
    assert not first.flags.writeable


@pytest.mark.parametrize("evaluator", [Backend.KERNELS, Backend.TWIN])
def test_progress_reports_every_node(evaluator: Backend) -> None:
    table = wide_table(np.random.default_rng(8), attributes=4, leaves=3, rows=40)
    seen: list[tuple[int, int]] = []
    evaluate_lattice(table, SETTINGS, evaluator=evaluator, progress=lambda *done: seen.append(done))
    assert len(seen) > 1
    assert seen[-1] == (16, 16)


def test_unknown_compile_policy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_COMPILE", "sometimes")
    table = wide_table(np.random.default_rng(10), attributes=2, leaves=2, rows=9)
    with pytest.raises(InputError, match="background, wait, never"):
        evaluate_lattice(table, SETTINGS)
