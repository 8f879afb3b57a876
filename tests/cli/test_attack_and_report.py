"""The verbs attack and report: output, JSON, exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks import test_households as households
from tests.cli.conftest import Run


@pytest.fixture
def release(run: Run, people: Path) -> Path:
    path = people / "out.csv"
    run(
        "publish",
        "discreet.toml",
        "--k",
        "2",
        "--max-suppressed",
        "50%",
        "--accept-relaxation",
        "height",
        "--output",
        path,
    )
    assert path.exists()
    return path


def test_attack_prints_the_risks(run: Run, release: Path) -> None:
    found = run("attack", release, "--spec", "discreet.toml", "--outside", "people.csv", "--key", "name")
    assert found.status == 0
    for words in (
        "prosecutor risk, highest",
        "before",
        "after",
        "Linkage of 8 outside records",
        "right links",
    ):
        assert words in found.out


def test_attack_in_json(run: Run, release: Path) -> None:
    found = run(
        "attack", release, "--population", "people.csv", "--match", "city=city", "--threshold", "5%", "--json"
    )
    assert found.status == 0
    assert found.json["before"] is None
    assert found.json["after"]["prosecutor"]["highest"] <= 0.5
    assert found.json["marketer"]["basis"] == "the population file"
    refused = run("attack", release, "--population", "people.csv", "--json")
    assert refused.status == 2
    assert "generalized cells of 'age'" in refused.json["error"]["message"]


@pytest.mark.parametrize(
    "options",
    [
        ["--match", "age=age"],
        ["--key", "name"],
        ["--outside", "people.csv", "--match", "age"],
        ["--outside", "people.csv", "--match", "age=age", "--match", "age=city"],
        ["--threshold", "2"],
        ["--dominance", "none"],
        ["--outside", "missing.csv", "--spec", "discreet.toml"],
    ],
)
def test_invalid_attack_options_are_refused(run: Run, release: Path, options: list[str]) -> None:
    assert run("attack", release, *options).status == 2


def test_attacks_by_name(run: Run, release: Path) -> None:
    found = run("attack", release, "--spec", "discreet.toml", "--by", "column-sets", "--largest-set", "1")
    assert found.status == 0
    assert "Risk of each set of columns" in found.out
    document = run(
        "attack", release, "--spec", "discreet.toml", "--by", "all", "--people", "900", "--json"
    ).json
    assert not any(table["persons"] for each in document["findings"] for table in each["tables"])
    assert {each["attack"] for each in document["findings"]} >= {"column-sets", "suda2", "population-uniques"}
    owner = run("attack", release, "--spec", "discreet.toml", "--by", "suda2", "--persons", "--json").json
    (suda,) = owner["findings"]
    assert [table["title"] for table in suda["tables"] if table["persons"]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--by", "suda"], "suda2"),
        (["--by", "population-uniques"], "the size of the population"),
        (["--by", "suda2", "--people", "7"], "does not apply to suda2"),
        (["--by", "population-uniques", "--people", "1"], "a population of 1 people"),
        (["--largest-set", "2"], "does not apply"),
    ],
)
def test_invalid_options_of_named_attacks_are_refused(
    run: Run, release: Path, options: list[str], words: str
) -> None:
    found = run("attack", release, *options)
    assert found.status == 2
    assert words in found.err


def test_report_writes_one_file(run: Run, release: Path, people: Path) -> None:
    found = run("report", release, "--spec", "discreet.toml", "--purpose", "A study.", "--json")
    assert found.status == 0
    assert found.json["audit"]["passed"]
    assert found.json["comparison"]["metrics"]["loss"] >= 0
    page = (people / "out.csv.report.html").read_text(encoding="utf-8")
    assert "A study." in page
    assert "Risk of each set of columns" in page
    assert "Unique in the population: the size of the population is not known." in page
    assert run("report", release).status == 2
    assert run("report", release, "--overwrite", "--output", people / "other.html").status == 0


def test_report_of_a_changed_file_fails(run: Run, release: Path) -> None:
    with release.open("a", encoding="utf-8") as file:
        file.write("1,2,3\n")
    found = run("report", release)
    assert found.status == 1
    assert "Audit failed" in found.out


def test_report_contains_households_if_their_column_is_named(run: Run, tmp_path: Path) -> None:
    table = households.opened(tmp_path, households.drawn(2))
    table.publish({"age": 1, "city": 1}, tmp_path / "r.csv", k=3)
    command = ["report", str(tmp_path / "r.csv"), "--spec", str(tmp_path / "discreet.toml"), "--overwrite"]
    assert run(*command, "--household", "home").status == 0
    page = tmp_path / "r.csv.report.html"
    assert "Households by their members" in page.read_text(encoding="utf-8")
    assert run(*command).status == 0
    assert "no column of households is named" in page.read_text(encoding="utf-8")
