"""Every model of the taxonomy under k, l and a share: results equal plain counting, or it refuses by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.errors import InputError, NoSolution
from discreet.local.cell_generalization import generalize_cells
from discreet.measures.recoding_metrics import max_loss, recoding_granularity
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.partition import partition_table
from discreet.settings import Settings
from discreet.taxonomy.admissibility import find_inadmissibility
from discreet.taxonomy.model_search import search_model
from discreet.taxonomy.optimal_single import find_optimal_single
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle.plain_criteria import MostRows, fails, random_criteria
from tests.oracle.plain_taxonomy import least_loss
from tests.oracle.random_tables import random_frequency_set
from tests.taxonomy.tiny import tiny

M = RecodingModel
SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))
BY_NODE = (M.FULL_DOMAIN, M.ATTRIBUTE_SUPPRESSION)
MERGING = tuple(m for m in RecodingModel if m not in (*BY_NODE, M.CELL_SUPPRESSION, M.RELAXED_MULTI))
SUPPRESSING = (M.FULL_SUBTREE, M.UNRESTRICTED_SINGLE, M.ORDERED_SINGLE)


def searched(
    model: RecodingModel, table: FrequencySet, requirement: Requirement, limit: int = 0
) -> ClassRecoding:
    """Search within the model."""
    if model is M.CELL_GENERALIZATION:
        return generalize_cells(table, requirement, SETTINGS, effort=1, limit=limit).recoding
    if model is M.ORDERED_MULTI:
        return partition_table(table, requirement, SETTINGS)
    return search_model(model, table, requirement, SETTINGS, limit=limit)


def assert_met(recoding: ClassRecoding, table: FrequencySet, requirement: Requirement) -> None:
    """Assert that every published class passes, counted by labels."""
    members: dict[tuple[str | None, ...], list[int]] = {}
    for row_type, of_class in zip(recoding.row_types.tolist(), recoding.classes.tolist(), strict=True):
        if of_class != SUPPRESSED:
            shown = recoding.shown[of_class].tolist()
            texts = tuple(cells.labels[i] for cells, i in zip(recoding.cells, shown, strict=True))
            members.setdefault(texts, []).append(row_type)
    assert not any(fails(table, types, requirement) for types in members.values())


@pytest.mark.parametrize("model", MERGING)
@given(seed=st.integers(0, 2**32))
@hypothesis_settings(max_examples=some_of(25), deadline=None)
def test_every_class_meets_all_criteria(model: RecodingModel, seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=6, rows=40, sensitive=2)
    requirement = random_criteria(random, table)
    if not table.rows or fails(table, range(table.row_types), requirement):
        with pytest.raises(NoSolution):
            searched(model, table, requirement)
        return
    found = searched(model, table, requirement)
    assert find_inadmissibility(found, table) is None
    assert found.suppressed == 0
    assert_met(found, table, requirement)
    assert found.requirement == requirement


@pytest.mark.parametrize("model", [*BY_NODE, *MERGING])
def test_no_search_is_below_the_optimum_of_enumeration(model: RecodingModel) -> None:
    found = 0
    for seed in range(some_of(30)):
        table, share = tiny(seed, rows=6, types=4), (0.5, 0.75)[seed % 2]
        frequency_set = table.frequency_set
        k, l, limit = 1 + seed % 3, 2 if seed % 3 else None, seed % 2 if model in BY_NODE else 0
        least = least_loss(model, table.hierarchies, table.rows, table.values, k, l, limit, share)
        requirement = Requirement(k, l, [Share(share)])
        if least is None:
            with pytest.raises(NoSolution):
                searched(model, frequency_set, requirement, limit)
            continue
        recoding = searched(model, frequency_set, requirement, limit)
        lost = (
            (1 - recoding_granularity(frequency_set, recoding)) * max_loss(frequency_set) * frequency_set.rows
        )
        assert lost == pytest.approx(least) if model in BY_NODE else lost >= least - 1e-9
        assert_met(recoding, frequency_set, requirement)
        found += 1
    assert found > 5


@pytest.mark.parametrize("model", BY_NODE)
def test_nodes_are_judged_by_criteria_that_are_not_monotone(model: RecodingModel) -> None:
    for seed in range(some_of(20)):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=3, height=2, leaves=4, rows=20, sensitive=2)
        requirement = random_criteria(random, table, monotone=False)
        try:
            found = searched(model, table, requirement, limit=table.rows // 3)
        except NoSolution:
            continue
        assert found.suppressed <= table.rows // 3
        assert_met(found, table, requirement)


def a_table() -> FrequencySet:
    return random_frequency_set(
        np.random.default_rng(8), attributes=3, height=2, leaves=4, rows=30, sensitive=2
    )


@pytest.mark.parametrize("model", [*MERGING, M.CELL_SUPPRESSION])
def test_models_that_merge_classes_refuse_criteria_that_are_not_monotone(model: RecodingModel) -> None:
    with pytest.raises(InputError, match=r"most-rows=9 of .*: a largest size may fail where two classes"):
        searched(model, a_table(), Requirement(2, criteria=[MostRows(9)]))


@pytest.mark.parametrize("model", SUPPRESSING)
def test_models_with_suppressed_rows_in_classes_refuse_breakable_criteria(model: RecodingModel) -> None:
    with pytest.raises(InputError, match=rf"share=0.9 of the {model} model with up to 3 rows") as error:
        searched(model, a_table(), Requirement(2, criteria=[Share(0.9)]), limit=3)
    assert error.value.advice is not None
    assert error.value.advice.endswith("or allow no suppressed rows.")


def test_cell_suppression_refuses_criteria_that_leftover_cells_may_break() -> None:
    with pytest.raises(InputError, match=r"share=0.9 of the cell-suppression model: ") as error:
        searched(M.CELL_SUPPRESSION, a_table(), Requirement(2, criteria=[Share(0.9)]))
    assert error.value.advice == "Use the cell-generalization or the full-domain model."


def test_optimal_division_accepts_only_k() -> None:
    with pytest.raises(InputError, match=r"the optimal division for k=2, share=0.9") as error:
        find_optimal_single(a_table(), Requirement(2, criteria=[Share(0.9)]))
    assert error.value.advice == "Use --method greedy."


@pytest.mark.parametrize("model", MERGING)
def test_empty_table_has_no_solution(model: RecodingModel) -> None:
    table = random_frequency_set(
        np.random.default_rng(29), attributes=3, height=3, leaves=6, rows=40, sensitive=2
    )
    assert not table.rows
    with pytest.raises(NoSolution):
        searched(model, table, Requirement(k=2))
