"""The instances of Bredereck et al. (2013), solved to proven optimality: Tables 6, 7 and 8."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.model.class_recoding import PatternConstraints, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.patterns.components import bound_by_prices
from discreet.patterns.exact import solve_exactly
from discreet.patterns.masks import build_mask_from_constraints
from discreet.settings import Settings
from tests.oracle.starred_tables import starred_file

ALL_K = (2, 3, 4, 5, 6, 7, 8, 9, 10, 25, 50, 75, 100)
NURSERY = (12_960,) * 4 + (25_920,) * 5 + (38_880,) * 3 + (51_840,)
CMC = (2932, 5216, 7024, 8065, 9012, 9751, 10_254, 11_051, 11_462, 13_722, 14_314, 14_730, 14_730)
PRINTED_ADULT_2 = (
    *(29_056, 43_887, 54_162, 61_701, 68_278, 74_160, 79_109, 84_065, 88_026),
    *(125_233, 161_083, 185_870, 197_421),
)

ADULT_2 = (
    *(29_056, 43_886, 54_161, 61_701, 68_278, 74_160, 79_109, 84_063, 88_026),
    *(125_231, 161_081, 185_870, 197_421),
)
USER = PatternConstraints(
    max_stars=2,
    keep=("education", "salary_class"),
    generalize_together=(("work_class", "occupation"),),
    exclusive=(("age", "sex", "race"),),
)


def solved(table: FrequencySet, mask: PatternMask, k: int, settings: Settings) -> tuple[float, float, str]:
    found = solve_exactly(table, mask, Requirement(k=k), settings)
    assert (found.recoding.class_rows() >= k).all()
    assert found.recoding.suppressed == 0
    return found.cost, found.bound, found.status


def test_nursery_by_counting_bounds(data_dir: Path, settings: Settings) -> None:
    table = starred_file(data_dir / "nursery" / "nursery.csv")
    mask = build_mask_from_constraints(table, PatternConstraints(), settings)
    for k, cost in zip(ALL_K, NURSERY, strict=True):
        assert solved(table, mask, k, settings) == (cost, cost, "optimal")


def test_cmc_with_two_stars_for_large_k(data_dir: Path, settings: Settings) -> None:
    table = starred_file(data_dir / "cmc" / "cmc.csv")
    mask = build_mask_from_constraints(table, PatternConstraints(max_stars=2), settings)
    for k, cost in list(zip(ALL_K, CMC, strict=True))[8:]:
        assert solved(table, mask, k, settings) == (cost, cost, "optimal")


@pytest.mark.slow
def test_cmc_with_two_stars(data_dir: Path, settings: Settings) -> None:
    table = starred_file(data_dir / "cmc" / "cmc.csv")
    mask = build_mask_from_constraints(table, PatternConstraints(max_stars=2), settings)
    for k, cost in zip(ALL_K, CMC, strict=True):
        assert solved(table, mask, k, settings) == (cost, cost, "optimal")


@pytest.mark.slow
@pytest.mark.parametrize(("k", "cost"), list(zip(ALL_K, ADULT_2, strict=True)))
def test_adult_2_with_the_users_patterns_costs_the_proven_optimum(
    k: int, cost: int, data_dir: Path, settings: Settings
) -> None:
    table = starred_file(data_dir / "adult" / "adult2_32561.csv")
    mask = build_mask_from_constraints(table, USER, settings)
    assert len(mask) == 15
    assert solved(table, mask, k, settings) == (cost, cost, "optimal")
    printed = PRINTED_ADULT_2[ALL_K.index(k)]
    assert 0 <= printed - cost <= 2
    assert 0.95 * cost < bound_by_prices(table, mask, Requirement(k=k), settings) <= cost


def test_adult_2_for_large_k_costs_the_proven_optimum(data_dir: Path, settings: Settings) -> None:
    table = starred_file(data_dir / "adult" / "adult2_32561.csv")
    mask = build_mask_from_constraints(table, USER, settings)
    assert solved(table, mask, 100, settings) == (197_421, 197_421, "optimal")
