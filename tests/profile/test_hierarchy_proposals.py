"""Proposed hierarchies: ordered values join neighbours, and names and values select a built-in one."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.settings import Settings
from discreet.verbs.proposal import Proposal, init
from discreet.verbs.table import open as open_table


def proposed(folder: Path, values: list[str]) -> Proposal:
    path = folder / "people.csv"
    rows = [f'"{value}",{sex}' for value in values for sex in "mf"]
    path.write_text("\n".join(["x,sex", *rows]) + "\n", encoding="utf-8")
    return discreet.init(path)


def hierarchy_of(found: Proposal) -> dict[str, object] | None:
    hierarchy = found.mapping["attributes"]["x"].get("hierarchy")
    assert hierarchy is None or isinstance(hierarchy, dict)
    return hierarchy


def test_open_end_among_numbers_is_coded_at_its_bound(tmp_path: Path) -> None:
    draw = random.Random(1)
    found = proposed(tmp_path, [str(draw.randrange(1, 60)) for _ in range(150)] + ["120 +"] * 5)
    hierarchy = hierarchy_of(found)
    assert hierarchy is not None
    assert (hierarchy["kind"], hierarchy["upper"]) == ("intervals", 120)
    assert "'120 +' (10 rows)" in str(found)
    table = discreet.open(tmp_path / "people.csv", found.mapping)
    assert "≥120" in table.publish({"x": 1}, k=2, max_suppressed="50%").to_pandas()["x"].tolist()


def test_open_ends_and_a_word_among_numbers_are_coded(tmp_path: Path) -> None:
    values = [str(n) for n in range(1, 90)] + ["<1", "90 and over", "not stated yet"]
    hierarchy = hierarchy_of(proposed(tmp_path, values * 3))
    assert hierarchy is not None
    assert (hierarchy["lower"], hierarchy["upper"]) == (1, 90)
    assert hierarchy["others"] == ["not stated yet"]


@pytest.mark.parametrize(
    ("values", "others"),
    [
        (["0-4", "5-9", "10-14", "15-19", "100+"], []),
        (["<10k", "10k-20k", "20k-100k", "100k+"], []),
        (["18-21", "22-24", "25-29", "70+", "Prefer not to say"], ["Prefer not to say"]),
        (["Primary", "Lower secondary", "Upper secondary", "Bachelor", "Master"], []),
    ],
)
def test_bands_are_joined_with_their_neighbours(tmp_path: Path, values: list[str], others: list[str]) -> None:
    rows = [value for place, value in enumerate(values) for _ in range(10 * (place % 3 + 1))]
    random.Random(2).shuffle(rows)
    found = proposed(tmp_path, rows)
    hierarchy = hierarchy_of(found)
    assert hierarchy is not None
    assert hierarchy["kind"] == "order"
    assert hierarchy["values"] == [value for value in values if value not in others]
    assert hierarchy.get("others", []) == others
    assert discreet.open(tmp_path / "people.csv", found.mapping).negotiate(k=2).exact is not None


@pytest.mark.parametrize("values", [["GT3", "LE3"], ["m", "f", "x"], ["Ulm", "Kiel", "Bonn", "Hof", "Aue"]])
def test_other_words_get_no_order(tmp_path: Path, values: list[str]) -> None:
    hierarchy = hierarchy_of(proposed(tmp_path, values * 20))
    assert hierarchy is None or hierarchy["kind"] != "order"


DIAGNOSES = ["E11.9", "E10.0", "I10", "I21.9", "J45.0", "J44.1", "C50.9", "C18.7", "S72.0", "E11.2"]
COUNTRIES = ["DE", "FR", "PL", "IT", "ES", "KE", "NG", "US", "BR", "JP", "CN"]


def proposed_for(column: str, values: list[str], tmp_path: Path, settings: Settings) -> Any:
    path = tmp_path / "people.csv"
    rows = "".join(f"{value},{number % 7}\n" for number, value in enumerate(values * 12))
    path.write_text(f"{column},size\n{rows}", encoding="utf-8")
    proposal = init(path, tmp_path / "discreet.toml", overwrite=True, settings=settings)
    # The written spec works unchanged.
    assert open_table(tmp_path / "discreet.toml", settings=settings).inspect()
    return proposal.mapping["attributes"][column].get("hierarchy")


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        (
            "age",
            [*map(str, range(18, 67)), "3 months"],
            {"name": "age", "others": ["3 months"], "levels": ["5-years", "10-years", "20-years"]},
        ),
        ("admission diag", DIAGNOSES, {"name": "icd10", "levels": ["category", "block", "chapter"]}),
        ("native-country", COUNTRIES, {"name": "country", "levels": ["sub-region", "region"]}),
        (
            "Occupation",
            ["2211", "2212", "2221", "9412", "9411", "5120", "5131", "5132", "7111", "7112"],
            "isco08",
        ),
        ("nace_code", ["62.01", "62.02", "86.10", "01.11", "01.12", "45.11", "47.11", "10.11"], "nace2"),
        (
            "nationality",
            [*COUNTRIES, "unknown"],
            {"name": "country", "others": ["unknown"], "levels": ["sub-region", "region"]},
        ),
    ],
)
def test_columns_with_fitting_name_and_values_get_a_builtin(
    column: str, values: list[str], expected: str | dict[str, Any], tmp_path: Path, settings: Settings
) -> None:
    found = proposed_for(column, values, tmp_path, settings)
    assert found["kind"] == "builtin"
    if isinstance(expected, str):
        assert found["name"] == expected
    else:
        assert found == {"kind": "builtin", **expected}


def test_ages_with_an_open_end_are_coded_at_its_bound(tmp_path: Path, settings: Settings) -> None:
    found = proposed_for("age", [*map(str, range(18, 67)), "67+"], tmp_path, settings)
    assert found == {"kind": "intervals", "upper": 67, "widths": [5, 10, 20]}


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("country", [*COUNTRIES, "XA", "XB", "XC"]),  # too many unknown codes
        ("place", COUNTRIES),  # another name
        ("job", [str(number) for number in range(1, 10)]),  # no level would join two of them
    ],
)
def test_unfit_columns_get_no_builtin_hierarchy(
    column: str, values: list[str], tmp_path: Path, settings: Settings
) -> None:
    found = proposed_for(column, values, tmp_path, settings)
    assert found is None or found["kind"] != "builtin"
