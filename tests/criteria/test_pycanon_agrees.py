"""Recorded results of pycanon 1.3.6 for a table equal those of ``audit(…, strictest=True)``.

Where the definitions differ (docs/criteria), they give the same results for this table, except for pycanon's
c, which has another meaning, and for an entropy l that pycanon truncates.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

import discreet

PYCANON = {
    ("k", ""): 12,
    ("l", "ill"): 3,
    ("l", "grade"): 4,
    ("alpha", "ill"): 0.5384615384615384,
    ("alpha", "grade"): 0.47058823529411764,
    ("beta", "ill"): 0.2763532763532763,
    ("beta", "grade"): 0.6666666666666667,
    ("delta_disclosure", "ill"): 0.3519764231571781,
    ("delta_disclosure", "grade"): 0.7239188392266991,
    ("t", "ill"): 0.11658653846153844,
    ("t", "grade"): 0.17013888888888887,
}
"""Results by criterion and attribute; t of a text uses the equal distance, t of a number the ordered one."""
CUT_OFF = {"ill": 2, "grade": 3}
"""The truncated entropy l of pycanon."""


def write_table(path: Path) -> None:
    """Write four classes with every value in each."""
    chance = random.Random(16)
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["age", "city", "ill", "grade"])
        for age in ("20-39", "40-59"):
            for city in ("Bonn", "Jena"):
                held = [("flu", 1), ("cold", 2), ("gout", 3)]
                for _ in range(chance.randrange(9, 22)):
                    ill = chance.choice(["flu", "flu", "cold", "gout"])
                    held.append((ill, chance.choice([1, 2, 3, 4, 4])))
                lines.writerows((age, city, *row) for row in held)


def test_strictest_values_equal_those_of_pycanon(tmp_path: Path) -> None:
    write_table(tmp_path / "table.csv")
    found = discreet.audit(
        tmp_path / "table.csv", quasi_identifiers=["age", "city"], sensitive=["ill", "grade"], strictest=True
    )
    assert found.strictest
    strictest = {}
    for one in found.strictest:
        distance = "equal" if one.attribute == "ill" else "ordered"
        if one.parts.get("distance", distance) == distance:
            strictest.setdefault((one.criterion.name, one.attribute or ""), one.value)
    assert {key: strictest[key] for key in PYCANON} == pytest.approx(PYCANON, abs=1e-8)
    assert {name: int(strictest["entropy_l", name]) for name in CUT_OFF} == CUT_OFF
