"""Minimality and downcoding attacks on small releases, checked against all worlds in plain Python."""

from __future__ import annotations

import csv
import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.attacks.downcoding import (
    build_child_values,
    compute_child_chances,
    compute_child_shares,
    simulate_downcoding,
)
from discreet.attacks.minimality import MinimalRelease, simulate_worlds
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.verbs.release_attack import attack
from tests.attacks.test_linkage import PATIENTS, table_of
from tests.drawing import some_of

DRAWS = 2000
TWO_BY_TWO = GeneralizationHierarchy(
    "x",
    (("a", "b", "c", "d"), ("ab", "cd"), ("*",)),
    (np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])),
    "test",
)


def release_of(
    rows: Sequence[tuple[int, int]], values: Sequence[int], node: tuple[int, int], k: int, l: int
) -> MinimalRelease:
    """Build a release of rows with two quasi-identifiers and a sensitive value, published at one node."""
    codes = np.array(rows, dtype=np.int64)
    maps = [TWO_BY_TWO.level_map(level) for level in node]
    key = np.column_stack([maps[i][codes[:, i]] for i in range(2)])
    classes = np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)
    sensitive = np.array(values, dtype=np.int64).reshape(-1, 1)
    return MinimalRelease((TWO_BY_TWO, TWO_BY_TWO), node, codes, classes, ("s",), sensitive, (3,), k, (l,), 0)


def refused(release: MinimalRelease, finer: Sequence[int], values: Sequence[int]) -> bool:
    """Return True if some class of a finer node fails its requirement, computed in plain Python."""
    found = defaultdict(list)
    for key in zip(release.classes.tolist(), finer, values, strict=True):
        found[key[:2]].append(key[2])
    few = [len({v for v in of if v >= 0}) < release.least[0] for of in found.values()]
    return any(few) or any(len(of) < release.k for of in found.values())


def assignments(release: MinimalRelease) -> list[tuple[int, ...]]:
    """Return every assignment of a class's values to its rows, with multiplicity."""
    places = [np.flatnonzero(release.classes == c).tolist() for c in np.unique(release.classes)]
    found = []
    for chosen in itertools.product(*(itertools.permutations(p) for p in places)):
        world = [0] * release.rows
        for to, since in zip(places, chosen, strict=True):
            for i, j in zip(to, since, strict=True):
                world[i] = int(release.values[j, 0])
        found.append(tuple(world))
    return found


@pytest.mark.parametrize("seed", range(some_of(12)))
def test_worlds_of_values_equal_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = [tuple(pair) for pair in random.integers(0, 4, size=(7, 2)).tolist()]
    release = release_of(rows, random.integers(-1, 3, 7).tolist(), (1, 2), 1, 2)
    finer = [release.children(i).tolist() for i in release.raised]
    every = assignments(release)
    accepted = [w for w in every if all(refused(release, f, w) for f in finer)]
    found, learnt = simulate_worlds(release, DRAWS, seed)
    share = len(accepted) / len(every)
    assert abs(found.accepted / DRAWS - share) < 5 * (share * (1 - share) / DRAWS) ** 0.5 + 1e-9
    real = [int(v) for v in release.values[:, 0]]
    assert found.refused == sum(refused(release, f, real) for f in finer)
    people = list(zip(release.classes.tolist(), rows, strict=True))
    counted: dict[object, Counter[int]] = defaultdict(Counter)
    for world in accepted:
        for person, value in zip(people, world, strict=True):
            counted[person][value] += 1
    right = sure = clear = 0
    for person, value in zip(people, real, strict=True):
        counts = sorted((n for v, n in counted[person].items() if v >= 0), reverse=True)
        everything = sum(counted[person].values())
        clear += bool(counts) and (len(counts) == 1 or counts[0] - counts[1] > 0.15 * everything)
        best = max((v for v in counted[person] if v >= 0), key=lambda v: counted[person][v], default=-2)
        right += best == value
        sure += len(counted[person]) == 1 and value >= 0
    if accepted:
        assert learnt[0].sure == sure
    if clear == release.rows:
        assert learnt[0].right == right


@pytest.mark.parametrize("seed", range(some_of(12)))
def test_worlds_of_finer_cells_equal_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed + 100)
    rows = [tuple(pair) for pair in random.integers(0, 4, size=(6, 2)).tolist()]
    release = release_of(rows, random.integers(0, 2, 6).tolist(), (1, 2), 2, 0)
    counts = np.array([5, 2, 3, 1])
    below = [build_child_values(release, i, np.arange(4), counts) for i in release.raised]
    weights: list[list[tuple[list[int], Fraction]]] = []
    for children, place in zip(below, release.raised, strict=True):
        cells = children.parents[children.of_row]
        options = [np.flatnonzero(children.parents == cell).tolist() for cell in cells]
        weights.append([])
        for chosen in itertools.product(*options):
            weight = Fraction(1)
            for child, among in zip(chosen, options, strict=True):
                weight *= Fraction(int(children.common[child]), int(sum(children.common[among])))
            weights[-1].append((list(chosen), weight))
        assert children.attribute == release.hierarchies[place].attribute
    share, right_mass = Fraction(1), []
    for each, children in zip(weights, below, strict=True):
        fitting = [(c, w) for c, w in each if refused(release, c, release.values[:, 0].tolist())]
        share *= sum((w for _, w in fitting), Fraction(0))
        mass: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for chosen, weight in fitting:
            for pair in zip(release.classes.tolist(), chosen, strict=True):
                mass[pair] += weight
        right_mass.append((children, mass))
    worlds, undone = simulate_downcoding(release, below, DRAWS, seed)
    accepted, failed = worlds.accepted, worlds.refused
    p = float(share)
    assert abs(accepted / DRAWS - p) < 5 * (p * (1 - p) / DRAWS) ** 0.5 + 1e-9
    assert failed == sum(refused(release, c.of_row.tolist(), release.values[:, 0].tolist()) for c in below)
    for found, (children, mass) in zip(undone, right_mass, strict=True):
        guesses, clear = {}, True
        for c in set(release.classes.tolist()):
            options = sorted(((m, child) for (of, child), m in mass.items() if of == c), reverse=True)
            guesses[c] = options[0][1] if options else -1
            total = sum(m for m, _ in options)
            clear &= len(options) == 1 or (bool(total) and (options[0][0] - options[1][0]) / total > 0.15)
        right = sum(
            guesses[c] == child
            for c, child in zip(release.classes.tolist(), children.of_row.tolist(), strict=True)
        )
        if accepted > DRAWS // 4 and clear:
            assert found.right == right


@pytest.mark.parametrize("seed", range(some_of(20)))
def test_chances_below_a_least_cell_count_every_world(seed: int) -> None:
    """Below a least cell, chances count all assignments of a class's rows to the values under their cell.

    They are not computed as if all rows had one value.
    """
    random = np.random.default_rng(seed)
    values, rows = int(random.integers(2, 5)), int(random.integers(2, 6))
    common = random.integers(1, 9, values)
    shares = [Fraction(int(n), int(common.sum())) for n in common]
    first, every = [Fraction(0)] * values, Fraction(0)
    for world in itertools.product(range(values), repeat=rows):
        if len(set(world)) > 1:
            weight = Fraction(1)
            for value in world:
                weight *= shares[value]
            every += weight
            first[world[0]] += weight
    before, after = compute_child_chances(common / common.sum(), rows)
    assert before == pytest.approx(float(first[int(np.argmax(common))] / every))
    assert after == pytest.approx(float(max(first) / every))


def test_cell_possibly_raised_by_a_least_level_has_no_chances() -> None:
    common = np.array([3.0, 1, 2, 2, 0])
    assert compute_child_shares(TWO_BY_TWO, np.array([0, 1]), common, 0) == pytest.approx([0.75, 0.25])
    assert compute_child_shares(TWO_BY_TWO, np.array([0, 1, 2, 3]), common, 0) == pytest.approx([0.5, 0.5])
    assert compute_child_shares(TWO_BY_TWO, np.array([0, 1, 2, 3]), common, 1) == pytest.approx([0.5, 0.5])
    assert compute_child_shares(TWO_BY_TWO, np.array([0, 1]), common, 1) is None
    assert compute_child_shares(TWO_BY_TWO, np.array([0]), common, 0) is None
    assert compute_child_shares(TWO_BY_TWO, np.array([0, 1]), np.array([3.0, 0, 2, 2, 0]), 0) is None


def test_downcoding_of_a_local_recoding_counts_generalized_cells(tmp_path: Path) -> None:
    table = table_of(tmp_path, PATIENTS * 2)
    table.publish("local", tmp_path / "local.csv", k=2)
    found = attack(tmp_path / "local.csv", table=table, by="downcoding").finding("downcoding")
    with (tmp_path / "local.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    tables = {row[0]: row[1:] for row in found.tables[0].rows}
    for name in ("age", "city"):
        leaves = set(table.frequency_set.hierarchies[("age", "city").index(name)].leaves)
        general = sum(row[name] not in leaves for row in rows)
        assert tables.get(name, (0,))[0] == general
    assert found.figure("cells") == sum(each[0] for each in tables.values())  # type: ignore[misc]


def test_necessarily_merged_part_reveals_the_values_of_its_people() -> None:
    """A part that had to be merged reveals its people's values.

    Two people with one value are merged with two who require a separation: the values are sure, without a
    name.
    """
    release = release_of([(0, 0)] * 2 + [(1, 0)] * 2, [0, 0, 1, 1], (1, 0), 1, 2)
    found, learnt = simulate_worlds(release, 200)
    # In every world that fits, each pair has one value; the release does not show which pair has which.
    assert (found.finer, found.refused) == (1, 1)
    assert 40 < found.accepted < 100  # a third of all worlds
    assert learnt[0].sure == 0
    other = release_of([(0, 0)] * 3 + [(1, 0)], [0, 0, 1, 1], (1, 0), 1, 2)
    assert simulate_worlds(other, 200)[0].accepted == 200  # one person fails with any value


def test_minimality_and_downcoding_by_name_report_their_worlds(tmp_path: Path) -> None:
    table = table_of(tmp_path, PATIENTS * 3)
    table.publish({"age": 1, "city": 1}, tmp_path / "levels.csv", k=2, max_suppressed="60%")
    found = attack(
        tmp_path / "levels.csv", table=table, by=["minimality", "downcoding"], options={"worlds": 50}
    )
    for name in ("minimality", "downcoding"):
        assert found.finding(name).figure("drawn") == 50
        assert found.finding(name).figure("finer") == 2
