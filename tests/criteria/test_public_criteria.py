"""``discreet.criteria`` exports every criterion of the registry, and its examples are correct."""

from __future__ import annotations

import doctest

import pytest

import discreet.criteria
from discreet.criteria import criteria_from
from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import CRITERIA

OWN = [kind for kind in CRITERIA if kind.__module__.startswith("discreet.")]


def test_module_has_21_criteria() -> None:
    assert len(OWN) == 21


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.name)
def test_criterion_is_public_under_its_class_name(kind: type[Criterion]) -> None:
    assert getattr(discreet.criteria, kind.__name__) is kind
    assert kind.__name__ in discreet.criteria.__all__


def test_examples_of_the_docstring_run() -> None:
    found = doctest.testmod(discreet.criteria)
    assert found.attempted > 0
    assert found.failed == 0


def test_unknown_criterion_name_is_refused_with_the_name() -> None:
    with pytest.raises(InputError, match="t_closeness"):
        criteria_from({"t_closeness": 0.2})
