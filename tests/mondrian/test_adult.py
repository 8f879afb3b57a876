"""Mondrian on Adult's nine quasi-identifiers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import Categorical, MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.settings import Settings
from tests.mondrian.adult import count_adult


@pytest.fixture(scope="module")
def adult(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> FrequencySet:
    return count_adult(data_dir, tmp_path_factory.mktemp("adult"), "hours_per_week")


@pytest.mark.parametrize(
    ("requirement", "options"),
    [
        (Requirement(10), MondrianOptions()),
        (Requirement(100), MondrianOptions(categorical=Categorical.HIERARCHY)),
        (Requirement(20, 8), MondrianOptions()),
        (Requirement(50), MondrianOptions(relaxed=True)),
    ],
    ids=["k10", "k100-hierarchy", "k20-l8", "k50-relaxed"],
)
def test_kernels_and_twin_agree(
    adult: FrequencySet, settings: Settings, requirement: Requirement, options: MondrianOptions
) -> None:
    twin, kernels = (
        partition_table(adult, requirement, settings, options, evaluator=evaluator)
        for evaluator in ("twin", "kernels")
    )
    assert np.array_equal(twin.classes, kernels.classes)
    assert np.array_equal(twin.row_types, kernels.row_types)
    sizes = kernels.class_rows()
    assert sizes.sum() == adult.rows == 30162
    assert sizes.min() >= (requirement.k or 1)
    if options.relaxed:
        assert sizes.max() < 2 * (requirement.k or 1)
