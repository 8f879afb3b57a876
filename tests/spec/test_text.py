"""Specs that are written and parsed again."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, InternalError
from discreet.spec.spec_reader import load_spec, spec_from_mapping
from discreet.spec.toml_writer import format_spec

DOCUMENT: dict[str, Any] = {
    "source": {"path": "adult.csv", "null_values": ["?"], "subject": None},
    "attributes": {
        "age": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "intervals", "widths": [5, 10], "lower": None},
            "weight": 1.0,
        },
        "marital status": {
            "role": "quasi-identifier",
            "hierarchy": {
                "kind": "taxonomy",
                "tree": {
                    "Married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
                    "Not": ["Never-married", "Divorced", "Separated", "Widowed"],
                },
            },
        },
        "hours": {"role": "sensitive"},
    },
    "request": {"k": 10, "max_level": {"age": 2}},
}

TEXT = """\
# A spec.
#  Edit it.

[source]
path = "adult.csv"
null_values = ["?"]

# 73 values, 17 to 90
[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [5, 10]}
weight = 1.0

# line one
# line two
# a [bell]: ' '
[attributes."marital status"]
role = "quasi-identifier"

[attributes."marital status".hierarchy]
kind = "taxonomy"

[attributes."marital status".hierarchy.tree]
Married = ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"]
Not = ["Never-married", "Divorced", "Separated", "Widowed"]

[attributes.hours]
role = "sensitive"

[request]
k = 10

[request.max_level]
age = 2
"""


def test_spec_is_formatted_with_comments() -> None:
    comments = {
        "age": "73 values, 17 to 90",
        "marital status": ["line one\nline two", "a [bell]: '\a'"],
        "nobody": "x",
    }
    assert format_spec(DOCUMENT, comments, heading="A spec.\n Edit it.") == TEXT


def test_formatted_text_is_a_valid_spec(tmp_path: Path) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text(format_spec(DOCUMENT), encoding="utf-8")
    loaded = load_spec(path)
    document = tomllib.loads(format_spec(DOCUMENT))
    given_ = spec_from_mapping(document, base=tmp_path, label="x")
    assert loaded.attributes == given_.attributes
    assert loaded.source == given_.source
    assert loaded.request == given_.request


def test_odd_values_are_formatted() -> None:
    assert format_spec({}) == ""
    assert format_spec({"a": {}}) == "[a]\n"
    assert format_spec({"a": {"b": {}}}) == "[a.b]\n"
    assert format_spec({"a": True, "b": [1.0, 1e300, float("inf"), Decimal("0.10"), Decimal(5)]}) == (
        "a = true\nb = [1.0, 1e+300, inf, 0.10, 5.0]\n"
    )
    assert format_spec({"p": Path("a/b"), "t": ("x", ())}) == 'p = "a/b"\nt = ["x", []]\n'
    assert format_spec({"": '"\\\n\x00\x7f\u2028\ufeff'}) == '"" = "\\"\\\\\\n\\u0000\\u007f\\u2028\\ufeff"\n'


def test_unwritable_values_are_refused() -> None:
    with pytest.raises(InputError, match="half of a surrogate pair"):
        format_spec({"a": "\ud800"})
    with pytest.raises(InternalError, match="a object cannot be written"):
        format_spec({"a": object()})
    with pytest.raises(InternalError, match="a NoneType"):
        format_spec({"a": [None]})


TEXTS = st.text(
    st.one_of(st.sampled_from("\"'\\\n\r\t\b\f#=[]{}.\x00\x1f\x7f\x85\u2028"), st.characters(codec="utf-8")),
    max_size=12,
)
SCALARS = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_any_document_is_read_back(document: dict[str, Any]) -> None:
    assert tomllib.loads(format_spec(document)) == document


@given(
    st.dictionaries(TEXTS, st.dictionaries(TEXTS, VALUES, max_size=3), max_size=5),
    st.dictionaries(TEXTS, st.text(max_size=40), max_size=5),
    st.text(max_size=40),
)
def test_attributes_are_read_back_in_order_with_any_comments(
    attributes: dict[str, Any], comments: dict[str, str], heading: str
) -> None:
    comments |= dict.fromkeys(attributes, heading)
    text = format_spec({"attributes": attributes}, comments, heading=heading)
    back = tomllib.loads(text)
    assert back == {"attributes": attributes}
    assert list(back["attributes"]) == list(attributes)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_decimals_are_read_back(number: Decimal) -> None:
    assert tomllib.loads(format_spec({"x": number}), parse_float=Decimal)["x"] == number
