"""Errors name the failing criterion instead of k and l."""

from __future__ import annotations

import pandas
import pytest

import discreet
from discreet.criteria import AlphaDeassociation, EntropyDiversity, KAnonymity
from discreet.errors import InputError, NoSolution
from discreet.frequency.class_requirement import find_globally_failing
from discreet.model.requirement import Requirement
from discreet.verbs.table import Table


def table() -> Table:
    frame = pandas.DataFrame({"age": [20, 21, 22, 23] * 5, "ill": ["flu"] * 15 + ["cold"] * 5})
    roles = {"age": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}
    return discreet.open(frame, {"attributes": roles})


def test_relaxing_names_the_required_criteria() -> None:
    assert Requirement(k=5).relaxing == "relax k"
    assert Requirement(k=5, criteria=[AlphaDeassociation(0.5)]).relaxing == "relax k or alpha"
    assert Requirement(5, 2, [AlphaDeassociation(0.5)]).relaxing == "relax k, l or alpha"


def test_globally_failing_criteria_are_those_that_the_table_fails() -> None:
    counted = table().frequency_set
    required = Requirement(criteria=[KAnonymity(5), AlphaDeassociation(0.5), EntropyDiversity(1.1)])
    assert find_globally_failing(counted, required).names == ("alpha",)
    assert find_globally_failing(counted, Requirement(k=21)).names == ("k",)
    assert find_globally_failing(counted, Requirement(k=20)).names == ("k",)  # none fails, so all are named


@pytest.mark.parametrize("model", ["mondrian", "local", "patterns"])
def test_models_name_the_failing_criterion(model: str) -> None:
    with pytest.raises(NoSolution) as raised:
        table().recode(model, k=5, criteria=[AlphaDeassociation(0.5)])
    text = str(raised.value)
    assert "relax alpha" in text
    assert "k or l" not in text


def test_missing_requirement_is_refused() -> None:
    with pytest.raises(InputError, match=r"no privacy criterion was given.*k, l, or another criterion.*k=10"):
        table().negotiate()
