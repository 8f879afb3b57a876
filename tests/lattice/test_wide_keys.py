"""Keys wider than a word: kernels, numpy twin and plain counting agree on every node."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.kernels import wide_keys
from discreet.kernels.lattice_rotation_plan import RotationPlan, plan_rotation
from discreet.kernels.wide_keys import split_faces
from discreet.lattice import evaluation as evaluating
from discreet.lattice.evaluation import evaluate_lattice
from discreet.lattice.score_buckets import BucketedHistograms
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.criteria.test_value_shares import ALL as SHARES
from tests.drawing import some_of
from tests.lattice.test_evaluate import assert_equal
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy

SETTINGS = Settings(memory_limit=2**31, threads=1, private_log=Path("unused"))


def table_of_bits(
    random: np.random.Generator, bits: list[int], rows: int, *, sensitive: int = 0, values: int = 3
) -> FrequencySet:
    """Return a table with the given bits per attribute: every leaf occurs; neighbours repeat most values."""
    hierarchies, columns = [], []
    for place, width in enumerate(bits):
        leaves = (1 << width) - int(random.integers(0, 1 << (width - 1)))
        hierarchies.append(_hierarchy(random, f"q{place}", leaves, 2 if place < 2 else 1))
        column = random.integers(0, leaves, rows)
        column[:leaves] = random.permutation(leaves)
        # Groups of four rows agree in most attributes, so that classes of several rows exist everywhere.
        columns.append(np.where(random.random(rows) < 0.5, column[random.permutation(rows) // 4], column))
        columns[-1][:leaves] = column[:leaves]
    keys = np.stack(columns, axis=1)
    rows_of = [
        (tuple(row), tuple(int(random.integers(0, values)) for _ in range(sensitive)))
        for row in keys.tolist()
    ]
    return frequency_set_of(hierarchies, rows_of, [f"s{j}" for j in range(sensitive)], [values] * sensitive)


def _hierarchy(random: np.random.Generator, name: str, leaves: int, height: int) -> GeneralizationHierarchy:
    """Return a random hierarchy; with height 2, level 1 has a few groups."""
    if height == 1:
        return random_hierarchy(random, name, leaves, 1)
    groups = np.sort(random.integers(0, 4, leaves))
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    labels = (tuple(map(str, range(leaves))), tuple(f"g{g}" for g in range(int(groups[-1]) + 1)), ("*",))
    ancestors = (np.arange(leaves), groups, np.zeros(leaves, np.int64))
    return GeneralizationHierarchy(name, labels, ancestors, "test")


def plan_of(table: FrequencySet) -> RotationPlan:
    levels = [[h.level_map(level) for level in range(h.height + 1)] for h in table.hierarchies]
    return plan_rotation(table.codes, table.counts, levels)


@pytest.fixture
def no_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if the kernels fall back to the numpy twin."""

    def refuse(*_arguments: object, **_named: object) -> None:
        raise AssertionError("the numpy twin was used")

    monkeypatch.setattr(evaluating, "_evaluate_twin", refuse)


@pytest.mark.usefixtures("no_twin")
@pytest.mark.parametrize(("total", "sensitive"), [(63, 1), (64, 0), (65, 0), (65, 1), (70, 2)])
def test_keys_around_one_word_equal_plain_counting(total: int, sensitive: int) -> None:
    bits = spread(total, 8)
    table = table_of_bits(np.random.default_rng(total), bits, 1 << max(bits), sensitive=sensitive)
    assert sum(plan_of(table).bits) == total
    assert (plan_of(table).words > 1) == (total > 64)
    assert_equal(evaluate_lattice(table, SETTINGS, evaluator="kernels"), BruteLattice(table))


def spread(total: int, attributes: int) -> list[int]:
    """Distribute a total of bits about equally over the attributes."""
    return [total // attributes + (place < total % attributes) for place in range(attributes)]


@pytest.mark.parametrize(("total", "attributes"), [(128, 12), (129, 12), (150, 11)])
def test_keys_around_two_words_equal_the_twin(total: int, attributes: int) -> None:
    bits = spread(total, attributes)
    table = table_of_bits(np.random.default_rng(total), bits, 1 << max(bits), sensitive=1)
    assert sum(plan_of(table).bits) == total
    ours = evaluate_lattice(table, SETTINGS, evaluator="kernels")
    twin = evaluate_lattice(table, SETTINGS, evaluator="twin")
    assert np.array_equal(ours.classes(), twin.classes())
    for node in range(0, ours.lattice.size, 5):
        assert ours.histograms.of(node) == twin.histograms.of(node), node
    plain = evaluate_lattice(table, SETTINGS, diversity=False, evaluator="kernels")
    for k, l in ((2, None), (3, None), (100, None), (2, 2), (None, 3)):
        requirement = Requirement(k, l)
        assert np.array_equal(ours.suppression(requirement), twin.suppression(requirement))
        if l is None:
            assert np.array_equal(plain.suppression(requirement), twin.suppression(requirement))


@examples(max_examples=some_of(120), deadline=None)
@given(seed=st.integers(0, 2**32), word=st.integers(4, 20), threads=st.sampled_from([1, 2]))
def test_sections_and_faces_of_narrow_words_equal_plain_counting(seed: int, word: int, threads: int) -> None:
    table = random_frequency_set(
        np.random.default_rng(seed), attributes=6, height=3, leaves=6, rows=50, sensitive=2
    )
    if not table.row_types:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wide_keys, "WORD_BITS", _room(table, word))
        settings = replace(SETTINGS, threads=threads)
        assert_equal(evaluate_lattice(table, settings, evaluator="kernels"), BruteLattice(table))


def _room(table: FrequencySet, word: int) -> int:
    """Return a word width that holds at least the row-type numbers and the tail."""
    plan = plan_of(table)
    tail = sum(plan.bits[plan.tail.head :])
    return max(word, 2 * max(table.row_types - 1, 1).bit_length() + 1, tail + table.row_types.bit_length())


def test_narrow_words_need_sections_and_faces() -> None:
    """Narrow words do make sections and faces, which the test above relies on."""
    parts, faces = set(), 0
    for seed in range(30):
        table = random_frequency_set(
            np.random.default_rng(seed), attributes=6, height=3, leaves=6, rows=50, sensitive=0
        )
        if not table.row_types:
            continue
        for word in (6, 10, 14):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(wide_keys, "WORD_BITS", _room(table, word))
                found = wide_keys.split_sections(plan_of(table))
            faces += found is None
            parts.add(0 if found is None else len(found.parts))
    assert {1, 2, 3} <= parts
    assert faces > 3


@pytest.mark.parametrize("criterion", [*SHARES[::3], TCloseness(0.3, distance="equal")])
def test_scores_of_wide_keys_are_those_of_the_twin(criterion: Criterion) -> None:
    table = table_of_bits(np.random.default_rng(9), [7] * 10, 128, sensitive=1, values=4)
    ours = evaluate_lattice(table, SETTINGS, criteria=(criterion,), evaluator="kernels")
    twin = evaluate_lattice(table, SETTINGS, criteria=(criterion,), evaluator="twin")
    assert plan_of(table).words > 1
    assert isinstance(ours.histograms, BucketedHistograms)
    for value in criterion.parameter.slider[::4]:
        requirement = Requirement(2, criteria=[replace(criterion, value=value)])
        assert np.array_equal(ours.suppression(requirement), twin.suppression(requirement))


@pytest.mark.parametrize(("word", "criterion"), [(8, SHARES[0]), (12, SHARES[-1]), (16, SHARES[0])])
def test_scores_in_sections_are_those_of_one_word(word: int, criterion: Criterion) -> None:
    for seed in range(6):
        table = random_frequency_set(
            np.random.default_rng(seed), attributes=5, height=3, leaves=5, rows=80, sensitive=2
        )
        if not table.row_types or not table.sensitive:
            continue
        found = []
        for bits in (64, _room(table, word)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(wide_keys, "WORD_BITS", bits)
                lattice = evaluate_lattice(table, SETTINGS, criteria=(criterion,), evaluator="kernels")
                requirements = [Requirement(k, l, [criterion]) for k, l in ((None, None), (3, None), (40, 2))]
                found.append([lattice.suppression(one).tolist() for one in requirements])
        assert found[0] == found[1]


def test_subjects_of_wide_keys_are_counted() -> None:
    table = table_of_bits(np.random.default_rng(3), [7] * 10, 128)
    people = np.random.default_rng(4).integers(0, 40, table.rows)
    rows = [tuple(row) for row in table.codes.tolist()]
    named = frequency_set_of(table.hierarchies, [(row, ()) for row in rows], (), (), people.tolist())
    assert plan_of(named).words > 1
    assert_equal(evaluate_lattice(named, SETTINGS, evaluator="kernels"), BruteLattice(named))


def test_faces_contain_every_node_once() -> None:
    table = table_of_bits(np.random.default_rng(5), [9] * 8, 512)
    plan = plan_of(table)
    low, high = split_faces(plan, None, added=False)
    assert sorted([*low.nodes.tolist(), *high.nodes.tolist()]) == list(range(plan.nodes))
    assert low.plan.nodes == len(low.nodes)
    assert high.plan.nodes == len(high.nodes)
    assert len(high.plan.counts) <= len(plan.counts)
    assert int(high.plan.counts.sum()) == int(plan.counts.sum())
