"""The JSON Schema of the spec accepts the specs that the program accepts, with an example for every key."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import time
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from discreet.errors import InputError
from discreet.spec.attribute_section import BudgetSection, CellFormatTable, ShiftTable
from discreet.spec.hierarchy_tables import HIERARCHY_TABLES
from discreet.spec.json_schema import build_spec_schema, example_value
from discreet.spec.spec_sections import (
    AttributeSection,
    PopulationSection,
    ReportSection,
    RequestSection,
    SourceSection,
    SubsetTable,
)
from discreet.spec.validation import StrictTable, validate_table
from tests.cli.conftest import SPEC, Run, run
from tests.extending.registered import toy_criterion

__all__ = ["run", "toy_criterion"]

ROOT = Path(__file__).resolve().parents[2]
TABLES: list[type[StrictTable]] = [
    SourceSection,
    AttributeSection,
    RequestSection,
    CellFormatTable,
    PopulationSection,
    ReportSection,
    SubsetTable,
    ShiftTable,
    BudgetSection,
    *HIERARCHY_TABLES.values(),
]
_NEEDED: dict[str, dict[str, Any]] = {
    "SubsetTable": {"column": "study", "values": ["yes"]},
    "ShiftTable": {"days": 180, "key": "shifts.key"},
    "BudgetSection": {"epsilon": 1},
    "AttributeSection": {"role": "quasi-identifier"},
    "_AgeTable": {"reference": "2026-11-23"},
    "FileHierarchyTable": {"path": "city.csv"},
    "BuiltinHierarchyTable": {"name": "icd10"},
}


def faults(spec: dict[str, Any]) -> list[str]:
    """Return the paths of the schema's errors in a spec."""
    checker = jsonschema_rs.Draft202012Validator(build_spec_schema())
    return ["/".join(map(str, error.instance_path)) for error in checker.iter_errors(spec)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_key_has_a_meaning_and_an_accepted_example(table: type[StrictTable]) -> None:
    for name, key in table.model_json_schema()["properties"].items():
        if name == "kind":
            continue
        assert key["title"].endswith("."), f"{table.__name__}.{name} says what it means"
        needed = _NEEDED.get(table.__name__, {})
        kind = {"kind": "any"} if "kind" in table.model_fields else {}
        validate_table(table, {**kind, **needed, name: example_value(key)}, label="an example", key=())


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_key_with_a_value_of_another_type_is_refused_with_its_allowed_values(
    table: type[StrictTable],
) -> None:
    """A time of day is a value of TOML that no key accepts."""
    checked = 0
    for name, key in table.model_json_schema()["properties"].items():
        if name == "kind" or ("type" not in key and "anyOf" not in key and "enum" not in key):
            continue  # read and refused by a reader of its own
        needed = _NEEDED.get(table.__name__, {})
        kind = {"kind": "any"} if "kind" in table.model_fields else {}
        with pytest.raises(InputError) as caught:
            validate_table(table, {**kind, **needed, name: time(8)}, label="a spec", key=("t",))
        assert caught.value.message.startswith(f"a spec: t.{name}")
        assert caught.value.message.endswith(" = 08:00:00")
        assert caught.value.allowed == key.get("description", caught.value.allowed)
        checked += 1
    assert checked or table.__name__ == "_TaxonomyTable"


def test_schema_is_valid_and_printed(run: Run) -> None:
    assert jsonschema_rs.meta.is_valid(build_spec_schema())
    assert run("schema").json == json.loads(json.dumps(build_spec_schema()))


def test_accepted_specs_fit_the_schema() -> None:
    page = (ROOT / "docs" / "spec.md").read_text("utf-8")
    blocks = re.findall(r"```toml\n(\[source\].*?)```", page, re.DOTALL)
    assert blocks
    for text in [SPEC, *blocks]:
        assert faults(tomllib.loads(text)) == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"source": {"path": "x.csv", "pth": "y"}}, "source"),
        ({"attributes": {"age": {"role": "sensitve"}}}, "attributes/age/role"),
        (
            {"attributes": {"age": {"role": "quasi-identifier", "hierarchy": {"kind": "maks"}}}},
            "attributes/age/hierarchy",
        ),
        ({"request": {"k": 0}}, "request/k"),
        ({"source": {"path": "x.csv", "engine": "duckbd"}}, "source/engine"),
    ],
)
def test_refused_spec_does_not_fit(change: dict[str, Any], place: str) -> None:
    assert faults(tomllib.loads(SPEC) | change) == [place]


@pytest.mark.usefixtures("toy_criterion")
@pytest.mark.parametrize(
    ("criterion", "fits"),
    [
        (0.5, True),
        ({"ill": 0.5}, True),
        ([{"value": 0.5, "attribute": "ill", "base": "values"}], True),
        ([{"value": 0.5}], True),
        ([], False),
        ([{"base": "rows"}], False),
        ([{"value": 0.5, "base": "cells"}], False),
        ([{"value": 0.5, "bas": "rows"}], False),
        ([{"value": 2}], False),
        ("0.5", False),
    ],
)
def test_criterion_with_fixed_parts_fits(criterion: Any, fits: bool) -> None:
    assert (faults(tomllib.loads(SPEC) | {"request": {"homogeneity": criterion}}) == []) is fits


def test_error_of_an_unknown_key_names_the_page(run: Run, tmp_path: Path) -> None:
    (tmp_path / "work" / "discreet.toml").write_text(
        '[source]\npath = "x.csv"\nzzzzz = 1\n', encoding="utf-8"
    )
    assert "docs/spec.md explains every key" in run("inspect", "discreet.toml").err
