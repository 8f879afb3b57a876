"""Requested marginals, and the axes that a spec allows."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.differential.marginals import OTHER, Marginal, build_axes
from discreet.errors import InputError
from tests.differential.conftest import Made

NAMES = ["age", "sex", "a,b", "c=1"]


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("age", (("age", 0),)),
        ("age=2,sex", (("age", 2), ("sex", 0))),
        ("a,b", (("a,b", 0),)),
        ("c=1", (("c=1", 0),)),
        ("c=1=2", (("c=1", 2),)),
        ("age,c=1", (("age", 0), ("c=1", 0))),
    ],
)
def test_a_text_is_a_marginal(text: str, levels: tuple[tuple[str, int], ...]) -> None:
    assert Marginal.parse(text, NAMES).levels == levels


@pytest.mark.parametrize("text", ["age=x", "age=-1", "age=", "age,age", "age=²"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Marginal.parse(text, NAMES)


@pytest.mark.parametrize("given", [{}, [], {"age": -1}, {"age": True}, {"age": "1"}, ["age", "age"]])
def test_another_marginal_is_refused(given: Any) -> None:
    with pytest.raises(InputError):
        Marginal.of(given)


def test_a_public_axis_has_the_labels_of_its_domain_alone(made: Made) -> None:
    spec = made().spec
    age, sex = build_axes(spec, (("age", 1), ("sex", 0)))
    assert age.labels == ("20-29", "30-39", "40-49", "50-59", OTHER)
    assert age.places["20"] == 0
    assert age.places["59"] == 3
    assert len(age.places) == 40
    assert sex.labels == ("F", "M", OTHER)


def test_a_domain_of_the_hierarchy_is_all_its_leaves(made: Made) -> None:
    levels = {"kind": "levels", "rows": [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]}
    attribute = {"role": "quasi-identifier", "hierarchy": levels, "domain": "hierarchy"}
    spec = made(names=("age", "sex", "grade"), attributes={"grade": attribute}).spec
    assert build_axes(spec, (("grade", 0),))[0].labels == ("a", "b", "c", OTHER)
    assert build_axes(spec, (("grade", 1),))[0].labels == ("x", "y", OTHER)
    assert build_axes(spec, (("grade", 2),))[0].labels == ("*", OTHER)


def test_a_label_without_a_domain_is_made_of_its_value_alone(made: Made) -> None:
    plain = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 20]}}
    spec = made(attributes={"age": plain}).spec
    (axis,) = build_axes(spec, (("age", 1),))
    assert not axis.public
    assert [axis.label(value) for value in ("23", "7", "old", None)] == ["20-29", "0-9", OTHER, OTHER]
    assert build_axes(spec, (("age", 0),))[0].label("old") == "old"


@pytest.mark.parametrize(
    "hierarchy",
    [
        {"kind": "auto"},
        {"kind": "mask"},
        {"kind": "intervals", "widths": [10], "upper": "data"},
        {"kind": "order", "fanout": [2, 2]},
    ],
)
def test_a_hierarchy_of_all_values_together_is_refused(made: Made, hierarchy: dict[str, Any]) -> None:
    spec = made(attributes={"age": {"role": "quasi-identifier", "hierarchy": hierarchy}}).spec
    assert build_axes(spec, (("age", 0),))[0].label("23") == "23"
    with pytest.raises(InputError, match="depends on all values"):
        build_axes(spec, (("age", 1),))


@pytest.mark.parametrize(
    ("levels", "fact"),
    [
        ((("name", 0),), "an identifier"),
        ((("height", 0),), "no attribute"),
        ((("age", 4),), "level 4"),
        ((("disease", 1),), "level 1"),
    ],
)
def test_what_the_spec_does_not_allow_is_refused(made: Made, levels: Any, fact: str) -> None:
    spec = made(attributes={"name": {"role": "identifier"}}).spec
    with pytest.raises(InputError, match=fact):
        build_axes(spec, levels)


def test_a_label_that_means_others_is_refused(made: Made) -> None:
    spec = made(attributes={"sex": {"role": "quasi-identifier", "domain": ["F", OTHER]}}).spec
    with pytest.raises(InputError, match="label"):
        build_axes(spec, (("sex", 0),))[0].labels  # noqa: B018


@pytest.mark.parametrize(
    "domain", ["everything", [], ["F", "F"], [1.5], {"least": 3, "most": 1}, {"least": 0}, 7, ["F", True]]
)
def test_what_is_no_domain_is_refused(made: Made, domain: Any) -> None:
    with pytest.raises(InputError, match="domain"):
        made(attributes={"sex": {"role": "quasi-identifier", "domain": domain}})


def test_a_domain_of_a_hierarchy_that_the_rows_make_is_refused(made: Made) -> None:
    with pytest.raises(InputError, match="no hierarchy whose values"):
        made(attributes={"sex": {"role": "quasi-identifier", "domain": "hierarchy"}})
