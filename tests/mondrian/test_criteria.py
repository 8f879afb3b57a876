"""Mondrian under k, l and a share: plain recursion cuts alike, and unsatisfiable requirements are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from discreet.errors import InputError, NoSolution
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.external import partition_in_engine
from discreet.mondrian.mondrian_options import Cut, MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.settings import Settings
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.mondrian.numbered import random_table
from tests.oracle.plain_criteria import MostRows, fails, random_criteria
from tests.oracle.plain_mondrian import PlainMondrian


class PlainCriteria(PlainMondrian):
    """The same recursion, with every class judged in plain Python."""

    def __init__(self, table: FrequencySet, requirement: Requirement, *, best: bool) -> None:
        super().__init__(table, best=best)
        self.requirement = requirement

    def holds(self, members: Sequence[int]) -> bool:
        return not fails(self.table, members, self.requirement)


@pytest.mark.parametrize("cut", list(Cut))
def test_classes_are_those_of_plain_recursion(cut: Cut, settings: Settings) -> None:
    several = 0
    for seed in range(some_of(80)):
        random = np.random.default_rng(seed)
        table = random_table(random, rows=40)
        requirement = random_criteria(random, table)
        plain = PlainCriteria(table, requirement, best=cut is Cut.BEST)
        if not plain.holds(range(table.row_types)):
            with pytest.raises(NoSolution):
                partition_table(table, requirement, settings, MondrianOptions(cut=cut))
            continue
        told: list[str] = []
        found = partition_table(table, requirement, settings, MondrianOptions(cut=cut), notice=told.append)
        ours = {frozenset(found.row_types[found.classes == c].tolist()) for c in range(found.class_count)}
        assert ours == plain.classes()
        several += found.class_count > 1
        if requirement.others:
            assert told == ["no compiled kernel for share: using numpy, which is much slower"]
    assert several > 6


def a_table() -> FrequencySet:
    for seed in range(some_of(100)):
        table = random_table(np.random.default_rng(seed), rows=40)
        if table.sensitive:
            return table
    raise AssertionError


def test_relaxed_mondrian_keeps_k_and_l_alone(settings: Settings) -> None:
    asked = Requirement(2, criteria=[Share(0.9)])
    with pytest.raises(InputError, match=r"share=0.9 \(share of a value\) cannot be guaranteed") as error:
        partition_table(a_table(), asked, settings, MondrianOptions(relaxed=True))
    assert error.value.allowed == "k and l with relaxed Mondrian, or strict Mondrian"


def test_what_is_not_monotone_is_refused(settings: Settings) -> None:
    with pytest.raises(InputError, match=r"most-rows=7 of a search that divides or merges classes"):
        partition_table(a_table(), Requirement(2, criteria=[MostRows(7)]), settings)


def test_rows_by_value_must_have_been_counted(settings: Settings) -> None:
    table = a_table()
    bare = replace(table, sensitive=tuple(replace(sets, counts=None) for sets in table.sensitive))
    with pytest.raises(InputError, match=r"share\(.*\)=0.9: the frequency set contains no rows by value"):
        partition_table(bare, Requirement(2, criteria=[Share(0.9)]), settings)


class Facts:
    """A fact table that must not be read."""

    by_subject = False


def test_the_engine_keeps_k_and_l_alone(settings: Settings) -> None:
    asked = Requirement(2, criteria=[Share(0.9)])
    with (
        pytest.raises(InputError, match=r"share=0.9: Mondrian in the engine does not evaluate") as error,
        partition_in_engine(Facts(), asked, settings),  # type: ignore[arg-type]
    ):
        raise AssertionError
    assert error.value.advice == "Raise --memory-limit."
