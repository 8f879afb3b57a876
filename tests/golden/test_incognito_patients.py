"""The patients of LeFevre et al. (2005): Figure 6 as printed, and the graphs of its Figures 5 and 7.

Figures 1, 5 and 7 are pictures that the available copy lacks except for some cells; the table is that of
Figure 1, and the graphs follow from it: Example 3.2 says that Figure 7(a) results from join, prune and edges
applied to the final steps of Figure 5(a, b, c), and Figure 7(b) is the lattice without them. Each is counted
here in plain Python, too. k is 2; levels are written as in the paper, ``S1 Z0``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.search.algorithms import load_algorithm
from discreet.search.breadth_first import (
    CountedRootSets,
    Family,
    FamilyNodes,
    FamilySearch,
    join_candidates,
    roots,
)
from discreet.search.database_frequency_sets import open_frequency_sets
from discreet.search.search_problem import SearchProblem
from discreet.search.solutions import SearchTally
from discreet.settings import Settings
from tests.oracle.brute_search import is_step, joined_and_pruned, queried_edges
from tests.oracle.plain_tables import frequency_set_of_rows, read_hierarchy

PATIENTS = (
    ("1/21/76", "Male", "53715"),
    ("4/13/86", "Female", "53715"),
    ("2/28/76", "Male", "53703"),
    ("1/21/76", "Male", "53703"),
    ("4/13/86", "Female", "53706"),
    ("2/28/76", "Female", "53706"),
)
NAMES = ("birthdate", "sex", "zipcode")
LEVELS = (2, 2, 3)
INCOGNITO = ("incognito", "incognito-superroots", "incognito-cube")
SETTINGS = Settings(memory_limit=10**8, threads=1, private_log=Path("log.jsonl"))

# Figure 6: the lattice of sex and zipcode as relations, with the printed IDs.
NODES = {1: (0, 0), 2: (1, 0), 3: (0, 1), 4: (1, 1), 5: (0, 2), 6: (1, 2)}
EDGES = {(1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 6)}
# Figure 5, final steps: the survivors of each pair. Figure 7(a): the candidates of all three.
SURVIVORS = {
    (1, 2): {"S1 Z0", "S1 Z1", "S0 Z2", "S1 Z2"},
    (0, 2): {"B1 Z0", "B1 Z1", "B0 Z2", "B1 Z2"},
    (0, 1): {"B0 S1", "B1 S0", "B1 S1"},
}
CANDIDATES = {"B1 S1 Z0", "B1 S1 Z1", "B0 S1 Z2", "B1 S0 Z2", "B1 S1 Z2"}


def shown(value: str, attribute: int, level: int) -> str:
    """Return a value at a level: ZIP codes lose digits, other values become ``*``."""
    return value[: 5 - level] + "*" * level if attribute == 2 else ("*" if level else value)


def survives(family: Family, node: tuple[int, ...]) -> bool:
    shape = list(zip(family, node, strict=True))
    classes = Counter(tuple(shown(patient[a], a, level) for a, level in shape) for patient in PATIENTS)
    return min(classes.values()) >= 2


def named(family: Family, node: tuple[int, ...]) -> str:
    return " ".join(f"{'BSZ'[a]}{level}" for a, level in zip(family, node, strict=True))


def nodes_of(family: Family) -> Iterator[tuple[int, ...]]:
    return product(*(range(LEVELS[a]) for a in family))


def survivors(family: Family) -> FamilyNodes:
    found = [survives(family, node) for node in nodes_of(family)]
    return np.array(found).reshape([LEVELS[a] for a in family])


def all_named(family: Family, nodes: FamilyNodes) -> set[str]:
    return {named(family, tuple(place)) for place in np.argwhere(nodes).tolist()}


@pytest.fixture
def patients(tmp_path: Path) -> FrequencySet:
    hierarchies = []
    for a, name in enumerate(NAMES):
        values = sorted({patient[a] for patient in PATIENTS})
        paths = (";".join(shown(value, a, level) for level in range(LEVELS[a])) for value in values)
        (tmp_path / f"{name}.csv").write_text("\n".join(paths) + "\n", encoding="utf-8")
        hierarchies.append(read_hierarchy(tmp_path / f"{name}.csv"))
    return frequency_set_of_rows([dict(zip(NAMES, p, strict=True)) for p in PATIENTS], hierarchies)


def test_figure_6_lattice_of_sex_and_zipcode_equals_the_relations() -> None:
    every = {((1, s), (2, z)) for s, z in nodes_of((1, 2))}
    named_by = {node: number for number, node in NODES.items()}
    single = {((a, i),) for a in (1, 2) for i in range(LEVELS[a])}
    steps = {(p, q) for p, q in product(single, repeat=2) if p[0][0] == q[0][0] and is_step(p, q)}
    assert {(s[1], z[1]) for s, z in joined_and_pruned(single)} == set(NODES.values())
    assert {
        tuple(named_by[node[0][1], node[1][1]] for node in edge) for edge in queried_edges(every, steps)
    } == EDGES
    lattice = join_candidates((1, 2), LEVELS, {(1,): np.ones(2, bool), (2,): np.ones(3, bool)})
    assert all_named((1, 2), lattice) == {named((1, 2), node) for node in NODES.values()}


def test_figure_5_survivors_of_each_pair_are_found(patients: FrequencySet) -> None:
    for family, expected in SURVIVORS.items():
        assert all_named(family, survivors(family)) == expected
        low, high = (0,) * 3, tuple(LEVELS[a] - 1 for a in range(3))
        task = SearchProblem(patients, Requirement(k=2), 0, low, high, SETTINGS)
        with open_frequency_sets(task) as frequencies:
            tally = SearchTally()
            lattice = np.ones([LEVELS[a] for a in family], dtype=np.bool_)
            search = FamilySearch(task, family, lattice, CountedRootSets(frequencies), tally)
            assert all_named(family, search.run()) == expected


def test_figure_7_graph_of_all_three_is_smaller_than_the_lattice() -> None:
    found = join_candidates((0, 1, 2), LEVELS, {pair: survivors(pair) for pair in SURVIVORS})
    assert all_named((0, 1, 2), found) == CANDIDATES
    assert all_named((0, 1, 2), roots(found)) == {"B1 S1 Z0", "B0 S1 Z2", "B1 S0 Z2"}
    assert len(CANDIDATES) == 5
    assert found.size == 12  # Figure 7(b)


@pytest.mark.parametrize("name", ["bottom-up", "bottom-up-rollup", *INCOGNITO])
def test_every_candidate_is_2_anonymous_and_every_search_finds_them(
    name: str, patients: FrequencySet
) -> None:
    top = tuple(height - 1 for height in LEVELS)
    found = load_algorithm(name)(SearchProblem(patients, Requirement(k=2), 0, (0, 0, 0), top, SETTINGS))
    assert {named((0, 1, 2), solution.node) for solution in found.solutions} == CANDIDATES
    assert {named((0, 1, 2), s.node) for s in found.solutions if s.minimal} == {
        "B1 S1 Z0",
        "B0 S1 Z2",
        "B1 S0 Z2",
    }
    if name in INCOGNITO:
        # By hand: three roots of one attribute; 4, 4 and 3 nodes of pairs; the roots of Figure 7(a).
        assert found.nodes_checked == 3 + 4 + 4 + 3 + 3
