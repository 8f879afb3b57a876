"""Requests from options and the spec's defaults; options take precedence, part by part."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criteria.registry import criteria_from
from discreet.model.request import RelaxationScope
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.results.request_defaults import build_request, build_requirement
from discreet.spec.spec_reader import spec_from_mapping
from tests.extending.registered import toy_criterion

__all__ = ["toy_criterion"]


def spec(**request: Any) -> TableSpec:
    attributes = {
        "age": {"role": "quasi-identifier"},
        "city": {"role": "quasi-identifier"},
        "disease": {"role": "sensitive"},
        "wage": {"role": "sensitive"},
    }
    document = {"source": {"path": "people.csv"}, "attributes": attributes, "request": request}
    return spec_from_mapping(document, base=Path(), label="the spec")


def test_request_without_options_allows_no_suppression_and_every_level() -> None:
    request = build_request(spec(), k=3)
    assert str(request.max_suppressed) == "0"
    assert (request.max_level, request.min_level, request.scope) == ((), (), RelaxationScope.ABOVE)


def test_options_override_each_part_of_the_spec() -> None:
    found = spec(
        k=5, max_suppressed="1%", scope="global", max_level={"age": 1, "city": 0}, min_level={"age": 1}
    )
    request = build_request(found)
    assert (request.requirement.k, str(request.max_suppressed), request.scope) == (
        5,
        "1%",
        RelaxationScope.GLOBAL,
    )
    request = build_request(found, k=2, max_suppressed=0, max_level={"city": 1}, scope="above")
    assert (request.requirement.k, str(request.max_suppressed), request.scope) == (
        2,
        "0",
        RelaxationScope.ABOVE,
    )
    assert dict(request.max_level) == {"age": 1, "city": 1}
    assert dict(request.min_level) == {"age": 1}


def test_k_of_the_spec_is_kept_with_l_from_an_option() -> None:
    requirement = build_requirement(spec(k=5), l=2)
    assert (requirement.k, requirement.l) == (5, 2)


@pytest.mark.parametrize(
    ("default", "given", "expected"),
    [
        (None, 2, 2),
        (3, None, 3),
        (3, 2, 2),
        (None, {"wage": 2}, (("wage", 2),)),
        (3, {"wage": 2}, (("disease", 3), ("wage", 2))),
        ({"disease": 4}, {"wage": 2}, (("disease", 4), ("wage", 2))),
        ({"disease": 4}, 2, 2),
    ],
)
def test_l_by_attribute_is_merged_and_never_loosened(default: Any, given: Any, expected: Any) -> None:
    defaults = {} if default is None else {"l": default}
    assert build_requirement(spec(**defaults), l=given).l == expected


@pytest.mark.parametrize(
    ("default", "given", "expected"),
    [
        (None, 0.5, {None: 0.5}),
        (0.5, None, {None: 0.5}),
        (0.5, 0.9, {None: 0.9}),
        (0.5, {"wage": 0.9}, {"disease": 0.5, "wage": 0.9}),
        ({"disease": 0.4}, {"wage": 0.9}, {"disease": 0.4, "wage": 0.9}),
        ({"disease": 0.4}, {"disease": 0.9}, {"disease": 0.9}),
        ({"disease": 0.4}, 0.9, {None: 0.9}),
    ],
)
def test_criteria_are_merged_like_l(
    default: Any, given: Any, expected: Any, toy_criterion: ModuleType
) -> None:
    defaults = {} if default is None else {"homogeneity": default}
    criteria = criteria_from({} if given is None else {"homogeneity": given})
    found = build_requirement(spec(k=2, **defaults), criteria=criteria)
    assert {criterion.attribute: criterion.value for criterion in found.others} == expected
    assert found.k == 2


def test_k_and_l_may_be_among_the_criteria() -> None:
    found = build_requirement(
        spec(k=5, l={"wage": 2}), criteria=[KAnonymity(3), DistinctDiversity(4, "disease")]
    )
    assert found == Requirement(3, (("wage", 2), ("disease", 4)))
    with pytest.raises(InputError, match="k was given twice"):
        build_request(spec(), k=2, criteria=[KAnonymity(3)])


def test_numbers_of_numpy_are_numbers() -> None:
    assert KAnonymity(np.int64(3)).value == 3
    request = build_request(spec(), k=np.int64(3), max_suppressed=np.int32(4), max_level={"age": np.uint8(1)})  # type: ignore[arg-type, dict-item]
    assert (request.requirement.k, str(request.max_suppressed), dict(request.max_level)) == (
        3,
        "4",
        {"age": 1},
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": 2.5},
        {"k": True},
        {"k": 0},
        {"l": 0},
        {"k": 2, "max_suppressed": 1.5},
        {"k": 2, "max_suppressed": "101%"},
        {"k": 2, "max_suppressed": -1},
        {"k": 2, "scope": "below"},
    ],
    ids=str,
)
def test_invalid_values_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        build_request(spec(), **options)
