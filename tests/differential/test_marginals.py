"""Requested marginals, the axes that a spec allows, and marginals with equal totals."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.differential.marginals import OTHER, Marginal, build_axes
from discreet.differential.noisy_counts import equalize_totals, project_onto_simplex
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
def test_text_is_parsed_as_a_marginal(text: str, levels: tuple[tuple[str, int], ...]) -> None:
    assert Marginal.parse(text, NAMES).levels == levels


@pytest.mark.parametrize("text", ["age=x", "age=-1", "age=", "age,age", "age=²"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Marginal.parse(text, NAMES)


@pytest.mark.parametrize("given", [{}, [], {"age": -1}, {"age": True}, {"age": "1"}, ["age", "age"]])
def test_another_marginal_is_refused(given: Any) -> None:
    with pytest.raises(InputError):
        Marginal.of(given)


def test_public_axis_has_only_labels_of_its_domain(made: Made) -> None:
    spec = made().spec
    age, sex = build_axes(spec, (("age", 1), ("sex", 0)))
    assert age.labels == ("20-29", "30-39", "40-49", "50-59", OTHER)
    assert age.places["20"] == 0
    assert age.places["59"] == 3
    assert len(age.places) == 40
    assert sex.labels == ("F", "M", OTHER)


def test_domain_of_a_hierarchy_contains_all_leaves(made: Made) -> None:
    levels = {"kind": "levels", "rows": [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]}
    attribute = {"role": "quasi-identifier", "hierarchy": levels, "domain": "hierarchy"}
    spec = made(names=("age", "sex", "grade"), attributes={"grade": attribute}).spec
    assert build_axes(spec, (("grade", 0),))[0].labels == ("a", "b", "c", OTHER)
    assert build_axes(spec, (("grade", 1),))[0].labels == ("x", "y", OTHER)
    assert build_axes(spec, (("grade", 2),))[0].labels == ("*", OTHER)


def test_label_without_domain_depends_on_one_value(made: Made) -> None:
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
def test_hierarchy_that_depends_on_all_values_is_refused(made: Made, hierarchy: dict[str, Any]) -> None:
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
def test_attribute_or_level_without_axis_is_refused(made: Made, levels: Any, fact: str) -> None:
    spec = made(attributes={"name": {"role": "identifier"}}).spec
    with pytest.raises(InputError, match=fact):
        build_axes(spec, levels)


@pytest.mark.parametrize(
    "domain", ["everything", [], ["F", "F"], [1.5], {"least": 3, "most": 1}, {"least": 0}, 7, ["F", True]]
)
def test_invalid_domain_is_refused(made: Made, domain: Any) -> None:
    with pytest.raises(InputError, match="domain"):
        made(attributes={"sex": {"role": "quasi-identifier", "domain": domain}})


@pytest.mark.parametrize(
    ("domain", "fact"), [(["F", OTHER], "has the label"), ("hierarchy", "no hierarchy whose values")]
)
def test_domain_with_reserved_label_or_without_hierarchy_is_refused(
    made: Made, domain: Any, fact: str
) -> None:
    attributes = {"sex": {"role": "quasi-identifier", "domain": domain}}
    with pytest.raises(InputError, match=fact):
        assert build_axes(made(attributes=attributes).spec, (("sex", 0),))[0].labels


COUNTS = st.lists(st.lists(st.integers(-5, 9), min_size=1, max_size=4), min_size=1, max_size=3)


@given(COUNTS, st.booleans())
def test_equalized_marginals_have_one_total(marginals: list[list[int]], non_negative: bool) -> None:
    found = equalize_totals(marginals, non_negative=non_negative)
    assert [len(counts) for counts in found] == [len(counts) for counts in marginals]
    assert len({sum(counts) for counts in found}) == 1
    if non_negative:
        assert min(min(counts) for counts in found) >= 0
        return
    # Marginals are weighted by inverse variance; with n cells the total's variance is n times a cell's.
    weights = np.array([1 / len(counts) for counts in marginals])
    estimate = float(weights @ [sum(counts) for counts in marginals] / weights.sum())
    assert abs(sum(found[0]) - estimate) <= 0.5 + 1e-9


@given(st.lists(st.integers(-3, 4), min_size=2, max_size=3), st.integers(0, 4))
def test_projection_is_the_nearest_point(counts: list[int], rest: int) -> None:
    """No point of a grid of halves with the same total is nearer than the projection."""
    target = max(sum(counts) + rest - 2, 0)
    marginals = [counts, [target] * 1]
    moved = equalize_totals(marginals, non_negative=True)
    total = sum(moved[0])
    steps = [step / 2 for step in range(2 * total + 1)]
    points = [p for p in product(steps, repeat=len(counts)) if sum(p) == total]
    nearest = min(distance(point, counts) for point in points)
    # Rounding moves each cell by less than one.
    assert distance(moved[0], counts) ** 0.5 <= nearest**0.5 + len(counts) ** 0.5


def distance(point: object, counts: list[int]) -> float:
    return float(np.sum((np.array(point, dtype=float) - np.array(counts)) ** 2))


@pytest.mark.parametrize(
    ("counts", "total", "expected"), [([5, -1], 4, [4, 0]), ([2, 2, -3], 4, [2, 2, 0]), ([1, 1], 0, [0, 0])]
)
def test_projection_onto_simplex_equals_that_by_hand(
    counts: list[int], total: int, expected: list[int]
) -> None:
    assert project_onto_simplex(counts, total) == expected
    agreeing = [[3, 1], [4], [2, 2, 0]]
    assert equalize_totals(agreeing, non_negative=True) == agreeing
