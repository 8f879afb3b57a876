"""Columns whose texts are ordered: `init` joins neighbours, never by frequency."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import discreet
from discreet.verbs.proposal import Proposal


def proposed(folder: Path, values: list[str]) -> Proposal:
    path = folder / "people.csv"
    rows = [f'"{value}",{sex}' for value in values for sex in "mf"]
    path.write_text("\n".join(["x,sex", *rows]) + "\n", encoding="utf-8")
    return discreet.init(path)


def hierarchy_of(found: Proposal) -> dict[str, object] | None:
    hierarchy = found.mapping["attributes"]["x"].get("hierarchy")
    assert hierarchy is None or isinstance(hierarchy, dict)
    return hierarchy


def test_an_open_end_among_numbers_is_coded_at_its_bound(tmp_path: Path) -> None:
    draw = random.Random(1)
    found = proposed(tmp_path, [str(draw.randrange(1, 60)) for _ in range(150)] + ["120 +"] * 5)
    hierarchy = hierarchy_of(found)
    assert hierarchy is not None
    assert (hierarchy["kind"], hierarchy["upper"]) == ("intervals", 120)
    assert "'120 +' (10 rows)" in str(found)
    table = discreet.open(tmp_path / "people.csv", found.mapping)
    assert "≥120" in table.publish({"x": 1}, k=2, max_suppressed="50%").to_pandas()["x"].tolist()


def test_both_ends_and_a_word_among_numbers(tmp_path: Path) -> None:
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
def test_other_words_have_no_order(tmp_path: Path, values: list[str]) -> None:
    hierarchy = hierarchy_of(proposed(tmp_path, values * 20))
    assert hierarchy is None or hierarchy["kind"] != "order"
