"""Local recoding under k, l and a share: all classes pass, and no row is suppressed unnecessarily."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from discreet.errors import InputError, NoSolution
from discreet.local.cell_generalization import generalize_cells
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle.plain_criteria import MostRows, classes_at, fails, random_criteria
from tests.oracle.random_tables import random_frequency_set

LIMITS = Settings(memory_limit=10**9, threads=2, private_log=Path("unused"))


@given(st.integers(0, 10**6), st.sampled_from(["fast", 2]))
@given_settings(max_examples=some_of(60), deadline=None)
def test_every_class_meets_all_criteria(seed: int, effort: int | str) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=40, sensitive=2)
    if not table.rows:
        return
    requirement = random_criteria(random, table)
    tops = tuple(h.height for h in table.hierarchies)
    high = tuple(int(random.integers(0, t + 1)) if random.random() < 0.4 else t for t in tops)
    groups = classes_at(table, high)
    hopeless = {t for types in groups if fails(table, types, requirement) for t in types}
    try:
        found = generalize_cells(
            table, requirement, LIMITS, effort=effort, max_node=high, limit=table.rows
        ).recoding
    except NoSolution:
        assert len(hopeless) == table.row_types
        return
    members: dict[int, list[int]] = {}
    for row_type, of_class in zip(found.row_types.tolist(), found.classes.tolist(), strict=True):
        members.setdefault(of_class, []).append(row_type)
    # If a group fails as a whole, a part of it may pass; if it passes, all of it is published.
    assert set(members.pop(SUPPRESSED, ())) <= hopeless
    assert not any(fails(table, types, requirement) for types in members.values())
    assert all(any(set(types) <= set(group) for group in groups) for types in members.values())


def test_what_is_not_monotone_is_refused() -> None:
    table = random_frequency_set(
        np.random.default_rng(8), attributes=3, height=2, leaves=4, rows=30, sensitive=2
    )
    with pytest.raises(InputError, match=r"most-rows=9 of a search that makes classes: a largest size"):
        generalize_cells(table, Requirement(2, criteria=[MostRows(9)]), LIMITS)


def test_it_says_that_kernels_do_not_serve() -> None:
    table = random_frequency_set(
        np.random.default_rng(8), attributes=3, height=2, leaves=4, rows=30, sensitive=2
    )
    told: list[str] = []
    generalize_cells(
        table, Requirement(2, criteria=[Share(1.0)]), LIMITS, evaluator="kernels", notice=told.append
    )
    assert told == ["no compiled kernel for share: using plain Python, which is much slower"]
