"""Adult with nine quasi-identifiers: the reference figures of local recoding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.frequency.rollup import roll_up
from discreet.local.cell_generalization import generalize_cells
from discreet.measures.recoding_metrics import level_shares, max_loss
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.mondrian.adult import NINE, count_adult

ARX_OPTIMUM = {"age": 3, "education": 2, "native_country": 1, "work_class": 1, "occupation": 1}
SETTINGS = Settings(memory_limit=2 * 10**9, threads=2, private_log=Path("unused"))


@pytest.fixture(scope="module")
def adult(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> FrequencySet:
    return count_adult(data_dir, tmp_path_factory.mktemp("adult"))


def test_arx_global_optimum_has_the_reported_granularity(adult: FrequencySet) -> None:
    """The node of least Loss for k = 5 suppresses 2,553 rows and has ARX's reported 0.75142."""
    node = tuple(ARX_OPTIMUM.get(name, 0) for name in NINE)
    counted = roll_up(adult, node)
    failing = counted.counts[counted.class_of] < 5
    assert int(adult.counts[failing].sum()) == 2553
    shares = [
        level_shares(h)[n][codes] for h, n, codes in zip(adult.hierarchies, node, adult.codes.T, strict=True)
    ]
    lost = np.where(failing, max_loss(adult), sum(shares)) @ adult.counts
    assert 1 - lost / (max_loss(adult) * adult.rows) == pytest.approx(0.75142, abs=5e-6)


@pytest.mark.parametrize(
    ("shown", "least"), [("lca", 0.9415), ("ranges", 0.953), ("sets", 0.975)], ids=["lca", "ranges", "sets"]
)
def test_greedy_exceeds_the_granularity_of_arx(adult: FrequencySet, shown: str, least: float) -> None:
    """The greedy exceeds ARX's best local recoding, 0.9323, without suppression and with at least k = 5."""
    found = generalize_cells(adult, Requirement(5), SETTINGS, summary=shown)
    assert found.granularity >= least
    assert found.suppressed == 0
    assert int(found.recoding.class_rows().min()) >= 5


@pytest.mark.slow
def test_rounds_of_improvement_raise_the_granularity(adult: FrequencySet) -> None:
    found = generalize_cells(adult, Requirement(5), SETTINGS, effort=3, evaluator="kernels", bound=True)
    assert found.granularity >= 0.9435
    assert found.bound is not None
    assert found.granularity <= found.bound <= 0.9619
