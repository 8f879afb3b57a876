"""Built-in hierarchies are proposed for columns whose name and nearly all values match."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.settings import Settings
from discreet.verbs.proposal import init
from discreet.verbs.table import open as open_table

DIAGNOSES = ["E11.9", "E10.0", "I10", "I21.9", "J45.0", "J44.1", "C50.9", "C18.7", "S72.0", "E11.2"]
COUNTRIES = ["DE", "FR", "PL", "IT", "ES", "KE", "NG", "US", "BR", "JP", "CN"]


def proposed(column: str, values: list[str], tmp_path: Path, settings: Settings) -> Any:
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
def test_name_and_values_fit(
    column: str, values: list[str], expected: str | dict[str, Any], tmp_path: Path, settings: Settings
) -> None:
    found = proposed(column, values, tmp_path, settings)
    assert found["kind"] == "builtin"
    if isinstance(expected, str):
        assert found["name"] == expected
    else:
        assert found == {"kind": "builtin", **expected}


def test_ages_with_an_open_end_are_coded_at_its_bound(tmp_path: Path, settings: Settings) -> None:
    found = proposed("age", [*map(str, range(18, 67)), "67+"], tmp_path, settings)
    assert found == {"kind": "intervals", "upper": 67, "widths": [5, 10, 20]}


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("country", [*COUNTRIES, "XA", "XB", "XC"]),  # too many unknown codes
        ("place", COUNTRIES),  # another name
        ("job", [str(number) for number in range(1, 10)]),  # no level would join two of them
    ],
)
def test_no_fit(column: str, values: list[str], tmp_path: Path, settings: Settings) -> None:
    found = proposed(column, values, tmp_path, settings)
    assert found is None or found["kind"] != "builtin"
