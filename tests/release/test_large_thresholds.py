"""Thresholds k and l beyond 64 bits exceed the number of rows: no solution, and no crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import NoSolution
from discreet.model.class_recoding import RecodingModel
from discreet.search.algorithms import ALGORITHMS
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.oracle.patients import patients

MODELS = [*map(str, RecodingModel), "patterns", "permutation"]


@pytest.mark.parametrize("number", [2**31, 2**63 - 1, 2**63, 2**64, 10**30])
def test_negotiation_and_search_find_nothing_for_large_thresholds(
    number: int, settings: Settings, tmp_path: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    for requirement in ({"k": number}, {"k": 2, "l": number}, {"l": {"diagnosis": number}}):
        assert table.negotiate(**requirement).exact is None
        assert table.partial_lattice("50%").negotiate(**requirement).exact is None
        assert table.negotiate_local(**requirement).exact is None
        for algorithm in ALGORITHMS:
            assert not table.search(algorithm, **requirement).solutions


@pytest.mark.parametrize("model", MODELS)
def test_no_model_publishes_for_large_thresholds(
    model: str, settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    for requirement in ({"k": 2**63}, {"k": 2**64}, {"k": 2, "l": 2**64}):
        if model != "permutation" or "l" not in requirement:
            with pytest.raises(NoSolution):
                table.publish(model, out / "r.csv", **requirement)
    assert not list(out.iterdir())
