"""The generated census: seeded, plausible, and suitable for a demonstration."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from discreet.sample.census import census_spec, generate_census, write_census
from discreet.spec.spec_reader import spec_from_mapping


def test_thirty_thousand_people_with_six_quasi_identifiers() -> None:
    assert generate_census(200, seed=1) == generate_census(200, seed=1) != generate_census(200, seed=2)
    columns = generate_census()
    assert list(columns) == [
        "person_id",
        "age",
        "sex",
        "municipality",
        "education",
        "marital_status",
        "occupation",
        "diagnosis",
    ]
    assert {len(values) for values in columns.values()} == {30_000}
    assert len(set(columns["person_id"])) == 30_000
    assert {len(code) for code in columns["municipality"]} == {5}
    assert len(set(columns["diagnosis"])) == 10


def test_columns_are_correlated() -> None:
    columns = generate_census()
    people = list(
        zip(columns["age"], columns["occupation"], columns["education"], columns["diagnosis"], strict=True)
    )
    old = [p for p in people if int(p[0]) >= 70]
    young = [p for p in people if int(p[0]) < 25]
    assert share(old, 1, "retired") > 0.8 > 0.01 > share(young, 1, "retired")
    assert share(young, 1, "student") > 0.3
    assert share(old, 3, "hypertension") > 5 * share(young, 3, "hypertension")
    doctors = [p for p in people if p[2] == "doctorate" and 30 <= int(p[0]) < 60]
    assert Counter(p[1] for p in doctors).most_common(1)[0][0] in ("teaching", "medicine", "engineering")


def share(people: list[tuple[str, ...]], place: int, value: str) -> float:
    return sum(p[place] == value for p in people) / len(people)


def test_file_contains_the_table_and_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "census.csv"
    write_census(path, 50)
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    columns = generate_census(50)
    assert header == list(columns)
    assert rows == [list(row) for row in zip(*columns.values(), strict=True)]
    with pytest.raises(FileExistsError):
        write_census(path, 50)


def test_every_value_has_a_leaf(tmp_path: Path) -> None:
    spec = spec_from_mapping(census_spec("census.csv"), base=tmp_path, label="the census")
    columns = generate_census()
    heights = {}
    for attribute in spec.quasi_identifiers:
        if attribute.hierarchy is not None:
            values = sorted(set(columns[attribute.name]))
            heights[attribute.name] = attribute.hierarchy.build(attribute.name, values).height
    assert heights == {"age": 4, "municipality": 3, "education": 3, "marital_status": 2, "occupation": 3}
