"""Nodes searched on Adult at k=2: the counts of LeFevre et al. (2005), and ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.search.algorithms import load_algorithm
from discreet.search.search_problem import Marking, SearchProblem
from discreet.settings import Settings
from tests.oracle.plain_tables import frequency_set_of_rows, read_hierarchy, read_rows

ATTRIBUTES = (
    *("age", "sex", "race", "marital_status", "education", "native_country"),
    *("work_class", "occupation", "salary_class"),
)
# QID size: nodes checked by bottom-up and by Incognito; the paper prints 14 47 206 680 2088 6366 12818 and 14
# 35 103 246 664 1778 4307. From size 6 on they depend on taxonomies that the paper does not print.
CHECKED = {
    3: (14, 14),
    4: (47, 35),
    5: (206, 103),
    6: (680, 219),
    7: (2106, 544),
    8: (6390, 1597),
    9: (12828, 3952),
}
SETTINGS = Settings(memory_limit=2 * 10**9, threads=1, private_log=Path("log.jsonl"))

Task = Callable[..., SearchProblem]


@pytest.fixture(scope="module")
def task(data_dir: Path) -> Task:
    """Return a function that gives the search over the first n attributes."""
    folder = data_dir / "adult" / "hierarchies_incognito"
    hierarchies = [read_hierarchy(folder / f"{name}.csv") for name in ATTRIBUTES]
    everything = frequency_set_of_rows(read_rows(data_dir / "adult" / "adult_45222.csv"), hierarchies)

    def first(n: int, marking: Marking = Marking.DIRECT) -> SearchProblem:
        codes, type_of = np.unique(everything.codes[:, :n], axis=0, return_inverse=True)
        counts = np.bincount(type_of.ravel(), everything.counts).astype(np.int64)
        table = FrequencySet(everything.hierarchies[:n], codes, counts)
        top = tuple(h.height for h in table.hierarchies)
        return SearchProblem(table, Requirement(k=2), 0, (0,) * n, top, SETTINGS, marking=marking)

    return first


@pytest.mark.parametrize("n", [3, 4, 5, 6, *(pytest.param(n, marks=pytest.mark.slow) for n in (7, 8, 9))])
def test_checked_nodes_are_counted_and_solutions_equal(n: int, task: Task) -> None:
    searches = ["bottom-up-rollup", "incognito", "incognito-superroots", "incognito-cube"]
    results = {name: load_algorithm(name)(task(n)) for name in searches}
    assert results["bottom-up-rollup"].nodes_checked == CHECKED[n][0]
    assert {results[name].nodes_checked for name in searches[1:]} == {CHECKED[n][1]}
    assert [results[name].scans for name in ("bottom-up-rollup", "incognito-cube")] == [1, 1]
    expected = load_algorithm("exhaustive")(task(n)).solutions
    assert all(results[name].solutions == expected for name in searches)
    (one,) = load_algorithm("samarati")(task(n)).solutions if n < 8 else expected[:1]
    assert one in expected


@pytest.mark.parametrize("n", [3, 4, 5, 6, pytest.param(7, marks=pytest.mark.slow)])
def test_checked_nodes_without_roll_up_are_counted(n: int, task: Task) -> None:
    found = load_algorithm("bottom-up")(task(n))
    assert (found.nodes_checked, found.scans) == (CHECKED[n][0], CHECKED[n][0])
    assert found.solutions == load_algorithm("exhaustive")(task(n)).solutions


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_transitive_marking_checks_failing_nodes_and_minimal_solutions(n: int, task: Task) -> None:
    found = load_algorithm("bottom-up-rollup")(task(n, Marking.TRANSITIVE))
    failing = found.lattice.size - len(found.solutions)
    assert found.nodes_checked == failing + sum(s.minimal for s in found.solutions) < CHECKED[n][0]
    if n < 5:
        assert found.nodes_checked == {3: 12, 4: 41}[n]
