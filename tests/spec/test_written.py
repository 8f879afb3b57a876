"""Written forms in a spec: accepted values, and the messages for refused ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import InputError
from discreet.model.cell_format import CellFormat
from discreet.model.table_spec import SourceSpec
from discreet.spec.spec_reader import load_spec, spec_from_mapping


def loaded(written: object, **entry: Any) -> SourceSpec:
    """Return the source of a spec with one attribute."""
    attributes = {"cost": {"role": "quasi-identifier", "format": written, **entry}}
    document = {"source": {"path": "people.csv"}, "attributes": attributes}
    return spec_from_mapping(document, base=Path(), label="the spec").source


def test_numbers_with_marks_and_a_unit() -> None:
    intervals = {"kind": "intervals", "widths": [10], "others": ["none yet"]}
    found = loaded({"decimal": ",", "thousands": ".", "unit": "€", "others": ["k.A."]}, hierarchy=intervals)
    assert found.formats["cost"] == CellFormat(",", ".", ("€",), others=("k.A.", "none yet"))


def test_dates_by_several_patterns_and_blanks() -> None:
    assert loaded({"dates": ["%d.%m.%Y", "%Y-%m-%d"]}).formats["cost"].dates == ("%d.%m.%Y", "%Y-%m-%d")
    assert loaded({"dates": "%d.%m.%y", "pivot": 2025}).formats["cost"].pivot == 2025
    assert not loaded({"strip": True}).formats["cost"].refuses
    assert loaded(CellFormat(decimal=",")).formats["cost"].decimal == ","


def test_defaults_of_all_columns(tmp_path: Path) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text('[source]\npath = "people.csv"\ndecimal = ","\nstrip = true\n')
    source = load_spec(path).source
    assert (source.decimal, source.strip) == (",", True)
    assert source.form_of("any") == CellFormat(decimal=",", lenient=True)
    assert SourceSpec(decimal=".").form_of("any") is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("comma", "attributes.cost.format = 'comma'"),
        ({}, "the table is empty"),
        ({"decimals": ","}, "Did you mean 'decimal'"),
        ({"decimal": ";"}, r"decimal = ';'. Allowed: \",\" or \"\.\""),
        ({"thousands": "."}, "thousands and decimals are both marked by '.'"),
        ({"unit": "5"}, "the unit '5'"),
        ({"unit": "e"}, "the unit 'e'"),
        ({"decimal": ",", "dates": "%d.%m.%Y"}, "dates together with a decimal mark"),
        ({"dates": "%d.%m.%y"}, "pivot is missing"),
        ({"dates": "%d.%m.%Y", "pivot": 25}, "pivot = 25"),
        ({"decimal": ",", "pivot": 2025}, "pivot = 2025"),
        ({"dates": "%m.%Y"}, "has no day"),
        ({"dates": "%d.%m.%Y %q"}, "holds %q"),
        ({"dates": "%d.%m.%Y%d"}, "holds %d twice"),
        ({"dates": "%d.%m.%Y%y"}, "has the year twice"),
        ({"dates": "%d.%m.%Y %I"}, "must have the hour once"),
        ({"dates": "%d.%m.%Y %M"}, "has an incomplete time"),
        ({"decimal": ",", "strip": False}, "strip = false"),
    ],
)
def test_wrong_form_is_refused_by_its_key(written: object, expected: str) -> None:
    with pytest.raises(InputError, match=f"^the spec: attributes.cost.format.*{expected}|{expected}"):
        loaded(written)


def test_dates_are_read_once() -> None:
    dates = {"kind": "dates", "levels": ["year"], "format": "%d.%m.%Y"}
    with pytest.raises(InputError, match="Remove format from the hierarchy"):
        loaded({"dates": "%d.%m.%Y"}, hierarchy=dates)


def test_cell_without_its_format_is_refused_and_the_manifest_has_the_format(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    costs = ["1.000,50 €", "1.000,5 €", "2.000,00 €", "2.000 €"]
    path.write_text("cost;sex\n" + "".join(f"{cost};{'fm'[i % 2]}\n" for i, cost in enumerate(costs)))
    written: dict[str, Any] = {"decimal": ",", "unit": "€", "others": ["k.A."]}
    attributes = {"cost": {"role": "quasi-identifier", "format": written}}
    with pytest.raises(InputError) as error:
        discreet.open(path, {"attributes": attributes}).negotiate(k=2)
    assert "4 cells of the column 'cost' do not match the format of the spec: '1.000,5 €' and others" in str(
        error.value
    )
    assert "numbers with decimals behind ',', with or without €" in str(error.value)

    written["thousands"] = "."
    release = tmp_path / "release.csv"
    discreet.open(path, {"attributes": attributes}).publish({"cost": 0}, release, k=2)
    assert sorted(release.read_text().split()) == ["1000.5", "1000.5", "2000", "2000", "cost"]
    manifest = release.with_name("release.csv.manifest.json").read_text()
    assert '"unit": "€"' in manifest
    assert "k.A." not in manifest
