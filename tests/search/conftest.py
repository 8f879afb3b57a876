"""Fixtures of the searches: size kernels that count as compiled, and Adult."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.lattice import size_counter
from discreet.model.frequency_set import FrequencySet
from tests.oracle.plain_tables import frequency_set_of_rows, read_hierarchy, read_rows

NINE = (
    *("sex", "age", "race", "marital_status", "education", "native_country"),
    *("work_class", "occupation", "salary_class"),
)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> Iterator[None]:
    """Let the optimal search filter by subsets of attributes in every test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(size_counter, "are_kernels_ready", lambda *_, **__: True)
        yield


@pytest.fixture(scope="session")
def adult(data_dir: Path) -> FrequencySet:
    folder = data_dir / "adult" / "hierarchies_arx"
    hierarchies = [read_hierarchy(folder / f"{name}.csv") for name in NINE]
    return frequency_set_of_rows(read_rows(data_dir / "adult" / "adult_30162.csv"), hierarchies, [])
