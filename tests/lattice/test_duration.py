"""Evaluations of over a minute are announced, with faster alternatives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.lattice import resource_estimates
from discreet.lattice.evaluation import build_lattice, evaluate_lattice
from discreet.lattice.resource_estimates import announcement_text, sample_seconds
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings
from discreet.web.screen_messages import screen_message
from tests.criteria_of_tests import Share
from tests.lattice.test_wide_keys import plan_of, table_of_bits
from tests.oracle.random_tables import frequency_set_of

SETTINGS = Settings(memory_limit=2**31, threads=1, private_log=Path("unused"))


@pytest.fixture
def table() -> FrequencySet:
    return table_of_bits(np.random.default_rng(1), [9] * 4, 8000, sensitive=1)


@pytest.mark.parametrize("power", [0.9, 1.3])
def test_sampled_seconds_are_those_of_all_row_types(
    table: FrequencySet, power: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(resource_estimates, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(resource_estimates, "_LEAST_SECONDS", 1.0)
    monkeypatch.setattr(resource_estimates, "_SAMPLE_SECONDS", 1e-6)
    ran = []

    def run(places: NDArray[np.int64]) -> None:
        ran.append(len(places))
        clock[0] += 3.0 + 0.01 * len(places) ** power

    plan = plan_of(table)
    found = sample_seconds(plan, run)
    assert found == pytest.approx(3.0 + 0.01 * len(plan.counts) ** power, rel=0.05)
    assert max(ran) <= len(plan.counts) // 16


def test_short_work_is_not_sampled(table: FrequencySet) -> None:
    def run(_places: NDArray[np.int64]) -> None:
        raise AssertionError

    assert sample_seconds(plan_of(table), run) == 0.0


def test_announcement_names_faster_alternatives(table: FrequencySet) -> None:
    lattice = build_lattice(table)
    assert announcement_text(59.9, lattice, table) is None
    announcement = announcement_text(600.0, lattice, table)
    assert announcement is not None
    assert announcement.startswith(
        f"evaluating {lattice.size:,} nodes over {table.row_types:,} row types takes about 10 minutes. "
    )
    for faster in ("--partial 5%", "fewer levels in a hierarchy ('q0' has 3)", "fewer quasi-identifiers"):
        assert faster in announcement
    page = screen_message(announcement)
    assert page is not None
    assert "--" not in page


def test_announcement_omits_a_partial_lattice_that_saves_nothing(table: FrequencySet) -> None:
    many = replace(table, counts=np.broadcast_to(np.int64(1), 10**9))
    announcement = announcement_text(61.0, build_lattice(table), many)
    assert announcement is not None
    assert "--partial" not in announcement


@pytest.mark.parametrize(
    ("criteria", "evaluator"),
    [((), "kernels"), ((), "twin"), ((EntropyDiversity(2.0),), "kernels"), ((Share(0.5),), "auto")],
)
def test_every_evaluator_announces(
    table: FrequencySet, criteria: tuple[Criterion, ...], evaluator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource_estimates, "ANNOUNCED_SECONDS", 0.0)
    heard: list[str] = []
    evaluate_lattice(table, SETTINGS, criteria=criteria, evaluator=evaluator, notice=heard.append)
    assert sum("takes about" in line for line in heard) == 1
    assert any("numpy" in line for line in heard) == (evaluator != "kernels")


def test_evaluation_of_subjects_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_estimates, "ANNOUNCED_SECONDS", 0.0)
    few = table_of_bits(np.random.default_rng(1), [4] * 3, 40)
    rows = [(tuple(row), ()) for row in few.codes.tolist()]
    named = frequency_set_of(few.hierarchies, rows, subjects=[n // 2 for n in range(len(rows))])
    heard: list[str] = []
    evaluate_lattice(named, SETTINGS, evaluator="kernels", notice=heard.append)
    assert sum("takes about" in line for line in heard) == 1


def test_too_many_sensitive_values_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.lattice.evaluation._MOST_WORDS", 0)
    table = table_of_bits(np.random.default_rng(1), [4] * 3, 40, sensitive=1)
    heard: list[str] = []
    evaluate_lattice(table, SETTINGS, notice=heard.append)
    assert any("too many sensitive values for the compiled kernels" in line for line in heard)
