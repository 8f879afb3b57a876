"""Models that build classes meet criteria in subjects, checked by counting people and values."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import InputError, NoSolution
from discreet.local.cell_generalization import generalize_cells
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, PatternConstraints
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.partition import partition_table
from discreet.patterns.greedy_assignment import solve_greedily
from discreet.patterns.masks import build_mask_from_constraints
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.random_tables import frequency_set_of, random_hierarchy

SETTINGS = Settings(memory_limit=2**31, threads=1, private_log=Path("unused"))
Person = tuple[tuple[int, ...], int, int]


def table(seed: int) -> tuple[FrequencySet, list[Person]]:
    """Return a frequency set and its rows: codes, sensitive value, person."""
    random = np.random.default_rng(seed)
    hierarchies = [random_hierarchy(random, name, 5, 2) for name in ("a", "b")]
    people = [
        (tuple(int(c) for c in random.integers(5, size=2)), int(random.integers(4)), int(random.integers(9)))
        for _ in range(45)
    ]
    rows = [(codes, (value,)) for codes, value, _ in people]
    return frequency_set_of(hierarchies, rows, ["s"], [4], [person for _, _, person in people]), people


def representatives(pairs: set[tuple[int, int]]) -> int:
    """Return the largest number of values carried by distinct people (theorem of König and Hall)."""
    values = sorted({value for value, _ in pairs})
    subsets = [set(chosen) for size in range(len(values) + 1) for chosen in combinations(values, size)]
    return min(len(values) - len(s) + len({p for v, p in pairs if v in s}) for s in subsets)


def assert_kept(found: ClassRecoding, counted: FrequencySet, people: list[Person], k: int, l: int) -> None:
    class_of = dict(zip(map(tuple, counted.codes[found.row_types].tolist()), found.classes, strict=True))
    assert len(class_of) == counted.row_types
    for number in set(found.classes.tolist()) - {SUPPRESSED}:
        members = [(value, person) for codes, value, person in people if class_of[codes] == number]
        assert len({person for _, person in members}) >= k
        assert representatives(set(members)) >= l


@pytest.mark.parametrize("seed", range(some_of(12)))
def test_classes_have_k_people_and_l_values_of_different_people(seed: int) -> None:
    counted, people = table(seed)
    requirement = Requirement(3, 2)
    classes = partition_table(counted, requirement, SETTINGS)
    assert_kept(classes, counted, people, 3, 2)
    assert classes.class_count > 1
    assert_kept(generalize_cells(counted, requirement, SETTINGS).recoding, counted, people, 3, 2)
    mask = build_mask_from_constraints(counted, PatternConstraints(), SETTINGS)
    guided = solve_greedily(counted, mask, requirement, SETTINGS)
    assert_kept(guided.recoding, counted, people, 3, 2)


def test_class_of_rows_is_not_a_class_of_people() -> None:
    random = np.random.default_rng(1)
    hierarchy = random_hierarchy(random, "a", 4, 1)
    counted = frequency_set_of([hierarchy], [((n % 4,), ()) for n in range(40)], subjects=[0] * 39 + [1])
    with pytest.raises(NoSolution, match="as a whole"):
        partition_table(counted, Requirement(3), SETTINGS)
    assert partition_table(counted, Requirement(2), SETTINGS).class_count == 1
    with pytest.raises(InputError, match="class test counts rows"):
        partition_table(counted, Requirement(2), SETTINGS, class_test=_Any())


class _Any:
    def holds(self, rows: int, values: object) -> bool:
        return bool(rows) and values is not None
