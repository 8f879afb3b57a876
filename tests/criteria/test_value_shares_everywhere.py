"""Criteria of the rows of each value in whole tables: every node of a lattice, and classes of searches."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.frequency.fact_counter import find_failing_classes
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.class_recoding import requirement_test
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import plain_values
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.criteria.plain_value_shares import Rows, passes
from tests.criteria.test_value_shares import ALL
from tests.drawing import some_of
from tests.oracle.plain_criteria import classes_at
from tests.oracle.random_tables import random_frequency_set
from tests.oracle.scored_lattice import ScoredLattice

SETTINGS = Settings(memory_limit=2**31, threads=2, private_log=Path("unused"))
each_criterion = pytest.mark.parametrize("criterion", ALL, ids=[str(plain_values([c])) for c in ALL])


def random_table(seed: int) -> FrequencySet | None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=4, rows=60, sensitive=2)
    return table if table.row_types and table.sensitive else None


def rows_by_value(sets: ValueSets, types: list[int] | range) -> Rows:
    """Count the values of some row types in plain Python."""
    found: Counter[int] = Counter()
    assert sets.counts is not None
    for i in types:
        for p in range(int(sets.offsets[i]), int(sets.offsets[i + 1])):
            found[int(sets.codes[p])] += int(sets.counts[p])
    return found


def fails(criterion: Criterion, table: FrequencySet, types: list[int]) -> bool:
    return any(
        not passes(criterion, rows_by_value(sets, types), rows_by_value(sets, range(table.row_types)))
        for sets in table.sensitive
    )


@each_criterion
def test_every_node_suppresses_the_failing_classes(criterion: Criterion) -> None:
    for seed in range(some_of(12)):
        table = random_table(seed)
        if table is None:
            continue
        evaluated = evaluate_lattice(table, SETTINGS, criteria=[criterion])
        nodes = ScoredLattice(table, ()).nodes
        for value in criterion.parameter.slider[seed % 3 :: 4]:
            stop = replace(criterion, value=value)
            found = evaluated.suppression(Requirement(2, criteria=[stop]))
            for node in nodes:
                suppressed = 0
                for types in classes_at(table, node):
                    rows = int(table.counts[types].sum())
                    suppressed += rows if rows < 2 or fails(stop, table, types) else 0
                assert found[evaluated.lattice.index(node)] == suppressed


@each_criterion
def test_failing_classes_of_a_search_equal_plain_python(criterion: Criterion) -> None:
    for seed in range(20, 40):
        table = random_table(seed)
        if table is None:
            continue
        requirement = Requirement(criteria=[criterion])
        class_of = np.random.default_rng(seed).integers(0, 3, table.row_types)
        members = [np.flatnonzero(class_of == c).tolist() for c in range(3)]
        expected = [fails(criterion, table, types) for types in members]
        assert find_failing_classes(table, class_of, 3, requirement).tolist() == expected


def test_searches_that_merge_refuse_criteria_that_are_not_monotone() -> None:
    for criterion in ALL:
        requirement = Requirement(criteria=[criterion])
        if criterion.monotone:
            requirement_test(requirement, ("s",))
        else:
            with pytest.raises(InputError, match="may fail where two classes that meet it are merged"):
                requirement_test(requirement, ("s",))
