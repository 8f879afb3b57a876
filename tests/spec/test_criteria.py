"""The spec's ``[request]`` accepts every registered criterion and names the key that it refuses."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from discreet.errors import InputError
from discreet.model.criteria.registry import CRITERIA
from tests.extending.registered import toy_criterion
from tests.spec.loaded_spec import SOURCE, load_text

__all__ = ["toy_criterion"]

ILL = SOURCE + '[attributes.ill]\nrole = "sensitive"\n[attributes.wage]\nrole = "sensitive"\n'


def test_criterion_is_a_number_or_numbers_by_attribute(tmp_path: Path, toy_criterion: ModuleType) -> None:
    kind = toy_criterion.Homogeneity
    found = load_text(tmp_path, ILL + "[request]\nk = 3\nhomogeneity = 0.5")
    assert found.request.criteria == (kind(0.5),)
    assert found.request.k == 3
    found = load_text(tmp_path, ILL + "[request]\nhomogeneity = {ill = 0.5, wage = 1}")
    assert found.request.criteria == (kind(0.5, "ill"), kind(1, "wage"))


def test_list_of_tables_has_the_fixed_parts(tmp_path: Path, toy_criterion: ModuleType) -> None:
    kind = toy_criterion.Homogeneity
    tables = '[{value = 0.5, attribute = "ill", base = "values"}, {attribute = "wage", value = 1}]'
    found = load_text(tmp_path, ILL + f"[request]\nhomogeneity = {tables}")
    assert found.request.criteria == (kind(0.5, "ill", base="values"), kind(1, "wage"))
    assert load_text(tmp_path, ILL + "[request]\nhomogeneity = [{value = 0.5}]").request.criteria == (
        kind(0.5),
    )


@pytest.mark.parametrize(
    ("line", "message", "allowed"),
    [
        ("homogeneity = []", "request.homogeneity = ", "or a list of tables"),
        ("homogeneity = [0.5]", "request.homogeneity[0] = 0.5", "a table with value, and of attribute, base"),
        ('homogeneity = [{base = "values"}]', "request.homogeneity[0].value is missing", "a number from 0"),
        ("homogeneity = [{value = 2}]", "request.homogeneity[0].value = 2", "a number from 0 to 1"),
        (
            'homogeneity = [{value = 1}, {value = 1, base = "cells"}]',
            "request.homogeneity[1].base = 'cells'",
            "rows, values",
        ),
        ("homogeneity = [{value = 1, bas = 1}]", "unknown key 'bas'", "value, attribute, base"),
        ("homogeneity = [{value = 1, attribute = 1}]", "homogeneity[0].attribute = 1", "the name of a"),
        ('homogeneity = [{value = 1, attribute = "x"}]', "'x' is not a sensitive", "'ill', 'wage'"),
        ("homogeneity = 2", "request.homogeneity = 2", "a number from 0 to 1, or a table of them"),
        ("homogeneity = true", "request.homogeneity = true", "a number from 0 to 1"),
        ('homogeneity = "0.5"', "request.homogeneity = '0.5'", "a number from 0 to 1"),
        ("homogeneity = {}", "request.homogeneity = a table", "a number from 0 to 1"),
        ("homogeneity = {ill = -1}", "request.homogeneity.ill = -1", "a number from 0 to 1"),
        ("homogeneity = {age = 0.5}", "request.homogeneity.age: 'age' is not a sensitive", "'ill', 'wage'"),
        ("homogenity = 0.5", "request has an unknown key 'homogenity'", "k, l, max_suppressed"),
    ],
)
def test_invalid_criteria_are_refused(
    line: str, message: str, allowed: str, tmp_path: Path, toy_criterion: ModuleType
) -> None:
    with pytest.raises(InputError) as error:
        load_text(tmp_path, ILL + "[request]\n" + line)
    assert message in error.value.message
    assert allowed in (error.value.allowed or "")
    if "homogenity" in line:
        assert (error.value.allowed or "").split(", ")[-1] == "homogeneity"
        assert error.value.advice == "Did you mean 'homogeneity'?"


def test_without_the_criterion_its_key_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown key 'homogeneity'") as error:
        load_text(tmp_path, ILL + "[request]\nhomogeneity = 0.5")
    own = ["k", "l", "max_suppressed", "scope", "row_order", "cost", "max_level", "min_level"]
    assert (error.value.allowed or "").split(", ") == [*own, *CRITERIA.names()[2:]]
