"""Risks with survey weights, checked against the figures of sdcMicro's guide and loops on random surveys."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.attacks.population_risk import compute_individual_risks
from discreet.errors import InputError
from discreet.verbs.release_attack import attack

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


FRANCDAT = [
    (("1", "2", "5", "1"), 18.0, 2, 110.0, 0.01714426),
    (("1", "2", "1", "1"), 45.5, 2, 84.5, 0.02204233),
    (("1", "2", "1", "1"), 39.0, 2, 84.5, 0.02204233),
    (("3", "3", "1", "5"), 17.0, 1, 17.0, 0.17707583),
    (("4", "3", "1", "4"), 541.0, 1, 541.0, 0.01165448),
    (("4", "3", "1", "1"), 8.0, 1, 8.0, 0.29706308),
    (("6", "2", "1", "5"), 5.0, 1, 5.0, 0.40235948),
    (("1", "2", "5", "1"), 92.0, 2, 110.0, 0.01714426),
]
"""Example francdat of sdcMicro 5.7.9, from the reference of freqCalc and indivRisk.

Data: Capobianchi, Polettini and Lucarelli. Each row contains four keys, the weight, and the printed results:
equal rows, people they represent, risk.
"""

TESTDATA = [
    (359, 35_900, 2.793218e-05),
    (351, 35_100, 2.857061e-05),
    (161, 16_100, 6.249609e-05),
    (150, 15_000, 6.710959e-05),
    (359, 359, 0.002785515),
    (161, 161, 0.006211180),
]
"""First classes of testdata, with and without weights, from the reference of measure_risk (sdcMicro 5.7.9).

The table is a binary file of that package and is not included here.
"""

Person = tuple[str, str, str, str, float]
NAMES = ("residence", "gender", "education", "labour")
BY_WEIGHT = {"survey_weight": "weight"}
GUIDE_RISKS = {(1, 180): 0.0290, (1, 215): 0.0251, (2, 262): 0.0074}


def person(random: np.random.Generator) -> Person:
    a, b, c, d = map(str, random.integers(0, 2, 4).tolist())
    return a, b, c, d, int(random.integers(1, 50))


def survey(folder: Path, people: list[Person]) -> discreet.Table:
    lines = [",".join((*NAMES, "weight")), *(",".join(map(str, row)) for row in people)]
    (folder / "survey.csv").write_text("\n".join(lines) + "\n", "utf-8")
    roles = {name: {"role": "quasi-identifier"} for name in NAMES}
    return discreet.open(folder / "survey.csv", {"attributes": roles})


def test_ten_persons_of_the_guide_have_the_printed_risks(tmp_path: Path) -> None:
    table = survey(tmp_path, GUIDE)
    release = tmp_path / "out.csv"
    table.publish({"residence": 1, "education": 1}, release, k=2, max_suppressed=3)
    found = attack(release, table=table, by="survey-weights", options=BY_WEIGHT)
    finding = found.finding("survey-weights")
    assert finding.figure("people_before") == 1570
    assert round(finding.figure("mean_before"), 5) == 0.01582  # type: ignore[arg-type]
    assert round(finding.figure("expected_before"), 4) == 0.1582  # type: ignore[arg-type]
    assert finding.figure("at_risk_before") == 0


def test_risks_of_francdat_equal_those_of_sdcmicro(tmp_path: Path) -> None:
    table = survey(tmp_path, [(*keys, weight) for keys, weight, *_ in FRANCDAT])
    table.publish(dict.fromkeys(NAMES, 0), tmp_path / "out.csv", k=1)
    found = attack(tmp_path / "out.csv", table=table, by="survey-weights", options=BY_WEIGHT)
    finding = found.finding("survey-weights")
    assert finding.figure("people_before") == sum(weight for _, weight, *_ in FRANCDAT)
    assert finding.figure("least_before") == 5
    assert finding.figure("highest_before") == pytest.approx(0.40235948, abs=5e-9)
    assert finding.figure("expected_before") == pytest.approx(sum(row[-1] for row in FRANCDAT), abs=5e-8)
    sizes = table.frequency_set.counts
    # Rows that violate 2- and 3-anonymity.
    assert (int(sizes[sizes < 2].sum()), int(sizes[sizes < 3].sum())) == (4, 8)


def individual_risk(rows: int, people: float) -> float:
    return float(compute_individual_risks(np.array([rows]), np.array([float(people)]))[0])


@pytest.mark.parametrize(
    ("rows", "people", "risk", "error"),
    [
        *((rows, people, risk, 5e-5) for (rows, people), risk in GUIDE_RISKS.items()),
        *((rows, people, risk, 5e-9) for _, _, rows, people, risk in FRANCDAT),
        *((rows, people, risk, 1e-6 * risk) for rows, people, risk in TESTDATA),
    ],
)
def test_risk_of_a_class_is_the_printed_one(rows: int, people: float, risk: float, error: float) -> None:
    assert individual_risk(rows, people) == pytest.approx(risk, abs=error)


@pytest.mark.parametrize("seed", range(4))
def test_classes_and_lost_weights_equal_plain_loops(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    people = [person(random) for _ in range(30)]
    table = survey(tmp_path, people)
    release = tmp_path / "out.csv"
    table.publish({"residence": 1}, release, k=3, max_suppressed="80%")
    attacked = attack(release, table=table, by="survey-weights", options=BY_WEIGHT)
    finding = attacked.finding("survey-weights")
    classes: dict[tuple[str, ...], list[float]] = {}
    for row in people:
        classes.setdefault(row[1:4], []).append(row[4])
    kept = [weights for weights in classes.values() if len(weights) >= 3]
    assert finding.figure("people_after") == sum(map(sum, kept))
    assert finding.figure("least_after") == min(max(sum(w), len(w)) for w in kept)
    everybody = sum(row[4] for row in people)
    assert finding.figure("lost") == pytest.approx(1 - sum(map(sum, kept)) / everybody)
    expected = sum(len(w) * individual_risk(len(w), max(sum(w), len(w))) for w in kept)
    assert finding.figure("expected_after") == pytest.approx(expected)
    assert bool(finding.notes) == (finding.figure("lost") != 0)
    shares = {row[0]: row[1] for row in finding.tables[0].rows}
    total = sum(map(sum, kept))
    for place, name in enumerate(NAMES):
        gap = 0.0
        for value in ("0", "1"):
            before = sum(row[4] for row in people if row[place] == value) / everybody
            stay = [row for row in people if row[1:4] in classes and len(classes[row[1:4]]) >= 3]
            gap += abs(before - sum(row[4] for row in stay if row[place] == value) / total)
        assert shares[name] == pytest.approx(gap / 2)


def test_publication_warns_of_weights_that_are_not_recalibrated(tmp_path: Path) -> None:
    survey(tmp_path, GUIDE)
    (tmp_path / "discreet.toml").write_text(
        '[source]\npath = "survey.csv"\nsurvey_weight = "weight"\n'
        + "".join(f'[attributes.{name}]\nrole = "quasi-identifier"\n' for name in ("residence", "gender")),
        "utf-8",
    )
    table = discreet.open(tmp_path / "discreet.toml")
    result = table.publish({}, tmp_path / "out.csv", k=2, max_suppressed="50%")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    texts = [each["text"] for each in manifest["warnings"] if each["code"] == "weights-not-recalibrated"]
    # One person is suppressed, the only one from the country, with a weight of 186 of 1,570 people.
    assert texts == [
        "The weights 'weight' are not recalibrated: suppressed rows represent 11.8 % of the people, and the "
        "weighted share of a value of 'residence' moves by 11.8 points."
    ]
    assert texts[0] in " ".join(str(result).split())
    assert attack(tmp_path / "out.csv", table=table, by="survey-weights").finding("survey-weights").figures
    discreet.report(tmp_path / "out.csv", output=tmp_path / "out.html", table=table, language="de")
    assert "sind nicht neu kalibriert" in (tmp_path / "out.html").read_text("utf-8")
    whole = table.publish({}, tmp_path / "all.csv", k=1)
    assert not any("recalibrated" in warning for warning in whole.release.warnings)
    (tmp_path / "discreet.toml").write_text(
        (tmp_path / "discreet.toml")
        .read_text()
        .replace('survey_weight = "weight"', 'survey_weight = "labour"')
    )
    with pytest.raises(InputError, match="are not weights"):
        discreet.open(tmp_path / "discreet.toml").publish({}, tmp_path / "no.csv", k=2, max_suppressed="50%")
    assert not (tmp_path / "no.csv").exists()
