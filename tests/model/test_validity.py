"""Class tests, checked against their definitions; unions of two passing classes pass as well."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.model.class_recoding import ClassTest, requirement_test
from discreet.model.requirement import Requirement
from tests.drawing import some_of
from tests.oracle.class_tests import EntropyDiversity, TCloseness


def counts(*rows: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return [np.array(rows, dtype=np.int64)]


def test_criteria_hold_by_their_definitions() -> None:
    assert requirement_test(Requirement(3), ()).holds(3, [])
    assert not requirement_test(Requirement(3), ()).holds(2, [])
    assert requirement_test(Requirement(l=2), ("a",)).holds(5, counts(4, 0, 1))
    assert not requirement_test(Requirement(l=2), ("a",)).holds(5, counts(0, 0, 5))
    assert EntropyDiversity(3).holds(3, counts(7, 7, 7, 0))
    assert not EntropyDiversity(3).holds(4, counts(1, 1, 2))
    assert not EntropyDiversity(1).holds(4, counts(0, 0))
    table = np.array([50, 30, 20])
    assert TCloseness(0, table).holds(10, counts(5, 3, 2))
    assert TCloseness(0.5, table).holds(4, counts(4, 0, 0))
    assert not TCloseness(0.49, table).holds(4, counts(4, 0, 0))
    assert TCloseness(0.35, table, ordered=True).holds(4, counts(4, 0, 0))
    assert not TCloseness(0.34, table, ordered=True).holds(4, counts(4, 0, 0))
    assert not TCloseness(1, table).holds(4, counts(0, 0, 0))


def test_requirement_becomes_a_test() -> None:
    test = requirement_test(Requirement.of(3, {"b": 2}), ("a", "b"))
    assert test.holds(3, counts(3) + counts(2, 1))
    assert not test.holds(3, counts(2, 1) + counts(3, 0))
    with pytest.raises(InputError, match="not a sensitive attribute"):
        requirement_test(Requirement.of(3, {"c": 2}), ("a", "b"))


def test_unions_of_passing_classes_pass() -> None:
    random = np.random.default_rng(1)
    table = random.integers(1, 50, 5)
    tests: list[ClassTest] = [
        requirement_test(Requirement(6), ()),
        requirement_test(Requirement(l=3), ("a",)),
        EntropyDiversity(2.5),
        TCloseness(0.3, table),
        TCloseness(0.2, table, ordered=True),
    ]
    passed = dict.fromkeys(range(len(tests)), 0)
    for _ in range(some_of(2000)):
        one, two = (random.integers(0, 6, 5) * (random.random(5) < 0.8) for _ in range(2))
        for number, test in enumerate(tests):
            if test.holds(int(one.sum()), [one]) and test.holds(int(two.sum()), [two]):
                passed[number] += 1
                assert test.holds(int((one + two).sum()), [one + two])
    assert min(passed.values()) > 20


def test_entropy_equals_hand_computed_values() -> None:
    shares = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    entropy = -sum(float(s) * log(s) for s in shares)
    assert EntropyDiversity(2.8).holds(4, counts(2, 1, 1)) == (entropy >= log(2.8))
    assert not EntropyDiversity(2.9).holds(4, counts(2, 1, 1))
