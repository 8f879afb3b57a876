"""Homogeneous classes (one sensitive value), against counting the rows in plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.model.requirement import Requirement
from discreet.results.node_summary import count_homogeneous_classes, summarize_node
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec
from discreet.verbs.table import Table

SPEC = """[source]
path = "people.csv"
{subject}
[attributes.age]
role = "quasi-identifier"
hierarchy = {{kind = "intervals", widths = [2, 4]}}
[attributes.city]
role = "quasi-identifier"
[attributes.disease]
role = "sensitive"
[attributes.income]
role = "sensitive"
"""
Row = tuple[str, str, str, str, str]


def rows_of(seed: int, subjects: int) -> list[Row]:
    """Draw rows of person, age, city, disease, income; some values are missing."""
    chance = random.Random(seed)
    found = []
    for i in range(40):
        person = chance.randrange(subjects) if subjects else i
        disease, income = chance.choice(["flu", "flu", "hiv", ""]), chance.choice(["1", "2", "3", ""])
        found.append((f"p{person}", str(person % 8), "AB"[person % 2], disease, income))
    return found


def opened(folder: Path, settings: Settings, rows: list[Row], *, subjects: bool) -> Table:
    lines = ["person,age,city,disease,income", *(",".join(row) for row in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    subject = 'subject = "person"' if subjects else ""
    (folder / "discreet.toml").write_text(SPEC.format(subject=subject), encoding="utf-8")
    return Table(load_spec(folder / "discreet.toml"), settings)


def counted(rows: list[Row], node: tuple[int, int], k: int, place: int, *, subjects: bool) -> int:
    """Count the published classes of a node that have at most one value in column ``place``."""
    classes = defaultdict(list)
    for row in rows:
        age, city = int(row[1]), row[2]
        shown = "*" if node[0] == 3 else str(age // (1, 2, 4)[node[0]])
        classes[shown, "*" if node[1] else city].append(row)
    found = 0
    for members in classes.values():
        size = len({row[0] for row in members}) if subjects else len(members)
        found += size >= k and len({row[place] for row in members} - {""}) <= 1
    return found


@pytest.mark.parametrize("seed", range(3))
def test_homogeneous_classes_of_every_node_equal_a_plain_count(
    tmp_path: Path, settings: Settings, seed: int
) -> None:
    rows = rows_of(seed, 0)
    table = opened(tmp_path, settings, rows, subjects=False)
    lattice, some = table.lattice(), 0
    for node in product(range(4), range(2)):
        for k in (1, 2, 5):
            expected = {
                "disease": counted(rows, node, k, 3, subjects=False),
                "income": counted(rows, node, k, 4, subjects=False),
            }
            requirement = Requirement.of(k)
            assert count_homogeneous_classes(table.frequency_set, node, requirement) == expected
            summary = summarize_node(lattice, node, requirement)
            assert summary.homogeneous == summary.as_json()["homogeneous"] == expected
            some += sum(expected.values())
            l2 = summarize_node(lattice, node, Requirement.of(k, {"disease": 2}))
            assert l2.homogeneous["disease"] == 0
    assert some > 0


def test_homogeneous_classes_by_subjects_count_classes(tmp_path: Path, settings: Settings) -> None:
    """Several rows of a person with the same value count as one value."""
    rows = [(f"p{i // 2}", str(i // 2 % 8), "A", ("flu", "hiv")[i // 16], "1") for i in range(32)]
    table = opened(tmp_path, settings, rows, subjects=True)
    summary = summarize_node(table.lattice(), (3, 0), Requirement.of(2))
    assert summary.homogeneous == {"disease": 0, "income": 1}
    assert "classes with one value of income" in str(summary)


def test_homogeneous_classes_refuse_an_insensitive_column(tmp_path: Path, settings: Settings) -> None:
    table = opened(tmp_path, settings, rows_of(1, 0), subjects=False)
    with pytest.raises(InputError, match="city"):
        count_homogeneous_classes(table.frequency_set, (0, 0), Requirement.of(2, {"city": 2}))
