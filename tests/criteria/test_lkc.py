"""LKC-privacy: remaining classes, refusals, and the compiled rule; searches are in test_release_search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.lattice import evaluation
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.criteria import lkc_privacy
from discreet.model.criteria.lkc_privacy import LKCPrivacy
from discreet.model.criteria.release_level import Groups, peel_classes
from discreet.model.criteria.release_shares import AverageRisk
from discreet.model.criterion_inputs import ClassValues
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.search.algorithms import EVERY_SOLUTION, load_algorithm
from discreet.search.node_counts import StatisticsCounter
from discreet.settings import Settings
from discreet.taxonomy.class_counts import ClassCounts
from tests.criteria.plain_cells import plain_left, plain_score
from tests.criteria.released_lattice import random_request_of
from tests.criteria.test_release_search import random_task
from tests.drawing import some_of
from tests.oracle.plain_criteria import classes_at, plain_class
from tests.oracle.random_tables import random_frequency_set

SETTINGS = Settings(memory_limit=2**31, threads=2, private_log=Path("unused"))
SEEDS = st.integers(0, 2**32)


def evaluated_for(table: FrequencySet, requirement: Requirement) -> EvaluatedLattice:
    return evaluate_lattice(table, SETTINGS, diversity=False, criteria=requirement.criteria)


def test_remaining_rows_meet_lkc_and_suppression_may_rise_at_higher_nodes() -> None:
    """Remaining rows meet the criterion, but suppression may increase from a node to a higher one.

    Searches that conclude from node to node therefore refuse it where rows may be suppressed.
    """
    rises = 0
    for seed in range(60):
        table, request, brute = random_request_of("cells", seed)
        criterion = request.requirement.of_cells
        if not table.rows or not isinstance(criterion, LKCPrivacy):
            continue
        requirement = Requirement(criteria=[criterion])
        rows = {}
        for node in brute.nodes:
            classes = [plain_class(table, node, types) for types in classes_at(table, node)]
            left = [classes[i] for i in plain_left(criterion, classes)]
            score = plain_score(criterion, left)
            assert score is None or score >= criterion.value
            rows[node] = brute.suppressed(node, requirement)
        lattice = brute.lattice
        rises += any(rows[child] < rows[node] for node in rows for child in lattice.children(node))
    assert rises
    task = random_task(3, suppressing=True, kind="cells")
    for name in (*EVERY_SOLUTION, "samarati", "anytime"):
        with pytest.raises(InputError, match=r"all classes of a release together"):
            load_algorithm(name)(replace(task, limit=3))


def test_unsupported_lkc_requirements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_frequency_set(
        np.random.default_rng(5), attributes=3, height=2, leaves=4, rows=20, sensitive=0
    )
    with pytest.raises(
        InputError, match="lkc = 3 requires a sensitive attribute, but no attribute is sensitive"
    ):
        evaluated_for(table, Requirement(criteria=[LKCPrivacy(3)])).suppression(
            Requirement(criteria=[LKCPrivacy(3)])
        )
    single = Requirement(criteria=[LKCPrivacy(3, confidence=1.0)])
    together = Requirement(criteria=[*single.criteria, AverageRisk(0.1)])
    with pytest.raises(InputError, match="each suppresses classes that the other relies on"):
        evaluated_for(table, together).suppression(together)
    with pytest.raises(InputError, match="each suppresses classes that the other relies on"):
        StatisticsCounter(table, together, 0).count((0, 0, 0))
    with pytest.raises(InputError, match="all classes of a release"):
        ClassCounts(table, single).failing(np.zeros(table.row_types, np.int64), 1)
    monkeypatch.setattr(lkc_privacy, "MAX_COMBINATIONS", 2)
    with pytest.raises(InputError, match="2 of 3 quasi-identifiers make 3 combinations") as error:
        evaluated_for(table, single).suppression(single)
    assert "--lkc-known" in str(error.value.advice)


@examples(max_examples=some_of(60), deadline=None)
@given(SEEDS)
def test_compiled_rule_peels_the_same_classes_as_plain_python(seed: int) -> None:
    random = np.random.default_rng(seed)
    classes, number = int(random.integers(1, 12)), int(random.integers(1, 9))
    values = []
    for _ in range(int(random.integers(0, 3))):
        rows = random.integers(0, 4, (classes, 4)) * random.integers(0, 2, (classes, 4))
        owners, codes = np.nonzero(rows)
        values.append(ClassValues((rows > 0).sum(axis=1), owners, codes, rows[owners, codes]))
    groups = Groups(
        of=random.integers(0, number, (int(random.integers(1, 4)), classes)),
        number=number,
        sizes=random.integers(1, 9, classes),
        values=tuple(values),
        billionths=int(random.choice([300_000_000, 500_000_000, 750_000_000, 10**9])),
    )
    remaining = random.random(classes) < 0.8
    for most in (1, 3, 64):
        expected = peel_classes(groups, remaining, most)
        assert evaluation._peel_compiled(groups, remaining, most).tolist() == expected.tolist()
