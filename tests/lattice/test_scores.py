"""Evaluated scores, in addition to sizes and distinct values, equal plain counting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError, LimitReached
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.criteria.base import Criterion, ScoreKey
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criterion_inputs import ClassValues
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle.plain_criteria import MostRows
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy
from tests.oracle.scored_lattice import FewValues, ScoredLattice, Spread, random_requirement

SETTINGS = Settings(memory_limit=2**31, threads=2, private_log=Path("unused"))


def random_table(seed: int, *, rows: int = 40, subjects: int | None = None) -> FrequencySet:
    random = np.random.default_rng(seed)
    return random_frequency_set(
        random, attributes=3, height=3, leaves=5, rows=rows, sensitive=2, subjects=subjects
    )


@examples(max_examples=some_of(150), deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_every_node_equals_plain_counting(seed: int, diversity: bool) -> None:
    table = random_table(seed)
    further: tuple[Criterion, ...] = (MostRows(3),)
    for name in table.sensitive_attributes:
        further += (Share(0.5, name), Spread(1, name), FewValues(2, name))
    if not table.row_types:
        return
    brute = ScoredLattice(table, further)
    evaluated = evaluate_lattice(table, SETTINGS, diversity=diversity, criteria=further)
    assert evaluated.sensitive_attributes == table.sensitive_attributes
    assert evaluated.scores[0] == ScoreKey(KAnonymity)
    assert evaluated.scores[1 + len(table.sensitive) :] == tuple(c.score for c in further)
    for node in brute.nodes:
        assert evaluated.histogram(node) == brute.histogram(node, further)
        assert evaluated.classes()[evaluated.lattice.index(node)] == len(brute.classes[node])


@examples(max_examples=some_of(150), deadline=None)
@given(st.integers(0, 2**32))
def test_look_ups_equal_plain_counting(seed: int) -> None:
    table, random = random_table(seed), np.random.default_rng(seed)
    if not table.row_types:
        return
    requirement = random_requirement(random, table)
    brute = ScoredLattice(table, requirement.criteria)
    evaluated = evaluate_lattice(table, SETTINGS, diversity=False, criteria=requirement.criteria)
    expected = [brute.suppressed(node, requirement) for node in brute.nodes]
    assert evaluated.suppression(requirement).tolist() == expected
    assert [evaluated.suppressed(node, requirement) for node in brute.nodes] == expected
    limit = int(random.integers(0, table.rows))
    nodes = np.flatnonzero(random.random(len(brute.nodes)) < 0.5)
    for name in requirement.names:
        scores = sorted(brute.scores_of(name), reverse=True)
        reached = []
        for place in nodes.tolist():
            node = brute.nodes[place]
            if brute.suppressed(node, requirement) <= limit:
                break
            tried = (s for s in scores if brute.suppressed(node, requirement, name, s) <= limit)
            reached.append(next(tried, None))
            assert evaluated.largest(node, requirement, name, limit) == reached[-1], (name, node)
        else:
            found = max((score for score in reached if score is not None), default=None)
            assert evaluated.largest_among(nodes, requirement, name, limit) == found


def test_criteria_of_sizes_count_subjects() -> None:
    for seed in range(some_of(30)):
        table = random_table(seed, rows=25, subjects=7)
        if not table.row_types:
            continue
        evaluated = evaluate_lattice(table, SETTINGS, criteria=[MostRows(2)])
        for node, classes in ScoredLattice(table, ()).classes.items():
            found = {signature[0] + signature[-1] for signature in evaluated.histogram(node)}
            assert found <= {10**6}
            assert sum(evaluated.histogram(node).values()) == sum(rows for rows, _ in classes)


def one_sensitive(subjects: list[int] | None = None) -> FrequencySet:
    random = np.random.default_rng(3)
    hierarchies = [random_hierarchy(random, f"q{i}", 3, 2) for i in range(2)]
    rows = [((i % 3, i % 2), (i % 4,)) for i in range(24)]
    return frequency_set_of(hierarchies, rows, ["s"], [4], subjects=subjects)


def test_rows_by_value_are_refused_where_subjects_count() -> None:
    with pytest.raises(InputError, match="counts the rows of each value, but here subjects"):
        evaluate_lattice(one_sensitive([i // 2 for i in range(24)]), SETTINGS, criteria=[Share(0.5)])
    own, plain = one_sensitive(list(range(24))), one_sensitive()
    requirement = Requirement(criteria=[Share(0.5)])
    known = [evaluate_lattice(table, SETTINGS, criteria=requirement.criteria) for table in (own, plain)]
    assert known[0].suppression(requirement).tolist() == known[1].suppression(requirement).tolist()
    bare = replace(plain, sensitive=tuple(replace(s, counts=None) for s in plain.sensitive))
    with pytest.raises(InputError, match="contains no rows by value of 's'"):
        evaluate_lattice(bare, SETTINGS, criteria=[Share(0.5)])


def test_criteria_that_were_not_counted_are_refused() -> None:
    evaluated = evaluate_lattice(one_sensitive(), SETTINGS, diversity=False, criteria=[Share(0.5, "s")])
    evaluated.suppression(Requirement(3, 2, [Share(0.9)]))
    for criterion in (Share(0.5, "s", 1), Spread(1), MostRows(3)):
        with pytest.raises(InputError, match=f"{criterion.title} was required, but the classes"):
            evaluated.suppression(Requirement(criteria=[criterion]))
    of_sizes = evaluate_lattice(one_sensitive(), SETTINGS, diversity=False, criteria=[MostRows(3)])
    assert of_sizes.sensitive_attributes == ()
    with pytest.raises(InputError, match="no attribute is sensitive"):
        of_sizes.suppression(Requirement(l=2))


def test_one_count_serves_every_value_and_k_and_l_need_no_count() -> None:
    twice = evaluate_lattice(one_sensitive(), SETTINGS, criteria=[Share(0.5), Share(0.7, "s")])
    assert len(twice.scores) == 3
    heard: list[str] = []
    plain: list[Criterion] = [KAnonymity(3), DistinctDiversity(2)]
    evaluated = evaluate_lattice(
        one_sensitive(), SETTINGS, diversity=False, criteria=plain, evaluator="twin", notice=heard.append
    )
    assert evaluated.scores == (ScoreKey(KAnonymity), ScoreKey(DistinctDiversity, "s"))
    assert heard == []


def test_twin_reports_that_it_serves_further_scores() -> None:
    heard: list[str] = []
    evaluate_lattice(one_sensitive(), SETTINGS, criteria=[Share(0.5), MostRows(2)], notice=heard.append)
    assert heard == ["no compiled score for share, most-rows: using numpy, which is slower"]


def test_entries_beyond_the_memory_limit_end_the_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(12, rows=4000)
    plain = evaluate_lattice(table, SETTINGS, criteria=[Share(0.5)])
    assert plain.histograms.signatures.dtype == np.int32
    tight = replace(SETTINGS, memory_limit=plain.histograms.nbytes)
    monkeypatch.setattr("discreet.lattice.evaluation.check_memory", lambda *_: None)
    with pytest.raises(LimitReached, match="takes more than"):
        evaluate_lattice(table, tight, criteria=[Share(0.5)])


def test_large_scores_are_kept_exact() -> None:
    @dataclass(frozen=True)
    class Tall(MostRows):
        def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
            del values
            return sizes * 2**40

    evaluated = evaluate_lattice(one_sensitive(), SETTINGS, criteria=[Tall(3)])
    assert evaluated.histograms.signatures.dtype == np.int64
    assert all(s[-1] == s[0] * 2**40 for s in evaluated.histogram((0, 0)))


def test_scores_that_are_not_integers_are_an_error_of_the_criterion() -> None:
    @dataclass(frozen=True)
    class Halves(MostRows):
        def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
            del values
            return sizes / 2  # type: ignore[return-value]

    with pytest.raises(InternalError, match="most-rows: scores must be one integer"):
        evaluate_lattice(one_sensitive(), SETTINGS, criteria=[Halves(3)])
