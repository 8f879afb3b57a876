"""Builders as forms: typed values, the resulting spec, and the field of each error."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from discreet.screens.hierarchy_builders import (
    BUILDERS,
    ParameterError,
    build_from_table,
    builder_form_values,
    parse_builder_form,
    parse_outline,
)
from discreet.spec.toml_writer import format_spec

TYPED: dict[str, dict[str, Any]] = {
    "intervals": {
        "widths": "5, 10",
        "breaks": "20, 40.5; 20",
        "anchor": "0",
        "lower": "17",
        "upper": "data",
        "others": "unknown",
    },
    "mask": {"steps": "2, 2", "from": "left", "character": "#", "pad": True, "length": "6"},
    "dates": {"levels": "month, year", "format": "%B %d, %Y | %d.%m.%Y", "others": "unknown"},
    "age": {
        "reference": "2026-11-23",
        "widths": "5, 10",
        "breaks": "20, 65",
        "lower": "",
        "upper": "90",
        "format": "%d.%m.%Y",
        "others": "unknown",
    },
    "builtin": {"name": "icd10", "levels": "block, chapter", "others": "unknown"},
    "taxonomy": {"tree": "Gov\n  Federal\n  State\n    Senior\n    Junior\nOther\n"},
    "order": {"values": "low, middle, high", "sizes": "2", "fanout": "", "label": "set"},
    "auto": {"by": "frequency"},
}


@pytest.mark.parametrize("kind", TYPED)
def test_form_survives_the_spec(kind: str) -> None:
    table = parse_builder_form(kind, TYPED[kind])
    text = format_spec({"attributes": {"x": {"role": "quasi-identifier", "hierarchy": table}}})
    read = tomllib.loads(text, parse_float=Decimal)["attributes"]["x"]["hierarchy"]
    assert builder_form_values(read) == TYPED[kind]
    assert parse_builder_form(kind, builder_form_values(read)) == table


def test_every_builder_has_an_example() -> None:
    assert [builder.kind for builder in BUILDERS] == list(TYPED)
    for builder in BUILDERS:
        assert set(TYPED[builder.kind]) == {parameter.name for parameter in builder.parameters}


@pytest.mark.parametrize(
    ("kind", "typed", "field", "message"),
    [
        ("intervals", {"widths": "5, x"}, "widths", "'x' is not a number"),
        ("intervals", {"widths": "5, NaN"}, "widths", "'NaN' is not a number"),
        ("intervals", {"breaks": "5; x"}, "breaks", "'x' is not a number"),
        ("intervals", {"lower": "many"}, "lower", "not a number"),
        ("mask", {"steps": "1.5"}, "steps", "not a whole number"),
        ("mask", {"from": "middle"}, "from", "middle"),
        ("mask", {"pad": "yes"}, "pad", "pad"),
        ("taxonomy", {"tree": "  A\n    a\nB"}, "tree", "less than the first line"),
        ("taxonomy", {"tree": "A\n    a\n  b"}, "tree", "an indentation that no line above"),
        ("order", {"label": 3}, "label", "not a text"),
    ],
)
def test_invalid_input_is_refused_at_its_field(
    kind: str, typed: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        parse_builder_form(kind, typed)
    assert caught.value.field == field


def test_unknown_kind_or_parameter_is_refused() -> None:
    with pytest.raises(ParameterError, match="unknown builder 'magic'"):
        parse_builder_form("magic", {})
    with pytest.raises(ParameterError, match="mask has no 'widths'"):
        parse_builder_form("mask", {"widths": "5"})


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ({"kind": "intervals"}, "widths"),
        ({"kind": "intervals", "widths": [5, 7]}, "widths"),
        ({"kind": "intervals", "widths": [5], "lower": 9, "upper": 3}, "lower"),
        ({"kind": "intervals", "widths": [-1]}, "widths"),
        ({"kind": "intervals", "breaks": [18, 12]}, "breaks"),
        ({"kind": "intervals", "widths": [5], "breaks": [18]}, "breaks"),
        ({"kind": "mask", "character": "ab"}, "character"),
        ({"kind": "mask", "steps": [0]}, "steps"),
        ({"kind": "dates", "levels": ["fortnight"]}, "levels"),
        ({"kind": "dates", "format": "%q"}, "format"),
        ({"kind": "age"}, "reference"),
        ({"kind": "age", "reference": "23.11.2026"}, "reference"),
        ({"kind": "builtin", "name": "icd11"}, "name"),
        ({"kind": "builtin", "name": "icd10", "levels": ["major"]}, "levels"),
        ({"kind": "builtin", "name": "icd10"}, "others"),
        ({"kind": "taxonomy", "tree": [{"A": ["17"]}]}, "tree"),
        ({"kind": "order", "sizes": [2, 3]}, "sizes"),
    ],
)
def test_invalid_table_is_refused_at_its_field(table: dict[str, Any], field: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError) as caught:
        build_from_table("x", table, ["17", "23", "40"], [1, 2, 3], tmp_path)
    assert caught.value.field == field
    assert not caught.value.message.startswith("the hierarchy")


def test_outline_of_unequal_depth() -> None:
    assert parse_outline("A\n\ta\n\tB\n\t\tb\n\nc") == [{"A": ["a", {"B": ["b"]}]}, "c"]
    assert parse_outline("") == []
