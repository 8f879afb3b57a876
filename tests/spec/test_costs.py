"""The spec's ``[request] cost``: every registered cost with its options, and errors with the allowed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import numpy as np
import pytest

from discreet.errors import InputError
from discreet.measures.cost_registry import COSTS
from discreet.measures.named_costs import NamedCost
from discreet.model.table_spec import TableSpec
from discreet.results.request_defaults import choose_cost
from discreet.spec.json_schema import build_spec_schema
from discreet.spec.spec_reader import load_spec, read_spec_mapping
from discreet.spec.toml_writer import format_spec
from tests.oracle.random_costs import random_cost
from tests.spec.loaded_spec import SOURCE, load_text


def spec_of(folder: Path, request: str) -> TableSpec:
    return load_text(folder, SOURCE + f"[request]\nk = 2\n{request}\n")


def as_table(cost: NamedCost) -> dict[str, Any]:
    options = {each.name: getattr(cost, each.name) for each in cost.options()}
    return {"name": cost.name} | {name: value for name, value in options.items() if value is not None}


def test_every_cost_with_its_options_is_read_back_and_fits_the_schema(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    checker = jsonschema_rs.Draft202012Validator(build_spec_schema())
    for name in COSTS.names():
        found = choose_cost(spec_of(tmp_path, f'cost = "{name}"'), None)
        assert found == COSTS.named(name)
        for _ in range(5):
            cost = random_cost(random, name)
            path = tmp_path / "written.toml"
            document = {"source": {"path": "people.csv"}, "request": {"k": 2, "cost": as_table(cost)}}
            path.write_text(format_spec(document), encoding="utf-8")
            assert checker.is_valid(document)
            assert choose_cost(load_spec(path), None) == cost
            assert read_spec_mapping(path)["request"]["cost"]["name"] == name


def test_given_cost_takes_precedence(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, 'cost = {name = "loss", aggregate = "rank"}')
    assert choose_cost(spec, "dm") == COSTS.named("dm")
    assert choose_cost(spec, "loss") == COSTS.named("loss")
    assert choose_cost(spec_of(tmp_path, ""), None) is None


@pytest.mark.parametrize(
    ("line", "message", "allowed"),
    [
        ('cost = "los"', "request.cost = 'los'", "height, precision, loss"),
        ("cost = 3", "request.cost = 3", "the name of a cost in quotes"),
        ('cost = {aggregate = "sum"}', "request.cost = a table", "the name of a cost in quotes"),
        ('cost = {name = "los"}', "request.cost.name = 'los'", "height, precision, loss"),
        (
            'cost = {name = "loss", charge = "none"}',
            "request.cost has an unknown key",
            "aggregate, gs_factor",
        ),
        ('cost = {name = "loss", gs_factor = 2}', "request.cost.gs_factor = 2", "a number from 0 to 1"),
        ('cost = {name = "loss", aggregate = "most"}', "request.cost.aggregate = 'most'", "sum, maximum"),
    ],
)
def test_invalid_costs_are_refused(tmp_path: Path, line: str, message: str, allowed: str) -> None:
    with pytest.raises(InputError) as caught:
        spec_of(tmp_path, line)
    assert message in caught.value.message
    assert allowed in str(caught.value.allowed)
