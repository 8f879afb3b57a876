"""Nodes that may have least loss: recoding one of them equals the whole lattice's choice, also on ties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as configured
from hypothesis import strategies as st

import discreet
from discreet.errors import NoSolution
from discreet.lattice import size_counter
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.standard_costs import detail_cost
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.search.candidate_nodes import find_candidate_nodes
from discreet.search.node_counts import StatisticsCounter
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from discreet.taxonomy import full_domain
from discreet.taxonomy.class_counts import ClassCounts
from discreet.taxonomy.full_domain import find_least_loss_node
from tests.drawing import some_of
from tests.oracle.random_tables import random_frequency_set
from tests.search import test_criteria

SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))


@pytest.fixture(scope="module", autouse=True)
def compiled() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(size_counter, "are_kernels_ready", lambda *_, **__: True)
        yield


def node_of(task: SearchProblem, weights: dict[str, float], way: str) -> LatticeNode | None:
    """Return the chosen node, or None if there is none."""
    table = task.frequency_set
    if way == "known":
        known = evaluate_lattice(table, SETTINGS, diversity=False, criteria=task.requirement.criteria)
        task = replace(task, known=known)

    def found() -> Any:
        return None if way == "evaluated" else find_candidate_nodes(task, detail_cost(table, weights))

    counts, bounds = ClassCounts(table, task.requirement), (task.low, task.high)
    try:
        return find_least_loss_node(table, counts, task.limit, SETTINGS, weights, bounds, found)
    except NoSolution:
        return None


@configured(max_examples=some_of(80), deadline=None)
@given(seed=st.integers(0, 10**6), suppressing=st.booleans(), of_size=st.booleans())
def test_the_node_is_that_of_the_whole_lattice(seed: int, suppressing: bool, of_size: bool) -> None:
    task = test_criteria.random_task(seed, suppressing=suppressing, monotone=bool(seed % 3))
    random = np.random.default_rng(seed)
    if of_size:
        task = replace(task, requirement=Requirement(int(random.integers(2, 6))))
    weights = {name: float(random.integers(0, 4)) / 2 for name in task.frequency_set.attributes[1:]}
    expected = node_of(task, weights, "evaluated")
    assert node_of(task, weights, "staged") == expected
    assert node_of(task, weights, "known") == expected


@configured(max_examples=some_of(60), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_its_cost_is_what_the_cells_lose(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=24, sensitive=0)
    weights = {name: float(random.integers(0, 4)) for name in table.attributes[1:]}
    node = tuple(int(random.integers(0, h.height + 1)) for h in table.hierarchies)
    statistics = StatisticsCounter(table, Requirement(int(random.integers(1, 6))), 10**6).count(node)
    lost = 0.0
    for i, (hierarchy, level) in enumerate(zip(table.hierarchies, node, strict=True)):
        every, groups = len(hierarchy.leaves), hierarchy.level_map(level).tolist()
        weight = weights.get(hierarchy.attribute, 1.0) / every
        for codes, sizes, gone in (
            (statistics.codes, statistics.sizes, False),
            (statistics.suppressed_codes, statistics.suppressed_sizes, True),
        ):
            for code, rows in zip(codes[:, i].tolist(), sizes.tolist(), strict=True):
                alike = [leaf for leaf in range(every) if groups[leaf] == groups[code]]
                top = gone or level == hierarchy.height
                lost += weight * rows * ((every if top else max(len(alike), 1)) - 1)
    cost = detail_cost(table, weights)
    assert cost.of(statistics) == pytest.approx(lost, abs=1e-9)
    bound = cost.lower_bounds(np.array([node]), np.array([statistics.suppressed]))
    assert bound[0] <= lost + 1e-9


def test_a_session_looks_up_what_it_has_evaluated(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = tmp_path / "people.csv"
    rows = [f"{20 + i % 37},{'ab'[i % 2]}{i % 5},{i % 3}" for i in range(90)]
    people.write_text("\n".join(["age,job,disease", *rows]) + "\n", encoding="utf-8")
    intervals = {"kind": "intervals", "widths": [5, 20]}
    spec = {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": intervals},
            "job": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive"},
        }
    }
    models = ("full-domain", "full-subtree", "unrestricted-single-dimension")

    def answers(table: discreet.Table) -> list[Any]:
        limited = {"k": 4, "max_suppressed": "5%"}
        found = [table.recode(model, **limited).granularity for model in models]
        levels = table.publish("full-domain", people.with_name("r.csv"), overwrite=True, **limited).levels
        optimum = table.search("optimal", cost="loss", **limited)
        return [*found, levels, optimum.solutions]

    with monkeypatch.context() as patch:
        patch.setattr(size_counter.SizeCounter, "of", lambda *_: None)
        expected = answers(discreet.open(people, spec, settings=settings))
    monkeypatch.setattr(full_domain, "evaluate_lattice", None)
    assert answers(discreet.open(people, spec, settings=settings)) == expected
    monkeypatch.setattr(size_counter.SizeCounter, "of", None)
    table = discreet.open(people, spec, settings=settings)
    table.lattice()
    assert answers(table) == expected
