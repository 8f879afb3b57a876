"""``inspect --release``: a release compared with its original, with a workload and a classifier."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

WORKLOAD = """
SELECT COUNT(*) FROM people WHERE age < 30;  -- weight 2
SELECT AVG(age) FROM people WHERE city = 'Bonn';
SELECT COUNT(*) FROM people WHERE disease = 'flu' AND age >= 40
"""
SIX_PATIENTS = """age,sex,zipcode,disease
25,Male,53711,Flu
25,Female,53712,Hepatitis
26,Male,53711,Bronchitis
27,Male,53710,Broken Arm
27,Female,53712,AIDS
28,Male,53711,Hang Nail
"""
PATIENTS_SPEC = """
[source]
path = "patients.csv"
[attributes]
age = {role = "quasi-identifier"}
sex = {role = "quasi-identifier"}
zipcode = {role = "quasi-identifier"}
disease = {role = "sensitive"}
"""
PAPER = """
SELECT AVG(Age) FROM Patients WHERE Sex = 'Male';
SELECT COUNT(*) FROM Patients WHERE Sex = 'Male' AND Age <= 26;
"""


def test_release_is_compared_with_its_table(run: Run, people: Path) -> None:
    options = ("--output", "release.csv", "--k", "3", "--max-suppressed", "1")
    published = run("publish", "discreet.toml", *options)
    assert published.status == 0
    (people / "queries.sql").write_text(WORKLOAD, encoding="utf-8")
    arguments = ["inspect", "discreet.toml", "--release", "release.csv", "--workload", "queries.sql"]
    found = run(*arguments, "--json")
    assert (found.status, found.err) == (0, "")
    document = found.json
    assert (document["rows"], document["suppressed"]) == (8, 1)
    assert document["metrics"]["classes"] == 2
    assert document["metrics"]["c-dm"] == 4**2 + 3**2 + 8
    assert document["metrics"]["c-avg"] == 8 / 2 / 3
    assert document["metrics"]["height"] == 2
    assert document["metrics"]["suppressed-rows"] == 1
    assert set(document["loss"]) == {"age", "city"}
    queries = document["workload"]["queries"]
    assert [queries[0][key] for key in ("truth", "estimate", "lower", "upper")] == [4, 4, 4, 5]
    assert [q["weight"] for q in queries] == [2, 1, 1]
    assert document["workload"]["outside_bounds"] == 0
    assert document["warnings"] == []
    text = run(*arguments).out
    assert "discernibility C_DM" in text
    assert "Workload: 3 queries" in text
    assert "SELECT AVG(age) FROM people" in text


@pytest.mark.parametrize(
    ("summary", "average"), [("means", (26.5, 26.45, 26.55)), ("ranges", (26.5, 26, 27))]
)
def test_six_patients_of_the_paper_have_its_estimates(
    run: Run, people: Path, summary: str, average: tuple[float, float, float]
) -> None:
    """LeFevre et al. (2006): (2,2,2) by multidimensional cuts, AVG 26.5 from means, COUNT 2 from ranges."""
    (people / "patients.csv").write_text(SIX_PATIENTS, encoding="utf-8")
    (people / "patients.toml").write_text(PATIENTS_SPEC, encoding="utf-8")
    (people / "paper.sql").write_text(PAPER, encoding="utf-8")
    made = run(
        *f"publish patients.toml --model mondrian --k 2 --summary {summary} --output p.csv".split(), "--json"
    )
    assert made.status == 0
    assert made.json["audit"]["class_sizes"] == {"2": 3}
    found = run("inspect", "patients.toml", "--release", "p.csv", "--workload", "paper.sql", "--json").json
    first, second = found["workload"]["queries"]
    assert (first["estimate"], first["lower"], first["upper"]) == pytest.approx(average)
    assert first["truth"] == 26.5
    assert [second[key] for key in ("truth", "estimate", "lower", "upper")] == [2, 2, 2, 2]
    assert found["metrics"]["c-dm"] == 12
    assert found["metrics"]["c-avg"] == 1


def test_classifier_of_the_target_is_trained(run: Run, people: Path) -> None:
    rows = [
        (20 + i % 40, "Berlin" if i % 3 else "Bonn", "flu" if i % 40 < 20 else "cold") for i in range(200)
    ]
    lines = ["name,age,city,disease", *(f"n{i},{a},{c},{d}" for i, (a, c, d) in enumerate(rows))]
    (people / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("publish", "discreet.toml", "--output", "release.csv", "--level", "age=1", "--k", "2")
    arguments = ["inspect", "discreet.toml", "--release", "release.csv", "--target", "disease"]
    found = run(*arguments, "--json").json["classification"]
    assert found["held_out_rows"] == 50
    assert found["accuracy"] > 0.9 > found["accuracy_of_majority"]
    assert "Classification of 'disease'" in run(*arguments).out
    assert run(*arguments, "--seed", "1", "--json").json["classification"] != found


def test_foreign_release_with_a_wrong_row_is_reported(run: Run, people: Path) -> None:
    (people / "foreign.csv").write_text(
        "age;city;disease\n[20, 30[;B;flu\n[20, 30[;B;cold\n[20, 30[;B;flu\n[20, 30[;*;asthma\n"
        "{41, 47};{Bonn, Berlin};flu\n{41, 47};{Bonn, Berlin};cold\n63;Berlin;asthma\n",
        encoding="utf-8",
    )
    found = run("inspect", "discreet.toml", "--release", "foreign.csv", "--json")
    assert found.status == 0
    assert found.json["suppressed"] == 1
    assert found.json["metrics"]["height"] is None
    assert len(found.json["warnings"]) == 1
    assert found.json["warnings"][0].startswith("1 row of the release match no row of the original")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--workload queries.sql", "--workload without --release"),
        ("--target disease", "--target without --release"),
        ("--release people.csv --target age", "is a quasi-identifier"),
        ("--release people.csv --target nothing", "no column 'nothing'"),
        ("--release people.csv --workload nowhere.sql", "cannot be read"),
        ("--release nowhere.csv", "is missing"),
        ("--release city.csv", "no column"),
    ],
)
def test_bad_input_is_refused(run: Run, people: Path, arguments: str, message: str) -> None:
    found = run("inspect", "discreet.toml", *arguments.split(), "--json")
    assert found.status == 2
    assert message in found.json["error"]["message"]
