"""Each search is admissible under its model, meets k and l, and has a bounded distance from the optimum."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.local.cell_generalization import generalize_cells
from discreet.measures.recoding_metrics import max_loss, recoding_granularity
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.settings import Settings
from discreet.taxonomy.admissibility import find_inadmissibility
from discreet.taxonomy.model_search import MOST_SUPPRESSED_ATTRIBUTES, SEARCHED_MODELS, search_model
from tests.drawing import some_of
from tests.oracle.plain_taxonomy import least_loss
from tests.oracle.random_tables import frequency_set_of, random_frequency_set
from tests.taxonomy.tiny import tiny

M = RecodingModel
SINGLE = SEARCHED_MODELS[:5]
SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))

MEAN_DISTANCE = {
    M.FULL_DOMAIN: 0.0,
    M.ATTRIBUTE_SUPPRESSION: 0.0,
    M.FULL_SUBTREE: 0.002,
    M.UNRESTRICTED_SINGLE: 0.01,
    M.ORDERED_SINGLE: 0.005,
    M.FULL_SUBGRAPH: 0.01,
    M.UNRESTRICTED_MULTI: 0.05,
    M.CELL_SUPPRESSION: 0.1,
    M.ORDERED_MULTI: 0.01,
    M.RELAXED_MULTI: 0.12,
    M.CELL_GENERALIZATION: 0.1,
}
"""The mean granularity below the optimum of each search's model, on forty tiny tables."""


def lost_by(recoding: ClassRecoding, frequency_set: FrequencySet) -> float:
    return (1 - recoding_granularity(frequency_set, recoding)) * max_loss(frequency_set) * frequency_set.rows


def searched(
    model: RecodingModel, frequency_set: FrequencySet, requirement: Requirement, limit: int
) -> ClassRecoding:
    """Search within the model."""
    if model is M.CELL_GENERALIZATION:
        return generalize_cells(frequency_set, requirement, SETTINGS).recoding
    if model in (M.ORDERED_MULTI, M.RELAXED_MULTI):
        options = MondrianOptions(relaxed=model is M.RELAXED_MULTI)
        return partition_table(frequency_set, requirement, SETTINGS, options=options)
    return search_model(model, frequency_set, requirement, SETTINGS, limit=limit)


@pytest.mark.parametrize("model", RecodingModel)
def test_distances_from_the_optimum_are_within_the_recorded_means(model: RecodingModel) -> None:
    distances = []
    for seed in range(40):
        table = tiny(seed, rows=6, types=4)
        frequency_set = table.frequency_set
        k, l = 2 + seed % 2, 2 if seed % 3 == 0 and model is not M.RELAXED_MULTI else None
        limit = 1 if seed % 5 == 0 and model in SINGLE else 0
        least = least_loss(model, table.hierarchies, table.rows, table.values, k, l, limit)
        if least is None:
            with pytest.raises(NoSolution):
                searched(model, frequency_set, Requirement(k, l), limit)
            continue
        found = searched(model, frequency_set, Requirement(k, l), limit)
        assert find_inadmissibility(found, frequency_set) is None
        lost = lost_by(found, frequency_set)
        assert lost >= least - 1e-9, "the oracle missed a recoding"
        distances.append((lost - least) / (max_loss(frequency_set) * frequency_set.rows))
    assert len(distances) > 25
    assert np.mean(distances) <= MEAN_DISTANCE[model] + 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_one_ordered_attribute_is_solved_exactly(seed: int) -> None:
    table = tiny(seed, attributes=1, leaves=6, rows=12, types=12)
    for k, l in ((2, None), (3, None), (2, 2)):
        least = least_loss(M.ORDERED_SINGLE, table.hierarchies, table.rows, table.values, k, l)
        if least is not None:
            found = search_model(M.ORDERED_SINGLE, table.frequency_set, Requirement(k, l), SETTINGS)
            assert lost_by(found, table.frequency_set) == pytest.approx(least)


def counted_plainly(recoding: ClassRecoding, frequency_set: FrequencySet) -> tuple[Counter[object], int]:
    """Count rows by labels, and the suppressed rows."""
    rows: Counter[object] = Counter()
    suppressed = 0
    for c, n in zip(recoding.classes.tolist(), recoding.rows.tolist(), strict=True):
        if c == SUPPRESSED:
            suppressed += n
        else:
            shown = recoding.shown[c].tolist()
            rows[tuple(cells.labels[i] for cells, i in zip(recoding.cells, shown, strict=True))] += n
    return rows, suppressed


@given(
    seed=st.integers(0, 2**32),
    k=st.integers(1, 6),
    l=st.none() | st.integers(1, 3),
    limit=st.integers(0, 8),
)
@hypothesis_settings(max_examples=some_of(25), deadline=None)
def test_every_search_is_admissible_and_meets_the_requirement(
    seed: int, k: int, l: int | None, limit: int
) -> None:
    random = np.random.default_rng(seed)
    frequency_set = random_frequency_set(random, attributes=3, height=3, leaves=8, rows=60, sensitive=2)
    if not frequency_set.sensitive:
        l = None
    requirement = Requirement(k, l)
    for model in SEARCHED_MODELS:
        try:
            found = search_model(model, frequency_set, requirement, SETTINGS, limit=limit)
        except NoSolution:
            assert model not in SINGLE or not _single_class_passes(frequency_set, requirement, limit)
            continue
        assert find_inadmissibility(found, frequency_set) is None
        rows, suppressed = counted_plainly(found, frequency_set)
        assert suppressed == found.suppressed <= (limit if model in SINGLE else 0)
        assert rows.total() + suppressed == frequency_set.rows
        assert min(rows.values(), default=k) >= k
        if l is not None:
            for sets in frequency_set.sensitive:
                assert _fewest_values(found, sets) >= l


def _single_class_passes(frequency_set: FrequencySet, requirement: Requirement, limit: int) -> bool:
    """Return True if one class of all rows is a solution."""
    if frequency_set.rows <= limit:
        return frequency_set.rows > 0
    fewest = min((len(set(sets.codes.tolist())) for sets in frequency_set.sensitive), default=99)
    l = requirement.l if isinstance(requirement.l, int) else 0
    return frequency_set.rows >= (requirement.k or 1) and fewest >= l


def _fewest_values(recoding: ClassRecoding, sets: ValueSets) -> int:
    values: dict[int, set[int]] = {c: set() for c in range(recoding.class_count)}
    for t, c in zip(recoding.row_types.tolist(), recoding.classes.tolist(), strict=True):
        if c != SUPPRESSED:
            values[c] |= set(sets.codes[sets.offsets[t] : sets.offsets[t + 1]].tolist())
    return min(map(len, values.values()), default=99)


def test_weights_decide_which_attribute_is_kept() -> None:
    """Weights decide which of two equal attributes is kept."""
    table = tiny(1)
    (hierarchy, *_) = table.hierarchies
    other = replace(hierarchy, attribute="other")
    rows = [((i, j), ()) for i in range(2) for j in range(2)]
    frequency_set = frequency_set_of((hierarchy, other), rows)
    for model in SEARCHED_MODELS:
        if model is M.ORDERED_SINGLE:
            continue
        for heavy, light in ((hierarchy.attribute, "other"), ("other", hierarchy.attribute)):
            found = search_model(
                model, frequency_set, Requirement(2), SETTINGS, weights={heavy: 5.0, light: 1.0}
            )
            kept = frequency_set.attributes.index(heavy)
            codes = [cells.sizes()[found.shown[:, i]] for i, cells in enumerate(found.cells)]
            assert (codes[kept] == 1).all(), (model, heavy)


def test_unsupported_searches_are_refused() -> None:
    table = tiny(5)
    frequency_set = table.frequency_set
    with pytest.raises(InputError, match="does not support"):
        search_model(M.ORDERED_MULTI, frequency_set, Requirement(2), SETTINGS)
    many = tuple(
        replace(table.hierarchies[0], attribute=f"q{i}") for i in range(MOST_SUPPRESSED_ATTRIBUTES + 1)
    )
    wide = frequency_set_of(many, [((0,) * len(many), ()), ((1,) * len(many), ())])
    with pytest.raises(LimitReached, match="131,072 patterns"):
        search_model(M.CELL_SUPPRESSION, wide, Requirement(2), SETTINGS)
    twice = frequency_set_of(
        table.hierarchies, [(row, ()) for row in table.rows], subjects=[0] * len(table.rows)
    )
    with pytest.raises(InputError, match="one row per subject"):
        search_model(M.FULL_SUBTREE, twice, Requirement(2), SETTINGS)


def test_full_subtree_starts_without_a_lattice_that_does_not_fit() -> None:
    """Full-subtree recoding starts from the roots if the lattice does not fit into memory."""
    random = np.random.default_rng(3)
    frequency_set = random_frequency_set(random, attributes=3, height=3, leaves=8, rows=60, sensitive=0)
    small = replace(SETTINGS, memory_limit=1)
    with pytest.raises(LimitReached):
        search_model(M.FULL_DOMAIN, frequency_set, Requirement(2), small)
    found = search_model(M.FULL_SUBTREE, frequency_set, Requirement(2), small)
    assert find_inadmissibility(found, frequency_set) is None
