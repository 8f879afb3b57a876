"""Risks by survey weights: the figures that sdcMicro's guide prints, and plain loops on random surveys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.attacks.population_uniques import individual_risks
from discreet.errors import InputError
from discreet.verbs.attacking import attack

GUIDE = [
    ("Urban", "Female", "Sec in", "Emp", 180),
    ("Urban", "Female", "Sec in", "Emp", 180),
    ("Urban", "Female", "Prim in", "Non-LF", 215),
    ("Urban", "Male", "Sec com", "Emp", 76),
    ("Rural", "Female", "Sec com", "Unemp", 186),
    ("Urban", "Male", "Sec com", "Emp", 76),
    ("Urban", "Female", "Prim com", "Non-LF", 180),
    ("Urban", "Male", "Post-sec", "Unemp", 215),
    ("Urban", "Female", "Sec in", "Non-LF", 186),
    ("Urban", "Female", "Sec in", "Non-LF", 76),
]
"""Benschop, Machingauta and Welch 2019, "Measuring risk", the table of the example (residence to weight)."""


Person = tuple[str, str, str, str, int]


def person(random: np.random.Generator) -> Person:
    a, b, c, d = map(str, random.integers(0, 2, 4).tolist())
    return a, b, c, d, int(random.integers(1, 50))


def survey(folder: Path, people: list[Person]) -> discreet.Table:
    names = ("residence", "gender", "education", "labour", "weight")
    lines = [",".join(names), *(",".join(map(str, row)) for row in people)]
    (folder / "survey.csv").write_text("\n".join(lines) + "\n", "utf-8")
    roles = {name: {"role": "quasi-identifier"} for name in names[:4]}
    return discreet.open(folder / "survey.csv", {"attributes": roles})


def test_the_guides_ten_persons(tmp_path: Path) -> None:
    table = survey(tmp_path, GUIDE)
    release = tmp_path / "out.csv"
    table.publish({"residence": 1, "education": 1}, release, k=2, max_suppressed=3)
    found = attack(release, table=table, by="survey-weights", options={"survey_weight": "weight"})
    told = found.finding("survey-weights")
    assert told.figure("people_before") == 1570
    assert round(told.figure("mean_before"), 5) == 0.01582  # type: ignore[arg-type]
    assert round(told.figure("expected_before"), 4) == 0.1582  # type: ignore[arg-type]
    assert told.figure("at_risk_before") == 0
    printed = {(1, 180): 0.0290, (1, 215): 0.0251, (2, 262): 0.0074}
    for (rows, people), risk in printed.items():
        assert round(individual_risks(np.array([rows]), np.array([float(people)]))[0], 4) == risk


@pytest.mark.parametrize("seed", range(4))
def test_classes_and_what_is_lost_are_counted_as_plain_loops_count_them(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    people = [person(random) for _ in range(30)]
    table = survey(tmp_path, people)
    release = tmp_path / "out.csv"
    table.publish({"residence": 1}, release, k=3, max_suppressed="80%")
    told = attack(release, table=table, by="survey-weights", options={"survey_weight": "weight"})
    finding = told.finding("survey-weights")
    classes: dict[tuple[str, ...], list[int]] = {}
    for row in people:
        classes.setdefault(row[1:4], []).append(row[4])
    kept = [weights for weights in classes.values() if len(weights) >= 3]
    assert finding.figure("people_after") == sum(map(sum, kept))
    assert finding.figure("least_after") == min(max(sum(w), len(w)) for w in kept)
    everybody = sum(row[4] for row in people)
    assert finding.figure("lost") == pytest.approx(1 - sum(map(sum, kept)) / everybody)
    expected = sum(
        len(w) * individual_risks(np.array([len(w)]), np.array([float(max(sum(w), len(w)))]))[0] for w in kept
    )
    assert finding.figure("expected_after") == pytest.approx(expected)
    assert bool(finding.notes) == (finding.figure("lost") != 0)
    shares = {row[0]: row[1] for row in finding.tables[0].rows}
    total = sum(map(sum, kept))
    for place, name in enumerate(("residence", "gender", "education", "labour")):
        gap = 0.0
        for value in ("0", "1"):
            before = sum(row[4] for row in people if row[place] == value) / everybody
            stay = [row for row in people if row[1:4] in classes and len(classes[row[1:4]]) >= 3]
            gap += abs(before - sum(row[4] for row in stay if row[place] == value) / total)
        assert shares[name] == pytest.approx(gap / 2)


def test_weights_must_be_numbers_and_named(tmp_path: Path) -> None:
    table = survey(tmp_path, GUIDE)
    table.publish({"residence": 1}, tmp_path / "out.csv", k=1)
    with pytest.raises(InputError, match="no column of survey weights"):
        attack(tmp_path / "out.csv", table=table, by="survey-weights")
    with pytest.raises(InputError, match="are no weights"):
        attack(tmp_path / "out.csv", table=table, by="survey-weights", options={"survey_weight": "gender"})
