"""Mondrian on Adult's nine quasi-identifiers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import Categorical, MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping

NAMES = ("sex", "age", "race", "marital_status", "education", "native_country")
NAMES += ("work_class", "occupation", "salary_class")


@pytest.fixture(scope="module")
def adult(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> FrequencySet:
    home = data_dir / "adult"
    attributes: dict[str, dict[str, str]] = {
        name: {"role": "quasi-identifier", "hierarchy": str(home / "hierarchies_arx" / f"{name}.csv")}
        for name in NAMES
    }
    attributes["hours_per_week"] = {"role": "sensitive"}
    document = {"source": {"path": str(home / "adult_30162.csv")}, "attributes": attributes}
    spec = spec_from_mapping(document, base=data_dir, label="Adult")
    limits = Settings(memory_limit=10**9, threads=2, private_log=tmp_path_factory.mktemp("log") / "log")
    with connect(limits) as engine:
        return count_frequency_set(engine, spec, limits)


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


def test_rows_by_sensitive_value_add_up(adult: FrequencySet) -> None:
    """``ValueSets.counts`` of each row type add up to its rows, because hours are never NULL."""
    hours = adult.sensitive[0]
    assert hours.counts is not None
    assert np.array_equal(np.add.reduceat(hours.counts, hours.offsets[:-1]), adult.counts)
