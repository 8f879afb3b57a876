"""Validators, checked against the enumerators, and the inclusions between models."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.model.class_recoding import RecodingModel
from discreet.taxonomy.admissibility import boxes_overlap, find_inadmissibility
from tests.drawing import some_of
from tests.oracle.plain_taxonomy import images, least_loss
from tests.taxonomy.tiny import recoding_of, tiny

M = RecodingModel
BY_HIERARCHY = (
    M.FULL_DOMAIN,
    M.ATTRIBUTE_SUPPRESSION,
    M.FULL_SUBTREE,
    M.UNRESTRICTED_SINGLE,
    M.FULL_SUBGRAPH,
    M.UNRESTRICTED_MULTI,
)
INCLUSIONS = (
    (M.ATTRIBUTE_SUPPRESSION, M.FULL_DOMAIN),
    (M.FULL_DOMAIN, M.FULL_SUBTREE),
    (M.FULL_SUBTREE, M.UNRESTRICTED_SINGLE),
    (M.UNRESTRICTED_SINGLE, M.UNRESTRICTED_MULTI),
    (M.FULL_SUBTREE, M.FULL_SUBGRAPH),
    (M.FULL_SUBGRAPH, M.UNRESTRICTED_MULTI),
    (M.ORDERED_SINGLE, M.ORDERED_MULTI),
    (M.ORDERED_MULTI, M.RELAXED_MULTI),
    (M.UNRESTRICTED_MULTI, M.CELL_GENERALIZATION),
    (M.ATTRIBUTE_SUPPRESSION, M.CELL_SUPPRESSION),
    (M.CELL_SUPPRESSION, M.CELL_GENERALIZATION),
)
SEEDS = st.integers(0, 2**32)
EXAMPLES = hypothesis_settings(max_examples=some_of(25), deadline=None)


@EXAMPLES
@given(seed=SEEDS)
def test_hierarchy_based_models_accept_exactly_the_recodings_of_the_oracle(seed: int) -> None:
    """Validators of hierarchy-based models accept exactly the listed recodings.

    Every global recoding by values of the hierarchies is submitted to every validator.
    """
    table = tiny(seed, rows=4, types=3)
    listed = {model: set(images(model, table.hierarchies, table.rows)) for model in BY_HIERARCHY}
    everything = sorted(listed[M.UNRESTRICTED_MULTI], key=repr)
    step = max(1, len(everything) // 60)
    for image in everything[::step]:
        recoding = recoding_of(image, table, M.UNRESTRICTED_MULTI)
        for model in BY_HIERARCHY:
            found = find_inadmissibility(recoding, table.frequency_set, model)
            assert (found is None) == (image in listed[model]), (model, image, found)


@EXAMPLES
@given(seed=SEEDS)
def test_ordered_models_accept_exactly_the_recodings_of_the_oracle(seed: int) -> None:
    """Validators of ordered models accept exactly the listed partitions into ranges."""
    table = tiny(seed, rows=5, types=4)
    relaxed = set(images(M.RELAXED_MULTI, table.hierarchies, table.rows))
    boxes = set(images(M.ORDERED_MULTI, table.hierarchies, table.rows))
    for image in sorted(relaxed, key=repr):
        recoding = recoding_of(image, table, M.RELAXED_MULTI)
        assert find_inadmissibility(recoding, table.frequency_set) is None
        found = find_inadmissibility(recoding, table.frequency_set, M.ORDERED_MULTI)
        assert (found is None) == (image in boxes), (image, found)
    for image in images(M.ORDERED_SINGLE, table.hierarchies, table.rows):
        recoding = recoding_of(image, table, M.ORDERED_SINGLE)
        assert find_inadmissibility(recoding, table.frequency_set) is None


@EXAMPLES
@given(seed=SEEDS, data=st.data())
def test_models_include_each_other_as_in_the_paper(seed: int, data: st.DataObject) -> None:
    """Every recoding of a model is also one of the larger models, as in the paper."""
    table = tiny(seed, rows=5, types=4)
    frequency_set = table.frequency_set
    for source in RecodingModel:
        some = list(islice(images(source, table.hierarchies, table.rows), 300))
        for image in data.draw(st.lists(st.sampled_from(some), max_size=3)):
            recoding = recoding_of(image, table, source)
            assert find_inadmissibility(recoding, frequency_set) is None
            holds = {m for m in RecodingModel if find_inadmissibility(recoding, frequency_set, m) is None}
            assert [(a, b) for a, b in INCLUSIONS if a in holds and b not in holds] == []


@EXAMPLES
@given(seed=SEEDS, k=st.integers(1, 3))
def test_larger_model_has_at_most_the_same_loss(seed: int, k: int) -> None:
    """A larger model has an optimum of at most the same loss."""
    table = tiny(seed, rows=5, types=4)
    least = {m: least_loss(m, table.hierarchies, table.rows, table.values, k) for m in RecodingModel}
    assert len({found is None for found in least.values()}) == 1
    for small, large in INCLUSIONS:
        one, other = least[small], least[large]
        assert one is None or other is None or other <= one + 1e-9, (small, large)


@pytest.mark.parametrize("seed", range(5))
def test_split_row_type_is_admissible_only_locally(seed: int) -> None:
    table = tiny(seed, attributes=1, rows=6, types=1)
    local = [
        image
        for image in images(M.CELL_GENERALIZATION, table.hierarchies, table.rows)
        if len(set(image)) == 1
    ]
    recoding = recoding_of(local[0], table, M.CELL_GENERALIZATION)
    apart = replace(
        recoding,
        row_types=np.array([0, 0]),
        classes=np.array([-1, 0]),
        rows=np.array([1, len(table.rows) - 1]),
    )
    assert find_inadmissibility(apart, table.frequency_set, M.CELL_GENERALIZATION) is None
    assert "only partly suppressed" in (
        find_inadmissibility(apart, table.frequency_set, M.FULL_SUBTREE) or ""
    )


def test_reasons_name_attributes_and_no_value() -> None:
    reasons = set()
    for seed in range(some_of(30)):
        table = tiny(seed, rows=5, types=4)
        for source in (M.CELL_GENERALIZATION, M.RELAXED_MULTI, M.UNRESTRICTED_MULTI):
            for image in islice(images(source, table.hierarchies, table.rows), 0, 400, 20):
                recoding = recoding_of(image, table, source)
                found = {find_inadmissibility(recoding, table.frequency_set, m) for m in RecodingModel}
                reasons |= {reason for reason in found if reason is not None}
    texts = {reason.replace("'q0'", "'q'").replace("'q1'", "'q'") for reason in reasons}
    assert len(texts) >= 8
    assert not any(set(text) & set(":0123456789") for text in texts), "every label has a digit or a colon"


def test_cell_that_does_not_cover_its_row_is_inadmissible() -> None:
    table = tiny(3, rows=5, types=4)
    image = next(images(M.FULL_DOMAIN, table.hierarchies, table.rows))
    recoding = recoding_of(image, table, M.FULL_DOMAIN)
    cells = replace(recoding.cells[0], first=recoding.cells[0].first + 1, last=recoding.cells[0].last + 1)
    wrong = replace(recoding, cells=(cells, *recoding.cells[1:]))
    for model in RecodingModel:
        assert "does not cover" in (find_inadmissibility(wrong, table.frequency_set, model) or "")


@given(seed=SEEDS, number=st.sampled_from([3, 40, 120]))
@EXAMPLES
def test_overlap_of_boxes_equals_that_of_pairs(seed: int, number: int) -> None:
    random = np.random.default_rng(seed)
    low = random.integers(0, 60, (number, 2))
    high = low + random.integers(0, 3, (number, 2))
    pairs = [(a, b) for a in range(number) for b in range(a)]
    meet = any((low[a] <= high[b]).all() and (low[b] <= high[a]).all() for a, b in pairs)
    assert boxes_overlap(low, high) == meet


def test_pinwheels_have_no_cut_and_no_overlap() -> None:
    """Thirteen pinwheels in a row have no cut and no overlap."""
    wheel = np.array([[0, 0, 1, 0], [2, 0, 2, 1], [1, 2, 2, 2], [0, 1, 0, 2], [1, 1, 1, 1]])
    boxes = np.concatenate([wheel + np.array([3 * i, 0, 3 * i, 0]) for i in range(13)])
    assert not boxes_overlap(boxes[:, :2], boxes[:, 2:])
    boxes[-1, 2] += 1
    assert boxes_overlap(boxes[:, :2], boxes[:, 2:])
